"""The one-dimensional world of figure 1, in which all quantities are known.

======================  ===================================================================
domain                  [0, 1], divided into ``n_grid`` cells; an integral is a sum over cells
true function f*        the least-squares fit of Gaussian RBF features to the Rossellini
                        function sin(0.2 / (x + 0.16)^3), so the model class contains it
noise                   y | x ~ N(f*(x), sigma(x)^2), sigma known
training density p      two wide humps and a gap; test inputs have the same density
outliers                uniform on [0, 1]
======================  ===================================================================

Three regions have names: A, where f* varies fast and the noise is low; B, the gap of p; C, where
the noise is high and f* varies slowly.
"""

from dataclasses import dataclass

import numpy as np

from rue._arrays import FloatArray, require_whole

REGIONS = {"A": (0.0, 0.16), "B": (0.33, 0.51), "C": (0.70, 0.90)}

# The Rossellini function has its pole at -_POLE, left of the domain.
_POLE = 0.16


def rossellini(x: FloatArray) -> FloatArray:
    """Return sin(0.2 / (x + 0.16)^3), which varies fast near 0 and slowly near 1."""
    return np.sin(0.2 / (x + _POLE) ** 3)


def noise(x: FloatArray) -> FloatArray:
    """Return sigma(x), the known standard deviation of y: 0.05, rising to 0.5 in region C."""
    return 0.05 + 0.45 * _hump(x, 0.8, 0.08)


@dataclass(frozen=True)
class Features:
    r"""Gaussian radial basis functions on [0, 1].

    .. math:: \phi_j(x) = \exp(-(x - c_j)^2 / 2 w_j^2)

    The centres are equally spaced in 1 / (x + 0.16), so that they are dense where the Rossellini
    function varies fast; a width is 0.75 of the local spacing.

    Parameters
    ----------
    n_features : int
        At least 2; the first centre is at 1 and the last at 0.
    """

    n_features: int

    def __post_init__(self) -> None:
        require_whole("n_features", self.n_features, least=2)

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the features of the inputs, shape (n_points, n_features)."""
        u = np.linspace(1.0 / (1.0 + _POLE), 1.0 / _POLE, self.n_features)
        centres = 1.0 / u - _POLE
        widths = 0.75 * (u[1] - u[0]) / u**2  # |dx/du| = 1 / u^2
        phi: FloatArray = np.exp(-0.5 * ((x[:, None] - centres) / widths) ** 2)
        return phi


@dataclass(frozen=True, eq=False)
class World:
    """The truth on the grid and one training sample from it.

    Attributes
    ----------
    x : array of shape (n_grid,)
        The midpoints of the cells.
    density : array of shape (n_grid,)
        p(x); its mean over the cells is 1.
    mass : array of shape (n_grid,)
        The probability of each cell under p; the sum is 1.
    f_star : array of shape (n_grid,)
        The true function.
    sigma : array of shape (n_grid,)
        The standard deviation of the noise.
    features : Features
        The feature map whose span contains f*.
    weights_star : array of shape (n_features,)
        The weights of f*.
    x_train, y_train : array of shape (n_train,)
        The training sample.
    """

    x: FloatArray
    density: FloatArray
    mass: FloatArray
    f_star: FloatArray
    sigma: FloatArray
    features: Features
    weights_star: FloatArray
    x_train: FloatArray
    y_train: FloatArray


def make_world(
    *, seed: int = 0, n_train: int = 400, n_features: int = 36, n_grid: int = 2000
) -> World:
    """Return the world with a training sample.

    Only the sample depends on the seed. Inputs are drawn from p exactly: first a cell by its
    mass, then a uniform position in the cell.

    Parameters
    ----------
    seed : int
        Seed of the sample.
    n_train : int
        The number of training points.
    n_features : int
        The number of features of the model class, at least 2.
    n_grid : int
        The number of cells, at least 2.

    Returns
    -------
    World
        Arrays of shape (n_grid,), and a sample of shape (n_train,).

    Raises
    ------
    InputError
        If a number is not whole or too small.

    Examples
    --------
    >>> from rue.sandbox import make_world
    >>> world = make_world(n_grid=500)
    >>> world.x.shape, world.x_train.shape
    ((500,), (400,))
    """
    for name, value, least in [("seed", seed, 0), ("n_train", n_train, 0), ("n_grid", n_grid, 2)]:
        require_whole(name, value, least=least)
    x = (np.arange(n_grid) + 0.5) / n_grid
    mass = _density_shape(x)
    mass /= mass.sum()
    features = Features(n_features)
    phi = features(x)
    weights_star = project(phi, rossellini(x), np.full(n_grid, 1.0 / n_grid))

    rng = np.random.default_rng(seed)
    x_train = (rng.choice(n_grid, n_train, p=mass) + rng.random(n_train)) / n_grid
    y_train = features(x_train) @ weights_star + noise(x_train) * rng.standard_normal(n_train)
    return World(
        x=x,
        density=mass * n_grid,
        mass=mass,
        f_star=phi @ weights_star,
        sigma=noise(x),
        features=features,
        weights_star=weights_star,
        x_train=x_train,
        y_train=y_train,
    )


def project(phi: FloatArray, target: FloatArray, mass: FloatArray) -> FloatArray:
    """Return the weights w that minimise sum_x mass(x) (phi(x)' w - target(x))^2."""
    weighted = mass[:, None] * phi
    return np.linalg.solve(phi.T @ weighted, target @ weighted).astype(np.float64)


def _density_shape(x: FloatArray) -> FloatArray:
    """Return p(x) up to a factor: humps near A and right of C, and the gap at B."""
    gap = 1.0 - 0.997 * np.exp(-(((x - 0.42) / 0.09) ** 8))
    return gap * (0.6 + 0.4 * _hump(x, 0.06, 0.1) + 0.8 * _hump(x, 0.88, 0.1))


def _hump(x: FloatArray, centre: float, width: float) -> FloatArray:
    return np.exp(-0.5 * ((x - centre) / width) ** 2)
