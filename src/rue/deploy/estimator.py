"""fit_selector as an estimator: fit on annotations and beliefs, accept by beliefs alone."""

from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any, Literal, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue.beliefs import Belief
from rue.components import Run
from rue.deploy.fit import fit_selector
from rue.deploy.kind import Kind
from rue.deploy.rule import Rule, Weights
from rue.errors import InputError
from rue.losses import Loss
from rue.selectors.selector import Problem
from rue.truth.alignment import on_one_scale
from rue.truth.base import Truth


@final
@dataclass(eq=False)
class DeployableSelector:
    """Accept or defer, in the style of scikit-learn: :meth:`fit`, then :meth:`accept`.

    Parameters
    ----------
    loss, values
        As in :func:`rue.realize`. A promise on the log loss needs a floor on predicted
        probabilities: ``rue.Log(floor=0.001)``.
    maximize, minimize, coverage_min, risk_max, regret_max, normalized
        The problem, as in :class:`rue.Problem`.
    bound
        The largest possible loss; None takes the bound of the loss.
    delta, weights, learn_share, seed
        As in :func:`rue.fit_selector`.

    Attributes
    ----------
    rule_ : Rule
        The fitted rule. It can be saved as JSON, and applying it needs no calibration data.

    Examples
    --------
    >>> import numpy as np
    >>> from rue import Annotations, DeployableSelector, Draws
    >>> sure = np.linspace(0.5, 1, 200)
    >>> belief = Draws(np.stack([sure, 1 - sure], axis=1)[:, None])
    >>> annotations = Annotations(np.stack([np.rint(20 * sure), 20 - np.rint(20 * sure)], axis=1))
    >>> selector = DeployableSelector("zero_one", maximize="coverage", risk_max=0.1, delta=0.1)
    >>> print(selector.fit(annotations, belief).rule_.rule)
    Accept where aleatoric uncertainty is at most 0.298995
    >>> selector.accept(Draws([[[0.9, 0.1]], [[0.6, 0.4]]]))
    array([ True, False])
    """

    loss: str | Loss = "log"
    _: KW_ONLY
    values: ArrayLike | None = None
    maximize: Literal["coverage"] | None = None
    minimize: Literal["risk", "regret"] | None = None
    coverage_min: float | None = None
    risk_max: float | None = None
    regret_max: float | None = None
    normalized: bool = False
    delta: float | None = None
    bound: float | None = None
    weights: Weights | None = None
    learn_share: float = 0.25
    seed: int = 0
    rule_: Rule = field(init=False, repr=False)

    def fit(self, annotations: Truth, belief: Belief, *, actions: ArrayLike | None = None) -> Self:
        """Learn the rule from annotated calibration points.

        Parameters
        ----------
        annotations
            Annotators' answers for n_points calibration points. For a promise about real-valued
            answers, :class:`~rue.Ratings` with their range.
        belief
            What the model says about the same points; they are matched by name
            (:func:`rue.align`). Points with ids are split in the order of their ids.
        actions
            Actions of a deployed predictor, shape (n_points,) or (n_points, n_classes); None takes
            the belief's own.

        Returns
        -------
        DeployableSelector
            This object, with ``rule_`` set.

        Raises
        ------
        InputError
            If the parameters are invalid, or a promise is requested of an unbounded loss.
        """
        (annotations, belief, _), loss, actions = on_one_scale(
            annotations, belief, self.loss, self.values, actions
        )
        run = Run.from_belief(annotations, belief, loss, actions=actions).by_id()
        own = {name: getattr(self, name) for name in ("bound", *_FITTED)}
        if self.delta is not None and self.bound is None:
            own["bound"] = belief.loss_bound(loss, actions, annotations.range)
        kind = Kind.of(belief, loss, limits=annotations.range)
        self.rule_ = fit_selector(run.star, run.hat, **self.problem.to_dict(), **own, kind=kind)
        return self

    @property
    def problem(self) -> Problem:
        """The problem that the parameters state; invalid ones raise InputError."""
        return Problem(**{each.name: getattr(self, each.name) for each in fields(Problem)})

    def accept(self, belief: Belief) -> NDArray[np.bool_]:
        """Decide on new points by the belief alone.

        Parameters
        ----------
        belief
            What the model says about n_points new points.

        Returns
        -------
        ndarray of bool, shape (n_points,)
            True for accept, False for defer.

        Raises
        ------
        InputError
            If the selector is not fitted, or the belief is of another kind than the fitted one.
        """
        if not hasattr(self, "rule_"):
            raise InputError("fit the selector first")
        return self.rule_.accept(belief)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as scikit-learn requires."""
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters by name; an unknown name raises InputError."""
        for name, value in parameters.items():
            if name not in _PARAMETERS:
                raise InputError(f"parameters are {', '.join(_PARAMETERS)}, got {name!r}")
            setattr(self, name, value)
        return self


_PARAMETERS = tuple(each.name for each in fields(DeployableSelector) if each.init)
_FITTED = ("delta", "weights", "learn_share", "seed")
