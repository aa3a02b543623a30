"""probly and torch-uncertainty for real, where they are installed (``make test-peers``)."""

import numpy as np
import pytest

import rue

torch = pytest.importorskip("torch")

N, K = 40, 3


@pytest.fixture
def inputs():
    return torch.from_numpy(np.random.default_rng(0).normal(size=(N, 4))).float()


@pytest.fixture
def people():
    return rue.Annotations(np.random.default_rng(1).multinomial(9, [0.5, 0.3, 0.2], N))


def network(dropout=0.0):
    return torch.nn.Sequential(
        torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Dropout(dropout), torch.nn.Linear(16, K)
    )


def row(people, belief):
    return rue.evaluate(people, belief, loss="log").regret


def test_an_ensemble_of_probly_gives_draws(inputs, people):
    representation = pytest.importorskip("probly.representation")
    ensemble = representation.Ensemble(network(), n_members=5).eval()
    with torch.no_grad():
        belief = rue.Draws(ensemble.predict_representation(inputs))
    assert belief.probs.shape == (N, 5, K)
    ours = rue.adapters.torch.draws(list(ensemble.models), [inputs])
    assert np.allclose(belief.probs, ours.probs, atol=1e-6)
    assert row(people, belief) == pytest.approx(row(people, ours), abs=1e-6)


def test_dropout_of_probly_gives_draws(inputs):
    representation = pytest.importorskip("probly.representation")
    model = representation.Dropout(network(), p=0.5)
    model.eval()
    with torch.no_grad():
        belief = rue.Draws(model.predict_representation(inputs, n_samples=20))
    assert belief.probs.shape == (N, 20, K)
    assert (belief.probs.std(axis=1) > 0).all()


def test_an_evidential_network_of_probly_gives_a_dirichlet(inputs, people):
    representation = pytest.importorskip("probly.representation")
    losses = pytest.importorskip("probly.losses")
    model = representation.classification.Evidential(network()).eval()
    with torch.no_grad():
        evidence = model.predict_representation(inputs)
    belief = rue.Dirichlet(1.0 + evidence.numpy())
    # Its own loss takes the same parameters: -log of the mean probability of the label.
    labels = torch.arange(N) % K
    mean = belief.alpha / belief.alpha.sum(axis=1, keepdims=True)
    expected = -np.log(mean[np.arange(N), labels]).mean()
    assert losses.EvidentialLogLoss()(evidence, labels).item() == pytest.approx(expected, abs=1e-6)
    assert row(people, belief) > 0


def test_an_ensemble_of_torch_uncertainty_gives_draws(inputs, people):
    methods = pytest.importorskip("torch_uncertainty.methods")
    members = [network() for _ in range(5)]
    model = methods.deep_ensembles(members).eval()
    with torch.no_grad():
        logits = model(inputs)
    belief = rue.Draws(torch.softmax(logits.reshape(5, N, K).swapaxes(0, 1), -1))
    ours = rue.adapters.torch.draws(members, [inputs])
    assert np.allclose(belief.probs, ours.probs, atol=1e-6)
    assert row(people, belief) == pytest.approx(row(people, ours), abs=1e-6)


def test_dropout_of_torch_uncertainty_gives_draws(inputs):
    methods = pytest.importorskip("torch_uncertainty.methods")
    torch.manual_seed(0)
    model = methods.mc_dropout(network(0.2), num_estimators=200).eval()
    with torch.no_grad():
        logits = model(inputs)
        plain = torch.softmax(model.core_model.eval()(inputs), -1).numpy()
    belief = rue.Draws(torch.softmax(logits.reshape(200, N, K).swapaxes(0, 1), -1))
    assert (belief.probs.std(axis=1) > 0).all()
    # The draws of a point are its own: their mean is near what is said without dropout, and much
    # nearer than the mean of draws read in the wrong order.
    near = np.abs(belief.probs.mean(axis=1) - plain).mean()
    mixed = torch.softmax(logits.reshape(N, 200, K), -1).numpy()
    assert near < 0.2 * np.abs(mixed.mean(axis=1) - plain).mean()
