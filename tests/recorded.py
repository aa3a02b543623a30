"""Outputs of ``rue evaluate --format json`` on made files, recorded to compare later versions with.

``python tests/recorded.py`` writes ``tests/recorded.json`` anew. Do so only for a change of numbers
that the changelog explains.
"""

import contextlib
import io
import json
import math
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from rue.cli import main

STORE = Path(__file__).with_suffix(".json")
CLASS_LOSSES = ("log", "brier", "zero_one", "squared", "absolute", "rps", "pinball:0.8", "cost")
REAL_LOSSES = ("squared", "absolute", "pinball:0.3", "crps")
SIZES = (1, 2, 3, 40, 700, 2_500)
NAMES = ("cat", "dog", "owl", "yak")


def write_files(folder: Path) -> None:
    """Write predictions of every kind and answers in every layout."""
    rng = np.random.default_rng(7)
    for n in SIZES:
        star = rng.dirichlet(np.ones(4), n)
        probs = rng.dirichlet(np.ones(4), (n, 5)) * 0.5 + star[:, None] * 0.5
        ids = np.array([f"p{i}" for i in range(n)])
        counts = np.stack(
            [rng.multinomial(m, p) for m, p in zip(rng.integers(4, 12, n), star, strict=True)]
        )
        shared = {"ids": ids, "counts": counts}
        np.savez(folder / f"draws{n}.npz", probs=probs, **shared)
        np.savez(folder / f"ties{n}.npz", probs=np.eye(4)[probs.argmax(axis=-1)], **shared)
        alpha = rng.gamma(2.0, 1.0, (n, 4)) + star * 8
        np.savez(folder / f"dirichlet{n}.npz", alpha=alpha, **shared)
        score = rng.normal(size=n).round(2)
        np.savez(folder / f"scored{n}.npz", probs=probs[:, 0], epistemic=score, **shared)
        if n != 40:
            continue
        float32 = probs.astype(np.float32)
        np.savez(folder / "float32.npz", probs=float32, **shared)
        np.savez(folder / "single.npz", probs=probs[:, 0], **shared)
        np.savez(folder / "logits.npz", logits=np.log(probs) + 3, **shared)
        np.savez(folder / "votes.npz", sampled_labels=rng.integers(0, 4, (n, 9)), **shared)
        np.savez(folder / "deployed.npz", probs=probs, actions=rng.integers(0, 4, n), **shared)
        np.savez(folder / "exact.npz", probs=probs, ids=ids)
        np.savez(folder / "exact_truth.npz", probs=star, ids=ids[::-1])
        named = {"probs": probs[:, :, ::-1], "classes": np.array(NAMES[::-1]), "ids": ids}
        np.savez(folder / "named.npz", **named)
        order = rng.permutation(n)
        wide = pd.DataFrame(counts[order], columns=NAMES)
        wide.insert(0, "id", ids[order])
        wide.to_csv(folder / "wide.csv", index=False)
        wide.to_parquet(folder / "wide.parquet", index=False)
        wide.iloc[:30].to_csv(folder / "fewer.csv", index=False)
        np.save(folder / "counts.npy", counts)
        pairs = [
            (i, NAMES[k])
            for i, row in zip(ids, counts, strict=True)
            for k in np.repeat(np.arange(4), row)
        ]
        pd.DataFrame(pairs, columns=["id", "label"]).to_csv(folder / "long.csv", index=False)
        columns = {name: probs[:, 0, k] for k, name in enumerate(NAMES)}
        table = pd.DataFrame({"id": ids, **columns, "topic": np.tile(["a", "b"], n // 2)})
        table.to_csv(folder / "table.csv", index=False)
        table.to_parquet(folder / "table.parquet", index=False)
        lines = [
            json.dumps({"id": i, "probs": row.tolist(), "counts": c.tolist()})
            for i, row, c in zip(ids, probs, counts, strict=True)
        ]
        (folder / "lines.jsonl").write_text("\n".join(lines) + "\n")
        for k in range(3):
            np.savez(folder / f"member{k}.npz", probs=probs[:, k], **shared)
        (folder / "cost.csv").write_text("0,1,2,3\n1,0,1,2\n5,1,0,1\n1,1,1,1\n")
        ratings = [rng.normal(size=m).round(1) * 2 for m in rng.integers(2, 8, n)]
        answers = [(i, y) for i, row in zip(ids, ratings, strict=True) for y in row]
        pd.DataFrame(answers, columns=["id", "rating"]).to_csv(folder / "ratings.csv", index=False)
        mean, sd = rng.normal(size=(n, 4)), rng.gamma(2.0, 0.5, (n, 4))
        np.savez(folder / "gaussians.npz", mean=mean, sd=sd, ids=ids)
        np.savez(folder / "samples.npz", samples=rng.normal(size=(n, 3, 6)).round(1), ids=ids)
        mu, nu = rng.normal(size=n), rng.gamma(2.0, 1.0, n)
        more = {"alpha": 1.5 + rng.gamma(2.0, 1.0, n), "beta": rng.gamma(2.0, 1.0, n)}
        np.savez(folder / "evidential.npz", mu=mu, nu=nu, **more, ids=ids)


def cases() -> Iterator[list[str]]:
    """Yield the arguments of each command after ``rue evaluate``."""
    all_classes = [word for loss in CLASS_LOSSES for word in ("--loss", loss)]
    all_classes += ["--cost", "cost.csv"]
    published = [w for loss in ("log", "zero_one", "squared", "absolute") for w in ("--loss", loss)]
    all_real = [word for loss in REAL_LOSSES for word in ("--loss", loss)]
    for kind in ("draws", "ties", "dirichlet", "scored"):
        for n in SIZES:
            gap = ["--no-gap"] if n > 700 else []
            sampled = kind == "dirichlet" and n > 40  # costs under a Dirichlet take seconds
            yield [f"{kind}{n}.npz", *(all_classes[:-4] if sampled else all_classes), *gap]
        yield [f"{kind}40.npz", *published, "--convention", "published", "--no-gap"]
        yield [f"{kind}40.npz", "--loss", "log", "--loss", "zero_one", "--corrected"]
        yield [f"{kind}40.npz", "--loss", "brier", "--ci", "0.9", "--replicates", "50"]
    yield ["draws2500.npz", "--loss", "log"]
    yield ["draws700.npz", "--loss", "zero_one", "--convention", "published"]
    for name in ("float32", "single", "logits", "votes"):
        yield [f"{name}.npz", *all_classes]
    yield ["deployed.npz", "--loss", "zero_one"]
    yield ["exact.npz", "--truth", "exact_truth.npz", *all_classes]
    for truth in ("wide.csv", "wide.parquet", "long.csv"):
        yield ["named.npz", "--truth", truth, "--loss", "log", "--loss", "zero_one"]
        yield ["table.csv", "--truth", truth, "--loss", "brier"]
    yield ["table.parquet", "--truth", "fewer.csv", "--common", "--loss", "brier"]
    yield ["table.csv", "--truth", "wide.csv", "--by", "topic", "--no-gap"]
    yield ["table.csv", "--truth", "wide.csv", "--by", "class", "--no-gap"]
    clusters = ["--cluster", "topic", "--ci", "0.95", "--replicates", "50", "--no-gap"]
    yield ["table.csv", "--truth", "wide.csv", *clusters]
    yield ["draws40.npz", "--resample-annotators", "--ci", "0.95", "--replicates", "50"]
    yield ["lines.jsonl", *all_classes]
    yield ["mine=member0.npz,member1.npz,member2.npz", *all_classes]
    yield ["member0.npz", "member1.npz", "draws40.npz", "--loss", "squared", "--values", "1,2,4,8"]
    for kind in ("gaussians", "samples", "evidential"):
        real = [f"{kind}.npz", "--truth", "ratings.csv"]
        yield [*real, *all_real]
        yield [*real, "--loss", "crps", "--ci", "0.95", "--replicates", "50", "--no-gap"]
        yield [*real, "--loss", "squared", "--corrected"]


def outputs(folder: Path) -> dict[str, list[dict[str, object]]]:
    """Return the rows that each command prints, without notes and paths, by its arguments."""
    rows = {}
    for words in cases():
        stdout = io.StringIO()
        with contextlib.chdir(folder), contextlib.redirect_stdout(stdout):
            try:
                main(["evaluate", *words, "--format", "json"])
            except SystemExit as stop:
                if stop.code:
                    raise RuntimeError(
                        f"rue evaluate {' '.join(words)}: exit {stop.code}"
                    ) from stop
        rows[" ".join(words)] = [
            {key: value for key, value in row.items() if key not in ("notes", "path")}
            for row in json.loads(stdout.getvalue())
        ]
    return rows


def differences(before: object, after: object, place: str = "") -> Iterator[str]:
    """Yield each value that differs; what is new is left out."""
    if isinstance(before, dict):
        for key, value in before.items():
            if not isinstance(after, dict) or key not in after:
                yield f"{place}.{key} is missing"
            else:
                yield from differences(value, after[key], f"{place}.{key}")
    elif isinstance(before, list):
        if not isinstance(after, list) or len(after) != len(before):
            yield f"{place} has another length"
        else:
            for i, (old, new) in enumerate(zip(before, after, strict=True)):
                yield from differences(old, new, f"{place}[{i}]")
    elif isinstance(before, float) and isinstance(after, int | float):
        if not math.isclose(before, after, rel_tol=1e-12, abs_tol=1e-15):
            yield f"{place}: {before!r} became {after!r}"
    elif before != after:
        yield f"{place}: {before!r} became {after!r}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name))
        STORE.write_text(json.dumps(outputs(Path(name)), indent=0) + "\n")
