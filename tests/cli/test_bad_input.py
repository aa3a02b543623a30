"""Broken input on the command line: one line on stderr, exit code 2, no traceback."""

import re
import zipfile

import numpy as np
import pytest

N, K = 4, 3
COUNTS = np.array([[3, 1, 0], [2, 2, 0], [0, 0, 5], [1, 1, 1]])
PROBS = np.full((N, 2, K), 1 / 3)


def npz(**arrays):
    return lambda path: np.savez(path, **arrays)


def npy(array):
    return lambda path: np.save(path, array, allow_pickle=True)


def text(content):
    return lambda path: path.write_text(content)


def raw(content):
    return lambda path: path.write_bytes(content)


def truncated(path):
    np.savez(path, probs=np.full((2000, 2, K), 1 / 3))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def corrupt(path):
    np.savez(path, probs=PROBS)
    whole = bytearray(path.read_bytes())
    whole[150] ^= 0xFF  # inside the array's data: the checksum no longer holds
    path.write_bytes(bytes(whole))


def climbing(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../probs.txt", "not an array")


def changed(index, value):
    probs = PROBS.copy()
    probs[index] = value
    return probs


def counted(index, value):
    counts = COUNTS.astype(float)
    counts[index] = value
    return counts


GOOD = npz(probs=PROBS)
TRUTH = npy(COUNTS)
IDS = np.array(["a", "b", "c", "d"])
NAMED = npz(probs=PROBS, ids=IDS)

# name -> (prediction file, truth file, further arguments, words of the error)
CASES = {
    "no such predictions": ("p.npz", None, "t.npy", TRUTH, [], "no such file"),
    "no such truth": ("p.npz", GOOD, "t.npy", None, [], "no such file"),
    "no truth at all": ("p.npz", GOOD, None, None, [], "a truth is needed; --truth gives it"),
    "empty npz": ("p.npz", raw(b""), "t.npy", TRUTH, [], "cannot be read as .npz"),
    "not a zip": ("p.npz", raw(b"hello" * 50), "t.npy", TRUTH, [], "cannot be read as .npz"),
    "truncated npz": ("p.npz", truncated, "t.npy", TRUTH, [], "cannot be read as .npz"),
    "corrupt npz": ("p.npz", corrupt, "t.npy", TRUTH, [], "cannot be read as .npz"),
    "npz of no arrays": ("p.npz", climbing, "t.npy", TRUTH, [], "one of probs, logits, alpha or sampled_labels"),
    "pickled npz": ("p.npz", npz(probs=np.array([{}, []], object)), "t.npy", TRUTH, [], "pickled"),
    "npy named npz": ("p.npz", raw(b"\x93NUMPY\x01\x00"), "t.npy", TRUTH, [], "npz"),
    "unknown suffix": ("p.pkl", raw(b"x"), "t.npy", TRUTH, [], "must be .npz"),
    "nothing known inside": ("p.npz", npz(x=PROBS), "t.npy", TRUTH, [], "probs, logits, alpha or sampled_labels"),
    "two kinds inside": ("p.npz", npz(probs=PROBS, alpha=PROBS[:, 0]), "t.npy", TRUTH, [], "one of"),
    "NaN": ("p.npz", npz(probs=changed((1, 0, 0), np.nan)), "t.npy", TRUTH, [], "finite.*row 1"),
    "infinite": ("p.npz", npz(probs=changed((2, 0, 0), np.inf)), "t.npy", TRUTH, [], "finite.*row 2"),
    "negative": ("p.npz", npz(probs=changed((3, 1), [-1, 1, 1])), "t.npy", TRUTH, [], "negative"),
    "unnormalised": ("p.npz", npz(probs=PROBS * 2), "t.npy", TRUTH, [], "sum to 1"),
    "one dimension": ("p.npz", npz(probs=np.ones(3) / 3), "t.npy", TRUTH, [], "must have shape"),
    "four dimensions": ("p.npz", npz(probs=PROBS[None]), "t.npy", TRUTH, [], "must have shape"),
    "no draws": ("p.npz", npz(probs=PROBS[:, :0]), "t.npy", TRUTH, [], "at least one entry per axis"),
    "no points": ("p.npz", npz(probs=PROBS[:0]), "t.npy", TRUTH, [], "at least one entry per axis"),
    "one class": ("p.npz", npz(probs=np.ones((N, 2, 1))), "t.npy", TRUTH, [], "2 classes"),
    "text as numbers": ("p.npz", npz(probs=np.full((N, 2, K), "x")), "t.npy", TRUTH, [], "real numbers"),
    "complex": ("p.npz", npz(probs=PROBS + 0j), "t.npy", TRUTH, [], "real numbers"),
    "infinite logits": ("p.npz", npz(logits=changed((0, 0, 0), -np.inf)), "t.npy", TRUTH, [], "logits must be finite"),
    "text as logits": ("p.npz", npz(logits=np.full((N, 2, K), "x")), "t.npy", TRUTH, [], "logits must hold real"),
    "alpha of zero": ("p.npz", npz(alpha=np.zeros((N, K))), "t.npy", TRUTH, [], "alpha must be above 0"),
    "alpha in three dimensions": ("p.npz", npz(alpha=PROBS), "t.npy", TRUTH, [], "alpha must have shape"),
    "score too short": ("p.npz", npz(probs=PROBS, epistemic=[1.0]), "t.npy", TRUTH, [], "4 points"),
    "score NaN": ("p.npz", npz(probs=PROBS, epistemic=[1, 2, 3, np.nan]), "t.npy", TRUTH, [], "epistemic must be finite"),
    "wrong actions": ("p.npz", npz(probs=PROBS, actions=[0, 1, 2, 3]), "t.npy", TRUTH, ["--loss", "zero_one"], "from 0 to 2"),
    "actions of another loss": ("p.npz", npz(probs=PROBS, actions=[0, 1, 2, 0]), "t.npy", TRUTH, [], "distributions of shape"),
    "another number of points": ("p.npz", npz(probs=PROBS[1:]), "t.npy", TRUTH, [], "3 points but"),
    "another number of classes": ("p.npz", npz(probs=np.full((N, 2, 4), 0.25)), "t.npy", TRUTH, [], "has 4 classes but .*has 3"),
    "missing ids": ("p.npz", NAMED, "t.npz", npz(counts=COUNTS, ids=["a", "b", "c", "z"]), [], "lacks 1 of the ids.*'d'"),
    "ids too many": ("p.npz", npz(probs=PROBS[:3], ids=IDS[:3]), "t.npz", npz(counts=COUNTS, ids=IDS), [], "lacks 1 of the ids.*'d'"),
    "duplicate ids": ("p.npz", npz(probs=PROBS, ids=["a", "b", "b", "d"]), "t.npz", npz(counts=COUNTS, ids=IDS), [], "must not repeat, 1 do, first 'b'"),
    "ids of another shape": ("p.npz", npz(probs=PROBS, ids=IDS[:3]), "t.npy", TRUTH, [], "ids must have shape"),
    "empty npy": ("p.npz", GOOD, "t.npy", raw(b""), [], "cannot be read as .npy"),
    "truncated npy": ("p.npz", GOOD, "t.npy", raw(b"\x93NUMPY\x01\x00v\x00{'descr'"), [], "cannot be read as .npy"),
    "pickled npy": ("p.npz", GOOD, "t.npy", npy(np.array([{}, []], object)), [], "pickled"),
    "zero annotators": ("p.npz", GOOD, "t.npy", npy(counted(2, 0)), [], "1 of 4 have none, first row 2"),
    "negative counts": ("p.npz", GOOD, "t.npy", npy(counted((1, 0), -1)), [], "negative.*row 1"),
    "NaN counts": ("p.npz", GOOD, "t.npy", npy(counted((1, 0), np.nan)), [], "finite"),
    "fractional counts": ("p.npz", GOOD, "t.npy", npy(COUNTS + 0.5), [], "sum to 1"),
    "labels, not counts": ("p.npz", GOOD, "t.npy", npy(COUNTS.argmax(1)), [], "counts must have shape"),
    "truth without counts": ("p.npz", GOOD, "t.npz", npz(x=COUNTS), [], "counts, probs or ratings"),
    "truth of another kind": ("p.npz", GOOD, "t.txt", text("1 2 3"), [], "no rows"),
    "empty csv": ("p.npz", GOOD, "t.csv", text(""), [], "is empty"),
    "csv of a header only": ("p.npz", GOOD, "t.csv", text("a,b,c\n"), [], "no rows"),
    "ragged csv": ("p.npz", GOOD, "t.csv", text("1,2,3\n1,2\n"), [], "line 2 has 2 cells"),
    "hole in a csv": ("p.csv", text("id,a,b,c\n1,,0.5,0.5\n"), "t.npy", TRUTH, [], "a has no number at line 2"),
    "csv columns twice": ("p.npz", GOOD, "t.csv", text("a,a,c\n1,2,3\n"), [], "must not repeat"),
    "csv of text": ("p.npz", GOOD, "t.csv", text("a,b\nx,y\n"), [], "column of counts"),
    "csv not UTF-8": ("p.npz", GOOD, "t.csv", raw(b"\xff\xff\x00a"), [], "must be UTF-8"),
    "broken parquet": ("p.npz", GOOD, "t.parquet", raw(b"PAR1 nonsense PAR1"), [], "cannot be read as .parquet"),
    "components lacking": ("p.csv", text("aleatoric,epistemic,risk\n1,1,1\n"), None, None, [], "lacks regret"),
    "components NaN": ("p.csv", text("aleatoric,epistemic,risk,regret\n1,nan,1,1\n"), None, None, [], "epistemic has no number at line 2"),
    "components of two losses": ("p.csv", text("aleatoric,epistemic,risk,regret\n1,1,1,1\n"), None, None, ["--loss", "log", "--loss", "brier"], "one --loss"),
    "regret below 0": ("p.csv", text("aleatoric,epistemic,risk,regret\n1,1,1,-5\n"), None, None, [], "regret must be from 0"),
    "regret above the risk": ("p.csv", text("aleatoric,epistemic,risk,regret\n1,1,1,5\n"), None, None, [], "got 5 of 1 at row 0"),
    "infinite counts": ("p.npz", GOOD, "t.npy", npy(counted((1, 0), np.inf)), [], "finite"),
    "huge counts": ("p.npz", GOOD, "t.npy", npy(COUNTS * 1e300), [], "below 2"),
    "values too far apart": ("p.npz", GOOD, "t.npy", TRUTH, ["--loss", "squared", "--values", "1e200,2e200,3e200"], "values must span"),
    "costs without cost": ("p.npz", GOOD, "t.npy", TRUTH, ["--cost", "c.npy"], "--loss cost"),
    "a folder": ("p.npz", lambda path: path.mkdir(), "t.npy", TRUTH, [], "cannot be read"),
    "a header that lies": ("p.npz", GOOD, "t.npy", raw(b"\x93NUMPY\x01\x00v\x00{'descr': (" + b" " * 107 + b"\n"), [], "cannot be read as .npy"),
    "fractional ids": ("p.npz", npz(probs=PROBS, ids=[0.5, 1, 2, 3]), "t.npy", TRUTH, [], "ids must be text or a whole"),
    "group with a hole": ("p.npz", npz(probs=PROBS, g=[1, 2, np.nan, 1]), "t.npy", TRUTH, ["--by", "g"], "missing value at row 2"),
    "negative seed": ("p.npz", GOOD, "t.npy", TRUTH, ["--seed", "-1"], "seed"),
    "unknown loss": ("p.npz", GOOD, "t.npy", TRUTH, ["--loss", "hinge"], "loss must be one of"),
    "cost without costs": ("p.npz", GOOD, "t.npy", TRUTH, ["--loss", "cost"], "--cost FILE"),
    "values that do not increase": ("p.npz", GOOD, "t.npy", TRUTH, ["--loss", "squared", "--values", "0,0,1"], "must increase"),
    "too few values": ("p.npz", GOOD, "t.npy", TRUTH, ["--loss", "squared", "--values", "0,1"], "one number per class"),
    "values that are no numbers": ("p.npz", GOOD, "t.npy", TRUTH, ["--loss", "squared", "--values=a,b,c"], "--values must be numbers"),
    "values that differ": ("p.npz", npz(probs=PROBS, values=[0, 1, 2]), "t.npz", npz(counts=COUNTS, values=[0, 1, 3]), ["--loss", "squared"], "values must be the same for truth and belief, got 0, 1, 3 and 0, 1, 2"),
    "unknown column": ("p.npz", GOOD, "t.npy", TRUTH, ["--by", "site"], "--by must be a column"),
    "a level above 1": ("p.npz", GOOD, "t.npy", TRUTH, ["--ci", "95"], "--ci must be between 0 and 1"),
    "people without intervals": ("p.npz", GOOD, "t.npy", TRUTH, ["--resample-annotators"], "--resample-annotators needs --ci"),
    "people of known probabilities": ("p.npz", GOOD, "t.npy", npy(PROBS[:, 0]), ["--ci", "0.9", "--resample-annotators"], "p\\* is known"),
    "people of components": ("p.csv", text("aleatoric,epistemic,risk,regret\n1,1,1,1\n"), None, None, ["--ci", "0.9", "--resample-annotators"], "holds components"),
    "unknown format": ("p.npz", GOOD, "t.npy", TRUTH, ["--format", "xml"], "xml"),
    "unknown option": ("p.npz", GOOD, "t.npy", TRUTH, ["--fast"], "--fast"),
    "figure of another kind": ("p.npz", GOOD, "t.npy", TRUTH, ["--plot", "x.bmp"], "must be .png"),
    "figure into nowhere": ("p.npz", GOOD, "t.npy", TRUTH, ["--plot", "no/such/place/x.png"], "cannot be written"),
}  # fmt: skip


def contents(folder):
    return {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("flips", range(40))
def test_flipped_bytes_never_raise_anything_else(flips, tmp_path, run):
    rng = np.random.default_rng(flips)
    for name, make in (("p.npz", GOOD), ("t.npy", TRUTH)):
        make(tmp_path / name)
        whole = bytearray((tmp_path / name).read_bytes())
        for place in rng.integers(0, len(whole), 3):
            whole[place] ^= 1 << rng.integers(0, 8)
        (tmp_path / name).write_bytes(bytes(whole))
        result = run("evaluate", tmp_path / "p.npz", "--truth", tmp_path / "t.npy", "--no-gap")
        assert result.code in (0, 2)
        assert len(result.err.strip().splitlines()) == (result.code == 2)
        make(tmp_path / name)


@pytest.mark.parametrize("name", CASES)
def test_one_line_and_exit_code_2(name, tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file, make, truth, make_truth, arguments, words = CASES[name]
    if make:
        make(tmp_path / file)
    if make_truth:
        make_truth(tmp_path / truth)
    told = ["--truth", tmp_path / truth] if truth else []
    before = contents(tmp_path)
    result = run("evaluate", tmp_path / file, *told, "--no-gap", *arguments)
    assert result.code == 2, result
    assert result.out == ""
    lines = result.err.strip().splitlines()
    assert len(lines) == 1, result.err
    assert lines[0].startswith("rue: ")
    assert "Traceback" not in result.err
    assert re.search(words, lines[0]), lines[0]
    assert contents(tmp_path) == before  # loses nothing


def test_at_least_forty_kinds():
    assert len(CASES) >= 40


@pytest.mark.parametrize("arguments", [["evaluate"], ["no-such-command"], ["evaluate", "--loss"]])
def test_broken_calls(run, arguments):
    result = run(*arguments)
    assert result.code == 2
    assert len(result.err.strip().splitlines()) == 1
