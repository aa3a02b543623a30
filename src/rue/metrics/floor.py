"""How far n-AuReC can go: its floor, and what a belief expects of itself.

The oracle of n-AuReC ranks by the realised regret, which contains the noise of finitely many
answers, so no ranking reaches 0. The floor is estimated with a prior for p* at each point,

    p* | x ~ sum_j w_j Dirichlet(s_j base_j(x)),

whose bases are the mean prediction m(x) and its mean with the marginal distribution of the answers,
each with 12 strengths s_j; the weights are fitted to all answers by EM. From the posterior of each
point, p and as many new answers as the point has are drawn.

Points are sorted by their own values first, and classes by their names where the loss needs no
order of them, so the results do not depend on their order.

Under log loss the floor can be too low if answers occur to which the model gives almost no
probability. Such an answer moves the posterior of its own point far, and leaves it out everywhere
else, so the noise of rare answers is missing. With ten answers about each image of CIFAR-10H it was
0.044 to 0.067 below the floor of the other answers for five published networks, and with the
further base (19 m(x) + marginal) / 20 between 0.004 below and 0.029 above. A note has that number
if the two differ.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, IntArray, round_to_scale
from rue.beliefs.draws import choose, draw_dirichlets
from rue.components import Run
from rue.losses import Loss
from rue.metrics.corrected import run_answers
from rue.metrics.measures import exact_areas
from rue.metrics.statistics import Sample
from rue.truth.answer_losses import Answers

N_REPLICATES = 20
MOST_POINTS, MOST_CELLS = 20_000, 2_000_000
"""Up to so many points, and points times classes, references are computed by default."""
STRENGTHS = np.geomspace(0.5, 150.0, 12)
FLOOR = 1e-12
RARE, RARE_SHARE, RARE_DIFFERENCE = 1e-3, 0.1, 0.02
"""A probability is rare below the first; such answers are noted above this share of the loss, if
the floor differs by so much."""
_CELLS = 1 << 20  # the numbers of a chunk: replicates x points x classes


Name = Literal["floor", "true_regret", "expected"]
NAMES: tuple[Name, ...] = get_args(Name)


@dataclass(frozen=True)
class Reference:
    """A column of a sample: a reference of n-AuReC, or its Monte-Carlo error."""

    name: Name
    part: Literal["value", "error"] = "value"

    def __call__(self, sample: Sample) -> float:
        """Return the number of a sample; its notes say why it is empty."""
        compute = _expected if self.name == "expected" else _floors
        return float(getattr(sample.once(compute)[self.name], self.part))


@dataclass(frozen=True)
class Simulated:
    """The mean n-AuReC of simulated answers, and its Monte-Carlo standard error."""

    value: float
    error: float

    @classmethod
    def of(cls, regret: FloatArray, score: FloatArray) -> "Simulated":
        """Return the n-AuReC of regrets of shape (n_replicates, n_points), ranked by scores."""
        from rue._kernels.sorting import argsort

        score = np.broadcast_to(score, regret.shape)
        pairs = [
            (np.ascontiguousarray(r), np.ascontiguousarray(s))
            for r, s in zip(regret, score, strict=True)
        ]
        numbers = np.array([exact_areas(r, s, argsort(s)).normalized for r, s in pairs])
        numbers = numbers[np.isfinite(numbers)]
        if len(numbers) < 2:
            return cls(float("nan"), float("nan"))
        return cls(float(numbers.mean()), float(numbers.std(ddof=1) / len(numbers) ** 0.5))


def simulate_floor(
    run: Run, *, n_replicates: int = N_REPLICATES, seed: int = 0, rare: bool = False
) -> tuple[Simulated, Simulated]:
    """Return n-AuReC when ranking by the expected plug-in regret, and by the true regret."""
    run, costs, order = _sorted_answers(run)
    mean = None if run.belief is None else run.belief.mean_probs()
    assert mean is not None
    bases = _bases(mean[order], costs.counts, rare)
    likelihood = _likelihoods(bases, costs.counts)
    share = _responsibilities(likelihood)
    cumulated = np.cumsum(share, axis=1)

    def draw(rows: slice, rng: np.random.Generator) -> FloatArray:
        chosen = choose(cumulated[rows], n_replicates, rng)
        base, strength = np.divmod(chosen, len(STRENGTHS))
        points = np.arange(rows.start, rows.stop)
        alpha = STRENGTHS[strength][..., None] * bases[base, points] + costs.counts[rows]
        return draw_dirichlets(alpha, rng)

    def score(rows: slice, probs: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, ...]:
        risk = (probs * costs.losses[rows]).sum(axis=-1)
        m = costs.n_answers[rows].astype(np.int64)
        plugin = costs.loss.expected_plugin(probs, m, rng)
        return risk - plugin, np.maximum(risk - costs.loss.bayes_risk(probs), 0.0)

    regret, expected, true = _simulate(costs, n_replicates, seed, draw, score)
    return Simulated.of(regret, expected), Simulated.of(regret, true)


def simulate_belief(run: Run, *, n_replicates: int = N_REPLICATES, seed: int = 0) -> Simulated:
    """Return the n-AuReC that a belief expects of its own epistemic component."""
    run, costs, order = _sorted_answers(run)
    assert run.belief is not None
    belief = run.belief[order]

    def draw(rows: slice, rng: np.random.Generator) -> FloatArray:
        return belief.sampled_probs(rows, n_replicates, rng)

    (regret,) = _simulate(costs, n_replicates, seed, draw, None)
    return Simulated.of(regret, run.hat.epistemic[order])


NOTHING = Simulated(math.nan, math.nan)


def _floors(sample: Sample) -> dict[str, Simulated]:
    """Return both floors of a sample."""
    run, empty = sample.run, dict.fromkeys(("floor", "true_regret"), NOTHING)
    if _is_left_out(sample):
        return empty
    if _is_exact(run):
        return dict.fromkeys(empty, Simulated(0.0, 0.0))
    if why := _reason(sample):
        sample.notes.append(("n_aurec_floor", f"is empty: {why}"))
        return empty
    floors = simulate_floor(run, seed=sample.seed)
    if (share := _rare_share(run)) > RARE_SHARE:
        other, _ = simulate_floor(run, seed=sample.seed, rare=True)
        if abs(other.value - floors[0].value) > RARE_DIFFERENCE:
            why = (
                f"depends on rare answers: {100 * share:.0f} % of the loss is from answers with a "
                f"predicted probability below {RARE:g}; it is {other.value:.3f} if they are "
                "possible at every point"
            )
            sample.notes.append(("n_aurec_floor", why))
    return dict(zip(empty, floors, strict=True))


def _rare_share(run: Run) -> float:
    """Return the share of the log loss that is due to answers with almost no probability."""
    mean = None if run.belief is None else run.belief.mean_probs()
    costs = run.once(run_answers)
    if run.loss_name != "log" or mean is None or costs is None:
        return 0.0
    losses = costs.counts * costs.losses / costs.n_answers[:, None]
    return float(losses[mean < RARE].sum() / losses.sum())


def _expected(sample: Sample) -> dict[str, Simulated]:
    """Return what the belief of a sample expects of itself."""
    run = sample.run
    if _is_left_out(sample):
        return {"expected": NOTHING}
    why = "p* is known exactly" if _is_exact(run) else _reason(sample)
    if why := why or _reason_of_belief(run):
        sample.notes.append(("n_aurec_expected", f"is empty: {why}"))
        return {"expected": NOTHING}
    return {"expected": simulate_belief(run, seed=sample.seed)}


def _is_left_out(sample: Sample) -> bool:
    """Return whether references were not asked for, or belong to another convention."""
    run = sample.run
    unknown = run.belief is None or run.annotations is None or not isinstance(run.loss, Loss)
    return sample.references is False or run.convention == "published" or unknown


def _is_exact(run: Run) -> bool:
    return run.annotations is not None and not run.annotations.has_answers


def _reason(sample: Sample) -> str:
    """Return why nothing can be simulated from the answers, empty if it can be."""
    run = sample.run
    assert run.annotations is not None
    if run.belief is None or not run.belief.n_classes:
        return "answers are simulated for classes only"
    if run.annotations.n_annotators.min() < 2:
        return "a point has one answer"
    n_cells = len(run) * run.belief.n_classes
    if sample.references is None and (len(run) > MOST_POINTS or n_cells > MOST_CELLS):
        return "there are many points, so it must be asked for (references=True, --references)"
    return ""


def _reason_of_belief(run: Run) -> str:
    """Return why a belief has no expectation of itself, empty if it has one."""
    hat, star = run.hat, run.star
    if hat.outside_score:
        return "an outside score is no prediction of regret"
    if run.belief is not None and run.belief.n_draws == 1:
        return "one draw predicts no regret"
    assert star.aleatoric_high is not None  # every point has two answers
    bounds = (star.total - star.aleatoric_high, star.epistemic)
    low, high = (
        bound.mean() + sign * 1.96 * bound.std() / max(len(run) - 1, 1) ** 0.5
        for bound, sign in zip(bounds, (-1, 1), strict=True)
    )
    predicted = hat.epistemic.mean()
    if low <= predicted <= high:
        return ""
    return (
        f"the belief predicts a mean regret of {predicted:.3g}, and the answers allow "
        f"{max(low, 0.0):.3g} to {high:.3g}"
    )


def _sorted_answers(run: Run) -> tuple[Run, Answers, IntArray]:
    """Return the run with its classes sorted, its answers with its points sorted, and their order.

    Points are sorted by their own values.
    """
    run = replace(run, answers=run.once(run_answers)).by_class()
    costs, belief = run.answers, run.belief
    assert costs is not None
    assert belief is not None
    hat, star = run.hat, run.star
    keys = (hat.aleatoric, hat.epistemic, hat.total, star.aleatoric, star.total)
    order = np.lexsort(keys)
    repeated = np.all([np.diff(key[order]) == 0 for key in keys], axis=0)
    if repeated.any():  # then all that is simulated from decides
        stated = (np.asarray(array).reshape(len(run), -1) for array in belief.arrays().values())
        tables = (costs.counts, costs.losses, *stated)
        table = np.ascontiguousarray(np.concatenate(tables, axis=1) + 0.0)
        row_bytes = table.view(np.dtype((np.void, table.itemsize * table.shape[1]))).ravel()
        order = np.lexsort((np.unique(row_bytes, return_inverse=True)[1], *keys))
    return run, costs[order], order


def _bases(mean: FloatArray, counts: FloatArray, rare: bool) -> FloatArray:
    """Return the means of the prior: predictions, and predictions mixed with the marginal."""
    marginal = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)
    mixed = [mean, (mean + marginal) / 2, *[(19 * mean + marginal) / 20] * rare]
    return np.asarray(np.maximum(np.stack(mixed), FLOOR))


def _likelihoods(bases: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the log likelihood of the answers under each Dirichlet, (n_points, 24)."""
    from rue._kernels.plugin import log_likelihoods

    out = np.empty((len(counts), len(bases) * len(STRENGTHS)))
    log_likelihoods(bases, np.asarray(counts, np.float64), STRENGTHS, out)
    return out


