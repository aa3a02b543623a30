"""The floor of n-AuReC and what a belief expects of itself, in worlds with a known truth."""

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import binom

from rue import Annotations, CostMatrix, Dirichlet, Draws, Gaussians, Ratings, Scored, evaluate
from rue.beliefs.draws import draw_dirichlets
from rue.components import Run
from rue.losses import get_loss
from rue.losses.base import _count_table
from rue.metrics.floor import (
    STRENGTHS,
    Simulated,
    _likelihoods,
    _responsibilities,
    simulate_floor,
)
from rue.metrics.measures import n_aurec

FLOORS = ("n_aurec_floor", "n_aurec_true_regret", "n_aurec_expected")
LOSSES = ("log", "brier", "zero_one", "squared", "absolute", "rps", "pinball:0.8")


def world(rng, n_points=1_500, n_classes=4, n_answers=8):
    """Return p* drawn from a Dirichlet belief that is exactly right, answers, and the belief."""
    alpha = rng.gamma(0.6, size=(n_points, n_classes)) * 4 + 0.1
    truth = np.stack([rng.dirichlet(row) for row in alpha])
    return truth, Annotations(rng.multinomial(n_answers, truth)), Dirichlet(alpha)


def simulated_truth(rng, truth, belief, loss, n_answers, n_replicates=20):
    """Return the n-AuReC of ranking by E[plug-in regret | p*], as if p* were known: slowly."""
    action = loss.action(belief.mean())
    draw = [rng.multinomial(n_answers, truth) / n_answers for _ in range(400)]
    regrets = [np.maximum(loss.regret(share, action), 0.0) for share in draw]
    score = np.mean(regrets, axis=0)
    return np.mean([n_aurec(regret, score) for regret in regrets[:n_replicates]])


@pytest.mark.parametrize("loss", LOSSES)
def test_a_right_belief_attains_its_expectation_and_no_ranking_beats_the_floor(loss, rng):
    truth, annotations, belief = world(rng)
    row = evaluate(annotations, belief, loss, gap=False)
    # The error is that of a mean over 20 replicates; the row itself is one of them.
    noise = 4 * math.sqrt(20) * row.n_aurec_expected_error
    assert row.n_aurec == pytest.approx(row.n_aurec_expected, abs=noise)
    assert 0 < noise < 0.15
    assert row.n_aurec_floor <= row.n_aurec_true_regret < row.n_aurec
    # A ranking that knows p* is one of them, whatever it ranks by.
    form = get_loss(loss)
    regret = form.regret(truth, form.action(belief.mean()))
    star = Run.from_belief(annotations, belief, loss).star.epistemic
    assert n_aurec(star, regret) > row.n_aurec_floor - 4 * row.n_aurec_floor_error - 0.02
    assert n_aurec(star, regret) == pytest.approx(row.n_aurec_true_regret, abs=0.05)


@pytest.mark.parametrize("loss", ["brier", "log", "zero_one"])
@pytest.mark.parametrize("n_answers", [5, 20])
def test_the_floor_is_that_of_the_truth(loss, n_answers, rng):
    truth, annotations, belief = world(rng, n_answers=n_answers)
    exact = simulated_truth(rng, truth, belief, get_loss(loss), n_answers)
    row = evaluate(annotations, belief, loss, gap=False)
    assert row.n_aurec_floor == pytest.approx(exact, abs=0.05)


def test_a_wrong_belief_moves_the_floor_little(rng):
    # The prior mixes the prediction with the marginal, so a poor mean does not decide the floor.
    truth, annotations, belief = world(rng, n_answers=20)
    poor = Dirichlet(0.5 * belief.alpha + rng.gamma(1.0, size=belief.alpha.shape))
    exact = simulated_truth(rng, truth, poor, get_loss("brier"), 20)
    row = evaluate(annotations, poor, "brier", gap=False)
    assert row.n_aurec_floor == pytest.approx(exact, abs=0.05)


