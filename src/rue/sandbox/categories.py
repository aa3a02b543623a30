"""A classification world with an exact posterior, whose model classes are too coarse on purpose.

======================  ===================================================================
inputs                  ``2**depth`` categories, the leaves of a binary tree, with known mass
p*                      softmax of logits that add up along the path from the root, each node
                        adding Gaussian noise, so that neighbours are alike
data                    a multinomial sample of inputs and labels
model class             pool neighbouring inputs into ``n_cells`` cells; one unknown
                        distribution per cell, with a uniform prior
posterior               a Dirichlet per cell, exactly: 1 + the counts of its labels
limit                   the mean of p* over the cell, which is what the posterior concentrates
                        on and the best prediction of the class under every loss
======================  ===================================================================

All integrals over inputs are sums, so regret, approximation and estimation are exact.
"""

from dataclasses import dataclass

import numpy as np

from rue._arrays import FloatArray, as_seed, require_whole
from rue.beliefs import Dirichlet
from rue.components import decompose
from rue.errors import InputError
from rue.losses import Loss
from rue.metrics.estimation import RegretParts, regret_parts
from rue.truth.annotations import Annotations

_LOGIT_NOISE, _MASS_NOISE = 0.7, 0.35


@dataclass(frozen=True, eq=False)
class CategoryWorld:
    """Inputs that are categories, with their p* and a training sample.

    Attributes
    ----------
    probs : array of shape (n_inputs, n_classes)
        p* of each input.
    mass : array of shape (n_inputs,)
        How likely each input is.
    counts : array of shape (n_inputs, n_classes)
        The labels of the training sample.
    """

    probs: FloatArray
    mass: FloatArray
    counts: FloatArray

    @property
    def n_inputs(self) -> int:
        """The number of inputs."""
        return len(self.mass)

    def drawn(self, n_train: int, *, seed: int = 0) -> "CategoryWorld":
        """Return the same world with another training sample of ``n_train`` labels."""
        require_whole("n_train", n_train)
        joint = self.mass[:, None] * self.probs
        rng = np.random.default_rng(as_seed(seed))
        counts = rng.multinomial(n_train, (joint / joint.sum()).ravel())
        return CategoryWorld(self.probs, self.mass, counts.reshape(joint.shape).astype(np.float64))

    def posterior(self, n_cells: int) -> Dirichlet:
        """Return the posterior of each input's cell, a Dirichlet of shape (n_inputs, n_classes)."""
        return Dirichlet(1.0 + self._spread(self._pooled(self.counts, n_cells)))

    def limit(self, n_cells: int) -> FloatArray:
        """Return the mean of p* over each input's cell, shape (n_inputs, n_classes)."""
        joint = self._pooled(self.mass[:, None] * self.probs, n_cells)
        return self._spread(joint / joint.sum(axis=1, keepdims=True))

    def _pooled(self, values: FloatArray, n_cells: int) -> FloatArray:
        require_whole("n_cells", n_cells, least=1)
        if self.n_inputs % n_cells:
            raise InputError(f"n_cells must divide {self.n_inputs} inputs, got {n_cells}")
        return np.asarray(values.reshape(n_cells, -1, values.shape[1]).sum(axis=1))

    def _spread(self, cells: FloatArray) -> FloatArray:
        return np.repeat(cells, self.n_inputs // len(cells), axis=0)


def make_category_world(
    *, depth: int = 7, n_classes: int = 4, n_train: int = 500, seed: int = 0, sample: int = 0
) -> CategoryWorld:
    """Make a world of ``2**depth`` inputs and draw its training sample.

    Parameters
    ----------
    depth : int
        The depth of the tree of inputs, at least 1.
    n_classes : int
        The number of classes, at least 2.
    n_train : int
        The size of the training sample.
    seed, sample : int
        Seeds of the world and of its training sample.

    Returns
    -------
    CategoryWorld
        The world, with arrays of shape (n_inputs, n_classes) and (n_inputs,).

    Examples
    --------
    >>> from rue.sandbox import make_category_world
    >>> world = make_category_world(depth=5, n_train=300)
    >>> world.probs.shape, int(world.counts.sum())
    ((32, 4), 300)
    """
    require_whole("depth", depth, least=1)
    require_whole("n_classes", n_classes, least=2)
    rng = np.random.default_rng(as_seed(seed))
    logits, log_mass = np.zeros((1, n_classes)), np.zeros(1)
    for _ in range(depth):
        logits, log_mass = np.repeat(logits, 2, axis=0), np.repeat(log_mass, 2)
        logits = logits + rng.normal(0.0, _LOGIT_NOISE, logits.shape)
        log_mass = log_mass + rng.normal(0.0, _MASS_NOISE, log_mass.shape)
    probs, mass = np.exp(logits), np.exp(log_mass)
    world = CategoryWorld(
        probs / probs.sum(axis=1, keepdims=True), mass / mass.sum(), np.zeros_like(probs)
    )
    return world.drawn(n_train, seed=sample)


def split_category_regret(
    world: CategoryWorld, n_cells: int, loss: str | Loss = "log"
) -> tuple[RegretParts, FloatArray]:
    """Fit a class of ``n_cells`` cells and split its regret at each input, exactly.

    Parameters
    ----------
    world : CategoryWorld
        The world.
    n_cells : int
        The number of cells, which divides the number of inputs. With one cell per input the class
        contains p* and approximation is 0.
    loss : str or Loss
        The loss.

    Returns
    -------
    parts : RegretParts
        Regret, approximation and estimation, each of shape (n_inputs,).
    epistemic : array of shape (n_inputs,)
        The regret that the posterior expects.

    Examples
    --------
    >>> from rue.sandbox import make_category_world, split_category_regret
    >>> world = make_category_world()
    >>> parts, epistemic = split_category_regret(world, 4)
    >>> bool(world.mass @ parts.approximation > 10 * (world.mass @ epistemic))
    True
    """
    belief = world.posterior(n_cells)
    truth = Annotations.from_probs(world.probs)
    parts = regret_parts(truth, belief, world.limit(n_cells), loss)
    return parts, decompose(belief, loss).epistemic
