"""Others' published predictions go through the door with no script at all."""

import json

import pytest


@pytest.fixture
def predictions(data_root, monkeypatch):
    folder = data_root / "chaosnli" / "predictions"
    if not folder.is_dir():
        pytest.skip("no predictions for ChaosNLI in the data root")
    monkeypatch.setenv("RUE_DATA", str(data_root))
    return folder


def test_roberta_on_snli(predictions, run):
    done = run(
        "evaluate",
        f"roberta={predictions}/SNLI_*_roberta-base_*.json",
        *("--classes", "entailment,contradiction,neutral", "--truth", "chaosnli-snli"),
        *("--common", "--no-gap", "--format", "json"),
    )
    (row,) = json.loads(done.out)
    assert (row["method"], row["n_points"]) == ("roberta", 1514)
    assert row["n_aurec"] == pytest.approx(1.221, abs=5e-4)


def test_the_wrong_order_of_classes_is_noted(predictions, run):
    file = predictions / "SNLI_test_roberta-base_0.json"
    done = run("evaluate", file, "--truth", "chaosnli-snli", "--common", "--no-gap")
    assert done.code == 0
    assert "does not name its classes" in done.out
