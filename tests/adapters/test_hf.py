"""compute_metrics for a Trainer, with the real library where it is installed."""

from types import SimpleNamespace

import numpy as np
import pytest

import rue
from rue.adapters.hf import compute_metrics
from rue.errors import InputError, ShapeError

RNG = np.random.default_rng(0)
LOGITS = RNG.normal(size=(30, 3))
PROBS = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
COUNTS = RNG.multinomial(7, RNG.dirichlet(np.ones(3), 30))
ANSWERS = np.full((30, 9), -100)
for row, own in zip(ANSWERS, COUNTS, strict=True):
    row[:7] = np.repeat(np.arange(3), own)


def given(labels, logits=LOGITS):
    return SimpleNamespace(predictions=logits, label_ids=labels)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [(ANSWERS, None), (ANSWERS, "answers"), (COUNTS, "counts"), (COUNTS / 7, None)],
)
def test_every_kind_of_labels_is_what_evaluate_says(labels, kind):
    metrics = compute_metrics(["a", "b", "c"], loss="brier", labels=kind)
    row = rue.evaluate(rue.Annotations(COUNTS), rue.Draws(PROBS[:, None]), loss="brier")
    found = metrics(given(labels))
    for key in ("aurec", "aurc", "risk", "regret"):
        assert found[key] == pytest.approx(getattr(row, key), rel=1e-12)


def test_draws_and_single_answers():
    draws = RNG.normal(size=(30, 4, 3))
    labels = ANSWERS[:, 0]
    found = compute_metrics(loss="zero_one", columns=["risk"])(given(labels, (draws, "hidden")))
    probs = np.exp(draws) / np.exp(draws).sum(axis=2, keepdims=True)
    assert found["risk"] == np.mean(probs.mean(axis=1).argmax(axis=1) != labels)


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match='give labels="counts" or labels="answers"'):
        compute_metrics()(given(COUNTS))
    bad = ANSWERS.copy()
    bad[4, 0] = 3
    with pytest.raises(InputError, match="classes from 0 to 2, not at row 4"):
        compute_metrics()(given(bad))
    with pytest.raises(ShapeError, match=r"of 2 classes, got \(30, 3\)"):
        compute_metrics(["a", "b"])(given(ANSWERS))
    with pytest.raises(InputError, match="columns must be some of"):
        compute_metrics(columns=["accuracy"])
    with pytest.raises(InputError, match="labels must be one of"):
        compute_metrics(labels="votes")


def test_it_takes_what_a_trainer_passes():
    transformers = pytest.importorskip("transformers")
    passed = transformers.EvalPrediction(predictions=LOGITS, label_ids=ANSWERS)
    metrics = compute_metrics(["a", "b", "c"], loss="log")
    assert metrics(passed) == metrics(given(ANSWERS))


def test_a_real_trainer_evaluates_with_it(tmp_path):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")

    class Linear(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.layer = torch.nn.Linear(2, 3)

        def forward(self, x, labels=None):
            logits = self.layer(x)
            loss = -(labels * logits.log_softmax(dim=-1)).sum(dim=-1).mean()
            return {"loss": loss, "logits": logits}

    x = RNG.normal(size=(30, 2)).astype(np.float32)
    shares = (COUNTS / 7).astype(np.float32)
    rows = [{"x": a, "labels": b} for a, b in zip(x, shares, strict=True)]
    model = Linear()
    trainer = transformers.Trainer(
        model=model,
        args=transformers.TrainingArguments(
            str(tmp_path), per_device_eval_batch_size=8, report_to=[], use_cpu=True
        ),
        eval_dataset=rows,
        compute_metrics=compute_metrics(["a", "b", "c"], loss="brier"),
    )
    found = trainer.evaluate()
    with torch.no_grad():
        probs = model.layer(torch.from_numpy(x)).softmax(dim=-1).numpy()
    row = rue.evaluate(rue.Annotations.from_probs(COUNTS / 7), rue.Draws(probs[:, None]), "brier")
    assert found["eval_regret"] == pytest.approx(row.regret, abs=1e-5)
