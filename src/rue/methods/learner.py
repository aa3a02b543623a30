"""Learners: what each method trains, how it predicts, and the one ``fit`` of all of them.

A method is its settings, a function that trains and a function that gives the belief about new
inputs. Neither this file nor that of a method imports torch; the functions do when they run.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue.beliefs import Belief
from rue.data.dataset import DataSet, Inputs
from rue.errors import InputError, ShapeError, missing_extra
from rue.methods._training.settings import usual_training

if TYPE_CHECKING:
    from torch import Tensor

    from rue.methods._training.models import Model
    from rue.methods._training.networks import NetworkStack
    from rue.methods._training.objectives import AnswerScale, Objective

__all__ = ["AnyInputs", "FitRequest", "Fitted", "Folder", "Learner", "Recipe", "Trained"]

AnyInputs = Inputs | ArrayLike
"""A matrix of features (n_points, n_features), or images as bytes (n_points, height, ...)."""
Folder = str | os.PathLike[str] | None
TargetKind = Literal["distributions", "answers", "ratings"]
"""What a method learns from: each point's distribution, how often each answer was given, or its
real-valued answers, scaled, with NaN where a point has fewer than another."""
C = TypeVar("C")


@dataclass(frozen=True, eq=False)
class FitRequest:
    """A data set for each seed, the folder of checkpoints, and whether to show a bar."""

    data: Sequence[DataSet]
    seeds: Sequence[int]
    checkpoints: Folder = None
    progress: bool = False

    @property
    def is_real(self) -> bool:
        """Whether answers are real numbers, in all of the data sets or in none."""
        real = [data.ratings is not None for data in self.data]
        if any(real) and not all(real):
            raise InputError("data sets that train together must all have ratings, or none of them")
        return any(real)


@dataclass(frozen=True, eq=False)
class Trained:
    """What training gives for one seed.

    ``data`` has the points that were held out as its validation part, ``model`` and ``pool`` are
    networks and what they learnt from, and ``state`` is what a method fits to them.
    """

    data: DataSet
    model: Any = None
    pool: Any = None
    state: Any = None


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What a method trains.

    Attributes
    ----------
    method
        Its name, from which random numbers are hashed.
    objective, settings
        The loss per point, cross-entropy if it is None, and its own settings.
    n_members
        Networks per seed. With more than one, member i of a probe does not see fold i of 5.
    fold_of
        The fold of 5 that a member does not see, on images too; None where it sees all.
    n_outputs
        Of the last layer, for a number of classes.
    kind, least_answers
        What it learns from, and how many answers a point must have to be learnt from.
    slope, coefficient
        Of activations below 0, and the largest spectral norm of a hidden layer.
    dropout
        Whether features are left out in training, and the last epoch kept under ``paper``.
    held_out
        Whether points must be held out, whatever the regime.
    mean
        The mean distributions by which ``tuned`` chooses, of a model and scaled inputs; None is the
        mean of the members' softmax.
    log_loss
        The log loss (n,) by which ``tuned`` chooses, of a model, scaled inputs and targets; None is
        that of ``mean``.
    wrap
        The part on top of the network, from it, the members' first seeds and the number of outputs.
    """

    method: str
    objective: "Objective | None" = None
    settings: tuple[object, ...] = ()
    n_members: int = 1
    fold_of: Callable[[int], int | None] | None = None
    n_outputs: Callable[[int], int] = int
    kind: TargetKind = "distributions"
    least_answers: int = 0
    slope: float = 0.0
    coefficient: float | None = None
    dropout: bool = False
    held_out: bool = False
    mean: "Callable[[Model, Tensor], Tensor] | None" = None
    log_loss: "Callable[[Model, Tensor, Tensor], Tensor] | None" = None
    wrap: "Callable[[NetworkStack, Sequence[int], int], NetworkStack] | None" = None

    @property
    def is_plain(self) -> bool:
        """Whether members are ordinary networks trained by cross-entropy."""
        own = (self.objective, self.n_outputs, self.kind, self.slope, self.coefficient)
        usual = (None, int, "distributions", 0.0, None)
        return own == usual and self.wrap is None and self.fold_of is None


@dataclass(frozen=True, eq=False)
class Fitted:
    """A method that was fitted for one seed.

    Attributes
    ----------
    learner, config
        What was fitted, and with which settings.
    model
        Its networks (None for a forest), with the settings and epochs that were chosen.
    state
        What the method fitted to them: DDU's mixture, Laplace's posterior, SNGP's factors, a
        forest, DEUP's error network, the strength of post-hoc methods.
    answers
        How real-valued answers were scaled; None for classes.
    temperature
        By which distributions are scaled.
    """

    learner: "Learner[Any]"
    config: Any
    model: Any
    state: Any = None
    answers: "AnswerScale | None" = None
    temperature: float = 1.0

    @property
    def chosen(self) -> Mapping[str, Any]:
        """The settings that training came to, as JSON."""
        if hasattr(self.state, "chosen"):
            return dict(self.state.chosen)
        return {"training": asdict(self.model.training), "epochs": list(self.model.epochs)}

    def predict(self, inputs: AnyInputs) -> Any:
        """Return the belief about inputs, the same at every call.

        Parameters
        ----------
        inputs
            A matrix of features (n_points, n_features), or images as bytes (n_points, height,
            width, channels), as in training.

        Returns
        -------
        Belief
            Its kind depends on the method (:mod:`rue.methods`).

        Raises
        ------
        ShapeError
            If the inputs have another shape than those of training.
        """
        return self.learner.predict(self, inputs)


