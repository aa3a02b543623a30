"""Our methods beside other libraries', where those are installed (``make test-peers``)."""

import warnings

import numpy as np
import pytest

from rue.beliefs import Draws
from rue.methods._training.weights import Moments
from rue.methods.laplace import fit_last_layer
from rue.methods.post_hoc import fit_temperature

torch = pytest.importorskip("torch")

N, D, K = 60, 4, 3


@pytest.fixture
def network():
    torch.manual_seed(0)
    layers = torch.nn.Linear(D, 5), torch.nn.Tanh(), torch.nn.Linear(5, K)
    return torch.nn.Sequential(*layers).double()


@pytest.fixture
def inputs(rng):
    return torch.from_numpy(rng.normal(size=(N, D)))


def test_laplace_is_that_of_laplace_torch(network, inputs, rng):
    """The precision of the last layer, and the prior precision by marginal likelihood."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        laplace = pytest.importorskip("laplace", reason="make test-peers installs laplace-torch")
        labels = torch.from_numpy(rng.integers(0, K, N))
        loader = torch.utils.data.DataLoader(
            torch.utils.data.TensorDataset(inputs, labels), batch_size=N
        )
        theirs = laplace.Laplace(
            network,
            "classification",
            subset_of_weights="last_layer",
            hessian_structure="full",
        )
        theirs.fit(loader)
        theirs.optimize_prior_precision(method="marglik", n_steps=2000, lr=0.05)
    with torch.no_grad():
        features = network[:2](inputs).numpy()
    last = network[2]
    mode = np.column_stack([last.weight.detach().numpy(), last.bias.detach().numpy()])
    ours = fit_last_layer(features, mode, hessian="full")
    # Theirs lists all weights, row by row, and then the biases; ours each row with its bias.
    width = mode.shape[1]
    place = np.arange(mode.size).reshape(mode.shape)
    order = np.concatenate([place[:, : width - 1].ravel(), place[:, -1]])
    (basis,) = ours.bases
    hessian = ((basis * ours.curvature) @ basis.T)[np.ix_(order, order)]
    np.testing.assert_allclose(hessian, theirs.H.detach().numpy(), atol=1e-6)
    assert ours.precision == pytest.approx(theirs.prior_precision.item(), rel=0.02)


def test_swag_has_the_moments_of_torch_uncertainty(network, rng):
    reason = "make test-peers installs torch-uncertainty"
    swag = pytest.importorskip("torch_uncertainty.methods.swag", reason=reason)
    network = network.float()
    theirs = swag.SWAG(network, cycle_start=0, cycle_length=1, max_num_models=3)
    ours = Moments(rank=3)
    for epoch in range(1, 7):
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.add_(torch.from_numpy(rng.normal(size=tuple(parameter.shape))).float())
        theirs.update_wrapper(epoch)
        parts = [parameter.detach().numpy().ravel() for parameter in network.parameters()]
        ours.add(np.concatenate(parts))
    names = [theirs.prfx + name for name, _ in network.named_parameters()]
    for end, mine in (("_mean", ours.mean), ("_sq_mean", ours.square)):
        said = np.concatenate([theirs.swag_stats[name + end].numpy().ravel() for name in names])
        np.testing.assert_allclose(mine, said, rtol=1e-3, atol=1e-5)
    roots = [theirs.swag_stats[name + "_covariance_sqrt"].numpy() for name in names]
    np.testing.assert_allclose(ours.deviations, np.concatenate(roots, axis=1), rtol=1e-3, atol=1e-5)


def test_temperature_is_that_of_scikit_learn(rng):
    pytest.importorskip("sklearn", minversion="1.8")  # the first with temperatures
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator
    from sklearn.linear_model import LogisticRegression

    x = rng.normal(size=(400, 2))
    labels = (x @ rng.normal(size=(2, K)) + rng.gumbel(size=(400, K))).argmax(axis=1)
    model = LogisticRegression(C=1e6).fit(x[:20], labels[:20])  # far too sure of itself
    theirs = CalibratedClassifierCV(FrozenEstimator(model), method="temperature", ensemble=False)
    theirs.fit(x, labels)
    inverse = theirs.calibrated_classifiers_[0].calibrators[0].beta_
    probs = model.predict_proba(x)[:, None]
    assert fit_temperature(Draws(probs), np.eye(K)[labels]) == pytest.approx(1 / inverse, rel=2e-3)
