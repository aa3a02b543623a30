"""A row is verified if its numbers are those of its predictions, and not otherwise."""

import shutil

import numpy as np

from rue.io.predictions import read_predictions
from rue.leaderboard import (
    References,
    build_leaderboard,
    find_submissions,
    read_submission,
    verify,
    write_submission,
)
from rue.leaderboard.verification import claim_differs
from rue.metrics.evaluation import evaluate
from submitted import LOSSES, change_row


def check(folder, references=None):
    return verify(read_submission(folder), references)


def test_an_honest_submission_is_verified(submissions):
    references = References()
    for each in find_submissions(submissions):
        verified = verify(each, references)
        assert verified.problem == ""
        assert tuple(verified.rows) == LOSSES
    read = read_predictions(submissions / "method0" / "predictions.npz")
    row = evaluate(read.truth, read, "log")
    assert check(submissions / "method0").rows["log"].n_aurec == row.n_aurec


def test_a_tampered_number_is_not_verified(mine):
    change_row(mine, lambda row: row["rows"][1].update(pareto_gap=0.001))
    verified = check(mine)
    assert "log" not in verified.problems
    found = verified.rows["zero_one"].pareto_gap
    assert verified.problems["zero_one"] == (
        f"claims P-gap 0.001, and its predictions give {found:.6g}"
    )


def test_claims_may_be_rounded_if_they_say_so(mine):
    def rounded(row):
        for each in row["rows"]:
            each |= {k: round(v, 3) for k, v in each.items() if isinstance(v, float)}

    change_row(mine, rounded)
    assert "claims" in check(mine).problem
    change_row(mine, lambda row: row.update(digits=3))
    assert check(mine).problem == ""
    change_row(mine, lambda row: row["rows"][0].update(n_aurec=row["rows"][0]["n_aurec"] + 0.001))
    assert "claims n-AuReC" in check(mine).problem


def test_rounding_by_hand():
    assert not claim_differs(0.5, 0.5, None)
    assert not claim_differs(0.5, 0.5000004, None)  # 8e-7 of it
    assert claim_differs(0.5, 0.500001, None)  # 2e-6 of it
    assert not claim_differs(0.5, 0.50049, 3)
    assert claim_differs(0.5, 0.50051, 3)
    assert not claim_differs(None, np.nan, 3)
    assert claim_differs(None, 0.5, 3)
    assert claim_differs(0.5, np.nan, 3)


def test_corrected_columns_are_verified_if_they_are_claimed(mine):
    read = read_predictions(mine / "predictions.npz")
    row = evaluate(read.truth, read, "log", corrected=True)
    claims = {k: v for k, v in row.to_dict().items() if k.endswith("_corrected")}
    assert sum(value is not None for value in claims.values()) == 5
    change_row(mine, lambda row: row["rows"][0].update(claims))
    assert check(mine).problem == ""
    change_row(mine, lambda row: row["rows"][0].update(n_aurec_corrected=0.1))
    assert check(mine).problem.startswith("claims n-AuReC corr. 0.1, and its predictions give ")


def test_other_predictions_than_stated(submissions):
    mine = submissions / "method0"
    shutil.copy(submissions / "method1" / "predictions.npz", mine / "predictions.npz")
    assert "its checksum is not the one that row.json states" in check(mine).problem
    change_row(mine, lambda row: row.pop("predictions_sha256"))
    assert "claims" in check(mine).problem


def test_missing_predictions(mine):
    submission = read_submission(mine)
    (mine / "predictions.npz").unlink()
    verified = verify(submission)
    assert verified.problem == f"{mine / 'predictions.npz'}: no such file"
    assert set(verified.problems) == set(LOSSES)
    assert not verified.rows


def test_broken_predictions(mine):
    (mine / "predictions.npz").write_bytes(b"PK")
    change_row(mine, lambda row: row.pop("predictions_sha256"))
    assert "cannot be read" in check(mine).problem


def test_a_wrong_data_checksum(mine):
    change_row(mine, lambda row: row.update(data_sha256="0" * 64))
    assert check(mine).problem == (
        "its answers on world do not have the checksum that row.json states"
    )


def test_predictions_that_name_another_method(mine):
    arrays = dict(np.load(mine / "predictions.npz"))
    np.savez(mine / "predictions.npz", **arrays, method="theirs")
    change_row(mine, lambda row: row.pop("predictions_sha256"))
    assert check(mine).problem.endswith("names the method theirs, and row.json method0")