@dataclass(frozen=True, eq=False)
class Learner(Generic[C]):
    """A method: its settings, what it trains, and how it predicts.

    Attributes
    ----------
    name
        Its name in :data:`rue.methods.METHODS`.
    Config
        The class of its settings, which has a field ``training``.
    train
        Returns one :class:`Trained` for each seed of a request; :func:`networks` makes it of a
        recipe.
    belief
        Returns the belief of a fitted method about inputs, before a temperature.
    clipped
        Returns which points of a belief have a strength at a bound; None if it has no bounds.
    """

    name: str
    Config: type[C]
    train: Callable[[C, FitRequest], Sequence[Trained]]
    belief: Callable[[Fitted, AnyInputs], Belief]
    clipped: Callable[[Any], NDArray[np.bool_]] | None = None

    def fit(
        self,
        data: DataSet | Sequence[DataSet],
        config: C | None = None,
        *,
        seeds: Sequence[int] = (0,),
        checkpoints: Folder = None,
        progress: bool = False,
    ) -> list[Fitted]:
        """Fit the method on the training split, once for each seed; probes of all seeds together.

        Parameters
        ----------
        data
            Features or images; one data set for all seeds, or one for each. Methods that learn
            from replicates need several answers per input: of the training split, or of the
            validation split if they are post hoc. Without a validation split, a tenth of the
            training points is held out where a method needs one.
        config
            Settings; None is the defaults, those of the paper where it has them.
        seeds
            Different whole numbers. The result of a seed does not depend on the other seeds.
        checkpoints
            A folder for checkpoints after each epoch, from which training resumes (images).
        progress
            Show a bar.

        Returns
        -------
        list of Fitted
            One for each seed; each has ``predict``.

        Raises
        ------
        InputError
            If the data are not of the kind that the network or the method needs, or training
            diverges.
        MissingExtraError
            If torch is not installed.
        """
        require_torch()
        config = self.Config() if config is None else config
        seeds = whole_seeds(seeds)
        request = FitRequest(one_for_each(data, seeds), seeds, checkpoints, progress)
        tempered = getattr(config, "temperature", False)
        if tempered and request.is_real:
            raise InputError("temperature scaling is of classes, and the answers are real numbers")
        fitted = []
        for result in self.train(config, request):
            answers = None if result.pool is None else result.pool.answers
            state = Fitted(self, config, result.model, result.state, answers)
            if tempered:
                from rue.methods.post_hoc import fit_temperature

                held_out = result.data.part("validation")
                temperature = fit_temperature(state.predict(held_out.inputs), held_out.targets())
                state = replace(state, temperature=temperature)
            fitted.append(state)
        return fitted

    def predict(self, fitted: Fitted, inputs: AnyInputs) -> Any:
        """Return the belief of a fitted method about inputs; see :meth:`Fitted.predict`."""
        from rue.methods.post_hoc import temper

        belief: Any = self.belief(fitted, inputs)
        return temper(belief, fitted.temperature)


def networks(
    recipe: Recipe | Callable[[C], Recipe],
    state: Callable[[C, Trained], Any] | None = None,
    *,
    ratings: Callable[[C], Recipe] | None = None,
) -> Callable[[C, FitRequest], list[Trained]]:
    """Return the function that trains a recipe's networks and fits a state to those of each seed.

    ``recipe`` is a function of the settings if it depends on them, and ``ratings`` is the recipe
    for answers that are real numbers.
    """

    def train(config: C, request: FitRequest) -> list[Trained]:
        from rue.methods._training.fitting import fit_models

        settings: Any = config
        if settings.training is None:
            settings = replace(settings, training=usual_training(request.data[0]))
        made = ratings if request.is_real and ratings is not None else recipe
        own = made if isinstance(made, Recipe) else made(settings)
        held_out = getattr(settings, "temperature", False)
        trained = fit_models(replace(own, held_out=held_out), request, settings.training)
        if state is None:
            return trained
        return [replace(result, state=state(config, result)) for result in trained]

    return train


def one_for_each(data: DataSet | Sequence[DataSet], seeds: Sequence[int]) -> list[DataSet]:
    """Return a data set for each seed: the shared one, or its own."""
    sets = [data] * len(seeds) if isinstance(data, DataSet) else list(data)
    if len(sets) != len(seeds):
        raise ShapeError(
            f"data must be one set, or one for each of {len(seeds)} seeds, got {len(sets)}"
        )
    return sets


def whole_seeds(seeds: Sequence[int]) -> list[int]:
    """Return the seeds as Python integers; random numbers are hashed from how they print."""
    values = list(seeds) if np.iterable(seeds) else []
    whole = all(isinstance(s, int | np.integer) and not isinstance(s, bool) for s in values)
    if not values or not whole or len(set(values)) < len(values):
        raise InputError(
            f"seeds must be a non-empty list of whole numbers without repetitions, got {seeds!r}"
        )
    return [int(seed) for seed in values]


def least_of(
    loss: Callable[[float], float], low: float, high: float, n: int, *, tolerance: float = 1e-5
) -> float:
    """Return where a loss is least: near the best of ``n`` points, by Brent's method."""
    from scipy.optimize import minimize_scalar

    grid = np.linspace(low, high, n)
    best, step = grid[np.argmin([loss(x) for x in grid])], grid[1] - grid[0]
    bounds = best - step, best + step
    return float(minimize_scalar(loss, bounds=bounds, options={"xatol": tolerance}).x)


def require_torch() -> None:
    """Raise MissingExtraError if torch is not installed."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise missing_extra("rue.methods needs an extra", "torch") from None
