"""On real data, 720 directions are within 1 % of all of them."""

import numpy as np
import pytest

from rue import Annotations, Draws, decompose, pareto_gap, realize
from rue.pareto import igd_plus

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def logits(data_root):
    """Five softmax regressions, each on its own 2,000 of CIFAR-10's training images."""
    from sklearn.linear_model import LogisticRegression

    path = data_root / "cifar-10-features" / "efficientnet-lite0-pca192.npz"
    if not path.is_file():
        pytest.skip("no CIFAR-10 features in the data root")
    with np.load(path) as data:
        train, labels = data["train"].astype(float), data["train_labels"]
        test = data["test"].astype(float)
    members = []
    for seed in range(5):
        rows = np.random.default_rng(seed).choice(len(train), 2000, replace=False)
        model = LogisticRegression(C=0.01, max_iter=500).fit(train[rows], labels[rows])
        members.append(model.decision_function(test))
    return np.stack(members, axis=1)


@pytest.mark.parametrize("n", [512, 2000, 5000])
@pytest.mark.parametrize("loss", ["log", "zero_one"])
@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_the_default_is_within_1_percent(logits, cifar10h, n, loss, temperature):
    rows = np.random.default_rng(n).permutation(10_000)[:n]
    scaled = logits[rows] / temperature
    probs = np.exp(scaled - scaled.max(axis=2, keepdims=True))
    belief = Draws(probs / probs.sum(axis=2, keepdims=True))
    star = realize(Annotations(np.load(cifar10h)[rows]), belief, loss)
    hat = decompose(belief, loss)
    exact = pareto_gap(star, hat, directions="exact")
    assert exact - 1e-12 <= pareto_gap(star, hat, directions=720) <= 1.01 * exact


def test_fronts_of_very_many_levels_by_brute_force(rng):
    # So many levels that bounds are known for every second one only.
    n = 140_000
    coverage = np.arange(1, n + 1) / n
    risk, regret = coverage**2 + rng.random(n) / 50, coverage**3 + rng.random(n) / 50
    reference = rng.random((40, 3)) * [1, 0.6, 0.4]
    worse = [
        np.maximum(reference[:, :1] - coverage, 0),
        np.maximum(risk - reference[:, 1:2], 0),
        np.maximum(regret - reference[:, 2:], 0),
    ]
    least = np.sqrt(sum(part**2 for part in worse).min(axis=1))
    assert igd_plus(reference, coverage, risk, regret) == pytest.approx(least.mean(), rel=1e-12)