def test_draws_attain_their_expectation_if_the_truth_is_one_of_them(rng):
    draws = rng.dirichlet(np.ones(3), (2_000, 6))
    strength = rng.random((2_000, 1, 1))
    draws = strength * draws + (1 - strength) * draws[:, :1]
    truth = draws[np.arange(2_000), rng.integers(0, 6, 2_000)]
    row = evaluate(Annotations(rng.multinomial(6, truth)), Draws(draws), "brier", gap=False)
    assert row.n_aurec == pytest.approx(row.n_aurec_expected, abs=0.04)


@pytest.mark.parametrize("loss", [*LOSSES, CostMatrix([[0, 1, 4, 2], [3, 0, 1, 1], [1, 1, 1, 1]])])
def test_the_mean_plug_in_is_that_of_drawn_answers(loss, rng):
    form = get_loss(loss)
    probs = np.append(rng.dirichlet(np.ones(4), (2, 9)), np.eye(4)[[[0], [3]]], axis=1)
    m = np.array([2, 3, 4, 5, 8, 13, 30, 60, 2_000, 7])
    draws = [form.bayes_risk(rng.multinomial(m, probs) / m[:, None]) for _ in range(3_000)]
    means = np.mean([form.expected_plugin(probs, m, rng) for _ in range(30)], axis=0)
    error = np.std(draws, axis=0) * (1 / math.sqrt(3_000) + 1 / math.sqrt(30 * 8))
    assert (np.abs(means - np.mean(draws, axis=0)) < 5 * error + 2e-3 * form.scale(4)).all()


def test_the_mean_plug_in_of_costs_has_no_noise_where_one_action_is_best(rng):
    # Noise would rank points whose expected regret is 0, and the floor would be no floor.
    form = CostMatrix([[0, 1, 2], [2, 0, 4], [9, 9, 0]])
    probs = np.tile([0.95, 0.04, 0.01], (1, 200, 1))
    means = form.expected_plugin(probs, np.full(200, 14), rng)
    assert means.std() < 0.1 * np.std(form.bayes_risk(rng.multinomial(14, probs[0]) / 14) / 22**0.5)
    assert means == pytest.approx(0.06, abs=2e-3)


@pytest.mark.parametrize("loss", [*LOSSES, CostMatrix([[0, 1, 4, 2], [3, 0, 1, 1], [1, 1, 1, 1]])])
def test_losses_of_classes_are_the_risks_of_certain_answers(loss, rng):
    form = get_loss(loss)
    action = form.action(rng.dirichlet(np.ones(4), 20))
    found = form.losses(action, 4)
    for k in range(4):
        sure = np.tile(np.eye(4)[k], (20, 1))
        assert found[:, k] == pytest.approx(form.risk(sure, action), abs=1e-12)


def test_the_seed_decides_and_the_order_of_points_does_not(rng):
    _, annotations, belief = world(rng, 300)
    row = evaluate(annotations, belief, "brier", gap=False)
    again = evaluate(annotations, belief, "brier", gap=False)
    other = evaluate(annotations, belief, "brier", gap=False, seed=1)
    order = rng.permutation(300)
    moved = evaluate(annotations[order], belief[order], "brier", gap=False)
    for key in FLOORS:
        assert getattr(row, key) == getattr(again, key) == pytest.approx(getattr(moved, key))
        assert getattr(row, key) != getattr(other, key)
        assert getattr(row, key) == pytest.approx(getattr(other, key), abs=0.05)


def naive_responsibilities(likelihood):
    """EM as DESIGN has it: uniform at first, until 1e-6 of the log likelihood or 200 steps."""
    weights = np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    before = -math.inf
    for _ in range(200):
        joint = np.log(weights) + likelihood
        each = logsumexp(joint, axis=1, keepdims=True)
        if each.sum() - before <= 1e-6 * abs(each.sum()):
            break
        before = each.sum()
        weights = np.exp(joint - each).mean(axis=0)
    joint = np.log(weights) + likelihood
    return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))


