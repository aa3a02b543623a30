"""rue data list, info and fetch."""

import json

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr("rue.data.files.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.delenv("RUE_DATA", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def data(run):
    """Run ``rue data``; give exit code, stdout and stderr."""

    def call(*arguments):
        result = run("data", *arguments)
        return result.code, result.out, result.err

    return call


def test_list(data):
    code, out, _ = data("list")
    lines = out.splitlines()
    assert code == 0
    header = "name task points classes annotators size here"
    assert " ".join(lines[0].split()) == header
    movies = next(line for line in lines if line.startswith("sentiment-movies"))
    assert " ".join(movies.split()) == ("sentiment-movies text 10,605 9 18.7 2.4 MB no")
    assert next(line for line in lines if line.startswith("random-rbf")).endswith("yes")
    assert all(len(line) <= 80 for line in lines)


def test_list_says_what_is_here(data, tmp_path):
    for path in ("cifar-10-batches-bin/test_batch.bin", "cifar-10h/cifar10h-counts.npy"):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).touch()
    _, out, _ = data("list", "--root", tmp_path)
    line = next(line for line in out.splitlines() if line.startswith("cifar10h "))
    assert line.endswith("partly")
    _, out, _ = data("list", "--root", tmp_path, "--format", "json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert rows["cifar10h"]["here"] is True
    assert rows["letter"]["here"] is False
    assert rows["letter"]["task"] == "tabular"


def test_info_json(data):
    code, out, _ = data("info", "sentiment-movies", "--format", "json")
    assert code == 0
    facts = json.loads(out)
    assert " ".join(facts) == (
        "name n_points n_classes annotators_min annotators_mean annotators_max "
        "ids splits licence citation source checksums"
    )
    assert facts["n_points"] == 10605
    assert facts["ids"] == []  # the data are not here
    assert facts["annotators_mean"] == pytest.approx(18.7468, abs=1e-4)
    assert facts["splits"] == {"train": 6336, "validation": 2124, "test": 2145}


def test_info_table(data):
    code, out, _ = data("info", "letter")
    assert code == 0
    assert "n_points         20000" in out
    assert "annotators_min   -" in out
    assert "ids              -" in out  # the data are not here
    assert "ids              0, 1, ..., " in data("info", "random-rbf")[1]
    assert "splits           train 11875  validation 4027  test 4098" in out
    _, out, _ = data("info", "cifar10h")
    assert "splits           train 50000  validation 0  test 10000" in out
    _, out, _ = data("info", "appa-real")
    assert "checksums        appa-real/appa-real-release.zip -" in out


def test_fetch(data, tmp_path):
    code, out, err = data("fetch", "random-*", "--root", tmp_path)
    assert (code, out, err) == (0, "random-rbf: here\n", "random-rbf: fetching\n")
    assert data("fetch", "random-rbf")[1] == "random-rbf: already here\n"


def test_a_damaged_file_is_not_already_here(data, cache, monkeypatch):
    path = cache / "letter/letter-recognition.data"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff damaged")
    code, _, err = data("info", "letter")
    assert code == 2
    assert f"{path} is not the published file" in err
    assert "delete it and run `rue data fetch letter`" in err

    def fail(**_):
        raise OSError("no route")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)
    code, out, err = data("fetch", "letter")
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        "letter: fetching",
        "rue: OpenML 6 could not be fetched: no route",
    ]


def test_errors_are_one_line_and_exit_code_2(data, tmp_path, monkeypatch):
    for arguments, message in (
        (("info", "nope"), "rue: name must be one of"),
        (("fetch", "nope"), "rue: name must be one of"),
        (("fetch", "openood-tin"), "rue: openood-tin cannot be fetched"),
        (("info", "letter", "--format", "xml"), "rue: Invalid value"),
    ):
        code, out, err = data(*arguments)
        assert (code, out) == (2, "")
        assert message in err.splitlines()[-1]
    monkeypatch.setenv("RUE_DATA", str(tmp_path))
    code, _, err = data("fetch", "letter", "--root", tmp_path)
    assert code == 2
    assert "RUE_DATA, which is only read" in err


