"""Regret of a too-small model, split into approximation and estimation error.

The paper's limitations leave this split open: measured against the unrestricted oracle, regret
"contains both estimation and approximation error". Here both are known. Under squared loss,
with mu the posterior mean in the small class and g the function of that class nearest to f*
under p, that is g = argmin sum_x p(x) (g(x) - f*(x))^2,

    (mu - f*)^2 = (g - f*)^2   + (mu - g)^2  + 2 (mu - g)(g - f*)
    regret      = approximation + estimation + cross

at every x. Since g is a projection and mu - g lies in the class, cross integrates to 0 under p:
the integrated regret is approximation plus estimation, exactly. Over a part of the inputs, as
after rejection, it need not be 0, so it is reported rather than put on either side.
"""

from dataclasses import dataclass

from rue._arrays import FloatArray
from rue.sandbox.posterior import fit
from rue.sandbox.world import Features, World, project

__all__ = ["RegretSplit", "split_regret"]


@dataclass(frozen=True, eq=False)
class RegretSplit:
    """The split at every cell, shape (n_grid,) each; regret is the sum of the next three.

    ``epistemic`` is what the small model expects its regret to be: its own posterior variance,
    which knows of estimation only.
    """

    n_features: int
    regret: FloatArray
    approximation: FloatArray
    estimation: FloatArray
    cross: FloatArray
    epistemic: FloatArray


def split_regret(world: World, n_features: int) -> RegretSplit:
    """Fit the world's sample with ``n_features`` features and split its regret under f*.

    With the world's own number of features the class contains f* and approximation is 0.
    """
    features = Features(n_features)
    mean, variance = fit(features, world.x_train, world.y_train).predict(world.x)
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
