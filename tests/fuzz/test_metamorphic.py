"""Changes that must not change the numbers: order, copies, types, formats, maps and merges.

Each check states its tolerance. The same *bits* where every number stays in its place: another file
format, a memory map, accumulators merged in order. 1e-12 where sums are taken in another order:
rows or classes in another order, duplicated rows, accumulators merged in another order, and
numbers in half or single precision that are exact in it.
"""

import itertools
import json

import numpy as np
import pytest

import rue
from rue import Accumulator
from rue.errors import AlignmentError
from rue.io.answers import read_truth
from rue.io.arrays import save_npz
from rue.io.predictions import read_predictions
from rue.io.runs import make_run
from rue.metrics.evaluation import evaluate_run

N, K = 24, 4
CLASSES = ("cat", "fox", "dog", "emu")
IDS = tuple(f"p{i}" for i in range(N))
SYMMETRIC = ("log", "brier", "zero_one")
ORDERED = ("squared", "absolute", "rps", "pinball:0.8")
REAL = ("squared", "absolute", "crps", "pinball:0.8")


def world(seed=0):
    """Return counts and draws of which some points are equal, tied or certain."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(7, rng.dirichlet(np.ones(K)), N).astype(float)
    # Eighths are exact in half precision, and their sums in any order.
    eighths = rng.multinomial(8, np.ones(K) / K, (N, 3)) / 8
    counts[3], eighths[3] = counts[2], eighths[2]
    counts[5] = [0, 7, 0, 0]
    return counts, eighths


def beliefs(probs):
    """Return a belief of each kind."""
    numbers = np.random.default_rng(1)
    return {
        "draws": rue.Draws(probs),
        "dirichlet": rue.Dirichlet(8 * probs[:, 0] + 0.5),
        "scored": rue.Scored(probs[:, 0], numbers.integers(0, 5, N).astype(float)),
    }


def row_of(counts, belief, loss, *, gap=None, references=False):
    """Return the numbers, without those that depend on classes and copies within their noise."""
    gap = loss in ("brier", "rps") if gap is None else gap  # it takes most of the time
    truth = rue.Annotations(counts)
    found = rue.evaluate(truth, belief, loss=loss, gap=gap, references=references).to_dict()
    return {key: value for key, value in found.items() if isinstance(value, float)}


def assert_close(found, expected, tolerance):
    assert set(found) == set(expected)
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, rel=tolerance, abs=tolerance), key


@pytest.mark.parametrize("loss", [*SYMMETRIC, *ORDERED])
@pytest.mark.parametrize("kind", ["draws", "dirichlet", "scored"])
def test_row_order(loss, kind):
    counts, probs = world()
    order = np.random.default_rng(2).permutation(N)
    belief = beliefs(probs)[kind]
    moved = row_of(counts[order], belief[order], loss, references=None)
    assert_close(moved, row_of(counts, belief, loss, references=None), 1e-12)


def test_row_order_of_a_large_sample_with_sampled_directions():
    rng = np.random.default_rng(3)
    n = 600  # the Pareto-gap of more than 512 points samples its directions
    counts, probs = rng.multinomial(9, np.ones(3) / 3, n), rng.dirichlet(np.ones(3), (n, 2))
    order = rng.permutation(n)
    found = row_of(counts[order], rue.Draws(probs[order]), "brier")
    assert_close(found, row_of(counts, rue.Draws(probs), "brier"), 1e-12)


@pytest.mark.parametrize("loss", SYMMETRIC)
@pytest.mark.parametrize("kind", ["draws", "dirichlet", "scored"])
def test_class_order(loss, kind):
    counts, probs = world()
    keep = np.arange(N)
    if loss == "zero_one":  # on a tie the action is the class with the lowest index
        best = [np.sort(p)[:, -2:] for p in (probs.mean(axis=1), probs[:, 0])]
        keep = np.flatnonzero([all(np.diff(p[i])[0] > 1e-9 for p in best) for i in range(N)])
    expected = row_of(counts[keep], beliefs(probs)[kind][keep], loss)
    for order in itertools.islice(itertools.permutations(range(K)), 1, None, 7):
        columns = list(order)
        moved = beliefs(probs[..., columns])[kind]
        assert_close(row_of(counts[keep][:, columns], moved[keep], loss), expected, 1e-12)


@pytest.mark.parametrize("loss", ORDERED)
def test_classes_the_other_way_round(loss):
    """A scale that is turned round has the same losses, of the opposite quantile."""
    counts, probs = world()
    turned = {"pinball:0.8": "pinball:0.2"}.get(loss, loss)
    # A median of two classes is the lower one: so no ties for absolute and pinball.
    if loss in ("absolute", "pinball:0.8"):
        level = 0.8 if loss == "pinball:0.8" else 0.5
        below = np.cumsum(probs.mean(axis=1), axis=1)
        keep = (np.abs(below - level) > 1e-9).all(axis=1)
        counts, probs = counts[keep], probs[keep]
    found = row_of(counts[:, ::-1], rue.Draws(probs[..., ::-1]), turned)
    expected = row_of(counts, rue.Draws(probs), loss)
    free = {key: value for key, value in found.items() if key not in ("aurec_low",)}
    assert_close(free, {key: expected[key] for key in free}, 1e-12)


@pytest.mark.parametrize("loss", [*SYMMETRIC, *ORDERED])
def test_every_row_twice(loss):
    """Means, curves and rank correlations of a sample are those of the sample taken twice."""
    counts, probs = world()
    twice = np.repeat(np.arange(N), 2)
    found = row_of(counts[twice], rue.Draws(probs[twice]), loss, gap=False)
    expected = row_of(counts, rue.Draws(probs), loss, gap=False)
    if loss == "log":  # the leave-one-out Bayes risk is smoothed by the other points
        for key in (
            "aurec_low",
            *(key for key in expected if key.startswith(("person_", "team_"))),
        ):
            del found[key], expected[key]
    assert_close(found, expected, 1e-12)


@pytest.mark.parametrize("dtype", ["f4", "f2", ">f8"])
@pytest.mark.parametrize("loss", ["log", "brier", "zero_one", "rps"])
def test_types_that_hold_the_numbers_exactly(loss, dtype):
    counts, probs = world()
    found = row_of(counts.astype(np.int32), rue.Draws(probs.astype(dtype)), loss)
    assert_close(found, row_of(counts, rue.Draws(probs), loss), 1e-12)


def tables(probs, counts):
    """Return the same predictions as the bytes of a file in each format."""
    header = ",".join(("id", *CLASSES))
    first = probs[:, 0]
    rows = [",".join([i, *map(repr, row)]) for i, row in zip(IDS, first.tolist(), strict=True)]
    long = [
        f"{i},0,{c},{p!r}"
        for i, row in zip(IDS, first.tolist(), strict=True)
        for c, p in zip(CLASSES, row, strict=True)
    ]
    lines = [
        json.dumps({"id": i, "probs": dict(zip(CLASSES, row, strict=True))})
        for i, row in zip(IDS, first.tolist(), strict=True)
    ]
    return {
        "wide.csv": "\n".join([header, *rows]),
        "long.csv": "\n".join(["id,draw,class,prob", *long]),
        "lines.jsonl": "\n".join(lines),
    }


@pytest.mark.parametrize("loss", [*SYMMETRIC, *ORDERED])
def test_file_formats(loss, tmp_path):
    import pyarrow.csv
    import pyarrow.parquet

    counts, probs = world()
    answers = {"counts": counts, "ids": np.array(IDS), "classes": np.array(CLASSES)}
    save_npz(tmp_path / "truth.npz", answers)
    save_npz(tmp_path / "arrays.npz", {"probs": probs[:, 0], **answers})
    for name, text in tables(probs, counts).items():
        (tmp_path / name).write_text(text)
    table = pyarrow.csv.read_csv(tmp_path / "wide.csv")
    pyarrow.parquet.write_table(table, tmp_path / "wide.parquet")
    truth = read_truth(tmp_path / "truth.npz")
    rows = {}
    for file in sorted(tmp_path.iterdir()):
        if file.stem != "truth":
            run = make_run(read_predictions(file), truth, loss)
            rows[file.name] = evaluate_run(run).to_dict() | {"method": ""}
    expected = rows.pop("arrays.npz")
    assert len(rows) == 4
    assert all(found == expected for found in rows.values()), rows


LEVELS = ("low", "medium", "high", "extreme")


def level_truths(folder, counts):
    """Write the answers about levels in every layout; only some of them state an order."""
    import pandas as pd

    long = pd.DataFrame(
        [
            (i, LEVELS[k])
            for i, row in zip(IDS, counts.astype(int), strict=True)
            for k in np.repeat(np.arange(K), row)
        ],
        columns=["id", "label"],
    ).sample(frac=1, random_state=0)
    long.to_csv(folder / "long.csv", index=False)
    long.to_csv(folder / "long.tsv", index=False, sep="\t", encoding="utf-16")
    long.groupby(["id", "label"]).size().rename("n").reset_index().to_parquet(folder / "n.parquet")
    lists = long.groupby("id")["label"].apply(list).reset_index(name="labels")
    lists.to_json(folder / "lists.jsonl", orient="records", lines=True)
    wide = pd.DataFrame(counts.astype(int), columns=LEVELS, index=IDS)[sorted(LEVELS)]
    wide.to_csv(folder / "alphabet.csv", sep=";")
    ordered = long.assign(label=pd.Categorical(long["label"], LEVELS, ordered=True))
    ordered.to_parquet(folder / "ordered.parquet")


@pytest.mark.parametrize("loss", ORDERED)
def test_layouts_of_ordered_words(loss, tmp_path):
    """Words in any layout have the order that some file states, or there is an error."""
    counts, probs = world()
    names = {"ids": np.array(IDS), "classes": np.array(LEVELS)}
    save_npz(tmp_path / "in_order.npz", {"probs": probs, **names})
    columns = np.argsort(LEVELS)
    turned = {"probs": probs[..., columns], **names, "classes": np.array(LEVELS)[columns]}
    save_npz(tmp_path / "alphabet.npz", turned)
    (tmp_path / "truths").mkdir()
    level_truths(tmp_path / "truths", counts)
    expected = row_of(counts, rue.Draws(probs), loss, gap=False)
    for file in sorted((tmp_path / "truths").iterdir()):
        for belief in ("in_order.npz", "alphabet.npz"):
            truth, read = read_truth(file), read_predictions(tmp_path / belief)
            if belief == "alphabet.npz" and file.stem != "ordered":
                with pytest.raises(AlignmentError, match="needs the order of the classes"):
                    make_run(read, truth, loss)
                continue
            run = make_run(read, truth, loss)
            found = evaluate_run(run, gap=False, references=False).to_dict()
            assert_close({key: found[key] for key in expected}, expected, 1e-12)


@pytest.mark.parametrize("loss", REAL)
def test_formats_of_real_answers(loss, tmp_path):
    rng = np.random.default_rng(4)
    ratings = rng.normal(0, 2, (N, 5))
    mean, sd = rng.normal(0, 1, (N, 3)), rng.gamma(2, 1, (N, 3))
    arrays = {"mean": mean, "sd": sd, "ids": np.array(IDS)}
    save_npz(tmp_path / "a.npz", arrays)
    save_npz(tmp_path / "truth.npz", {"ratings": ratings, "ids": np.array(IDS)})
    lines = [
        f"{i},w{w},{x!r}"
        for i, row in zip(IDS, ratings.tolist(), strict=True)
        for w, x in enumerate(row)
    ]
    rng.shuffle(lines)
    (tmp_path / "truth.csv").write_text("\n".join(["id,annotator,rating", *lines]))
    rows = [
        evaluate_run(
            make_run(read_predictions(tmp_path / "a.npz"), read_truth(file), loss)
        ).to_dict()
        for file in (tmp_path / "truth.npz", tmp_path / "truth.csv")
    ]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("loss", [*SYMMETRIC, *ORDERED])
def test_memory_maps(loss, tmp_path):
    counts, probs = world()
    np.save(tmp_path / "probs.npy", probs)
    mapped = np.load(tmp_path / "probs.npy", mmap_mode="r")
    found = row_of(counts, rue.Draws(mapped), loss)
    assert found == row_of(counts, rue.Draws(probs), loss)


@pytest.mark.parametrize("loss", [*SYMMETRIC, *ORDERED])
@pytest.mark.parametrize("cuts", [(0, 1, N), (0, 5, 6, 17, N)])
def test_merged_accumulators(loss, cuts):
    counts, probs = world()
    parts = []
    for start, stop in itertools.pairwise(cuts):
        part = Accumulator(loss)
        part.update(counts[start:stop], probs[start:stop])
        parts.append(part)
    expected = row_of(counts, rue.Draws(probs), loss)
    for order, tolerance in ((parts, 0.0), (parts[::-1], 1e-12)):
        whole = Accumulator(loss)
        whole.merge(*order)
        found = whole.compute().to_dict()
        assert_close({key: found[key] for key in expected}, expected, tolerance)
