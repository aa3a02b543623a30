"""OOD detection: how well a score separates out-of-distribution from in-distribution inputs.

OOD is the positive class, and a higher score means OOD, as in OpenOOD v1.5. Equal scores share
one threshold, so no number depends on the order of rows. For scores s_in and s_out of the sets:

- AUROC = P(s_out > s_in) + P(s_out = s_in) / 2;
- AUPR = sum over thresholds, in descending order, of (recall - previous recall) x precision
  (average precision; it depends on the sizes of the two sets);
- FPR95 = the share of in-distribution inputs at or above the highest threshold that finds 95 %
  of the OOD inputs.

The result of a group is the unweighted mean over its sets, as OpenOOD reports near and far OOD.
The Bayes-optimal score for the task is p_out(x) / p_in(x), which does not depend on a loss
(section 3.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, as_vector
from rue._text import JsonObject
from rue.errors import InputError


@dataclass(frozen=True)
class Detection:
    """The detection of one OOD set, or the mean over a group of sets.

    Attributes
    ----------
    name : str
        The name of the set or group.
    n_out : int
        The number of OOD inputs.
    auroc, aupr, fpr95 : float
        As defined in :mod:`rue.proxies.ood`.
    """

    name: str
    n_out: int
    auroc: float
    aupr: float
    fpr95: float


@dataclass(frozen=True)
class OOD:
    """OOD detection by one score.

    Attributes
    ----------
    score : str
        The name of the score.
    n_in : int
        The number of in-distribution inputs.
    sets, groups : tuple of Detection
        One result for each OOD set, and one for each group with at least one set.
    """

    score: str
    n_in: int
    sets: tuple[Detection, ...]
    groups: tuple[Detection, ...]

    @property
    def near(self) -> Detection | None:
        """The mean over the near sets, or None if there are none."""
        return next((group for group in self.groups if group.name == "near"), None)

    @property
    def far(self) -> Detection | None:
        """The mean over the far sets, or None if there are none."""
        return next((group for group in self.groups if group.name == "far"), None)

    def to_dict(self) -> JsonObject:
        """Return a dictionary that can be written as JSON, with sets and groups by name."""
        parts = {
            kind: {d.name: {k: v for k, v in asdict(d).items() if k != "name"} for d in detections}
            for kind, detections in (("sets", self.sets), ("groups", self.groups))
        }
        return {"score": self.score, "n_in": self.n_in} | parts


def evaluate_ood(
    score_in: ArrayLike,
    scores_out: Mapping[str, ArrayLike],
    groups: Mapping[str, Sequence[str]] | None = None,
    *,
    score: str = "epistemic",
) -> OOD:
    """Evaluate how well a score separates in-distribution inputs from each OOD set.

    Parameters
    ----------
    score_in : array_like of shape (n_in,)
        Scores of in-distribution test inputs.
    scores_out : mapping of str to array_like of shape (n_out,)
        Scores of each OOD set, by the name of the set.
    groups : mapping of str to sequence of str, optional
        The names of the sets in each group, for example of :func:`rue.data.ood_groups`. Names
        that are not in ``scores_out`` are ignored, because not all sets may be available.
    score : str
        The name of the score, which is stored in the result.

    Returns
    -------
    OOD
        The detection of each set and the mean over each group.

    Raises
    ------
    InputError
        If there is no OOD set, or a score is not finite.

    Examples
    --------
    >>> from rue.proxies import evaluate_ood
    >>> found = evaluate_ood([0, 1, 2, 3], {"tin": [1, 4], "mnist": [5, 6]}, {"near": ["tin"]})
    >>> found.near.auroc, found.sets[1].auroc, found.far
    (0.6875, 1.0, None)
    """
    inside = as_vector("score_in", score_in)
    if not scores_out:
        raise InputError("scores_out must have at least one OOD set, got none")
    sets = {name: _detect(name, inside, values) for name, values in scores_out.items()}
    means = []
    for group, names in (groups or {}).items():
        if isinstance(names, str):
            raise InputError(f"groups must give a list of names for {group!r}, got {names!r}")
        here = [sets[name] for name in names if name in sets]
        if here:
            numbers = zip(*((d.auroc, d.aupr, d.fpr95) for d in here), strict=True)
            n_out = sum(detection.n_out for detection in here)
            means.append(Detection(group, n_out, *(float(np.mean(column)) for column in numbers)))
    return OOD(score, len(inside), tuple(sets.values()), tuple(means))


def _detect(name: str, inside: FloatArray, scores: ArrayLike) -> Detection:
    """Return the three numbers of one set, with the label 1 for OOD and ranks as scores."""
    from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

    out = as_vector(f"scores_out of {name}", scores)
    labels = np.repeat([0, 1], [len(inside), len(out)])
    ranks = np.unique(np.concatenate([inside, out]), return_inverse=True)[1]
    false_positives, true_positives, _ = roc_curve(labels, ranks, drop_intermediate=False)
    return Detection(
        name,
        len(out),
        auroc=float(roc_auc_score(labels, ranks)),
        aupr=float(average_precision_score(labels, ranks)),
        fpr95=float(false_positives[np.argmax(true_positives >= 0.95)]),
    )
