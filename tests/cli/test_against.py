"""rue evaluate --against: a user's row among those of a study."""

import json
from dataclasses import replace

import numpy as np
import pytest

import rue.data
from rue import Annotations, Draws, evaluate
from rue.bench.baselines import pack, unpack
from rue.cli._against import baselines_for, beside_baselines
from rue.errors import InputError

ROW = {"dataset": "sentiment-nyt", "loss": "log", "n_seeds": 5, "n_points": 4}
STUDY = unpack(
    pack(
        "atlas",
        "tuned",
        [
            {**ROW, "method": "good", "aurec": 1e-6, "n_aurec": 0.999},
            {**ROW, "method": "bad", "aurec": 9.0, "n_aurec": 3.0},
        ],
    )
)


@pytest.fixture
def mine():
    counts = [[3, 1], [2, 2], [4, 0], [0, 5]]
    probs = np.array([[0.7, 0.3], [0.4, 0.6], [0.8, 0.2], [0.3, 0.7]])
    draws = np.stack([probs, np.clip(probs + 0.1 * (probs - 0.5), 0.01, 0.99)], axis=1)
    belief = Draws(draws / draws.sum(-1, keepdims=True))
    return evaluate(Annotations(counts), belief, "log", method="mine")


def test_the_row_stands_where_its_aurec_puts_it(mine):
    shown, said = beside_baselines([mine], STUDY, "sentiment-nyt")
    assert [row["method"] for row in shown] == ["good (atlas)", "mine", "bad (atlas)"]
    assert shown[1]["rank_aurec"] == 2
    assert said == [
        f"mine: under log loss rank 2 by AuReC and {shown[1]['rank_n_aurec']} by n-AuReC among 3, "
        f"with the 2 methods of atlas (tuned, means over 5 seeds), if yours are its "
        f"{STUDY.of('sentiment-nyt', 'log')[0]['n_points']:,} test points: the study has no ids to "
        "check that"
    ]
    json.dumps(shown, allow_nan=False)


def test_other_points_are_reported(mine):
    _, said = beside_baselines([replace(mine, n_points=3)], STUDY, "sentiment-nyt")
    assert said[1] == (
        "mine: evaluated on 3 points, the study on 4 test points, so the ranks compare different "
        "points"
    )


@pytest.mark.parametrize("format", ["json", "csv"])
def test_other_formats_say_it_too(run, tmp_path, rng, format):
    test = rue.data.load("random-rbf").part("test")
    probs = rng.dirichlet(np.ones(test.annotations.n_classes), (20, 3))
    np.savez(tmp_path / "mine.npz", probs=probs, ids=test.ids[:20], classes=test.class_names)
    arguments = ["--truth", "random-rbf", "--against", "atlas", "--no-gap"]
    result = run("evaluate", tmp_path / "mine.npz", *arguments, "--format", format)
    assert result.code == 0, result.err
    said = result.err
    if format == "json":
        (own,) = (row for row in json.loads(result.out) if row["method"] == "mine")
        said = " ".join(own["notes"])
    assert "the ranks compare different points" in said


def test_points_may_be_matched_by_position(run, tmp_path, rng):
    """The error about missing ids offers --by-position, so that must work."""
    data = rue.data.load("random-rbf")
    probs = rng.dirichlet(np.ones(data.annotations.n_classes), (len(data.annotations), 3))
    np.savez(tmp_path / "mine.npz", probs=probs, classes=data.class_names)
    arguments = ["--truth", "random-rbf", "--against", "atlas", "--no-gap"]
    refused = run("evaluate", tmp_path / "mine.npz", *arguments)
    assert refused.code == 2
    assert "--by-position drops the ids" in refused.err
    result = run("evaluate", tmp_path / "mine.npz", *arguments, "--by-position")
    assert result.code == 0, result.err


def test_components_cannot_be_compared(run, tmp_path):
    table = "aleatoric,epistemic,risk,regret\n0.1,0.2,0.3,0.1\n0.2,0.1,0.4,0.2\n"
    (tmp_path / "c.csv").write_text(table)
    result = run("evaluate", tmp_path / "c.csv", "--truth", "random-rbf", "--against", "atlas")
    assert result.code == 2
    assert "c.csv contains components, and --against needs predictions" in result.err


@pytest.mark.parametrize(
    ("study", "truth", "losses", "options", "message"),
    [
        ("atlas", None, ["log"], {}, "needs the name of a data set: --truth NAME"),
        ("atlas", "counts.npy", ["log"], {}, "needs the name of a data set: --truth NAME"),
        ("atlass", "ferplus", ["log"], {}, "against must be one of"),
        ("atlas", "letter", ["log"], {}, "not of 'letter'"),
        ("atlas", "ferplus", ["brier"], {}, "not brier loss"),
        ("atlas", "ferplus", ["log"], {"by": "class"}, "cannot be used with --by"),
        ("atlas", "ferplus", ["log"], {"convention": "published"}, "omit --convention published"),
    ],
)
def test_what_cannot_be_compared(study, truth, losses, options, message):
    with pytest.raises(InputError, match=message):
        baselines_for(study, truth, losses, **{"by": None, "convention": "definition", **options})