@pytest.mark.parametrize("command", ["list", "info", "fetch", "check"])
def test_help_has_an_example(data, command):
    code, out, _ = data(command, "--help")
    assert code == 0
    assert "Example:  rue data" in out


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Write answers with texts into a folder, and work beside it."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "mine"
    folder.mkdir()
    rows = [f"p{n},{who},{'xyz'[n % 3]},text {n % 9}" for n in range(12) for who in "uv"]
    (folder / "answers.csv").write_text("\n".join(("id,annotator,label,text", *rows)))
    return folder


def test_check(data, mine, tmp_path):
    code, out, err = data("check", "mine")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "answers          mine/answers.csv: one row per answer",
        "inputs           text, mine/answers.csv",
        "points           12",
        "answers a point  2 / 2.0 / 2, 2 annotators, 24 in all",
        "classes          3: x 33.3%, y 33.3%, z 33.3%",
        "agreement        1.000 of pairs, alpha 1.000",
        "entropy          0.000 nats on average",
        "Bayes error      0.000",
        "unanimous        100.0% of points",
        "duplicates       3 points with the input of another",
        "splits           train 6  validation 2  test 4 (folds of rue's own, at seed 0)",
        "leaks            0 points with an input of another split",
        "warning: 3 points with the input of another, first p9 and p0",
        'wrote mine.toml: in a suite, datasets = ["mine.toml"]',
    ]
    assert (tmp_path / "mine.toml").read_text().startswith("# Written by `rue data check`.")
    code, out, _ = data("info", "mine.toml")
    assert code == 0
    assert "splits           train 6  validation 2  test 4" in out


def test_check_json(data, mine, tmp_path):
    code, out, _ = data("check", mine, "--out", "sub.toml", "--format", "json")
    facts = json.loads(out)
    assert code == 0
    assert (facts["name"], facts["n_points"], facts["written"]) == ("sub", 12, "sub.toml")
    assert facts["classes"] == {
        "x": pytest.approx(1 / 3),
        "y": pytest.approx(1 / 3),
        "z": pytest.approx(1 / 3),
    }
    assert (tmp_path / "sub.toml").exists()


def test_check_of_numbers(data, mine):
    (mine / "ratings.csv").write_text("id,score\na,1\na,2\n")
    code, out, _ = data("check", "mine/ratings.csv", "--rating", "score")
    assert code == 0
    assert "classes          none: the answers are numbers" in out
    assert "spread           0.500, the mean standard deviation" in out


def test_check_errors_are_one_line_and_exit_code_2(data, mine):
    for arguments, message in (
        (("check", "nope.csv"), "rue: no file or folder nope.csv"),
        (("check", "mine", "--label", "x"), "rue: mine/answers.csv has no column 'x' (--label)"),
        (
            ("check", "mine", "--classes", "x,y"),
            "rue: mine/answers.csv: label 'z' is none of the classes",
        ),
        (("check", "mine", "--out", "a.txt"), "rue: the description must be a .toml file"),
        (("check", "mine", "--name", "a b"), "rue: --name must be letters, digits"),
        (("info", "nope.toml"), "rue: nope.toml: cannot be read: no such file"),
    ):
        code, out, err = data(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith(message)
        assert len(err.splitlines()) == 1


def test_truth_may_be_a_file_of_your_own(data, run, mine, tmp_path):
    import numpy as np

    data("check", "mine")
    ids = [f"p{n}" for n in range(12)]
    probs = np.full((12, 3), 1 / 3)
    np.savez(tmp_path / "flat.npz", probs=probs[:, None], ids=ids, classes=["z", "y", "x"])
    result = run(
        "evaluate", "flat.npz", "--truth", "mine.toml", "--loss", "log", "--format", "json"
    )
    assert result.code == 0, result.err
    assert json.loads(result.out)[0]["n_points"] == 12
