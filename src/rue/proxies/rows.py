"""A row of table 4: OOD detection and selective prediction of one method's predictions.

As in the paper, the score of OOD detection is the estimated epistemic component under log loss,
and that of selective prediction the total. There are two AuAC, because accuracy may be measured
against two truths:

=============  =================================================================================
auac           the annotators' answers: a prediction counts as right with the share of annotators
               who gave it
auac_labels    the data set's labels, one per point: right or wrong, as in table 4 of the paper
=============  =================================================================================
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rue._text import JsonObject
from rue.beliefs import Belief, Convention
from rue.components import decompose
from rue.errors import InputError, ShapeError
from rue.losses import Loss, get_loss
from rue.proxies.ood import OOD, evaluate_ood
from rue.proxies.selective import Selective, correctness, evaluate_selective
from rue.truth.alignment import on_one_scale
from rue.truth.annotations import Annotations
from rue.truth.base import Truth


@dataclass(frozen=True)
class ProxyRow:
    """OOD detection and selective prediction of one method.

    Attributes
    ----------
    method : str
        The name of the method.
    n_points : int
        The number of in-distribution points.
    ood : OOD or None
        The detection of each OOD set and group; None without OOD sets.
    by_answers, by_labels : tuple of Selective
        Selective prediction by total, aleatoric and epistemic uncertainty, against the
        annotators' answers and against the labels; empty without them.
    """

    method: str
    n_points: int
    ood: OOD | None = None
    by_answers: tuple[Selective, ...] = ()
    by_labels: tuple[Selective, ...] = ()

    @property
    def near_ood(self) -> float | None:
        """The AUROC of near OOD, or None."""
        near = None if self.ood is None else self.ood.near
        return None if near is None else near.auroc

    @property
    def far_ood(self) -> float | None:
        """The AUROC of far OOD, or None."""
        far = None if self.ood is None else self.ood.far
        return None if far is None else far.auroc

    @property
    def auac(self) -> float | None:
        """The AuAC of the total against the annotators' answers, or None."""
        return _auac(self.by_answers)

    @property
    def auac_labels(self) -> float | None:
        """The AuAC of the total against the data set's labels, or None."""
        return _auac(self.by_labels)

    def columns(self) -> dict[str, float | None]:
        """Return the columns of table 4 by key."""
        keys = ("near_ood", "far_ood", "auac", "auac_labels")
        return {key: getattr(self, key) for key in keys}

    def details(self) -> JsonObject:
        """Return what the columns are made of: ``ood`` by set, ``selective`` by truth."""
        numbers: JsonObject = {}
        if self.ood is not None:
            numbers["ood"] = self.ood.to_dict()
        truths = {"answers": self.by_answers, "labels": self.by_labels}
        selective = {name: [row.to_dict() for row in rows] for name, rows in truths.items() if rows}
        return numbers | ({"selective": selective} if selective else {})

    def to_dict(self) -> JsonObject:
        """Return a dictionary that can be written as JSON."""
        names = {"method": self.method, "n_points": self.n_points}
        return names | self.columns() | self.details()


def evaluate_proxies(
    belief: Belief,
    *,
    outside: Mapping[str, Belief] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    answers: Truth | None = None,
    labels: ArrayLike | Truth | None = None,
    loss: str | Loss = "log",
    method: str = "",
    convention: Convention = "definition",
) -> ProxyRow:
    """Evaluate OOD detection and selective prediction: one row of the paper's table 4.

    Parameters
    ----------
    belief : Belief
        The predictions of n_points in-distribution test points.
    outside : mapping of str to Belief, optional
        The predictions of the same model for each OOD set, by the name of the set.
    groups : mapping of str to sequence of str, optional
        The sets of each group, such as :func:`rue.data.ood_groups` returns them.
    answers : Annotations, optional
        The annotators' answers about the test points, for ``auac``.
    labels : array_like of int, shape (n_points,), or Annotations, optional
        The data set's labels, for ``auac_labels``: numbers of the belief's own columns in the order
        of its rows, or annotations with one answer each, which are matched by name.
    loss : str or Loss
        The loss of the scores; the paper uses log loss.
    method : str
        The name of the method in the result.
    convention : {"definition", "published"}
        As in :func:`rue.decompose`.

    Returns
    -------
    ProxyRow
        The columns of table 4, each None if what it needs was not given, and their details.

    Raises
    ------
    InputError
        If nothing was given to evaluate against, or labels are invalid.

    Examples
    --------
    >>> from rue.proxies import evaluate_proxies
    >>> from rue import Dirichlet
    >>> row = evaluate_proxies(
    ...     Dirichlet([[9, 1], [3, 2]]),
    ...     outside={"tin": Dirichlet([[1, 1]])},
    ...     groups={"near": ["tin"]},
    ...     labels=[0, 1],
    ... )
    >>> row.near_ood, row.auac_labels, row.auac  # one of one right, then one of two
    (1.0, 0.75, None)
    """
    if not outside and answers is None and labels is None:
        raise InputError(
            "nothing to evaluate against: give OOD sets, annotators' answers or labels"
        )
    truth = labels if labels is None or isinstance(labels, Truth) else _one_hot(labels, belief)
    if answers is None:
        belief = belief.on_scale(get_loss(loss))
    else:
        (_, belief, _), loss, _ = on_one_scale(answers, belief, loss)
    hat = decompose(belief, loss, convention=convention)
    ood = None
    if outside:
        alike = {
            n: other.onto_classes(belief.outcomes, "the belief") for n, other in outside.items()
        }
        scores = {n: decompose(b, loss, convention=convention).epistemic for n, b in alike.items()}
        ood = evaluate_ood(hat.epistemic, scores, groups)

    def selective(truth: Truth | None) -> tuple[Selective, ...]:
        if truth is None:
            return ()
        return evaluate_selective(correctness(truth, belief), hat)

    return ProxyRow(method, len(hat), ood, selective(answers), selective(truth))


def _auac(rows: Sequence[Selective]) -> float | None:
    return next((row.auac for row in rows if row.score == "total"), None)


def _one_hot(labels: ArrayLike, belief: Belief) -> Annotations:
    classes = np.asarray(labels)
    if classes.shape != (belief.n_points,):
        raise ShapeError(f"labels must have shape ({belief.n_points},), got {classes.shape}")
    if classes.dtype.kind not in "iu":
        raise InputError(f"labels must be whole numbers, got {classes.dtype}")
    wrong = (classes < 0) | (classes >= belief.n_classes)
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"labels must be from 0 to {belief.n_classes - 1}, got {classes[row]} at row {row}"
        )
    counts = np.eye(belief.n_classes, dtype=np.int64)[classes]
    return Annotations(counts, ids=belief.ids)._with(outcomes=belief.outcomes)
