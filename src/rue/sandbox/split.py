"""Split the regret of a too-small model into approximation and estimation error.

The paper does not make this split: measured against the unrestricted oracle, regret "contains
both estimation and approximation error". Here both are known. Let mu be the posterior mean in
the small model class, and g the function of that class that is closest to f* under p, that is
g = argmin sum_x p(x) (g(x) - f*(x))^2. Then, under squared loss,

    (mu - f*)^2 = (g - f*)^2   + (mu - g)^2  + 2 (mu - g)(g - f*)
    regret      = approximation + estimation + cross

at every x. Since g is a projection and mu - g lies in the class, the integral of cross under p
is 0, so the integrated regret is exactly approximation plus estimation. Over a part of the
inputs, for example after rejection, cross need not be 0, so it is reported separately.
"""

from dataclasses import dataclass

from rue._arrays import FloatArray
from rue.sandbox.posterior import fit_posterior
from rue.sandbox.world import Features, World, project


@dataclass(frozen=True, eq=False)
class RegretSplit:
    """The regret of a model class at every cell of the grid, split into its parts.

    Attributes
    ----------
    n_features : int
        The number of features of the class.
    regret, approximation, estimation, cross : array of shape (n_grid,)
        The regret, and the three parts whose sum it is.
    epistemic : array of shape (n_grid,)
        The regret that the model expects: its posterior variance, which covers estimation error
        only.
    """

    n_features: int
    regret: FloatArray
    approximation: FloatArray
    estimation: FloatArray
    cross: FloatArray
    epistemic: FloatArray


def split_regret(world: World, n_features: int) -> RegretSplit:
    """Fit the sample of a world with ``n_features`` features and split the regret under f*.

    With the world's own number of features, the class contains f* and approximation is 0.

    Parameters
    ----------
    world : World
        The world.
    n_features : int
        The number of features of the class, at least 2.

    Returns
    -------
    RegretSplit
        Arrays of shape (n_grid,).

    Examples
    --------
    >>> from rue.sandbox import make_world, split_regret
    >>> world = make_world()
    >>> split = split_regret(world, 12)
    >>> bool(world.mass @ split.approximation > world.mass @ split.estimation)
    True
    """
    features = Features(n_features)
    mean, variance = fit_posterior(features, world.x_train, world.y_train).predict(world.x)
    phi = features(world.x)
    nearest = phi @ project(phi, world.f_star, world.mass)
    return RegretSplit(
        n_features=n_features,
        regret=(mean - world.f_star) ** 2,
        approximation=(nearest - world.f_star) ** 2,
        estimation=(mean - nearest) ** 2,
        cross=2.0 * (mean - nearest) * (nearest - world.f_star),
        epistemic=variance,
    )