@pytest.mark.parametrize("shift", [-3.0, -400.0])
def test_the_weights_of_the_prior_are_those_of_plain_em(shift, rng):
    """The likelihood decides when to stop, so what it is divided by must not."""
    likelihood = shift + rng.normal(0, 2, (50, 24))
    assert _responsibilities(likelihood) == pytest.approx(naive_responsibilities(likelihood))


def test_more_replicates_have_a_smaller_error(rng):
    _, annotations, belief = world(rng, 300)
    run = Run.from_belief(annotations, belief, "brier")
    few, many = (simulate_floor(run, n_replicates=n)[0] for n in (10, 160))
    assert many.error == pytest.approx(few.error / 4, rel=0.6)
    assert few.value == pytest.approx(many.value, abs=4 * few.error)


def test_a_known_truth_has_the_floor_0(rng):
    truth, _, belief = world(rng, 50)
    row = evaluate(Annotations.from_probs(truth), belief, gap=False)
    assert (row.n_aurec_floor, row.n_aurec_true_regret, row.n_aurec_floor_error) == (0, 0, 0)
    assert math.isnan(row.n_aurec_expected)
    assert "n-AuReC expected is empty: p* is known exactly" in row.notes


def test_what_is_empty_says_why(rng):
    truth, annotations, belief = world(rng, 50)
    counts = annotations.counts.copy()
    counts[7] = [0, 1, 0, 0]
    one = evaluate(Annotations(counts), belief, gap=False)
    assert all(math.isnan(getattr(one, key)) for key in FLOORS)
    assert "n-AuReC floor is empty: a point has one answer" in one.notes
    ratings = Ratings(rng.normal(size=(50, 3)))
    real = evaluate(ratings, Gaussians(rng.normal(size=(50, 2)), np.ones((50, 2))), "crps")
    assert math.isnan(real.n_aurec_floor)
    assert "n-AuReC floor is empty: answers are simulated for classes only" in real.notes
    scored = evaluate(annotations, Scored(truth, truth[:, 0]), gap=False)
    assert math.isfinite(scored.n_aurec_floor)
    assert "n-AuReC expected is empty: an outside score is no prediction of regret" in scored.notes
    single = evaluate(annotations, Draws(truth[:, None]), gap=False)
    assert "n-AuReC expected is empty: one draw predicts no regret" in single.notes
    wide = Annotations(np.eye(4)[rng.integers(0, 4, 50)] * 8)
    sure = evaluate(wide, Dirichlet(1e4 * belief.mean() + 1e-3), "brier", gap=False)
    assert math.isnan(sure.n_aurec_expected)
    assert any("expected is empty: the belief predicts a mean regret of" in n for n in sure.notes)
    quick = evaluate(annotations, belief, gap=False, references=False)
    assert all(math.isnan(getattr(quick, key)) for key in (*FLOORS, "n_aurec_corrected"))
    assert not [note for note in quick.notes if "floor" in note or "expected" in note]


def test_many_points_must_be_asked_for(rng, monkeypatch):
    monkeypatch.setattr("rue.metrics.floor.MOST_POINTS", 40)
    _, annotations, belief = world(rng, 50)
    row = evaluate(annotations, belief, gap=False)
    assert math.isnan(row.n_aurec_floor)
    assert any("--references" in note for note in row.notes)
    assert math.isfinite(evaluate(annotations, belief, gap=False, references=True).n_aurec_floor)


def test_equal_regrets_have_no_floor():
    nothing = Simulated.of(np.zeros((3, 5)), np.arange(5.0))
    assert math.isnan(nothing.value)


