"""Answers grouped by a column of their annotators: rue evaluate --by-annotator."""

import json

import numpy as np
import pandas as pd
import pytest

from rue.cli import main
from rue.errors import FileError
from rue.io.several_truths import read_annotator_groups

CLASSES = ["no", "maybe", "yes"]


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 40)
    answers = [
        {"id": f"p{i}", "label": CLASSES[rng.choice(3, p=p[i])], "annotator": f"a{a}"}
        | {"gender": "f" if a < 3 else "m"}
        for i in range(40)
        for a in range(7)
        if not (i < 4 and a < 3)  # four points without an answer of a woman
    ]
    pd.DataFrame(answers).to_csv(tmp_path / "t.csv", index=False)
    pd.DataFrame(answers).to_parquet(tmp_path / "t.parquet")
    pd.DataFrame(answers[::-1]).to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, answers)))
    draws = np.stack([rng.dirichlet(1 + 8 * row, size=3) for row in p])
    np.savez(tmp_path / "m.npz", probs=draws, ids=[f"p{i}" for i in range(40)], classes=CLASSES)
    return tmp_path


def rows(folder, capsys, truth, *options):
    options = ["--loss", "brier", "--format", "json", *options]
    files = [str(folder / "m.npz"), "--truth", str(folder / truth)]
    with pytest.raises(SystemExit, match="0"):
        main(["evaluate", *files, *options])
    return json.loads(capsys.readouterr().out)


@pytest.mark.filterwarnings("error")
def test_shares_of_groups_have_a_difference_without_a_warning(folder, capsys):
    women, men, difference = rows(folder, capsys, "t.csv", "--by-annotator", "gender", "--shares")
    assert difference["aurec"] == pytest.approx(women["aurec"] - men["aurec"])


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.parquet"])
def test_each_group_is_the_row_of_its_own_answers(folder, capsys, name):
    women, men, difference = rows(folder, capsys, name, "--by-annotator", "gender")
    table = pd.read_csv(folder / "t.csv")
    answered = table.id.isin(table.id[table.gender == "f"])
    for group, row in (("f", women), ("m", men)):
        table[answered & (table.gender == group)].to_csv(folder / "own.csv", index=False)
        (own,) = rows(folder, capsys, "own.csv", "--common")
        assert (row["group"], row["n_points"]) == (group, 36)
        for key in ("risk", "regret", "aurec", "n_aurec", "pareto_gap", "regret_unbiased"):
            assert row[key] == pytest.approx(own[key], abs=1e-12)
    assert difference["group"] == "(f - m)"
    assert difference["risk"] == pytest.approx(women["risk"] - men["risk"], abs=1e-12)
    assert difference["aurec_low"] is None  # a difference of brackets is no bracket
    assert any("4 of 40 points lack answers" in note for note in women["notes"])
    assert any("f 3, m 4" in note for note in women["notes"])


def test_intervals_of_the_difference_are_paired(folder, capsys):
    options = ("--by-annotator", "gender", "--ci", "0.9", "--no-gap", "--replicates", "400")
    women, men, difference = rows(folder, capsys, "t.csv", *options)
    low, high = difference["risk_ci_low"], difference["risk_ci_high"]
    assert low < difference["risk"] < high
    assert difference["notes"][0].endswith("; intervals resample items")
    table = pd.read_csv(folder / "t.csv")
    table.assign(topic=table.id.str[:2]).to_csv(folder / "topics.csv", index=False)
    *_, of_clusters = rows(folder, capsys, "topics.csv", *options, "--cluster", "topic")
    assert of_clusters["notes"][0].endswith("; intervals resample clusters")
    widths = [row["risk_ci_high"] - row["risk_ci_low"] for row in (women, men)]
    assert high - low < np.hypot(*widths)  # what independent groups would have
    # The same answers in both groups differ by nothing in every sample.
    twins = pd.concat([table.assign(gender=g, annotator=table.annotator + g) for g in "fm"])
    twins.to_csv(folder / "twins.csv", index=False)
    *_, difference = rows(folder, capsys, "twins.csv", *options)
    for key in ("risk", "aurec", "n_aurec"):
        assert [difference[key + end] for end in ("", "_ci_low", "_ci_high")] == [0, 0, 0]


def test_answers_without_a_group_and_columns_that_group_nothing(folder, tmp_path):
    table = pd.read_csv(folder / "t.csv")
    table.loc[3, "gender"] = None
    table.to_csv(tmp_path / "gap.csv", index=False)
    groups = read_annotator_groups(tmp_path / "gap.csv", "gender")
    assert any("1 answers without a gender" in note for note in groups.truths["f"].notes)
    assert groups.whole.counts.sum() == len(table)
    table["id"] = table.id + table.gender.fillna("f")
    table.to_csv(tmp_path / "apart.csv", index=False)
    with pytest.raises(FileError, match="no point has answers of all groups of gender"):
        read_annotator_groups(tmp_path / "apart.csv", "gender")
    with pytest.raises(FileError, match="2 to 10 groups of annotators, got 40"):
        read_annotator_groups(folder / "t.csv", "id")
    (tmp_path / "wide.csv").write_text("id,no,yes,gender\na,1,2,f\nb,2,1,m\n")
    with pytest.raises(FileError, match="one row per answer"):
        read_annotator_groups(tmp_path / "wide.csv", "gender")


@pytest.mark.parametrize(
    "options", [["--by", "gender"], ["--multi-label"], ["--resample-annotators", "--ci", "0.9"]]
)
def test_options_that_do_not_go_together(folder, capsys, options):
    files = [str(folder / "m.npz"), "--truth", str(folder / "t.csv")]
    with pytest.raises(SystemExit, match="2"):
        main(["evaluate", *files, "--by-annotator", "gender", *options])
    assert "leave out" in capsys.readouterr().err


def test_by_leads_to_by_annotator(folder, capsys):
    with pytest.raises(SystemExit):
        main(
            ["evaluate", str(folder / "m.npz"), "--truth", str(folder / "t.csv"), "--by", "gender"]
        )
    said = " ".join(capsys.readouterr().err.split())
    assert "--by must be a column of the files, got 'gender'" in said
    assert "--by-annotator groups the answers by a column about annotators" in said
