"""Which OOD sets a data set has, near and far, and how it gets them.

For CIFAR-10 and ImageNet the groups are OpenOOD v1.5's: near shares the kind of image (objects),
far does not.
The four domains of sentiment ask the same question of other texts, so they are each other's near
sets; there is no far one.
"""

import os
from dataclasses import replace
from typing import Any

from rue.data.dataset import DataSet
from rue.data.datasets.openood import FAR, NEAR, OPENOOD_GROUPS
from rue.data.features import featurize
from rue.data.registry import ENTRIES, find, is_here, load
from rue.errors import FileError, InputError


def ood_groups(name: str) -> dict[str, tuple[str, ...]]:
    """Return the names of a data set's near and far OOD sets; none where it has no such sets.

    Parameters
    ----------
    name : str
        As ``rue data list`` shows it, or ``imagenet``.

    Returns
    -------
    dict of str to tuple of str
        The names under ``near`` and ``far``; a group without sets is left out.

    Raises
    ------
    InputError
        If no data set has this name.

    Examples
    --------
    >>> from rue.data import ood_groups
    >>> ood_groups("sentiment-nyt")
    {'near': ('sentiment-movies', 'sentiment-tweets', 'sentiment-amazon')}
    >>> ood_groups("letter")
    {}
    >>> ood_groups("imagenet")["near"]
    ('ssb_hard', 'ninco')
    """
    if name == "imagenet":  # no data set of rue's, but its groups are those of table 4
        return dict(OPENOOD_GROUPS["imagenet"])
    find(name)
    if name in ("cifar10h", "cifar10h-features"):
        return {"near": NEAR, "far": FAR}
    if name.startswith("sentiment-"):
        others = (other for other in ENTRIES if other.startswith("sentiment-") and other != name)
        return {"near": tuple(others)}
    return {}


def add_ood(
    data: DataSet, root: str | os.PathLike[str] | None = None, *, seed: int = 0, **options: Any
) -> DataSet:
    """Return a data set with its OOD sets (``data.ood``), as far as they are available.

    Texts become features: one featurizer, fitted on the training split of ``data`` only, is
    applied to ``data`` and to the test splits of the other domains. Images get the sets of
    OpenOOD. A data set that has OOD sets already is returned unchanged.

    Parameters
    ----------
    data
        As :func:`~rue.data.load` gives it, with the same ``seed``.
    root
        A data root to look in first.
    seed
        Of the other domains' splits, and of the featurizer.
    options
        Those of :func:`~rue.data.featurize`; for texts only.

    Returns
    -------
    DataSet
        The data set; ``ood`` maps the name of each OOD set to its inputs, of shape (n_inputs, ...)
        with the shape of the inputs of ``data`` after the first axis.

    Raises
    ------
    InputError
        If the data set has no OOD sets, or does not take an option.
    FileError
        If none of its OOD sets is available.
    """
    names = [name for group in ood_groups(data.name).values() for name in group]
    if not names:
        raise InputError(f"{data.name} has no OOD sets")
    if data.ood:
        return data
    if data.task == "text":
        # Whole domains, because their embeddings are cached: seeds test on other texts of them.
        others = [load(name, root, seed=seed) for name in names]
        data_set = featurize(data, others, seed=seed, root=root, **options)
        return replace(data_set, ood={one.name: data_set.ood[one.name][one.test] for one in others})
    if options:
        raise InputError(f"{data.name} holds no texts and takes no option {next(iter(options))!r}")
    if data.task != "image":
        raise InputError(f"{data.name} as {data.task} cannot be joined with OOD sets of images")
    size = data.inputs[0].shape[0]
    ood = {
        name: load(f"openood-{name}", root, size=size).inputs
        for name in names
        if is_here(f"openood-{name}", root)
    }
    if not ood:
        raise FileError(
            f"none of OpenOOD's sets for {data.name} is on this machine: {', '.join(names)}"
        )
    return replace(data, ood=ood)
