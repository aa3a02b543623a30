"""Scores by name: one component of a belief under one loss, higher for more uncertain points.

The paper uses ``epistemic`` under log loss for OOD detection, ``total`` under log loss for
selective prediction, and both for active learning (tables 4 and 5).
"""

from typing import Literal, get_args

from numpy.typing import ArrayLike

from rue._arrays import FloatArray
from rue.beliefs import Belief
from rue.components import decompose
from rue.errors import InputError
from rue.losses import Loss

ScoreName = Literal["total", "aleatoric", "epistemic"]
"""The component that serves as a score."""
SCORES: tuple[ScoreName, ...] = get_args(ScoreName)


def score(
    belief: Belief,
    name: ScoreName = "epistemic",
    loss: str | Loss = "log",
    *,
    values: ArrayLike | None = None,
) -> FloatArray:
    """Return one estimated component of a belief.

    Parameters
    ----------
    belief : Belief
        The predictions of the model.
    name : {"total", "aleatoric", "epistemic"}
        The component.
    loss, values
        As in :func:`rue.decompose`.

    Returns
    -------
    array of shape (n_points,)
        The component, higher for more uncertain points.

    Raises
    ------
    InputError
        If ``name`` is no component.

    Examples
    --------
    >>> from rue.proxies import score
    >>> from rue import Draws
    >>> score(Draws([[[1.0, 0.0], [0.0, 1.0]]]), "total", "brier")
    array([0.5])
    """
    require_score(name)
    component: FloatArray = getattr(decompose(belief, loss, values=values), name)
    return component


def require_score(name: str) -> None:
    """Raise unless ``name`` is the name of a component."""
    if name not in SCORES:
        raise InputError(f"score must be one of {', '.join(SCORES)}, got {name!r}")
