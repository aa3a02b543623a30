"""Reports: a world to make them of, and their pages read as a browser does."""

import base64
import gzip
import json
import re

import numpy as np

K = 4


def write_world(folder, n_points, n_methods, seed=0):
    """Methods of growing noise about one truth, one for each kind of belief in turn."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.full(K, 0.6), n_points)
    counts = np.stack([rng.multinomial(20, p) for p in truth])
    ids = np.array([f"p{i}" for i in range(n_points)])
    files = {}
    for m in range(n_methods):
        name = f"method{m}"
        noise = rng.dirichlet(np.full(K, 1.0), (n_points, 5))
        mix = rng.beta(1, 1.5 + m, n_points)[:, None, None]
        draws = (1 - mix) * truth[:, None, :] + mix * noise
        arrays = {"probs": draws}
        if m % 3 == 1:
            arrays = {"alpha": 0.3 + 12 * draws.mean(axis=1) * (1 - mix[:, 0])}
        elif m % 3 == 2:
            arrays = {"probs": draws.mean(axis=1), "epistemic": -np.log(1 - 0.9 * mix[:, 0, 0])}
        files[name] = folder / f"{name}.npz"
        np.savez(files[name], counts=counts, ids=ids, **arrays)
    return files


def content(page):
    return json.loads(
        re.search(r'<script type="application/json" id="content">(.*?)</script>', page)[1]
    )


def arrays(page):
    pattern = r'<script type="application/octet-stream" id="arrays">(.*?)</script>'
    block = gzip.decompress(base64.b64decode(re.search(pattern, page)[1]))
    return lambda ref: np.frombuffer(block, f"<{ref[0]}", ref[2], ref[1])
