"""scikit-learn: the members of a forest, bagging or voting, or any list of classifiers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, validate_data
from tqdm import tqdm

from rue._arrays import require_one_of
from rue.beliefs import Draws
from rue.errors import InputError, ShapeError
from rue.losses import Loss, get_loss
from rue.metrics.columns import COLUMNS, EVALUATED
from rue.metrics.evaluation import evaluate
from rue.truth.annotations import Annotations
from rue.truth.base import Truth

__all__ = ["draws", "scorer"]

_FORESTS = (RandomForestClassifier, ExtraTreesClassifier)


def draws(models: Any, X: Any, *, classes: ArrayLike | None = None) -> Draws:
    """Return the ``predict_proba`` of each member of an ensemble as one draw.

    Parameters
    ----------
    models : estimator or iterable of estimators
        A fitted forest (random or extra trees), ``BaggingClassifier`` or ``VotingClassifier``,
        whose members are the draws; a ``Pipeline`` that ends in one; or a list of any fitted
        classifiers with ``predict_proba``.
    X : array_like of shape (n_points, n_features)
        The inputs of ``predict_proba``.
    classes : array_like of shape (n_classes,), optional
        The classes in the order of the annotations' columns; by default all classes of the
        models, sorted. A class that a member was not trained on has probability 0 there.

    Returns
    -------
    Draws
        Probabilities of shape (n_points, n_members, n_classes).

    Raises
    ------
    InputError
        If a model is not fitted or no classifier, or ``classes`` lacks one of its classes.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> members = [DummyClassifier().fit([[0], [0]], y) for y in (["cat", "dog"], ["dog", "dog"])]
    >>> draws(members, [[0]]).probs
    array([[[0.5, 0.5],
            [0. , 1. ]]])
    """
    members, inputs, member_classes = _members(models, X)
    order = _sorted(member_classes) if classes is None else _order(classes)
    if len(order) < 2:
        raise ShapeError(f"classes must be at least 2, got {order}")
    column = {name: index for index, name in enumerate(order)}
    strange = [name for name in member_classes if name not in column]
    if strange:
        raise InputError(
            f"classes must contain every class of the models, {strange[0]!r} is missing"
        )
    probs: NDArray[np.float64] | None = None
    bar = tqdm(members, total=len(members), desc="members", delay=2, disable=None, leave=False)
    for draw, (member, seen, columns) in enumerate(bar):
        own = inputs if columns is None else inputs[:, columns]
        member_probs = np.asarray(member.predict_proba(own))
        if member_probs.ndim != 2 or member_probs.shape[1] != len(seen):
            raise ShapeError(
                f"predict_proba of model {draw} must return one column per class ({len(seen)}), "
                f"got shape {member_probs.shape}"
            )
        if probs is None:
            probs = np.zeros((len(member_probs), len(members), len(order)))
        probs[:, draw, [column[name] for name in seen.tolist()]] = member_probs
    assert probs is not None
    return Draws(probs)


def scorer(
    column: str = "n_aurec", *, loss: str | Loss = "log", truth: Truth | None = None
) -> Callable[[Any, Any, Any], float]:
    """Return a scorer for ``cross_val_score``, ``GridSearchCV`` and others: greater is better.

    Members of forests, bagging and voting are draws, as in :func:`draws`; any other classifier
    has one distribution per point.

    Parameters
    ----------
    column : str
        The column of :class:`rue.Evaluation`; one for which lower is better is negated, as the
        scorers ``neg_...`` of scikit-learn are.
    loss : str or Loss
        As in :func:`rue.evaluate`.
    truth : Truth, optional
        The answers, with ids: rows of X, a data frame, are matched by its index. Without it, y is
        the truth: one label per point, or counts of shape (n_points, n_classes), classes in the
        order of the estimator's.

    Returns
    -------
    callable
        From a fitted estimator, X and y to the score; NaN where the column is undefined.

    Raises
    ------
    InputError
        If the column is unknown, or rows cannot be matched.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.model_selection import cross_val_score
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    >>> forest = RandomForestClassifier(10, random_state=0)
    >>> scores = cross_val_score(forest, X, y, cv=3, scoring=scorer("risk", loss="brier"))
    >>> scores.shape, bool((scores < 0).all())
    ((3,), True)
    """
    require_one_of("column", column, EVALUATED)
    if truth is not None and truth.ids is None:
        raise InputError("truth must have ids, by which rows of X are matched")
    get_loss(loss)  # raises if it is invalid
    sign = -1.0 if COLUMNS[column].better == "low" else 1.0

    def score(estimator: Any, X: Any, y: Any) -> float:
        names = np.asarray(estimator.classes_)
        last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        if isinstance(last, (*_FORESTS, BaggingClassifier, VotingClassifier)):
            probs = draws(estimator, X, classes=names).probs
        else:
            probs = np.asarray(estimator.predict_proba(X))[:, None]
        answers: Truth
        if truth is None:
            answers, belief = _answers(y, names), Draws(probs)
        else:
            if not hasattr(X, "index"):
                raise InputError("X must be a data frame, whose index has the ids of truth")
            ids = [str(name) for name in X.index]
            rows = np.isin(np.asarray(truth.ids), ids)
            answers, belief = truth[rows], Draws(probs, ids=ids, classes=[str(n) for n in names])
        row = evaluate(answers, belief, loss, gap=column == "pareto_gap", references=False)
        return sign * row.numbers[column]

    return score


def _answers(y: Any, names: NDArray[Any]) -> Annotations:
    """Return y as answers: one label per point, or counts by class."""
    array = np.asarray(y)
    if array.ndim == 2:
        return Annotations(array)
    column = {name: k for k, name in enumerate(names.tolist())}
    strange = [label for label in array.tolist() if label not in column]
    if strange:
        raise InputError(f"y must hold classes of the estimator, got {strange[0]!r}")
    return Annotations(np.eye(len(names))[[column[label] for label in array.tolist()]])


_Member = tuple[Any, NDArray[Any], Any]
"""A classifier, the classes of its columns, and the columns of its inputs, None for all."""


def _members(models: Any, X: Any) -> tuple[list[_Member], Any, list[Any]]:
    """Return the members of an ensemble, their inputs, and all classes."""
    if isinstance(models, Pipeline):
        _require_fitted(models[-1])
        return _members(models[-1], models[:-1].transform(X) if len(models) > 1 else X)
    if isinstance(models, (*_FORESTS, BaggingClassifier, VotingClassifier)):
        return _of_ensemble(models, X)
    # All ensembles of scikit-learn are iterable, but not all are the mean of their members.
    if isinstance(models, str | type | BaseEstimator) or not hasattr(models, "__iter__"):
        raise InputError(
            "models must be a forest, bagging, voting, or a list of classifiers, "
            f"got {type(models).__name__}"
        )
    listed = list(models)
    if not listed:
        raise InputError("models must hold at least one classifier, got none")
    for index, model in enumerate(listed):
        _require_classifier(model, f"model {index}")
    members = [(model, np.asarray(model.classes_), None) for model in listed]
    return members, X, [name for _, seen, _ in members for name in seen.tolist()]


def _of_ensemble(model: Any, X: Any) -> tuple[list[_Member], Any, list[Any]]:
    _require_fitted(model)
    _require_one_outcome(model)
    classes = np.asarray(model.classes_)
    inner = list(model.estimators_)
    for index, member in enumerate(inner):
        _require_classifier(member, f"member {index} of the {type(model).__name__}")
    # Members are trained on class numbers, not on class names.
    pairs = [(m, classes[np.asarray(m.classes_).astype(np.int64)]) for m in inner]
    if isinstance(model, VotingClassifier):
        if model.weights is not None and len(set(model.weights)) > 1:
            raise InputError(
                f"a VotingClassifier must have equal weights, because draws do, got {model.weights}"
            )
        return [(member, own, None) for member, own in pairs], X, classes.tolist()
    # Members are trained on arrays without column names, so names are validated here.
    array = validate_data(
        model,
        X,
        reset=False,
        accept_sparse="csr",
        dtype=np.float32 if isinstance(model, _FORESTS) else None,
        ensure_all_finite=False,
    )
    columns = [None] * len(inner)
    if isinstance(model, BaggingClassifier):
        columns = model.estimators_features_
    members = [(m, own, part) for (m, own), part in zip(pairs, columns, strict=True)]
    return members, array, classes.tolist()


def _require_classifier(model: Any, what: str) -> None:
    if isinstance(model, type) or not hasattr(model, "predict_proba"):
        raise InputError(f"{what} must have predict_proba, got {type(model).__name__}")
    if isinstance(model, BaseEstimator):
        _require_fitted(model)
    if not hasattr(model, "classes_"):
        raise InputError(f"{what} must have classes_, got {type(model).__name__}")
    _require_one_outcome(model)


def _require_one_outcome(model: Any) -> None:
    if any(np.ndim(name) for name in model.classes_):
        raise InputError(f"models must have one output, got a {type(model).__name__} with several")


def _require_fitted(model: Any) -> None:
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError):
        raise InputError(f"models must be fitted, got an unfitted {type(model).__name__}") from None


def _sorted(names: list[Any]) -> list[Any]:
    try:
        return sorted(set(names))
    except TypeError:
        kinds = sorted({type(name).__name__ for name in names})
        raise InputError(
            f"the classes of all models must have one type, or pass classes, "
            f"got {' and '.join(kinds)}"
        ) from None


def _order(classes: ArrayLike) -> list[Any]:
    order = np.asarray(classes, dtype=object)
    if order.ndim != 1:
        raise ShapeError(f"classes must have shape (n_classes,), got {order.shape}")
    names: list[Any] = order.tolist()
    for index, name in enumerate(names):
        if name in names[:index]:
            raise InputError(f"classes must not repeat, got {name!r} twice")
    return names
