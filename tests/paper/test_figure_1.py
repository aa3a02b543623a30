"""Figure 1: at 80 % coverage the five optimal scorers reject different inputs."""

import csv
import functools
import itertools
import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from rue.cli import main
from rue.plots.sandbox import plot_sandbox, plot_sandbox_curves
from rue.sandbox import SANDBOX_LOSSES, SCORERS, run_sandbox
from rue.sandbox.summary import expected_error

DOCS = Path(__file__).parents[2] / "docs"


@functools.cache
def ran(loss="squared", seed=0):
    return run_sandbox(loss=loss, seed=seed)


@pytest.fixture(scope="module")
def called(tmp_path_factory):
    """The files of one run of the command, and what it prints."""
    out = tmp_path_factory.mktemp("sandbox") / "new" / "directory"
    with redirect_stdout(StringIO()) as printed, pytest.raises(SystemExit) as exit_:
        main(["sandbox", "--out", str(out)])
    assert exit_.value.code == 0
    return out, printed.getvalue()


@pytest.fixture
def out(called):
    return called[0]


@pytest.fixture(scope="module")
def table(called):
    with (called[0] / "sandbox.csv").open() as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


@pytest.mark.parametrize("loss", SANDBOX_LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_each_optimal_scorer_wins_its_own_criterion(loss, seed):
    run = ran(loss=loss, seed=seed)
    # Under log loss BALD is the epistemic score, and shares its place.
    regret_optimal = {"epistemic", "bald"} if loss == "log" else {"epistemic"}
    for criterion, optimal in [("aurec", regret_optimal), ("aurc", {"total"})]:
        area = {scorer: run.areas[scorer][criterion] for scorer in SCORERS}
        assert {s for s in SCORERS if area[s] <= min(area.values()) + 1e-12} == optimal
    for criterion, optimal in [("regret", "epistemic"), ("risk", "total")]:
        left = {scorer: run.left[scorer][criterion] for scorer in SCORERS}
        assert left[optimal] <= min(left.values()) + 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_no_two_scorers_reject_the_same_inputs(seed):
    run = ran(seed=seed)
    for a, b in itertools.combinations(SCORERS, 2):
        assert run.overlap[a][b] < 0.6


def test_what_each_scorer_goes_for():
    regions = ran().regions
    assert regions["ood"]["B"] == 1.0
    assert regions["ood"]["A"] == regions["ood"]["C"] == 0.0
    assert max(regions, key=lambda scorer: regions[scorer]["A"]) == "bald"
    assert max(regions, key=lambda scorer: regions[scorer]["C"]) == "total"
    assert min(regions["epistemic"].values()) > 0.1  # regret is everywhere, for three reasons


def test_posterior_optimality_is_not_optimality_under_f_star():
    """The Bayesian disconnect of section 2.1: for some sample another scorer does better."""
    runs = [ran(seed=seed) for seed in range(4)]
    areas = [{s: run.areas[s]["aurec_star"] for s in SCORERS} for run in runs]
    assert any(min(area, key=area.__getitem__) != "epistemic" for area in areas)


def test_csv(table):
    assert list(table) == [
        *("x", "density", "f", "sigma", "total", "aleatoric", "epistemic", "ood", "bald", "eer"),
        *(f"reject_{scorer}" for scorer in SCORERS),
        *("mean", "total_star", "epistemic_star"),
    ]
    run = ran()
    assert (table["epistemic"] == run.hat.epistemic).all()  # every digit is there
    regret = (table["mean"] - table["f"]) ** 2
    np.testing.assert_allclose(table["epistemic_star"], regret, rtol=1e-12)
    np.testing.assert_allclose(table["total_star"], table["sigma"] ** 2 + regret, rtol=1e-12)
    assert (table["eer"] == -expected_error(run.world, run.posterior, "squared")).all()
    np.testing.assert_allclose(table["total"], table["aleatoric"] + table["epistemic"], rtol=1e-14)
    mass = table["density"] / table["density"].sum()
    for scorer in SCORERS:
        rejected = table[f"reject_{scorer}"]
        assert mass @ rejected == pytest.approx(0.2, abs=1e-12)
        assert ((rejected > 0) & (rejected < 1)).sum() <= 1
        assert table[scorer][rejected > 0].min() >= table[scorer][rejected == 0].max()


def test_json_holds_what_the_csv_implies(out, table):
    summary = json.loads((out / "sandbox.json").read_text())
    mass = table["density"] / table["density"].sum()
    for a, b in itertools.product(SCORERS, repeat=2):
        first, second = table[f"reject_{a}"], table[f"reject_{b}"]
        overlap = (mass @ np.minimum(first, second)) / (mass @ np.maximum(first, second))
        assert summary["overlap"][a][b] == pytest.approx(overlap, rel=1e-9)
    for scorer in SCORERS:
        kept = mass * (1 - table[f"reject_{scorer}"])
        assert summary["left"][scorer]["risk"] == pytest.approx(kept @ table["total"])
        regret_star = kept @ table["epistemic_star"]
        assert summary["left"][scorer]["regret_star"] == pytest.approx(regret_star)
    assert (summary["seed"], summary["coverage"], summary["loss"]) == (0, 0.8, "squared")
    assert set(summary["areas"]) == set(SCORERS)


def test_files_are_whole_and_alone(out):
    names = ["sandbox.csv", "sandbox.json", "sandbox.png", "sandbox_curves.png"]
    assert sorted(path.name for path in out.iterdir()) == names
    for name in names[2:]:
        with Image.open(out / name) as image:
            assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
            assert image.width == pytest.approx(7.2 * 300, rel=0.05)


@pytest.mark.parametrize("loss", SANDBOX_LOSSES)
def test_layout(loss):
    run = ran(loss=loss)
    left, top, bottom = plot_sandbox(run).axes
    boxes = [axes.get_position() for axes in (left, top, bottom)]
    assert boxes[0].x1 < boxes[1].x0
    assert boxes[2].y1 < boxes[1].y0
    labels = [label.get_text() for label in bottom.get_yticklabels()]
    assert ("= BALD" in labels[0]) == (loss == "log")
    # what is drawn is what is rejected: the widths of each row's bars
    for bars, scorer in zip(bottom.collections, reversed(SCORERS), strict=True):
        drawn = sum(np.ptp(path.vertices[:, 0]) for path in bars.get_paths())
        assert drawn == pytest.approx((run.rejected[scorer] > 0.5).mean(), abs=1e-12)
    assert len(plot_sandbox_curves(run).axes) == 4


def test_command_prints_json(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["sandbox", "--out", str(tmp_path), "--loss", "log", "--format", "json"])
    printed = capsys.readouterr().out
    assert json.loads(printed) == json.loads((tmp_path / "sandbox.json").read_text())
    assert json.loads(printed)["loss"] == "log"


def test_the_docs_show_what_the_command_prints(called):
    out, printed = called
    assert printed.strip() in (DOCS / "why_not_ood.md").read_text()
    # Seen from afar, so that another font or matplotlib is no other figure.
    for name in ("sandbox.png", "sandbox_curves.png"):
        shown, made = (
            np.asarray(Image.open(path / name).convert("L").resize((72, 48)), dtype=float)
            for path in (DOCS / "figures", out)
        )
        assert np.abs(shown - made).mean() < 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--coverage", "0"], "coverage must lie strictly between 0 and 1, got 0.0"),
        (["--coverage", "1"], "coverage must lie strictly between 0 and 1, got 1.0"),
        (["--coverage", "nan"], "coverage must lie strictly between 0 and 1, got nan"),
        (["--coverage", "most"], "--coverage"),
        (["--seed", "-1"], "seed must be a whole number of at least 0, got -1"),
        (["--seed", "1.5"], "--seed"),
        (["--loss", "cubic"], "cubic"),
        (["--format", "xml"], "xml"),
    ],
)
def test_bad_options_are_one_line_and_exit_code_2(options, message, tmp_path, capsys):
    out = tmp_path / "out"
    with pytest.raises(SystemExit) as exit_:
        main(["sandbox", "--out", str(out), *options])
    assert exit_.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("rue: ")
    assert message in error
    assert error.count("\n") == 1
    assert not out.exists()


def test_out_must_not_be_a_file(tmp_path, capsys):
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(SystemExit) as exit_:
        main(["sandbox", "--out", str(path)])
    assert exit_.value.code == 2
    assert f"--out must be a directory, got the file {path}" in capsys.readouterr().err
    assert path.read_text() == "mine"


@pytest.mark.parametrize("out", ["", " "])
def test_out_must_have_a_name(out, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as exit_:
        main(["sandbox", "--out", out])
    assert exit_.value.code == 2
    error = capsys.readouterr().err
    assert "--out" in error
    assert f"must be a folder, got {out!r}" in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())
