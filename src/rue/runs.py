"""Run: one method under one loss, what it estimated and what was realised on the same points."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import stream
from rue.beliefs import Belief, Convention, Draws, RealBelief
from rue.components import Components, decompose, realize
from rue.errors import InputError, ShapeError
from rue.losses import CostMatrix, Loss, get_loss
from rue.losses._valued import Valued
from rue.truth.annotations import Annotations
from rue.truth.answer_losses import Answers, answers
from rue.truth.finite_annotators import bracket_end
from rue.truth.rating_answers import RatingAnswers
from rue.truth.ratings import Ratings

__all__ = ["Run", "require_runs", "same_loss"]


@dataclass(frozen=True, eq=False)
class Run:
    """One method's realised and estimated components on the same points.

    Evaluation, intervals, comparison, plans, the report and the plots all take it.

    Attributes
    ----------
    star, hat
        The realised and the estimated components, n_points each; row i is the same point.
    method
        The name of the method.
    loss
        The loss that the components are of, or only its name.
    ids
        The names of the points, shape (n_points,).
    groups
        Columns to group the points by, each of shape (n_points,), by name.
    annotations
        The annotators' answers, if ``star`` was realised from them.
    answers
        What each answer costs, where that was asked for: it lets annotators be drawn again.
    path
        The file that the run was read from.
    classes
        The names of the classes, shape (n_classes,), where they have names.
    notes
        What a reader of the numbers must know about how files were matched, a sentence each.
    convention
        ``"definition"``, or ``"published"`` where ``hat`` is what the authors' own code computes.

    Examples
    --------
    >>> regret = np.array([0.0, 0.2, 0.5])
    >>> star = Components(regret + 0.1, np.full(3, 0.1), regret)
    >>> run = Run(star, star, method="oracle", loss="brier")
    >>> len(run), run[regret > 0].star.epistemic
    (3, array([0.2, 0.5]))
    """

    star: Components
    hat: Components
    _: KW_ONLY
    method: str = ""
    loss: str | Loss = ""
    ids: NDArray[np.str_] | None = None
    groups: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    annotations: Annotations | Ratings | None = None
    answers: Answers | RatingAnswers | None = None
    path: Path | None = None
    classes: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    convention: Convention = "definition"

    def __post_init__(self) -> None:
        n_points = len(self.star)
        if len(self.hat) != n_points:
            raise ShapeError(
                f"star and hat must have the same points, got {n_points} and {len(self.hat)}"
            )
        own = {"ids": self.ids, "annotations": self.annotations, "answers": self.answers}
        for name, column in {**own, **self.groups}.items():
            if column is not None and len(column) != n_points:
                raise ShapeError(
                    f"{name} must have {n_points} points as star has, got {len(column)}"
                )

    @classmethod
    def from_belief(
        cls,
        annotations: Annotations | Ratings,
        belief: Belief | RealBelief,
        loss: str | Loss = "log",
        *,
        values: ArrayLike | None = None,
        actions: ArrayLike | None = None,
        method: str = "",
        with_answers: bool | None = False,
        seed: int = 0,
        convention: Convention = "definition",
    ) -> "Run":
        """Return the run of a belief against the annotators' answers (Definition 1).

        Parameters
        ----------
        annotations
            The annotators' answers about n_points points.
        belief
            What the model says about the same points.
        loss, values, actions, seed
            As in :func:`rue.decompose` and :func:`rue.realize`; ``values`` default to those of
            the annotations.
        method
            The name of the method.
        with_answers
            Whether to keep what each answer costs, which :func:`rue.plan` needs; None keeps it
            where there are answers, and not where p* is known.
        convention
            As in :func:`rue.decompose`.

        Returns
        -------
        Run
            Of n_points points.

        Examples
        --------
        >>> from rue import Annotations, Draws
        >>> run = Run.from_belief(Annotations([[8, 2]]), Draws([[[0.5, 0.5]]]), "brier")
        >>> run.star.epistemic
        array([0.18])
        """
        _require_kinds(annotations, belief)
        loss = get_loss(loss, values=annotations.values if values is None else values)
        if with_answers is None:
            with_answers = (
                not isinstance(annotations, Annotations) or annotations.counts is not None
            )
        return cls(
            realize(annotations, belief, loss, actions=actions),
            decompose(belief, loss, seed=seed, convention=convention),
            method=method,
            loss=loss,
            annotations=annotations,
            answers=answers(annotations, belief, loss, actions=actions) if with_answers else None,
            notes=tuple(_notes(belief, loss)),
            convention=convention,
        )

    def __len__(self) -> int:
        return len(self.star)

    def __getitem__(self, rows: slice | NDArray[Any]) -> "Run":
        """Return the run of some of the points: a slice, a mask or indices.

        What depends on other points' answers, the upper Bayes risk under log loss, is that of
        these points alone.
        """
        star, annotations = self.star[rows], self.annotations
        if annotations is not None:
            annotations = annotations[rows]
            if isinstance(annotations, Annotations) and isinstance(self.loss, Loss):
                star = replace(star, aleatoric_high=bracket_end(annotations, self.loss))
        return replace(
            self,
            star=star,
            hat=self.hat[rows],
            ids=None if self.ids is None else self.ids[rows],
            groups={name: column[rows] for name, column in self.groups.items()},
            annotations=annotations,
            answers=None if self.answers is None else self.answers[rows],
        )

    @property
    def loss_name(self) -> str:
        """The name of the loss, empty where it is not known."""
        return self.loss.name if isinstance(self.loss, Loss) else self.loss


def _require_kinds(annotations: object, belief: object) -> None:
    """Raise unless the answers come first and the belief second, each of its own class."""
    if isinstance(annotations, Belief | RealBelief) and isinstance(belief, Annotations | Ratings):
        raise InputError(
            f"annotations come first and the belief second, got {type(annotations).__name__} "
            f"first: swap the two arguments"
        )
    if not isinstance(annotations, Annotations | Ratings):
        raise InputError(
            "annotations must be rue.Annotations(counts), or rue.Ratings for real-valued answers, "
            f"got {_described(annotations)}"
        )
    if not isinstance(belief, Belief | RealBelief):
        raise InputError(
            "belief must be rue.Draws(probs) of shape (n_points, n_draws, n_classes), "
            f"rue.Dirichlet(alpha) or another belief, got {_described(belief)}"
        )


def _described(value: object) -> str:
    shape = getattr(value, "shape", None)
    return type(value).__name__ + (f" of shape {shape}" if isinstance(shape, tuple) else "")


def require_runs(runs: Sequence[Run]) -> None:
    """Raise unless these are runs of different methods, of the same points, loss and answers."""
    for run in runs:
        if not isinstance(run, Run):
            raise InputError(
                f"runs must be a list of rue.Run, as Run(star, hat, method=...), got {run!r:.40}"
            )
    names = [run.method for run in runs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"every run must have a name of its own, got two of {twice!r}: give each its method"
        )
    if len({len(run) for run in runs}) > 1:
        told = ", ".join(f"{run.method} {len(run)}" for run in runs)
        raise ShapeError(f"all methods must have the same points, got {told}")
    for run in runs:
        if run.convention != "definition":
            raise InputError(
                f"runs are resampled by Definition 1, got {run.method!r} by the convention "
                f'"{run.convention}": make it with convention="definition"'
            )
    for run in runs[1:]:
        _require_same(runs[0], run)


def _require_same(first: Run, other: Run) -> None:
    """Raise where two runs say that they have other losses, points or answers."""
    names = f"{first.method!r} and {other.method!r}"
    if not same_loss(first.loss, other.loss):
        raise InputError(
            f"all runs must have the same loss and scale, got {first.loss_name} and "
            f"{other.loss_name} in {names}"
            + (", with other values or costs" if first.loss_name == other.loss_name else "")
        )
    if first.ids is not None and other.ids is not None:
        differs = np.asarray(first.ids).astype(str) != np.asarray(other.ids).astype(str)
        if differs.any():
            row = int(np.argmax(differs))
            raise InputError(
                f"row i must be the same point in all runs, {names} have the ids "
                f"{str(first.ids[row])!r} and {str(other.ids[row])!r} at row {row}; reorder one as "
                "run[rows]"
            )
    if first.annotations is not None and other.annotations is not None:
        row_or_none = other.annotations.first_difference(first.annotations)
        if row_or_none is not None:
            raise InputError(
                f"all runs must have the same answers, those of {names} differ, first at row "
                f"{row_or_none}"
            )


def same_loss(first: str | Loss, other: str | Loss) -> bool:
    """Return whether two losses are the same, with their scale and costs, as far as is known.

    Parameters
    ----------
    first, other
        Losses, or only their names; an empty name is that of any loss.

    Returns
    -------
    bool
        Whether they are. Values that differ by a constant are the same scale.

    Examples
    --------
    >>> from rue import Squared
    >>> same_loss(Squared([1, 2, 3]), Squared()), same_loss(Squared([0, 1, 5]), Squared())
    (True, False)
    """
    if not (isinstance(first, Loss) and isinstance(other, Loss)):
        names = [each.name if isinstance(each, Loss) else each for each in (first, other)]
        return names[0] == names[1] or "" in names
    if isinstance(first, CostMatrix) and isinstance(other, CostMatrix):
        return np.array_equal(first.costs, other.costs)
    if isinstance(first, Valued) and isinstance(other, Valued):
        scale = next((each.values for each in (first, other) if each.values is not None), None)
        if scale is not None and not np.array_equal(
            first.offsets(len(scale)), other.offsets(len(scale))
        ):
            return False
    return first.name == other.name


def _notes(belief: Belief | RealBelief, loss: Loss) -> list[str]:
    notes = []
    if isinstance(belief, Belief) and isinstance(loss, Valued) and loss.values is None:
        k = belief.n_classes
        scale = ", ".join(map(str, range(k))) if k <= 6 else f"0, 1, ..., {k - 1}"
        notes.append(f"no values were given: classes count as {scale} under {loss.name}")
    if isinstance(belief, Draws) and belief.n_draws > 1 and _is_one_hot(belief):
        notes.append(
            "every draw is one-hot, so it claims to be certain and aleatoric is 0: if draws are "
            "sampled labels, give them as sampled_labels"
        )
    return notes


def _is_one_hot(belief: Draws) -> bool:
    first = np.asarray(belief.probs[:64]).max(axis=-1)
    if (first < 1).any():  # the first points decide for most beliefs
        return False
    return all(bool((chunk.max(axis=-1) == 1).all()) for _, chunk in stream(belief.probs))
