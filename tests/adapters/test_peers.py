"""Other libraries for real, where they are installed (``make test-peers``)."""

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


def test_lightning_logs_the_metric(inputs, people, tmp_path):
    lightning = pytest.importorskip("lightning.pytorch")
    torchmetrics = pytest.importorskip("rue.adapters.torchmetrics")

    class Validated(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.members = torch.nn.ModuleList(network() for _ in range(3))
            self.metric = torchmetrics.RegretMetric("log", column="n_aurec")

        def validation_step(self, batch, index):
            inputs, counts = batch
            probs = torch.stack([torch.softmax(m(inputs), -1) for m in self.members], dim=1)
            self.metric.update(counts, probs)
            self.log("val/n_aurec", self.metric)

    module = Validated()
    data = torch.utils.data.TensorDataset(inputs, torch.from_numpy(people.counts))
    trainer = lightning.Trainer(
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_checkpointing=False,
        default_root_dir=tmp_path,
    )
    loader = torch.utils.data.DataLoader(data, batch_size=16)
    (logged,) = trainer.validate(module, loader, verbose=False)
    belief = rue.adapters.torch.draws(list(module.members), [inputs])
    want = rue.evaluate(people, belief, loss="log", gap=False).n_aurec
    assert logged["val/n_aurec"] == pytest.approx(want, abs=1e-5)


def numbers_of(people):
    row = rue.evaluate(people, rue.Draws(np.full((N, 2, K), 1 / K)), loss="brier").to_dict()
    return {key: value for key, value in row.items() if isinstance(value, (int, float))}


def test_mlflow_takes_the_numbers_of_a_row(people, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # the skinny package has no database
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    numbers = numbers_of(people)
    with mlflow.start_run() as run:
        mlflow.log_metrics(numbers)
    stored = mlflow.get_run(run.info.run_id).data.metrics
    assert stored == pytest.approx(numbers)


def test_wandb_takes_the_numbers_of_a_row(people, tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    numbers = numbers_of(people)
    with wandb.init(mode="offline", project="rue", dir=str(tmp_path)) as run:
        run.log(numbers)
        assert {key: run.summary[key] for key in numbers} == pytest.approx(numbers)
