"""Bootstrap replicates of the areas: sorted once, against sorting each sample anew."""

import numpy as np

from rue.components import Components
from rue.inference.bootstrap import _key, _sorted
from speed.timing import Rows, least_of_both


def rows() -> Rows:
    from rue._kernels.bootstrap import N_COLUMNS, measure_all
    from rue._kernels.curves import areas

    rng = np.random.default_rng(0)
    none = np.empty(0)
    for n in (1_000, 10_000, 100_000):
        total, regret, score, estimated = rng.gamma(0.5, size=(4, n))
        star = Components(total + regret, total, regret)
        hat = Components(estimated + score, estimated, score)
        sorted_ = _sorted(star, hat)
        n_replicates = 20 if n == 100_000 else 100
        out = np.empty((n_replicates, N_COLUMNS))

        def ours(sorted_=sorted_, out=out):
            measure_all(_key(0), 0, *sorted_, False, out)

        def peer(star=star, hat=hat, n=n, n_replicates=n_replicates):
            # AuReC and AuRC of one ranking, the oracle, and AuRC by the total: three sorts.
            for _ in range(n_replicates):
                drawn = rng.integers(0, n, n)
                v, t = star.epistemic[drawn], star.total[drawn]
                s, u = hat.epistemic[drawn], hat.total[drawn]
                order = np.argsort(s)
                areas(v, s, none, order, False)
                areas(t, s, none, order, False)
                areas(v, v, none, np.argsort(v), False)
                areas(t, u, none, np.argsort(u), False)

        a, b = least_of_both(ours, peer, repeats=5)
        what = f"{n_replicates} bootstrap replicates of four areas, N = {n:,}"
        yield what, a, "re-sorting every sample", b, "<= 0.05"
