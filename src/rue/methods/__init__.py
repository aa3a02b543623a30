"""Methods that estimate their uncertainty, trained fast (section 5, appendix C).

single.py                 one network, without more         -> Draws
dropout.py                random thinned networks           -> Draws
ensemble.py               independently trained networks    -> Draws
evidential.py             a network that gives a Dirichlet  -> Dirichlet
ddu.py                    a density of the features         -> Scored
laplace.py                a Gaussian over the last layer    -> Draws
dirichlet_multinomial.py  a Dirichlet fitted to counts of answers     -> Dirichlet
pairs.py                  a joint distribution of pairs of answers    -> Dirichlet
snapshots.py              any method's mean, with a learnt strength   -> Dirichlet
deup.py                   a network that predicts regret    -> Scored
forest.py                 trees of a random forest          -> Draws
swag.py                   a Gaussian over all weights       -> Draws
sngp.py                   a Gaussian process on the features          -> Draws

Every method's file has the same names in the same order: ``Config``, ``Fitted``, ``fit``,
``predict``. The rest is what they share:

training.py    the one training loop, and its settings
networks.py    the probe (a stack of them), the small CNN; resnet.py the ResNet-18
pools.py       inputs as tensors: scaling, batches, augmentation
models.py      which networks train together, and their features afterwards
streams.py     random numbers by name        spectral.py  the norm of a layer
checkpoints.py an epoch on disk

Needs the extra ``rue[torch]``.
"""

from typing import Any as _Any

from rue.errors import MissingExtraError

try:
    import torch as _torch  # noqa: F401
except ImportError:
    raise MissingExtraError(
        "rue.methods needs an extra: pip install -e '.[torch]' in a clone, else "
        "pip install 'rue[torch]'"
    ) from None

from rue._plugins import Registry as _Registry
from rue.io.predictions import save_predictions
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
    single,
    snapshots,
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


def _checked(name: str, found: _Any) -> _Any:
    lacking = [part for part in ("Config", "fit", "predict") if not hasattr(found, part)]
    if lacking:
        raise ValueError(f"{name} must have Config, fit and predict, {lacking[0]} is missing")
    if "training" not in getattr(found.Config, "__dataclass_fields__", ()):
        raise ValueError(f"the Config of {name} must be a dataclass with a field training")
    return found


METHODS = _Registry[_Any](
    "rue.methods",
    {
        "single": single,
        "dropout": dropout,
        "ensemble": ensemble,
        "evidential": evidential,
        "ddu": ddu,
        "laplace": laplace,
        "dirichlet_multinomial": dirichlet_multinomial,
        "pairs": pairs,
        "sngp": sngp,
        "swag": swag,
        "forest": forest,
        "deup": deup,
        "snapshots": snapshots,
    },
    _checked,
)
"""Every method by name, those of other packages too (:mod:`rue._plugins`)."""

__all__ = [
    "CIFAR",
    "FINE_TUNING",
    "METHODS",
    "PROBE",
    "RESNET9",
    "SMALL_IMAGES",
    "Training",
    "ddu",
    "deup",
    "dirichlet_multinomial",
    "dropout",
    "ensemble",
    "evidential",
    "forest",
    "laplace",
    "pairs",
    "save_predictions",
    "single",
    "snapshots",
    "sngp",
    "swag",
]