def test_a_dirichlet_that_underflows_is_drawn(rng):
    belief = Dirichlet(np.full((40, 3), 1e-6))
    row = evaluate(Annotations(rng.multinomial(4, [0.6, 0.3, 0.1], 40)), belief, gap=False)
    assert math.isfinite(row.n_aurec_floor)


@pytest.mark.parametrize(
    ("loss", "temperature", "tolerance"),
    [
        *(("brier", 1.0, 0.05), ("zero_one", 1.0, 0.05)),
        *(("brier", 2.5, 0.05), ("zero_one", 2.5, 0.05), ("log", 2.5, 0.05)),
        ("log", 1.0, 0.06),  # rare answers decide; the next test has the number of the note
    ],
)
def test_ten_answers_of_cifar10h_give_the_floor_of_the_others(
    loss, temperature, tolerance, cifar10h
):
    rng = np.random.default_rng(0)
    counts = np.load(cifar10h)[:3_000]
    file = cifar10h.parents[1] / "cifar-10h-models" / "densenet-bc-L190-k40.csv"
    if not file.is_file():
        pytest.skip("no predictions in the data root")
    probs = np.loadtxt(file, delimiter=",", skiprows=1)[:3_000, 1:] ** (1 / temperature)
    belief = Draws((probs / probs.sum(axis=1, keepdims=True))[:, None])
    compare_floors(counts, belief, loss, tolerance, rng)


@pytest.mark.parametrize("model", ["preresnet-110", "resnet-110", "densenet-bc-L190-k40"])
def test_a_note_has_the_floor_where_rare_answers_decide(model, cifar10h):
    rng = np.random.default_rng(0)
    file = cifar10h.parents[1] / "cifar-10h-models" / f"{model}.csv"
    if not file.is_file():
        pytest.skip("no predictions in the data root")
    counts = np.load(cifar10h)[:3_000]
    few = ten_answers(counts, rng)
    others = counts - few
    belief = Draws(np.loadtxt(file, delimiter=",", skiprows=1)[:3_000, None, 1:])
    truth = others / others.sum(axis=1, keepdims=True)
    exact = simulated_truth(rng, truth, belief, get_loss("log"), 10)
    row = evaluate(Annotations(few), belief, "log", gap=False)
    note = next(note for note in row.notes if note.startswith("n-AuReC floor depends on rare"))
    number = float(note.split(" if they are")[0].split()[-1])
    assert number == pytest.approx(exact, abs=0.05)
    assert row.n_aurec_floor < exact


def test_no_note_where_answers_are_not_rare(rng):
    _, annotations, belief = world(rng, 300)
    for loss in ("log", "brier"):
        assert "rare answers" not in " ".join(evaluate(annotations, belief, loss, gap=False).notes)


@pytest.mark.parametrize("temperature", [1.0, 2.5])
@pytest.mark.parametrize("loss", ["log", "brier", "zero_one"])
def test_ten_answers_of_chaosnli_give_the_floor_of_the_others(loss, temperature):
    from rue.errors import FileError
    from studies.chaosnli import MODELS, load

    try:
        _, truth, predictions, _ = load(MODELS[0])
    except FileError as error:
        pytest.skip(str(error))
    logits = predictions.logits / temperature
    probs = np.exp(logits - logits.max(axis=-1, keepdims=True))
    belief = Draws(probs / probs.sum(axis=-1, keepdims=True))
    compare_floors(truth.counts.astype(int), belief, loss, 0.05, np.random.default_rng(0))


def compare_floors(counts, belief, loss, tolerance, rng):
    few = ten_answers(counts, rng)
    others = counts - few
    truth = others / others.sum(axis=1, keepdims=True)
    exact = simulated_truth(rng, truth, belief, get_loss(loss), 10)
    row = evaluate(Annotations(few), belief, loss, gap=False)
    assert row.n_aurec_floor == pytest.approx(exact, abs=tolerance)


def ten_answers(counts, rng):
    """Return the counts of 10 answers of each point, drawn without replacement."""
    return np.stack([rng.multivariate_hypergeometric(row, 10) for row in counts])


