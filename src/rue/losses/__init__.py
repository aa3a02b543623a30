"""Losses, one file each: the Bayes action, risk, Bayes risk and their expectations."""

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import as_values, show
from rue.errors import InputError
from rue.losses.base import Expectation, Loss, Valued
from rue.losses.brier import Brier
from rue.losses.cost_matrix import CostMatrix
from rue.losses.log import Log
from rue.losses.outcomes import Classes, Outcomes, RealNumbers
from rue.losses.quantile import Absolute, Pinball, QuantileLoss
from rue.losses.ranked import CRPS, RPS
from rue.losses.real import Mixture, Ragged, RealLoss
from rue.losses.squared import Squared
from rue.losses.zero_one import ZeroOne

__all__ = [
    "CRPS",
    "LOSSES",
    "REAL_LOSSES",
    "RPS",
    "Absolute",
    "Brier",
    "Classes",
    "CostMatrix",
    "Expectation",
    "Log",
    "Loss",
    "Mixture",
    "Outcomes",
    "Pinball",
    "QuantileLoss",
    "Ragged",
    "RealLoss",
    "RealNumbers",
    "Squared",
    "Valued",
    "ZeroOne",
    "get_loss",
]

REAL_LOSSES = ("squared", "absolute", "crps")
"""Those of real-valued outcomes; ``pinball:0.8`` (any level) is one too."""

LOSSES = ("log", "brier", "zero_one", "squared", "absolute", "rps")
"""The names of the losses, besides ``pinball:0.8`` (any level); a :class:`CostMatrix` is passed
as an object."""


_UNSCALED: dict[str, type[Log | Brier | ZeroOne]] = {
    kind.name: kind for kind in (Log, Brier, ZeroOne)
}
_SCALED: dict[str, type[Squared | Absolute | RPS | CRPS]] = {
    kind.name: kind for kind in (Squared, Absolute, RPS, CRPS)
}


def get_loss(loss: str | Loss, *, values: ArrayLike | None = None) -> Loss:
    """Return the loss with a given name; return a loss object as it is.

    Parameters
    ----------
    loss : str or Loss
        One of ``LOSSES``, ``"pinball:q"`` with a level q, or a loss object.
    values : array_like of shape (n_classes,), optional
        The increasing numbers that the classes stand for under squared, absolute, rps and
        pinball loss; other losses ignore them. If the object has its own values, these must be
        equal.

    Returns
    -------
    Loss
        The loss object.

    Raises
    ------
    InputError
        If the name is unknown, or ``values`` differ from those of the object.

    Examples
    --------
    >>> from rue.losses import get_loss
    >>> get_loss("squared", values=[-1, 0, 1]).values
    array([-1.,  0.,  1.])
    """
    if isinstance(loss, Valued) and values is not None:
        if loss.values is None:
            return loss.on(values)
        if not np.array_equal(loss.values, as_values(values)):
            raise InputError(
                f"values must be equal to those of the loss, {show(loss.values)}, or omitted, "
                f"got {show(as_values(values))}"
            )
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str):
        if loss.startswith("pinball:"):
            return Pinball(_level(loss), values)
        if loss in _UNSCALED:
            return _UNSCALED[loss]()
        if loss in _SCALED:
            return _SCALED[loss](values)
    raise InputError(
        f"loss must be one of {', '.join(LOSSES)}, crps, pinball:Q as in pinball:0.8, or a "
        f"CostMatrix, got {loss!r}{_meant(loss)}"
    )


def _level(loss: str) -> float:
    try:
        return float(loss.removeprefix("pinball:"))
    except ValueError:
        raise InputError(
            f"pinball loss needs a level between 0 and 1, as in pinball:0.8, got {loss!r}"
        ) from None


_OTHER_NAMES = {
    "log": ("nll", "crossentropy", "logloss", "logscore", "logarithmic", "ce"),
    "brier": ("brierscore", "quadratic"),
    "zero_one": ("01", "0/1", "accuracy", "error", "errorrate", "misclassification", "zeroone"),
    "squared": ("mse", "l2", "squarederror", "rmse"),
    "absolute": ("mae", "l1", "absoluteerror"),
    "rps": ("rankedprobabilityscore",),
    "pinball:0.5": ("pinball", "quantile"),
}


def _meant(name: object) -> str:
    """Return the name that rue has for a loss that others call so."""
    plain = str(name).lower().replace("_", "").replace("-", "").replace(" ", "")
    meant = [own for own, others in _OTHER_NAMES.items() if plain in others]
    return f": it is called {meant[0]} here" if meant else ""
