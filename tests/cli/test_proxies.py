"""rue proxies on files."""

import json

import numpy as np
import pytest

import rue
from rue.proxies import evaluate_proxies

CLASSES = ("cat", "dog", "fox")


@pytest.fixture
def files(tmp_path):
    """Two methods about six points, and their predictions for three OOD sets."""
    rng = np.random.default_rng(1)
    ids = [f"p{i}" for i in range(6)]
    said = rue.Annotations(rng.integers(1, 6, (6, 3)))
    beliefs = {}
    for method in ("ensemble", "ddu"):
        probs = rng.dirichlet(np.ones(3), (6, 4))
        beliefs[method] = rue.Draws(probs)
        rue.save_predictions(
            tmp_path / f"{method}.npz",
            beliefs[method],
            ids=ids,
            classes=CLASSES,
            annotations=said,
            method=method,
        )
        for name in ("tin", "mnist", "other"):
            beliefs[method, name] = rue.Draws(rng.dirichlet(np.ones(3), (5, 4)))
            rue.save_predictions(
                tmp_path / f"{method}_{name}.npz", beliefs[method, name], method=method
            )
    labels = beliefs["ddu"].probs.mean(axis=1).argmax(axis=1)
    labels[::2] = rng.integers(0, 3, 3)
    order = rng.permutation(6)
    lines = [f"{ids[i]},{CLASSES[labels[i]]}" for i in order]
    (tmp_path / "labels.csv").write_text("id,label\n" + "\n".join(lines) + "\n")
    np.save(tmp_path / "labels.npy", labels)
    return tmp_path, beliefs, said, labels


def test_rows_of_table_4(run, files):
    folder, beliefs, said, labels = files
    done = run(
        *("proxies", folder / "ensemble.npz", folder / "ddu.npz"),
        *("--labels", folder / "labels.csv", "--format", "json"),
        "--ood",
        *(
            f"{m}:{s}={folder / f'{m}_{s}.npz'}"
            for m in ("ensemble", "ddu")
            for s in ("tin", "mnist")
        ),
    )
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["groups"] == {"near": ["tin"], "far": ["mnist"]}
    for row in found["rows"]:
        method = row["method"]
        expected = evaluate_proxies(
            beliefs[method],
            outside={"tin": beliefs[method, "tin"], "mnist": beliefs[method, "mnist"]},
            groups={"near": ["tin"], "far": ["mnist"]},
            answers=said,
            labels=labels,
        ).to_dict()
        for key in ("near_ood", "far_ood", "auac", "auac_labels"):
            assert row[key] == pytest.approx(expected[key])


def test_one_method_needs_no_names(run, files):
    folder, beliefs, _, labels = files
    done = run(
        *("proxies", folder / "ddu.npz", "--labels", folder / "labels.npy", "--by-position"),
        *("--near", "ddu_other", "--ood", folder / "ddu_other.npz", folder / "ddu_tin.npz"),
    )
    assert done.code == 0, done.err
    assert "near-OOD" in done.out
    assert "AuAC labels" in done.out
    assert "AuAC answers" in done.out
    assert "note: ddu_tin: neither near nor far; say so with --near or --far" in done.out
    expected = evaluate_proxies(
        beliefs["ddu"],
        outside={"x": beliefs["ddu", "other"]},
        groups={"near": ["x"]},
        labels=labels,
    )
    assert f"{expected.near_ood:.3f}" in done.out
    assert f"{expected.auac_labels:.3f}" in done.out


def test_the_methods_of_ood_files_are_their_own(run, files):
    folder = files[0]
    done = run(
        *("proxies", folder / "ensemble.npz", folder / "ddu.npz", "--format", "csv", "--ood"),
        *(f"tin={folder / m}_tin.npz" for m in ("ddu", "ensemble")),
    )
    assert done.code == 0, done.err
    assert done.out.splitlines()[0].startswith("method,loss,n_points,near_ood")


def test_selective_prediction_alone(run, files):
    folder = files[0]
    done = run("proxies", folder / "ddu.npz")
    assert done.code == 0
    assert "AuAC answers" in done.out
    assert "OOD" not in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.npz", "--ood", "tin=b.npz", "tin=b.npz"], "a has the OOD set tin already"),
        (["a.npz", "--ood", "b.npz", "--near", "x"], "--near must be a set of --ood, got 'x'"),
        (["a.npz", "--ood", "b.npz", "--near", "b", "--far", "b"], "--near and --far must differ"),
        (["a.npz", "c.npz", "--ood", "b.npz"], "say which method it is of, METHOD:SET=FILE"),
        (["a.npz", "c.npz", "--ood", "a:t=b.npz"], "every method must have the same OOD sets"),
        (["a.npz", "--ood", "x:t=b.npz"], "method must be of a, got 'x'"),
        (["a.npz", "--ood", "k.npz"], "must have the 3 classes of"),
        (["a.npz"], "give --ood, --truth or --labels"),
        (["a.npz", "--labels", "wrong.npy"], "labels must be from 0 to 2, got 7 at row 1"),
        (
            ["a.npz", "--labels", "many.npy"],
            "labels must be one class for each point, got 2 answers",
        ),
        (["a.npz", "--labels", "random-rbf.csv"], "no such file or data set|random-rbf.csv"),
    ],
)
def test_one_line_says_what_is_wrong(run, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in "abc":
        np.savez(f"{name}.npz", probs=rng.dirichlet(np.ones(3), (2, 2)))
    np.savez("k.npz", probs=rng.dirichlet(np.ones(4), (2, 2)))
    np.save("wrong.npy", [0, 7])
    np.save("many.npy", [[2, 0, 0], [1, 0, 0]])
    done = run("proxies", *words)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert any(part in done.err for part in message.split("|"))


def test_help_has_an_example(run):
    assert "Example:  rue proxies" in run("proxies", "--help").out