def change_arrays(mine, **changes):
    arrays = dict(np.load(mine / "predictions.npz"))
    out = mine.parent / "changed.npz"
    np.savez(out, **{k: f(arrays[k]) if (f := changes.get(k)) else v for k, v in arrays.items()})
    shutil.rmtree(mine)
    write_submission(out, mine, data="world", losses=LOSSES, method="mine")


def easier(counts):
    """Answers that agree with each other."""
    return np.eye(counts.shape[1], dtype=int)[counts.argmax(axis=1)] * 20


def test_own_answers_do_not_count_where_others_have_answers(submissions):
    references = References()
    assert check(submissions / "method1", references).problem == ""
    change_arrays(submissions / "method0", counts=easier)
    assert check(submissions / "method0").problem == ""  # true to its own answers
    problem = check(submissions / "method0", references).problem
    assert problem.startswith(f"its points or answers are not those of {submissions / 'method1'}")


def test_fewer_points_do_not_count(submissions):
    references = References()
    assert check(submissions / "method1", references).problem == ""
    few = {key: lambda array: array[:10] for key in ("ids", "probs", "counts")}
    change_arrays(submissions / "method0", **few)
    assert (
        "its points or answers are not those of"
        in check(submissions / "method0", references).problem
    )


def test_the_order_of_the_points_does_not_matter(submissions):
    references = References()
    reference = check(submissions / "method0", references)
    back = {key: lambda array: array[::-1] for key in ("ids", "probs", "counts")}
    change_arrays(submissions / "method0", **back)
    again = check(submissions / "method0", references)
    assert again.problem == ""
    assert again.runs["log"].ids.tolist() == reference.runs["log"].ids.tolist()
    np.testing.assert_array_equal(
        again.runs["log"].hat.epistemic, reference.runs["log"].hat.epistemic
    )


def test_the_keeper_s_answers_are_the_ones_that_count(submissions, tmp_path):
    arrays = np.load(submissions / "method0" / "predictions.npz")
    truth = tmp_path / "truth.npz"
    np.savez(truth, counts=arrays["counts"], ids=arrays["ids"])
    references = References({"world": str(truth)})
    assert check(submissions / "method0", references).problem == ""
    np.savez(truth, counts=easier(arrays["counts"]), ids=arrays["ids"])
    references = References({"world": str(truth)})
    assert "do not have the checksum" in check(submissions / "method1", references).problem
    references = References({"world": str(truth)})
    assert "checksum" in check(submissions / "method1", references).problem
    np.savez(truth, counts=arrays["counts"][:5], ids=arrays["ids"][:5])
    assert check(submissions / "method1", References({"world": str(truth)})).problem


def test_the_truth_of_a_data_set_by_name(tmp_path):
    from rue.data import load

    test = load("random-rbf", split="test", seed=3)
    rng = np.random.default_rng(0)
    file = tmp_path / "mine.npz"
    np.savez(file, probs=rng.dirichlet(np.ones(5), (len(test), 2)), ids=test.ids)
    made = write_submission(file, tmp_path / "mine", data="random-rbf", truth="random-rbf", seed=3)
    assert made.truth == "random-rbf"
    assert verify(made).problem == ""
    change_row(tmp_path / "mine", lambda row: row.update(seed=4))
    assert check(tmp_path / "mine").problem
    change_row(tmp_path / "mine", lambda row: row.update(truth="no-such-data"))
    assert "no-such-data" in check(tmp_path / "mine").problem


def test_a_smaller_scale_does_not_count(tmp_path, rng):
    counts = rng.multinomial(8, [0.3, 0.3, 0.4], 20)
    np.savez(tmp_path / "truth.npz", counts=counts)
    references, verified = References(), {}
    scales = {"honest": None, "shifted": [1, 2, 3], "small": [0, 0.001, 0.002]}
    for method, values in scales.items():
        file, folder = tmp_path / f"{method}.npz", tmp_path / "all" / method
        np.savez(file, probs=rng.dirichlet(np.ones(3), (20, 3)), method=method)
        write_submission(
            *(file, folder),
            data="coins",
            losses=["squared"],
            truth=str(tmp_path / "truth.npz"),
            values=values,
        )
        verified[method] = check(folder, references)
    assert not verified["honest"].problem
    assert not verified["shifted"].problem
    assert "its classes stand for other values under squared loss" in verified["small"].problem
    board = build_leaderboard([tmp_path / "all"]).boards[0]
    assert [row.method for row in board.rows if not row.verified] == ["small"]
