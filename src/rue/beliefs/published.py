"""The published convention: components of a belief as the authors' own code computes them.

The numbers in the paper's tables follow that code, which differs from Definition 1 in places.
With m = E[p] the mean distribution and K the number of classes:

=====================  ==================================  =====================================
belief and loss        aleatoric                           epistemic
=====================  ==================================  =====================================
Dirichlet, log or 0/1  Bayes risk of m                     vacuity K / alpha_0
Dirichlet, absolute    Bayes risk of m                     mean distance of the medians of 20
                                                           draws from the median of m
Draws, absolute        Definition 1                        mean distance of the draws' medians
                                                           from their own lower median
all others             Definition 1                        Definition 1
=====================  ==================================  =====================================

The total is always the Bayes risk of m, so it need not be the sum of the two.
"""

from typing import Literal, get_args

import numpy as np

from rue._arrays import FloatArray, chunked, require_one_of, round_to_scale
from rue.beliefs.base import Belief, Components
from rue.beliefs.dirichlet import Dirichlet
from rue.beliefs.draws import ClassBelief, Draws
from rue.beliefs.scored import Scored
from rue.errors import InputError
from rue.losses import Absolute, Log, Loss, Squared, ZeroOne

Convention = Literal["definition", "published"]
CONVENTIONS: tuple[Convention, ...] = get_args(Convention)


def require_convention(convention: object) -> None:
    """Raise unless ``convention`` is the name of a convention.

    Parameters
    ----------
    convention : str
        The name to check.

    Returns
    -------
    None

    Raises
    ------
    InputError
        If it is none of CONVENTIONS.

    Examples
    --------
    >>> from rue.beliefs import require_convention
    >>> require_convention("published")
    """
    require_one_of("convention", convention, CONVENTIONS)


N_DIRICHLET_DRAWS = 20
"""How many draws of each Dirichlet the authors take under absolute loss, from seed 0."""


def published_components(belief: Belief, loss: Loss, *, seed: int = 0) -> Components:
    """Return the components of a belief under the published convention.

    Parameters
    ----------
    belief
        Draws, Dirichlet or Scored, n_points each.
    loss
        Log, 0/1, squared or absolute loss; the authors' code has no other.
    seed
        Passed on to Definition 1 where the two conventions agree.

    Returns
    -------
    Components
        Of n_points points; ``outside_score`` if the epistemic part is a score without the unit of
        the loss (vacuity, or the score of a Scored belief).

    Raises
    ------
    InputError
        If the convention is not defined for the loss or the belief.

    Examples
    --------
    >>> from rue import Dirichlet, ZeroOne
    >>> from rue.beliefs import published_components
    >>> found = published_components(Dirichlet([[3.0, 1.0]]), ZeroOne())
    >>> found.aleatoric, found.epistemic
    (array([0.25]), array([0.5]))
    """
    if not isinstance(belief, ClassBelief):
        raise InputError(
            'convention="published" is not defined for real-valued outcomes: the paper\'s '
            'tables have classes only; use convention="definition"'
        )
    loss = loss.on_classes(belief.outcomes)
    if not isinstance(loss, Log | ZeroOne | Squared | Absolute):
        raise InputError(
            'convention="published" is defined for log, zero_one, squared and absolute loss, '
            f'got {loss.name}; use convention="definition"'
        )
    if not isinstance(belief, Draws | Dirichlet | Scored):
        raise InputError(
            'convention="published" is defined for Draws, Dirichlet and Scored, '
            f'got {type(belief).__name__}; use convention="definition"'
        )
    scale = loss.scale(belief.n_classes)

    def rounded(aleatoric: FloatArray, epistemic: FloatArray) -> Components:
        return Components(
            round_to_scale(total, scale),
            round_to_scale(aleatoric, scale),
            np.maximum(round_to_scale(epistemic, scale), 0.0),
        )

    total = np.concatenate([loss.bayes_risk(m) for _, m in belief.means()])
    if isinstance(belief, Scored):
        return _outside(total, belief.epistemic, scale)
    if isinstance(belief, Dirichlet) and isinstance(loss, Log | ZeroOne):
        return _outside(total, _vacuity(belief), scale)
    if isinstance(belief, Dirichlet) and isinstance(loss, Absolute):
        return rounded(total, _dirichlet_medians(belief, loss))
    parts = [expected for _, expected in belief.expectations(loss, seed=seed)]
    aleatoric = np.concatenate([part.bayes_risk for part in parts])
    if isinstance(belief, Draws) and isinstance(loss, Absolute):
        return rounded(aleatoric, _draw_medians(belief, loss))
    return rounded(aleatoric, np.concatenate([part.regret for part in parts]))


def _outside(total: FloatArray, epistemic: FloatArray, scale: float) -> Components:
    total = round_to_scale(total, scale)
    return Components(total, total, epistemic, outside_score=True)


def _vacuity(belief: Dirichlet) -> FloatArray:
    sums = [chunk.astype(np.float64).sum(axis=1) for _, chunk in chunked(belief.alpha)]
    return np.asarray(belief.n_classes / np.concatenate(sums))


def _dirichlet_medians(belief: Dirichlet, loss: Absolute) -> FloatArray:
    """One generator draws all points in the order of their rows, so that order matters here."""
    rng = np.random.default_rng(0)
    distances = np.empty(belief.n_points)
    for rows, chunk in chunked(belief.alpha):
        alpha = chunk.astype(np.float64)
        centre = loss.action(alpha / alpha.sum(axis=1, keepdims=True))
        for i, row in enumerate(alpha):
            medians = loss.action(rng.dirichlet(row, size=N_DIRICHLET_DRAWS))
            distances[rows.start + i] = np.abs(medians - centre[i]).mean()
    return distances


def _draw_medians(belief: Draws, loss: Absolute) -> FloatArray:
    distances = []
    for _, chunk in chunked(belief.probs):
        probs = chunk.astype(np.float64)
        medians = loss.action(probs / probs.sum(axis=-1, keepdims=True))
        centre = np.sort(medians, axis=1)[:, (belief.n_draws - 1) // 2]
        distances.append(np.abs(medians - centre[:, None]).mean(axis=1))
    return np.concatenate(distances)
