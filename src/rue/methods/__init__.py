"""Methods that estimate their uncertainty, trained fast (section 5, appendix C).

single.py                 one network, without more         -> Draws
dropout.py                random thinned networks           -> Draws
ensemble.py               independently trained networks    -> Draws
evidential.py             a network that gives a Dirichlet  -> Dirichlet
ddu.py                    a density of the features         -> Scored
confidence.py             one minus the largest probability -> Scored
knn.py                    a distance to training features   -> Scored
laplace.py                a Gaussian over the last layer    -> Draws
dirichlet_multinomial.py  a Dirichlet fitted to counts of answers     -> Dirichlet
pairs.py                  a joint distribution of pairs of answers    -> Dirichlet
snapshots.py              any method's mean, with a learnt strength   -> Dirichlet
strength.py               any method's mean, with one strength        -> Dirichlet
deup.py                   a network that predicts regret    -> Scored
forest.py                 trees of a random forest          -> Draws
swag.py                   a Gaussian over all weights       -> Draws
sngp.py                   a Gaussian process on the features          -> Draws

Each file has the settings of a method (``Config``), what it trains and how it predicts; ``fit`` and
``predict`` are those of :class:`~rue.methods.learner.Learner`, the same for all. Importing them
does not load torch, which ``fit`` needs (the extra ``rue[torch]``).
"""

from typing import Any as _Any

from rue._plugins import Registry as _Registry
from rue.io.saving import save_predictions
from rue.methods import (
    confidence,
    ddu,
    deup,
    dirichlet_multinomial,
    dropout,
    ensemble,
    evidential,
    forest,
    knn,
    laplace,
    pairs,
    single,
    snapshots,
    sngp,
    strength,
    swag,
)
from rue.methods._training.settings import (
    CIFAR,
    FINE_TUNING,
    PROBE,
    RESNET9,
    SMALL_IMAGES,
    Training,
)
from rue.methods.learner import Fitted, Learner

_MODULES: tuple[_Any, ...] = (
    *(dropout, evidential, ensemble, ddu, laplace),
    *(
        single,
        confidence,
        knn,
        forest,
        sngp,
        swag,
        deup,
        dirichlet_multinomial,
        pairs,
        snapshots,
        strength,
    ),
)


def _checked(name: str, entry: _Any) -> _Any:
    lacking = [part for part in ("Config", "fit", "predict") if not hasattr(entry, part)]
    if lacking:
        raise ValueError(f"{name} must have Config, fit and predict, {lacking[0]} is missing")
    if "training" not in getattr(entry.Config, "__dataclass_fields__", ()):
        raise ValueError(f"the Config of {name} must be a dataclass with a field training")
    return entry


METHODS = _Registry[_Any](
    "rue.methods", {module.learner.name: module for module in _MODULES}, _checked
)
"""Every method by name, those of other packages too (:mod:`rue._plugins`)."""

__all__ = [
    "CIFAR",
    "FINE_TUNING",
    "METHODS",
    "PROBE",
    "RESNET9",
    "SMALL_IMAGES",
    "Fitted",
    "Learner",
    "Training",
    "confidence",
    "ddu",
    "deup",
    "dirichlet_multinomial",
    "dropout",
    "ensemble",
    "evidential",
    "forest",
    "knn",
    "laplace",
    "pairs",
    "save_predictions",
    "single",
    "snapshots",
    "sngp",
    "strength",
    "swag",
]
