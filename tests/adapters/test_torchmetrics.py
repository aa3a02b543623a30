"""The metric of torchmetrics gives what rue.evaluate gives, in one process and in two."""

import multiprocessing
import socket

import numpy as np
import pytest

import rue

torch = pytest.importorskip("torch")
torchmetrics = pytest.importorskip("torchmetrics")

from rue.adapters.torchmetrics import RegretMetric  # noqa: E402

N, D, K = 90, 4, 3


def world():
    rng = np.random.default_rng(5)
    p = rng.dirichlet(np.ones(K), N)
    return rng.multinomial(7, p), np.stack([rng.dirichlet(9 * row + 0.2, D) for row in p])


def evaluated(loss):
    counts, probs = world()
    return rue.evaluate(rue.Annotations(counts), rue.Draws(probs), loss=loss, references=False)


def tensors(rows):
    counts, probs = world()
    return torch.from_numpy(counts[rows]), torch.from_numpy(probs[rows])


@pytest.mark.parametrize("loss", ["log", "zero_one", "squared"])
@pytest.mark.parametrize("column", ["n_aurec", "regret", "pareto_gap", "aurec_low"])
def test_batches_give_the_column_of_the_whole(loss, column):
    metric = RegretMetric(loss, column=column)
    for start in range(0, N, 40):
        metric.update(*tensors(slice(start, start + 40)))
    want = getattr(evaluated(loss), column)
    assert float(metric.compute()) == pytest.approx(want, rel=1e-6)  # a float32 tensor
    row = metric.evaluation()
    assert getattr(row, column) == pytest.approx(want, abs=1e-12)
    metric.reset()
    with pytest.raises(rue.errors.InputError, match="there are no batches yet"):
        metric.evaluation()


def test_one_distribution_per_point_and_half_precision():
    counts, probs = tensors(slice(None))
    metric = RegretMetric("brier", column="aurec")
    metric.update(counts, probs[:, 0].to(torch.bfloat16))
    belief = rue.Draws(probs[:, :1].numpy())
    want = rue.evaluate(
        rue.Annotations(counts.numpy()), belief, loss="brier", gap=False, references=False
    )
    assert float(metric.compute()) == pytest.approx(want.aurec, abs=2e-3)


def test_forward_returns_the_batch_and_keeps_all():
    metric = RegretMetric("brier", column="regret")
    first, second = tensors(slice(0, 50)), tensors(slice(50, N))
    alone = metric(*first)
    assert float(alone) == pytest.approx(float(metric.compute()))
    metric(*second)
    assert float(metric.compute()) == pytest.approx(evaluated("brier").regret, rel=1e-6)


def test_a_collection_of_columns():
    collection = torchmetrics.MetricCollection(
        {name: RegretMetric("log", column=name) for name in ("aurec", "aurc")}
    )
    collection.update(*tensors(slice(0, 30)))
    collection.update(*tensors(slice(30, N)))
    row, got = evaluated("log"), collection.compute()
    assert float(got["aurec"]) == pytest.approx(row.aurec, rel=1e-6)
    assert float(got["aurc"]) == pytest.approx(row.aurc, rel=1e-6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: RegretMetric("log", column="aurecs"), "column must be one of"),
        (lambda: RegretMetric("logg"), "logg"),
        (lambda: RegretMetric().update(*reversed(tensors(slice(None)))), "swapped"),
    ],
)
def test_wrong_calls_are_one_line(call, words):
    with pytest.raises(rue.errors.RueError, match=words) as error:
        call()
    assert "\n" not in str(error.value)


def test_batches_with_other_classes_are_refused():
    metric = RegretMetric("brier")
    metric.update(*tensors(slice(0, 9)))
    with pytest.raises(rue.errors.InputError, match="same number of classes, got 3 and 2"):
        metric.update(torch.tensor([[1, 2]]), torch.tensor([[[0.5, 0.5]]]))


def _one_of_two(rank, port, results):
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    metric = RegretMetric("log", column="n_aurec")
    rows = np.arange(N)[rank * 35 : 35 + rank * N]  # 35 points here, 55 there
    for part in np.array_split(rows, 3 + rank):
        metric.update(*tensors(part))
    row = metric.evaluation()
    results.put((rank, float(metric.compute()), row.pareto_gap, row.aurec_low, row.n_points))
    dist.destroy_process_group()


@pytest.mark.slow
def test_two_processes_give_the_number_of_one():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    context = multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    workers = [context.Process(target=_one_of_two, args=(r, port, results)) for r in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(300)
    assert [worker.exitcode for worker in workers] == [0, 0]
    want = evaluated("log")
    for _, n_aurec, gap, low, n_points in (results.get(), results.get()):
        assert n_aurec == pytest.approx(want.n_aurec, rel=1e-6)
        assert gap == pytest.approx(want.pareto_gap, abs=1e-12)
        assert low == pytest.approx(want.aurec_low, abs=1e-12)
        assert n_points == N


@pytest.mark.parametrize("loss", ["log", "brier"])
def test_a_point_that_a_sampler_repeats_is_counted_once(loss):
    metric = RegretMetric(loss)
    ids = np.array([f"p{i}" for i in range(N)])
    for rows in (np.arange(N // 2), np.arange(N // 2 - 3, N)):  # three points come twice
        metric.update(*tensors(rows), ids=ids[rows].tolist())
    plain = RegretMetric(loss)
    plain.update(*tensors(np.arange(N)))
    assert metric.compute() == pytest.approx(float(plain.compute()), abs=1e-12)
    assert metric.evaluation(gap=False).n_points == N


def test_ids_are_for_every_batch_and_one_for_each_row():
    counts, probs = tensors(np.arange(4))
    metric = RegretMetric("brier")
    with pytest.raises(rue.errors.InputError, match="one entry per row, got 3 for 4"):
        metric.update(counts, probs, ids=["a", "b", "c"])
    metric.update(counts, probs, ids=torch.arange(4))
    with pytest.raises(rue.errors.InputError, match="with every batch or with none"):
        metric.update(counts, probs)
    with pytest.raises(rue.errors.InputError, match="a truth and a belief have their own"):
        metric.update(rue.Annotations(counts.numpy()), probs, ids=range(4))
    metric.update(*tensors(np.arange(4, 8)), ids=range(4))
    with pytest.raises(rue.errors.InputError, match="the same answers and predictions"):
        metric.compute()


def test_a_score_from_another_source_has_no_unit():
    truth = rue.Annotations([[3, 1], [1, 4], [2, 2]])
    belief = rue.Scored([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]], [100.0, 200.0, 300.0])
    metric = RegretMetric("brier", column="regret_calibration")
    metric.update(truth, belief)
    assert np.isnan(float(metric.compute()))


def test_the_evaluation_has_the_notes_of_the_library():
    metric = RegretMetric("squared")
    for start in range(0, N, 40):
        metric.update(*tensors(slice(start, start + 40)))
    note = next(note for note in evaluated("squared").notes if "no values were given" in note)
    assert metric.evaluation(gap=False).notes.count(note) == 1


def test_rows_of_one_id_with_the_same_components_are_one_point():
    # Under 0/1 loss both answers have risk 1/2 for the predicted class 0: the first row counts.
    metric = RegretMetric("zero_one", column="regret")
    probs = torch.tensor([[0.9, 0.1, 0.0]])
    metric.update(torch.tensor([[5, 5, 0]]), probs, ids=["a"])
    metric.update(torch.tensor([[5, 0, 5]]), probs, ids=["a"])
    assert metric.evaluation(gap=False).n_points == 1
