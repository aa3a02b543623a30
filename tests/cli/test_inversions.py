"""rue inversions: of a file, of a folder, of the paper; every format."""

import csv
import io
import json
import math

import numpy as np
import pytest

from benchmarked import write_benchmark
from rue import n_aurec, pareto_gap
from rue.bench.cells import Cell
from rue.io.predictions import read_predictions
from rue.io.runs import make_run
from rue.published import read_published
from rue.ranking.inversions import compare_over_seeds, find_inversions
from rue.ranking.scores import read_scores, to_scores

TEXT = """dataset,method,seed,criterion,loss,value
d,a,0,near_ood,,0.9
d,b,0,near_ood,,0.7
d,a,1,near_ood,,0.8
d,b,1,near_ood,,0.9
d,a,0,aurec,log,0.4
d,b,0,aurec,log,0.1
d,a,1,aurec,log,0.3
d,b,1,aurec,log,0.2
d,a,0,aurc,log,0.3
d,b,0,aurc,log,0.2
e,a,0,aurec,log,0.1
e,b,0,aurec,log,0.2
e,a,0,n_aurec,log,0.1
e,b,0,n_aurec,log,0.2
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "scores.csv").write_text(TEXT)
    return tmp_path


def test_json_is_the_library_s_a_data_set_apart(run, folder):
    found = json.loads(run("inversions", folder, "--format", "json").out)
    scores = [score for score in read_scores(folder) if score.criterion != "aurc"]
    p_value = compare_over_seeds(scores)
    assert found == [
        find_inversions((s for s in scores if s.dataset == name), p_value=p_value).to_dict()
        for name in "de"
    ]
    (across,) = json.loads(run("inversions", folder, "--across", "--format", "json").out)
    assert across == find_inversions(scores, p_value=p_value).to_dict()
    (plain, _) = json.loads(run("inversions", folder, "--no-test", "--format", "json").out)
    assert plain == find_inversions(s for s in scores if s.dataset == "d").to_dict()


def test_tables_for_people(run, folder):
    result = run("inversions", folder, "--dataset", "d")
    assert (result.code, result.err) == (0, "")
    lines = [line.split() for line in result.out.splitlines()]
    assert ["1", "↑", "near-OOD", "-", "0.850", "(1)", "0.800", "(2)"] in lines
    assert ["2", "↓", "AuReC", "log", "0.3500", "(2)", "0.1500", "(1)"] in lines
    assert ["2", "AuReC", "log", "-1.00"] in lines
    # Inverted in seed 0 alone of two. Near-OOD differs by .2 and -.1: t = 1/3 with one degree of
    # freedom, p = 1 - 2 atan(1/3) / pi = .795; AuReC has .3 and .1, t = 2 and p = .295.
    expected = "a b near-OOD AuReC log 1.00 1/2 0.795"
    assert expected.split() in lines
    assert "Inversions, all 1" in result.out
    assert "Inversions, all 0" in run("inversions", folder, "--dataset", "e").out
    shorter = run("inversions", folder, "--dataset", "d", "--top", "0").out
    assert shorter.endswith("Inversions, the strongest 0 of 1\n")
    marked = run("inversions", folder, "--dataset", "d", "--format", "markdown").out
    assert "| a | b | near-OOD | 0.050 | AuReC log | 0.2000 | 1.00 | 1/2 | 0.795 |" in marked
    assert "|  | criterion | 1 |\n| --- | --- | ---: |\n| 2 | AuReC log | -1.00 |" in marked
    everything = run("inversions", folder, "--dataset", "d", "--format", "markdown", "--all").out
    assert "|  | criterion | 1 | 2 |\n| --- | --- | ---: | ---: |" in everything


def test_csv_has_the_inversions(run, folder):
    rows = list(csv.DictReader(io.StringIO(run("inversions", folder, "--format", "csv").out)))
    assert len(rows) == 1
    rows[0]["p_value"] = float(rows[0]["p_value"])
    assert rows[0] | {"first_margin": "", "second_margin": ""} == {
        "first_dataset": "d",
        "first_criterion": "near_ood",
        "first_loss": "",
        "second_dataset": "d",
        "second_criterion": "aurec",
        "second_loss": "log",
        "method": "a",
        "rival": "b",
        "first_margin": "",
        "second_margin": "",
        "strength": "1.0",
        "n_seeds": "2",
        "n_inverted": "1",
        "p_value": pytest.approx(1 - 2 * math.atan(1 / 3) / math.pi),
    }


def test_criteria_may_be_chosen(run, folder):
    arguments = ["--criterion", "aurc", "--criterion", "near_ood", "--format", "json"]
    (found,) = json.loads(run("inversions", folder, *arguments).out)
    assert [column["criterion"] for column in found["criteria"]] == ["near_ood", "aurc"]


def test_the_paper_s_tables(run):
    (found,) = json.loads(run("inversions", "--published", "--format", "json").out)
    assert found["methods"] == ["dropout", "evidential", "ensemble", "ddu"]
    sets = dict.fromkeys(column["dataset"] for column in found["criteria"])
    assert set(sets) == {
        *("cifar10h", "appa-real", "dcic", "cifar10", "imagenet", "openml-6", "openml-156")
    }
    arguments = ["--published", "--dataset", "dcic-*", "--format", "json"]
    (found,) = json.loads(run("inversions", *arguments).out)
    assert len({column["dataset"] for column in found["criteria"]}) == 8
    usual = ("aurec", "n_aurec", "pareto_gap", "spearman_hat")
    rows = (row.to_dict() for row in read_published() if row.dataset.startswith("dcic-"))
    scores = [score for score in to_scores(rows) if score.criterion in usual]
    assert found == find_inversions(scores).to_dict()


def test_published_means_have_no_p_values_and_that_is_said(run):
    result = run("inversions", "--published", "--dataset", "cifar10h", "--top", "1")
    assert "no spread over seeds, so inversions have no p-values" in result.out


def test_every_inversion_of_a_run_is_tested(run, tmp_path):
    store = write_benchmark(tmp_path, n_points=20)
    (found,) = json.loads(run("inversions", store.folder, "--format", "json").out)
    sides = [each[side] for each in found["inversions"] for side in ("first", "second")]
    assert {"pareto_gap", "spearman_hat"} <= {side["criterion"] for side in sides}
    assert all(0 < each["p_value"] <= 1 for each in found["inversions"])


def test_one_seed_has_no_test_over_seeds_and_no_inversion(run, folder):
    """Near-OOD of one seed contradicts AuReC, and nothing says whether by chance."""
    lines = TEXT.splitlines()
    (folder / "scores.csv").write_text("\n".join(line for line in lines if ",1," not in line))
    text = run("inversions", folder, "--dataset", "d").out
    assert "Inversions, all 0" in text
    assert "Opposite orders that are not tested, all 1" in text
    row = "a b near-OOD AuReC log 1.00 1/1 one seed: no test over seeds"
    assert row.split() in [line.split() for line in text.splitlines()]
    markdown = run("inversions", folder, "--dataset", "d", "--format", "markdown").out
    assert "| 1/1 | one seed: no test over seeds |" in markdown
    # Two seeds that differ alike say nothing about a third.
    alike = [
        line.replace(",0,", ",1,") for line in lines[1:] if line.startswith("d") and ",0," in line
    ]
    (folder / "scores.csv").write_text(
        "\n".join([line for line in lines if ",1," not in line] + alike)
    )
    assert "the same difference in all seeds" in run("inversions", folder, "--dataset", "d").out
    # Without a test nothing is said about one.
    assert "Inversions, all 1" in run("inversions", folder, "--dataset", "d", "--no-test").out


def test_a_run_of_one_seed_tests_what_points_can_test(run, tmp_path):
    """Proxies of one seed have no p-value; criteria of points have one."""
    store = write_benchmark(tmp_path, n_points=20, n_seeds=1, lead=0.01)
    (found,) = json.loads(run("inversions", store.folder, "--format", "json").out)
    proxies = [
        "auac" in {each[side]["criterion"] for side in ("first", "second")}
        for each in found["inversions"]
    ]
    assert {True, False} == set(proxies)
    assert [each["p_value"] is None for each in found["inversions"]] == proxies
    text = run("inversions", store.folder).out
    assert f"Opposite orders that are not tested, all {sum(proxies)}" in text
    assert text.count("one seed: no test over seeds") == sum(proxies)


def test_the_p_value_of_a_gap_inversion_is_that_of_a_plain_bootstrap(run, tmp_path):
    """The larger of two p-values, each twice the smaller share of samples with either order.

    The library has 200 samples for the gap and 1,000 for n-AuReC, here there are 100.
    """
    store = write_benchmark(tmp_path, n_points=15, n_seeds=1)
    names = ["pareto_gap", "n_aurec"]
    words = [word for name in names for word in ("--criterion", name)]
    (found,) = json.loads(run("inversions", store.folder, *words, "--format", "json").out)
    cells = [Cell("made", "random-rbf", method, 0) for method in found["methods"]]
    predicted = [read_predictions(store.predictions(cell)) for cell in cells]
    losses = ("log", "zero_one")
    runs = {loss: [make_run(each, None, loss) for each in predicted] for loss in losses}
    moved = {(name, loss): [] for name in names for loss in losses}
    rng = np.random.default_rng(0)
    for _ in range(100):
        rows = rng.integers(0, 15, 15)
        for loss in losses:
            parts = [(each.star[rows], each.hat[rows]) for each in runs[loss]]
            a, b = (pareto_gap(*part) for part in parts)
            moved["pareto_gap", loss].append(a - b)
            a, b = (n_aurec(star.epistemic, hat.epistemic) for star, hat in parts)
            moved["n_aurec", loss].append(a - b)
    naive = {}
    for key, each in moved.items():
        each = np.array(each)[np.isfinite(each)]
        below = (each < 0).mean() + (each == 0).mean() / 2
        naive[key] = 2 * min(below, 1 - below)
    tested = 0
    for each in found["inversions"]:
        sides = [(each[side]["criterion"], each[side]["loss"]) for side in ("first", "second")]
        p = max(naive[side] for side in sides)
        error = 2 * np.sqrt(p / 2 * (1 - p / 2) * (1 / 200 + 1 / 100))
        assert each["p_value"] == pytest.approx(p, abs=3 * error)
        tested += any(name == "pareto_gap" for name, _ in sides)
    assert tested


def test_a_file_that_rue_published_printed(run, tmp_path):
    (tmp_path / "p.csv").write_text(run("published", "--table", "1", "--format", "csv").out)
    ours = run("inversions", tmp_path / "p.csv", "--format", "json").out
    assert ours == run("inversions", "--published", "--dataset", "cifar10h", "--format", "json").out


def test_a_file_that_rue_evaluate_printed(run, tmp_path, rng):
    counts = rng.multinomial(9, rng.dirichlet(np.ones(3), 30))
    np.save(tmp_path / "counts.npy", counts)
    half = np.arange(30) % 2
    for name in "ab":
        np.savez(tmp_path / f"{name}.npz", probs=rng.dirichlet(np.ones(3), (30, 4)), half=half)
    files = [tmp_path / "a.npz", tmp_path / "b.npz", "--truth", tmp_path / "counts.npy"]
    rows = run("evaluate", *files, "--by", "half", "--loss", "log", "--format", "csv").out
    (tmp_path / "rows.csv").write_text(rows)
    found = json.loads(run("inversions", tmp_path / "rows.csv", "--format", "json").out)
    assert [each["criteria"][0]["dataset"] for each in found] == ["0", "1"]
    expected = {row["aurec"]: row["method"] for row in csv.DictReader(io.StringIO(rows))}
    for each in found:
        assert (
            [expected[str(value)] for value in each["values"][0]] == each["methods"] == ["a", "b"]
        )


def test_wide_tables_of_tau_are_cut(run):
    lines = run("inversions", "--published", "--all").out.splitlines()
    assert max(map(len, lines)) <= 100
    cut = [line.split() for line in lines if line.startswith("32  r_s hat dcic zero_one")]
    assert len(cut) > 1  # blocks, each with the criteria's names
    assert sum(len(words) - 5 for words in cut) == 32


def test_the_chart_is_drawn(run, folder):
    result = run("inversions", folder, "--plot", folder / "ranks.png")
    assert (result.code, result.err) == (0, "")
    assert (folder / "ranks.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give a folder or --published, got neither"),
        (["scores.csv", "--published"], "give a folder or --published, got both"),
        (["missing"], "missing: no such file"),
        (["scores.csv", "--criterion", "aurek"], "did you mean 'aurec'?"),
        (["scores.csv", "--dataset", "f*"], "--dataset must be one of d, e, got 'f*'"),
        (["scores.csv", "--dataset", "e", "--criterion", "aurc"], "there must be scores of aurc"),
        (["scores.csv", "--plot", "ranks.txt"], "must be .png, .pdf or .svg"),
        (["scores.csv", "--format", "html"], "html"),
    ],
)
def test_broken_calls_are_one_line(run, folder, monkeypatch, arguments, words):
    monkeypatch.chdir(folder)
    result = run("inversions", *arguments)
    assert (result.code, result.out) == (2, "")
    assert len(result.err.splitlines()) == 1
    assert words in result.err