def test_a_run_that_knows_only_the_name_of_its_loss_has_none(rng):
    from dataclasses import replace

    from rue import evaluate_run

    _, annotations, belief = world(rng, 40)
    run = replace(Run.from_belief(annotations, belief, "brier"), loss="brier")
    row = evaluate_run(run, gap=False)
    assert math.isnan(row.n_aurec_floor)
    assert math.isnan(row.n_aurec_corrected)
    assert math.isfinite(row.r_aurec)


@pytest.mark.parametrize("seed", [0, 1, 2, 44, 65, 73, 91])  # the last four near a bound
def test_a_belief_expects_what_the_answers_allow(seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(3), 5)
    truth = Annotations(rng.multinomial(4, p))
    belief = Dirichlet((3 * p + 0.3) * rng.choice([0.3, 1, 3]))
    run = Run.from_belief(truth, belief, "brier")
    low, high = (
        part.mean() + sign * 1.96 * part.std(ddof=1) / len(part) ** 0.5
        for part, sign in ((run.star.total - run.star.aleatoric_high, -1), (run.star.epistemic, 1))
    )
    row = evaluate(truth, belief, "brier", gap=False)
    refused = any("and the answers allow" in note for note in row.notes)
    assert refused == (not low <= run.hat.epistemic.mean() <= high)


def test_a_dirichlet_that_underflows_has_all_its_mass_on_one_class():
    alpha = np.tile([1e-4, 3e-4], (2, 4000, 1))  # gamma variates of 1e-4 are 0 in most cases
    drawn = draw_dirichlets(alpha, np.random.default_rng(0))
    assert drawn.sum(axis=-1) == pytest.approx(np.ones((2, 4000)))
    assert (drawn.max(axis=-1) > 0.999).mean() > 0.99
    assert drawn.mean(axis=(0, 1)) == pytest.approx([0.25, 0.75], abs=0.02)


def test_the_likelihood_of_answers_is_that_of_the_dirichlet_multinomial(rng):
    counts = rng.multinomial(12, [0.7, 0.2, 0.1, 0.0], 20).astype(np.float64)
    counts[0] = [0.0, 900.0, 1.0, 0.0]
    bases = np.maximum(rng.dirichlet(np.full(4, 0.2), (2, 20)), 1e-12)
    alpha = np.stack([s * base for base in bases for s in STRENGTHS], axis=1)
    whole, m = alpha.sum(axis=2), counts.sum(axis=1)[:, None]
    rises = (gammaln(alpha + counts[:, None]) - gammaln(alpha)).sum(axis=2)
    expected = rises + gammaln(whole) - gammaln(whole + m)
    np.testing.assert_allclose(_likelihoods(bases, counts), expected, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("m", [1, 2, 9, 300])
def test_a_table_of_counts_is_the_binomial_mean(m):
    share, mean = _count_table(np.sqrt, m)
    c = np.arange(m + 1)
    expected = binom.pmf(c, m, share[:, None]) @ np.sqrt(c / m)
    np.testing.assert_allclose(mean, expected, rtol=1e-11, atol=1e-15)


def test_a_small_file_is_evaluated_without_scipy_and_pandas(tmp_path, rng):
    # Importing scipy.special takes a fifth of the time of a small file.
    answers = rng.multinomial(9, [0.5, 0.3, 0.2], 40)
    np.savez(tmp_path / "p.npz", probs=rng.dirichlet(np.ones(3), (40, 5)), counts=answers)
    code = (
        "import sys; from rue.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "modules = ('scipy', 'pandas', 'pyarrow', 'matplotlib', 'numpy.ma')\n"
        "print([name for name in modules if name in sys.modules])"
    )
    command = [sys.executable, "-c", code, "evaluate", str(tmp_path / "p.npz")]
    for _ in range(2):  # the first may have to compile
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "floor" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