def _responsibilities(likelihood: FloatArray) -> FloatArray:
    """Return the posterior weights of the Dirichlets of each point, with EM weights as prior."""
    top = likelihood.max(axis=1, keepdims=True)
    scaled = np.exp(likelihood - top)
    weights = np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    before = -np.inf
    for _ in range(200):
        mixed = scaled @ weights
        now = float(np.log(mixed).sum() + top.sum())
        if now - before <= 1e-6 * abs(now):
            break
        before = now
        weights = weights * (scaled / mixed[:, None]).mean(axis=0)
    posterior = scaled * weights
    return np.asarray(posterior / posterior.sum(axis=1, keepdims=True))


def _simulate(
    costs: Answers,
    n_replicates: int,
    seed: int,
    draw: Callable[[slice, np.random.Generator], FloatArray],
    score: Callable[[slice, FloatArray, np.random.Generator], tuple[FloatArray, ...]] | None,
) -> list[FloatArray]:
    """Return simulated plug-in regrets and scores, each (n_replicates, n_points), in chunks."""
    from rue._kernels.threads import each

    n_points, n_classes = costs.counts.shape
    scale = costs.loss.scale(n_classes)
    step = max(1, _CELLS // (n_replicates * n_classes))

    def simulate_some(start: int) -> list[FloatArray]:
        rows = slice(start, min(start + step, n_points))
        rng = np.random.default_rng([seed, start])
        probs = draw(rows, rng)
        m: NDArray[np.int64] = costs.n_answers[rows].astype(np.int64)
        shares = rng.multinomial(m, probs) / m[:, None]
        total = (shares * costs.losses[rows]).sum(axis=-1)
        regret = np.maximum(total - costs.loss.bayes_risk(shares), 0.0)
        scores = () if score is None else score(rows, probs, rng)
        return [round_to_scale(part, scale) for part in (regret, *scores)]

    parts = each(simulate_some, range(0, n_points, step))
    return [np.concatenate(column, axis=1) for column in zip(*parts, strict=True)]
