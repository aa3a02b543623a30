"""rue recalibrate fit, apply and show: maps fitted, saved, applied and printed."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rue import Annotations, Brier, Draws, Run, fit_recalibration, recalibrate, regret_calibration
from rue.deploy import RecalibrationMap
from rue.errors import FileError
from rue.io import read_run, save_components
from rue.metrics.recalibration import gap_after_recalibration

N, K = 500, 3


def made(rng, n):
    """Draws that are far too close to each other: regret in the right order, too large."""
    probs = rng.dirichlet(np.ones(K) / 2, n)
    noise = rng.dirichlet(np.ones(K), n)[:, None]
    small = rng.dirichlet(np.ones(K), (n, 4))
    mix = rng.beta(1, 2, n)[:, None, None]
    draws = (1 - mix) * probs[:, None] + mix * (0.9 * noise + 0.1 * small)
    return rng.multinomial(40, probs), draws


@pytest.fixture
def world(tmp_path, rng):
    """cal.npz with its answers in another order in truth.npz, and new.npz with answers."""
    counts, draws = made(rng, N)
    ids = np.array([f"p{i}" for i in range(N)])
    np.savez(tmp_path / "cal.npz", probs=draws, ids=ids, method="ensemble")
    turned = rng.permutation(N)
    np.savez(tmp_path / "truth.npz", counts=counts[turned], ids=ids[turned])
    new_counts, new_draws = made(rng, N)
    np.savez(tmp_path / "new.npz", probs=new_draws, ids=ids, counts=new_counts, method="ensemble")
    np.savez(tmp_path / "bare.npz", probs=new_draws, ids=ids, method="ensemble")
    return tmp_path, (counts, draws), (new_counts, new_draws)


def fit(folder, run, *more):
    options = ["--truth", folder / "truth.npz", "--out", folder / "map.json", *more]
    return run("recalibrate", "fit", folder / "cal.npz", *options)


@pytest.mark.parametrize("loss", ["log", "brier", "zero_one"])
def test_a_map_is_the_library_s(world, run, loss):
    folder, (counts, draws), (_, new_draws) = world
    result = fit(folder, run, "--loss", loss, "--format", "json")
    assert result.code == 0, result.err
    found = json.loads(result.out)["map"]
    cal = Run.from_belief(Annotations(counts), Draws(draws), loss)
    regret, estimate = cal.star.epistemic, cal.hat.epistemic
    wanted = fit_recalibration(regret, estimate)
    assert found["epistemic"] == wanted.epistemic.tolist()
    assert found["regret"] == wanted.regret.tolist()
    measured = found["calibration"]
    assert measured["gap_before"] == pytest.approx(regret_calibration(regret, estimate).gap)
    assert measured["gap_after"] == pytest.approx(gap_after_recalibration(regret, estimate))
    assert measured["mean_recalibrated"] == pytest.approx(recalibrate(regret, estimate).mean())
    assert measured["gap_after"] < measured["gap_before"]
    assert (measured["n_points"], measured["mean_regret"]) == (N, pytest.approx(regret.mean()))
    assert json.loads((folder / "map.json").read_text()) == found
    # Applied to points without answers: the same bits.
    out = folder / "after.csv"
    apply = ["recalibrate", "apply", folder / "bare.npz", "--map", folder / "map.json"]
    assert run(*apply, "--out", out).code == 0
    table = np.genfromtxt(out, delimiter=",", names=True, dtype=None, encoding="utf-8")
    hat = Run.from_belief(Annotations(counts), Draws(new_draws), loss).hat
    np.testing.assert_array_equal(table["epistemic"], wanted.apply(hat.epistemic))
    np.testing.assert_array_equal(table["epistemic_before"], hat.epistemic)
    np.testing.assert_array_equal(table["aleatoric"], hat.aleatoric)
    assert table["id"].tolist() == [f"p{i}" for i in range(N)]
    assert set(table["loss"]) == {loss}


def test_the_points_of_the_map_are_noticed(world, run):
    folder, *_ = world
    assert fit(folder, run).code == 0
    options = ["--map", folder / "map.json", "--out", folder / "after.csv"]
    truth = ["--truth", folder / "truth.npz"]
    own = run("recalibrate", "apply", folder / "cal.npz", *truth, *options)
    assert own.code == 0
    assert "the map was fitted on these points" in own.out
    other = run("recalibrate", "apply", folder / "new.npz", *options)
    assert other.code == 0
    assert "fitted on these points" not in other.out


def test_a_table_without_answers_says_what_to_do(world, run):
    folder, *_ = world
    assert fit(folder, run).code == 0
    table = folder / "after.csv"
    apply = ["recalibrate", "apply", folder / "bare.npz", "--map", folder / "map.json"]
    assert run(*apply, "--out", table).code == 0
    for more in ([], ["--truth", folder / "truth.npz"]):
        refused = run("evaluate", table, *more)
        assert refused.code == 2
        assert "without risk and regret, which cannot be computed from them" in refused.err
        assert "rue recalibrate apply --truth FILE" in refused.err
        assert len(refused.err.splitlines()) == 1
    assert run(*apply, "--out", table, "--truth", folder / "truth.npz").code == 0
    assert run("evaluate", table, "--no-gap").code == 0


def test_budgets_read_off_the_recalibrated_score_hold_on_fresh_points(world, run):
    """The mean score of accepted points is their mean regret, within three standard errors.

    The error is that of the fresh points and that of the calibration points, which are as many.
    """
    folder, *_ = world
    assert fit(folder, run).code == 0
    out = folder / "after.parquet"
    apply = ["recalibrate", "apply", folder / "new.npz", "--map", folder / "map.json"]
    assert run(*apply, "--out", out).code == 0
    after = read_run(out, None, "log")
    regret, score = after.star.epistemic, after.hat.epistemic
    before = after.groups["epistemic_before"]
    for limit in np.quantile(score, [0.3, 0.6, 1.0]):
        accepted = score <= limit
        error = regret[accepted].std() * (2 / accepted.sum()) ** 0.5
        assert abs(score[accepted].mean() - regret[accepted].mean()) < 3 * error
        assert abs(before[accepted].mean() - regret[accepted].mean()) > 6 * error


def test_tables_say_what_was_fitted_and_what_is_attained(world, run):
    folder, *_ = world
    text = fit(folder, run).out
    assert "ensemble · log loss · fitted on 500 points" in text
    assert "after is on points left out: the mean by 5 folds, the gap by halves, seed 0" in text
    shown = run("recalibrate", "show", folder / "map.json").out
    assert "ensemble · log loss · fitted on 500 points" in shown
    known = RecalibrationMap.load(folder / "map.json")
    assert len(shown.splitlines()) == len(text.splitlines()) + len(known.fitted.regret) + 2
    apply = ["recalibrate", "apply", folder / "new.npz", "--map", folder / "map.json"]
    result = run(*apply, "--out", folder / "after.csv", "--format", "json")
    found = json.loads(result.out)["new"]
    after = read_run(folder / "after.csv", None, "log")
    gap = regret_calibration(after.star.epistemic, after.hat.epistemic).gap
    assert found["gap"][1] == gap < found["gap"][0]
    assert f"{gap:.4g}" in run(*apply, "--out", folder / "after.csv").out


def test_a_score_without_a_unit_gets_one(world, run):
    folder, (counts, draws), _ = world
    score = 1000 * draws.std(axis=1).sum(axis=1)
    np.savez(folder / "cal.npz", probs=draws.mean(axis=1), epistemic=score, counts=counts)
    options = ["--out", folder / "map.json", "--format", "json"]
    result = run("recalibrate", "fit", folder / "cal.npz", *options)
    assert result.code == 0, result.err
    found = json.loads(result.out)["map"]["calibration"]
    assert found["gap_before"] is None
    assert found["gap_after"] < 0.1
    assert " -  " in run("recalibrate", "show", folder / "map.json").out
    apply = ["--map", folder / "map.json", "--out", folder / "after.csv"]
    assert run("recalibrate", "apply", folder / "cal.npz", *apply).code == 0
    assert not read_run(folder / "after.csv", None, "log").hat.outside_score


def test_nothing_is_gained_on_calibrated_estimates(tmp_path, run):
    """Estimates that are the regret, exact in binary: the gap is 0 before and after."""
    rows = [f"0.5,{e},1,{e}" for e in (0.125, 0.25, 0.5) for _ in range(64)]
    (tmp_path / "cal.csv").write_text("\n".join(["aleatoric,epistemic,risk,regret", *rows]))
    found = run("recalibrate", "fit", tmp_path / "cal.csv", "--out", tmp_path / "map.json")
    assert found.code == 1
    why = "The map does not help on new points: the gap does not fall (0 before, 0 after)"
    assert why in found.out
    as_json = ["--out", tmp_path / "map.json", "--format", "json"]
    notes = json.loads(run("recalibrate", "fit", tmp_path / "cal.csv", *as_json).out)["notes"]
    assert any(why in note for note in notes)
    known = RecalibrationMap.load(tmp_path / "map.json")
    assert known.gap_before == known.gap_after == 0
    assert known.fitted.regret.tolist() == [0.125, 0.25, 0.5]


def test_the_order_of_the_rows_does_not_matter(tmp_path, run, rng):
    """A few tied points of coarse regret, whose folds would otherwise decide the exit code."""
    counts, draws = made(rng, 60)
    found = set()
    for turn in (np.arange(60), rng.permutation(60), rng.permutation(60)):
        np.savez(tmp_path / "cal.npz", probs=draws[turn], counts=counts[turn])
        options = ["--loss", "zero_one", "--out", tmp_path / "map.json"]
        result = run("recalibrate", "fit", tmp_path / "cal.npz", *options)
        found.add((result.code, (tmp_path / "map.json").read_bytes()))
    assert len(found) == 1


def test_clusters_are_kept_whole(world, run, monkeypatch):
    folder, (counts, draws), _ = world
    monkeypatch.chdir(folder)
    patient = np.repeat(np.arange(N // 5), 5)
    np.savez("cal.npz", probs=draws, counts=counts, patient=patient)
    found = run("recalibrate", "fit", "cal.npz", "--cluster", "patient", "--out", "map.json")
    assert found.code == 0, found.err
    assert "fitted on 500 points in 100 clusters" in found.out
    cal = Run.from_belief(Annotations(counts), Draws(draws), "log")
    after = recalibrate(cal.star.epistemic, cal.hat.epistemic, cluster=patient)
    known = RecalibrationMap.load("map.json")
    assert known.n_clusters == 100
    assert known.mean_recalibrated == pytest.approx(after.mean())
    shown = run("recalibrate", "show", "map.json")
    assert "fitted on 500 points in 100 clusters" in shown.out
    refused = run("recalibrate", "fit", "cal.npz", "--cluster", "town", "--out", "map.json")
    assert refused.code == 2
    assert (
        "cluster must be a column of the points, got 'town'; there are class, patient"
        in refused.err
    )


def test_estimates_beyond_the_calibration_points_are_reported(world, run):
    folder, _, (counts, draws) = world
    assert fit(folder, run).code == 0
    draws = draws.copy()
    draws[:2, 0], draws[:2, 1:] = [1, 0, 0], [0, 0, 1]
    np.savez(folder / "far.npz", probs=draws[:2], counts=counts[:2])
    out = ["--map", folder / "map.json", "--out", folder / "after.csv"]
    text = run("recalibrate", "apply", folder / "far.npz", *out).out
    assert "2 of 2 estimates are outside the range that the map was fitted on" in text


def spoil(folder, **changes):
    known = json.loads((folder / "map.json").read_text())
    for name, value in changes.items():
        part = known["calibration"] if name in known["calibration"] else known
        part[name] = value
    (folder / "map.json").write_text(json.dumps(known))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"format": "rue rule 2"}, "format must be rue recalibration 1, got 'rue rule 2'"),
        ({"epistemic": [0.0, 1.0]}, "regret must have as many numbers as epistemic"),
        (
            {"epistemic": [1.0, 0.0], "regret": [0.0, 1.0]},
            "epistemic must rise, got less at knot 1",
        ),
        ({"epistemic": [0.0, 1.0], "regret": [1.0, 0.5]}, "regret must rise, got less at knot 1"),
        ({"regret": []}, "regret must have as many numbers"),
        ({"regret": ["a"]}, "regret[0] must be a finite number, got 'a'"),
        ({"n_points": 1.5}, "n_points must be a whole number of at least 2, got 1.5"),
        ({"gap_after": None}, "gap_after must be a finite number, got None"),
        ({"made_for": 3}, "made_for must be an object, got 3"),
        ({"made_for": {"loss": 3}}, "loss must be text or null, got 3"),
        ({"made_for": {"loss": "hinge"}}, "loss must be one of log, brier, zero_one, squared"),
        ({"made_for": {"loss": "pinball:2"}}, "pinball loss must be between 0 and 1, got 2.0"),
        ({"made_for": {"los": "log"}}, "made_for.los is no known field"),
        ({"made_for": {"n_draws": "4"}}, "n_draws must be a whole number or null, got '4'"),
        ({"made_for": {"range": [1]}}, "range must be 2 values, got [1]"),
        ({"made_for": {"classes": ["a", "a"]}}, "classes must have different names, got a, a"),
        (
            {"made_for": {"classes": ["a", "b"], "n_classes": 3}},
            "classes must name the 3 classes, got 2 names",
        ),
        ({"folds": 501}, "folds must be at most 500 (points), got 501"),
        ({"calibration": {}}, "the field calibration.n_points is missing"),
    ],
)
def test_a_spoilt_map_is_one_line(world, run, changes, why):
    folder, *_ = world
    assert fit(folder, run).code == 0
    spoil(folder, **changes)
    result = run("recalibrate", "show", folder / "map.json")
    assert result.code == 2
    assert why in result.err
    assert len(result.err.splitlines()) == 1


def test_a_map_of_a_loss_from_elsewhere_loads_where_the_loss_is(world, run):
    folder, *_ = world
    assert fit(folder, run).code == 0
    for name in ("cost", "crps", "pinball:0.25"):
        spoil(folder, made_for={"loss": name})
        assert RecalibrationMap.load(folder / "map.json").kind.loss == name
    spoil(folder, made_for={"loss": "half_brier"})
    with pytest.raises(FileError, match="got 'half_brier'"):
        RecalibrationMap.load(folder / "map.json")

    class HalfBrier(Brier):
        name = "half_brier"

    assert RecalibrationMap.load(folder / "map.json").kind.loss == HalfBrier.name


def test_other_points_are_refused(world, run):
    folder, (_, draws), _ = world
    assert fit(folder, run, "--loss", "brier").code == 0
    out = ["--map", folder / "map.json", "--out", folder / "after.csv"]
    np.savez(folder / "few.npz", probs=draws[:, :2])
    np.savez(folder / "other.npz", probs=draws, method="ddu")
    np.savez(folder / "wide.npz", probs=np.full((4, 4, 5), 0.2))
    for name, why in {
        "few": "the number of draws per point is 4 in the map and 2 in",
        "other": "the method is ensemble in the map and ddu in",
        "wide": "the number of classes is 3 in the map and 5 in",
    }.items():
        result = run("recalibrate", "apply", folder / f"{name}.npz", *out)
        assert result.code == 2
        assert "the map is made for something else" in result.err
        assert why in result.err
        assert not (folder / "after.csv").exists()


def test_a_map_of_another_loss_is_refused(world, run):
    """A table of components says of which loss they are."""
    folder, *_ = world
    assert fit(folder, run, "--loss", "log").code == 0
    table = folder / "log.csv"
    apply = ["recalibrate", "apply", folder / "new.npz", "--map", folder / "map.json"]
    assert run(*apply, "--out", table).code == 0
    out = ["--out", folder / "other.json"]
    assert run("recalibrate", "fit", table, "--loss", "brier", *out).code == 2
    refused = run("recalibrate", "fit", table, "--loss", "brier", *out)
    assert "holds components of log loss, got brier; --loss log is the right one" in refused.err
    assert run("recalibrate", "fit", table, "--loss", "log", *out).code in (0, 1)
    text = table.read_text().replace(",log,", ",brier,")
    (folder / "brier.csv").write_text(text)
    options = ["--map", folder / "other.json", "--out", folder / "after.csv"]
    refused = run("recalibrate", "apply", folder / "brier.csv", *options)
    assert refused.code == 2
    assert "the loss is log in the map and brier in" in refused.err


def test_a_map_of_components_keeps_the_method(world, run):
    """The table of a method says its name, or the command line does."""
    folder, (counts, draws), _ = world
    table, other = folder / "table.csv", folder / "other.csv"
    cal = Run.from_belief(Annotations(counts), Draws(draws), "log", method="ensemble")
    save_components(table, cal)
    out = ["--map", folder / "map.json", "--out", folder / "after.csv"]
    for method in (table, f"ensemble={table}"):
        assert run("recalibrate", "fit", method, "--out", folder / "map.json").code == 0
        assert RecalibrationMap.load(folder / "map.json").kind.method == "ensemble"
        applied = run("recalibrate", "apply", table, *out)
        assert applied.code == 0
        assert "ensemble · 500 new points" in applied.out
        other.write_text(table.read_text().replace(",ensemble", ",ddu"))
        refused = run("recalibrate", "apply", other, *out)
        assert refused.code == 2
        assert "the method is ensemble in the map and ddu in" in refused.err
    other.write_text(table.read_text().replace(",ensemble", ",").replace(",method", ",note"))
    assert run("recalibrate", "apply", other, *out).code == 0
    assert run("recalibrate", "fit", other, "--out", folder / "map.json").code == 0
    assert RecalibrationMap.load(folder / "map.json").kind.method is None


def test_a_truth_beside_components_is_reported_or_refused(world, run, monkeypatch):
    """Components have risk and regret of their own; a truth of other points is a mistake."""
    folder, (counts, draws), _ = world
    monkeypatch.chdir(folder)
    ids = np.array([f"p{i}" for i in range(N)])
    cal = Run.from_belief(Annotations(counts), Draws(draws), "log")
    save_components("table.csv", replace(cal, ids=ids))
    np.savez("elsewhere.npz", counts=counts, ids=np.char.add("x", ids))
    for command in (["recalibrate", "fit", "--out", "m.json"], ["rule", "fit", "--risk-max", "1"]):
        noted = run(*command, "table.csv", "--truth", "truth.npz")
        assert noted.code == 0
        assert "note: risk and regret are those that table.csv holds" in noted.out
        refused = run(*command, "table.csv", "--truth", "elsewhere.npz")
        assert refused.code == 2
        assert "table.csv: holds components of points that elsewhere.npz does not" in refused.err


def test_huge_estimates_are_one_line(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    header = "id,aleatoric,epistemic,risk,regret\n"
    Path("huge.csv").write_text(header + "1,0.1,1e308,0.3,0.1\n2,0.1,1.2e308,0.4,0.2\n")
    Path("cal.csv").write_text(header + "1,0.1,0.1,0.3,0.1\n2,0.1,0.3,0.4,0.2\n")
    refused = run("recalibrate", "fit", "huge.csv", "--out", "map.json", "--folds", "2")
    assert refused.code == 2
    assert "estimates and regret must have finite sums, got 1.2e+308" in refused.err
    fit = run("recalibrate", "fit", "cal.csv", "--out", "map.json", "--folds", "2")
    assert fit.code in (0, 1)
    options = ["--map", "map.json", "--out", "after.csv", "--format", "json"]
    refused = run("recalibrate", "apply", "huge.csv", *options)
    assert refused.code == 2
    assert "must have finite sums" in refused.err


def test_files_that_are_read_are_not_written_over(world, run, monkeypatch):
    folder, *_ = world
    monkeypatch.chdir(folder)
    assert run("recalibrate", "fit", "new.npz", "--out", "map.json").code == 0
    assert run("rule", "fit", "new.npz", "--risk-max", "1", "--save", "rule.json").code == 0
    apply = ["recalibrate", "apply", "--map", "map.json"]
    assert run(*apply, "new.npz", "--out", "after.csv").code == 0
    for command in (
        ["recalibrate", "fit", "new.npz", "--out", "new.npz"],
        ["recalibrate", "fit", "cal.npz", "--truth", "truth.npz", "--out", "truth.npz"],
        [*apply, "after.csv", "--out", "after.csv"],
        ["rule", "fit", "new.npz", "--risk-max", "1", "--save", "new.npz"],
        ["rule", "apply", "rule.json", "new.npz", "--out", "rule.json"],
    ):
        before = Path(command[-1]).read_bytes()
        refused = run(*command)
        assert refused.code == 2
        assert "must be another file than those that are read, got" in refused.err
        assert Path(command[-1]).read_bytes() == before


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["fit", "cal.npz", "--out", "map.json"], "a truth is needed; --truth gives it"),
        (["fit", "cal.npz", "--truth", "truth.npz"], "Missing option '--out'"),
        (["fit", "no.npz", "--out", "map.json"], "no.npz: no such file"),
        (["fit", "cal.npz", "--truth", "truth.npz", "--out", "no/map.json"], "no/map.json: cannot"),
        (
            ["fit", "cal.npz", "--truth", "truth.npz", "--out", "m.json", "--folds", "501"],
            "folds must be a whole number from 2 to the 500 points, got 501",
        ),
        (["apply", "new.npz", "--map", "no.json", "--out", "a.csv"], "no.json: cannot be read"),
        (["apply", "new.npz", "--map", "cal.npz", "--out", "a.csv"], "is not a recalibration"),
        (["apply", "new.npz", "--map", "map.json", "--out", "a.npz"], "must be .csv or .parquet"),
        (["show", "truth.npz"], "is not a recalibration"),
    ],
)
def test_invalid_calls_are_one_line(world, run, monkeypatch, command, why):
    folder, *_ = world
    monkeypatch.chdir(folder)
    result = run("recalibrate", *command)
    assert result.code == 2
    assert why in result.err
    assert len(result.err.splitlines()) == 1
    assert sorted(path.name for path in folder.iterdir()) == [
        "bare.npz",
        "cal.npz",
        "new.npz",
        "truth.npz",
    ]
