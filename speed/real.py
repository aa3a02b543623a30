"""Real-valued outcomes: normals and samples, estimated and realised."""

import numpy as np

from rue import Gaussians, Ratings, Samples, decompose, realize
from speed.timing import Rows, least_of_both


def rows() -> Rows:
    from scipy.stats import norm

    rng = np.random.default_rng(0)
    mean, sd = rng.normal(size=(100_000, 5)), rng.gamma(2.0, size=(100_000, 5))
    normals, x = Gaussians(mean, sd), rng.normal(size=(100_000, 5))
    people = Ratings(rng.normal(size=(100_000, 10)))
    for name, goal in (
        ("crps", "<= 3"),
        ("squared", "<= 3"),
        ("absolute", ""),
        ("pinball:0.8", ""),
    ):
        a, b = least_of_both(
            lambda name=name: decompose(normals, name), lambda: norm.cdf(x), repeats=9
        )
        yield f"decompose {name}, 100,000 x 5 normals", a, "one norm.cdf of scipy", b, goal
    for name in ("crps", "absolute"):
        a, b = least_of_both(
            lambda name=name: realize(people, normals, name), lambda: norm.cdf(x), repeats=5
        )
        yield f"realize {name}, 100,000 x 5 normals, 10 answers", a, "one norm.cdf of scipy", b, ""
    for n_values in (20, 200):
        samples = Samples(rng.normal(size=(200_000 // n_values, 5, n_values)))
        flat = samples.values.reshape(len(samples), -1)
        for name in ("crps", "absolute"):
            a, b = least_of_both(
                lambda name=name, samples=samples: decompose(samples, name),
                lambda flat=flat: np.argsort(flat, axis=1),
                repeats=5,
            )
            size = f"{len(samples):,} x 5 x {n_values}"
            yield f"decompose {name}, {size} samples", a, "one argsort", b, "<= 5"
