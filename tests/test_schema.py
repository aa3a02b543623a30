"""The schema of files: what is read, what is refused in one line, and files of earlier versions."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pytest

import rue.data
from rue import Components, Rule
from rue._arrays import FloatArray
from rue._schema import Constraint, Count, Different, Undefined, build, changed, plain, read_content
from rue.bench import Store, read_results
from rue.deploy import RecalibrationMap
from rue.errors import FileError, InputError
from rue.leaderboard import find_submissions, read_submission, verify

STORED = Path(__file__).parent / "stored"


@dataclass(frozen=True)
class Inner:
    low: float
    high: float | None = None

    def __post_init__(self) -> None:
        if self.high is not None and self.high < self.low:
            raise InputError(f"high must be at least low, got {self.high:g}")


@dataclass(frozen=True, eq=False)
class Outer:
    name: str
    kind: Literal["red", "blue"]
    inner: Inner
    n: Count = 0
    tags: Annotated[tuple[str, ...], Different] = ("a",)
    sizes: Mapping[str, int] = field(default_factory=dict)
    knots: FloatArray | None = None
    pair: tuple[int, str] | None = None
    value: Undefined = 0.0
    share: Annotated[float, Constraint("from 0 to 1", lambda v: 0 <= v <= 1)] = 0.5
    flag: bool = False
    other: object = None


GOOD = {"name": "x", "kind": "red", "inner": {"low": 1}}


def test_a_file_comes_back_as_it_was_written():
    content = {
        **GOOD,
        "inner": {"low": 1.5, "high": 2.0},
        "n": 3,
        "tags": ["a", "b"],
        "sizes": {"k": 1},
        "knots": [0.5, 1.0],
        "pair": [1, "b"],
        "value": None,
        "share": 1.0,
        "flag": True,
        "other": {"any": [1, None]},
    }
    built = build(Outer, content)
    assert math.isnan(built.value)
    assert isinstance(built.knots, np.ndarray)
    assert plain(built) == content
    assert json.loads(json.dumps(plain(built))) == content
    assert plain({"ends": (float("-inf"), float("nan"), 1.0)}) == {"ends": [None, None, 1.0]}
    assert plain(build(Outer, GOOD))["inner"] == {"low": 1.0}  # None by default is left out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": 3}, "name must be text, got 3"),
        ({"kind": "blu"}, "kind must be one of red, blue, got 'blu': did you mean 'blue'?"),
        ({"inner": 3}, "inner must be an object, got 3"),
        ({"inner": {}}, "the field inner.low is missing"),
        (
            {"inner": {"low": 1, "hihg": 2}},
            "inner.hihg is no known field: must be one of low, high",
        ),
        ({"inner": {"low": math.inf}}, "inner.low must be a finite number, got inf"),
        ({"inner": {"low": 10**400}}, "inner.low must be a finite number, got 1000"),
        ({"inner": {"low": 2, "high": 1}}, "inner.high must be at least low, got 1"),
        ({"n": -1}, "n must be a whole number of at least 0, got -1"),
        ({"n": True}, "n must be a whole number of at least 0, got True"),
        ({"tags": []}, "tags must be a non-empty list without repetitions, got []"),
        ({"tags": ["a", 1]}, "tags[1] must be text, got 1"),
        ({"sizes": {"k": 1.5}}, "sizes.k must be a whole number, got 1.5"),
        ({"knots": [0, "a"]}, "knots[1] must be a finite number, got 'a'"),
        ({"pair": [1]}, "pair must be 2 values, got [1]"),
        ({"value": "x"}, "value must be a finite number or null, got 'x'"),
        ({"share": 2}, "share must be from 0 to 1, got 2"),
        ({"flag": 1}, "flag must be true or false, got 1"),
        ({"colour": "red"}, "colour is no known field: must be one of name, kind, inner"),
        ({"name": ["x" * 500]}, "name must be text, got ['" + "x" * 78 + " ..."),
    ],
)
def test_every_rule_is_one_line(tmp_path, change, words):
    with pytest.raises(InputError) as caught:
        build(Outer, {**GOOD, **change})
    assert words in str(caught.value)
    path = tmp_path / "x.json"
    path.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(FileError) as caught:
        read_content(path, "an example", lambda content: build(Outer, content))
    assert str(caught.value).startswith(f"{path}: is not an example: ")
    assert "\n" not in str(caught.value)


def test_a_reader_may_ignore_fields_and_set_its_own():
    assert build(Outer, {**GOOD, "colour": 1}, unknown="ignore").name == "x"
    rest = {"kind": "red", "inner": {"low": 0}}
    assert build(Outer, rest, given={"name": "y"}).name == "y"
    with pytest.raises(InputError, match="name is no known field"):
        build(Outer, GOOD, given={"name": "y"})


def test_settings_are_changed_by_their_annotations():
    assert changed(Inner(1.0), {"high": 3}, "inner").high == 3
    with pytest.raises(InputError, match=r"inner\.high must be a finite number, got 'a'"):
        changed(Inner(1.0), {"high": "a"}, "inner")
    with pytest.raises(InputError, match="inner must be one of high, got 'low'"):
        changed(Inner(1.0), {"low": 0}, "inner", but=("low",))


@pytest.mark.parametrize("text", ["a = [", "a = '\x00'"])
def test_toml_by_its_suffix(tmp_path, text):
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(FileError, match="is not a thing"):
        read_content(tmp_path / "x.toml", "a thing", dict)


RULES = {  # of version 0.1.0: how many of these points each accepts
    "learned": 198,
    "betting": 157,
    "hoeffding_bentkus": 168,
    "first_format": 64,  # 0.5 aleatoric + 0.5 epistemic <= 0.4
    "everything": 200,
    "nothing_normalized": 0,
}


@pytest.mark.parametrize("name", RULES)
def test_rules_of_earlier_versions_are_read_and_decide_as_before(name, tmp_path):
    rng = np.random.default_rng(7)
    a, e = rng.uniform(0, 1, 200), rng.uniform(0, 1, 200)
    path = STORED / f"rule_{name}.json"
    rule = Rule.load(path)
    assert rule.accept(Components(a + e, a, e)).sum() == RULES[name]
    if name != "first_format":
        assert rule.to_dict() == json.loads(path.read_text())


@pytest.mark.parametrize("name", ["map", "map_clusters"])
def test_maps_of_earlier_versions_are_read(name):
    path = STORED / f"{name}.json"
    assert RecalibrationMap.load(path).to_dict() == json.loads(path.read_text())


def test_a_benchmark_of_an_earlier_version_is_read_and_its_numbers_are_ours():
    results = read_results(Store(STORED / "benchmark"))
    assert (results.missing, results.damaged, results.stale) == ((), (), ())
    (row,) = results.raw.values()
    assert row.config["settings"]["n_trees"] == 5
    assert [evaluated["loss"] for evaluated in row.rows] == ["log", "zero_one"]
    assert row.proxies["auac"] is not None
    for submission in find_submissions(STORED / "benchmark"):
        verified = verify(submission)
        assert (verified.problem, list(verified.rows)) == ("", ["log", "zero_one"])


def test_a_submission_of_an_earlier_version_is_verified():
    submission = read_submission(STORED / "submission")
    assert (submission.method, submission.data, submission.regime) == ("forest", "rbf", "paper")
    assert len(submission.claims["log"]) == 15
    verified = verify(submission)
    assert (verified.problem, list(verified.rows)) == ("", ["log", "zero_one"])


def test_a_description_of_an_earlier_version_is_read():
    data = rue.data.load(str(STORED / "own" / "mine.toml"))
    assert (len(data), data.n_classes, data.class_names) == (12, 3, ("maybe", "no", "yes"))
