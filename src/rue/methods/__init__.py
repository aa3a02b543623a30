"""Methods that estimate their uncertainty, trained fast (section 5, appendix C).

baselines.py              one network: its distribution (single), -> Draws
                          its confidence, a distance (knn)        -> Scored
dropout.py                random thinned networks           -> Draws
ensemble.py               independently trained networks    -> Draws
evidential.py             a network that gives a Dirichlet  -> Dirichlet
ddu.py                    a density of the features         -> Scored
laplace.py                a Gaussian over the last layer    -> Draws
dirichlet_multinomial.py  a Dirichlet fitted to counts of answers     -> Dirichlet
pairs.py                  a joint distribution of pairs of answers    -> Dirichlet
post_hoc.py               any method's mean, with a strength that is
                          learnt for each point (snapshots) or once   -> Dirichlet
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
    ddu,
    deup,
    dirichlet_multinomial,
    dropout,
    ensemble,
    evidential,
    forest,
    laplace,
    pairs,
    sngp,
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
from rue.methods.baselines import (
    ConfidenceConfig,
    KnnConfig,
    SingleConfig,
    confidence,
    knn,
    single,
)
from rue.methods.learner import Fitted, Learner
from rue.methods.post_hoc import PostHocConfig, snapshots, strength

_LEARNERS: tuple[Learner[_Any], ...] = (
    *(dropout.learner, evidential.learner, ensemble.learner, ddu.learner, laplace.learner),
    *(single, confidence, knn, forest.learner, sngp.learner, swag.learner, deup.learner),
    *(dirichlet_multinomial.learner, pairs.learner, snapshots, strength),
)


def _checked(name: str, entry: _Any) -> _Any:
    lacking = [part for part in ("Config", "fit", "predict") if not hasattr(entry, part)]
    if lacking:
        raise ValueError(f"{name} must have Config, fit and predict, {lacking[0]} is missing")
    if "training" not in getattr(entry.Config, "__dataclass_fields__", ()):
        raise ValueError(f"the Config of {name} must be a dataclass with a field training")
    return entry


METHODS = _Registry[_Any]("rue.methods", {learner.name: learner for learner in _LEARNERS}, _checked)
"""Every method by name, those of other packages too (:mod:`rue._plugins`)."""

__all__ = [
    "CIFAR",
    "FINE_TUNING",
    "METHODS",
    "PROBE",
    "RESNET9",
    "SMALL_IMAGES",
    "ConfidenceConfig",
    "Fitted",
    "KnnConfig",
    "Learner",
    "PostHocConfig",
    "SingleConfig",
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
