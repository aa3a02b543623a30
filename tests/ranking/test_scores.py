"""Scores from rows and files; what is no score is refused or left out."""

import math

import pytest

from rue.errors import FileError, InputError
from rue.metrics.columns import EVALUATED
from rue.published import Published, read_published
from rue.ranking.scores import CRITERIA, Score, find_criterion, read_scores, to_scores


def test_every_criterion_is_a_column_of_ours():
    # The paper has no accuracy against annotators' answers.
    known = {*EVALUATED, *Published.__annotations__, "auac"}
    assert set(CRITERIA) <= known
    # Of the paper's numbers only the summary's count and the truth's own correlation are none.
    numbers = list(Published.__annotations__)[4:]
    assert set(numbers) - set(CRITERIA) == {"best", "spearman_star"}


def test_rows_become_scores():
    rows = [
        {"dataset": "d", "method": "m", "loss": "log", "seed": 3, "aurec": 0.1, "n_points": 7},
        {"method": "m", "near_ood": "0.5", "aurec": None, "n_aurec": math.nan, "auac": ""},
    ]
    assert to_scores(rows) == [
        Score("d", "m", 3, "aurec", "log", 0.1),
        Score("", "m", None, "near_ood", "", 0.5),
    ]


def test_the_paper_s_tables_become_scores():
    scores = to_scores(row.to_dict() for row in read_published())
    # 640 cells without best (8) and spearman_star (8 rows in each of 11 tables).
    assert len(scores) == 640 - 8 - 88
    assert Score("cifar10", "ddu", None, "far_ood", "", 0.935) in scores


LONG = "dataset,method,seed,criterion,loss,value\n"


def test_files_long_and_wide(tmp_path):
    expected = [Score("d", "m", 0, "aurec", "log", 0.25), Score("d", "m", None, "auac", "", 0.5)]
    (tmp_path / "scores.csv").write_text(
        LONG + "d,m,0,aurec,log,0.25\nd,m,,auac,,0.5\nd,m,1,auac,,\n"
    )
    assert read_scores(tmp_path) == read_scores(tmp_path / "scores.csv") == expected
    wide = tmp_path / "wide.csv"
    wide.write_text("\ufeffmethod,dataset,loss,aurec,auac,seed\nm,d,log,0.25,,0\nm,d,,,0.5,\n")
    assert read_scores(wide) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "no such file"),
        ("", "is empty"),
        ("a,b\n1,2\n", "must have the columns method, got a, b"),
        ("method,loss\nm,log\n", "must have the columns criterion, value"),
        ("criterion,value\naurec,1\n", "must have the columns dataset, method, seed, loss"),
        (LONG + "d,m,0,aurec,log,high\n", "value must be a number, got 'high' at row 0"),
        (LONG + "d,m,x,aurec,log,1\n", "seed must be a whole number, got 'x' at row 0"),
        ("method,aurec\nm,1\n,2\n", "every row must have a method, row 1 has none"),
        ("method,aurec\nm,1\nm,?\n", "aurec must be a number, got '?' at row 1"),
        (b"\xff\xfe", "is empty"),
    ],
)
def test_broken_files_are_refused(tmp_path, text, words):
    file = tmp_path / "scores.csv"
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FileError) as error:
        read_scores(tmp_path)
    assert words in str(error.value)
    assert str(file) in str(error.value)


def test_an_unknown_criterion_gives_the_nearest():
    assert find_criterion("aurec").better == "low"
    with pytest.raises(InputError, match=r"got 'near-ood': did you mean 'near_ood'\?"):
        find_criterion("near-ood")


def test_rows_of_two_conventions_are_not_ranked_together():
    rows = [
        {"method": "a", "loss": "log", "aurec": 0.1, "convention": "definition"},
        {"method": "b", "loss": "log", "aurec": 0.2, "convention": "published"},
    ]
    with pytest.raises(InputError, match="row 0 has definition and row 1 published"):
        to_scores(rows)


def test_scores_are_read_from_any_table(tmp_path):
    (tmp_path / "scores.tsv").write_text("method\tloss\taurec\nddu\tlog\t0.25\n")
    (score,) = read_scores(tmp_path / "scores.tsv")
    assert (score.method, score.loss, score.criterion, score.value) == ("ddu", "log", "aurec", 0.25)
