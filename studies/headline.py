"""Say where the paper's headline repeats on models of our own, in README and in a guide.

The headline: OOD detection ranks methods otherwise than regret does. The numbers are those of the
paper's tables and of the imported runs in docs/results.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

import numpy as np

from rue.ranking.inversions import Contest, Inversions, find_inversions
from rue.ranking.scores import to_scores
from studies import DOCS, ROOT
from studies.claims import everything
from studies.pages import Columns, listed, table_of
from studies.result_pages import COMPARED, inverted
from studies.rows import Row, read_run
from studies.study import Pages, record_of

README, GUIDE = ROOT / "README.md", DOCS / "why_not_ood.md"
RUNS = {
    "cifar10h-images": "CIFAR-10H images",
    "cifar10h-probe": "CIFAR-10H features",
    "sentiment-movies": "movie reviews",
}
AS_THE_CODE = "CIFAR-10H features with the settings of the authors' code"
PROXIES = {
    "near_ood": "near-OOD detection",
    "far_ood": "far-OOD detection",
    "auac": "AuAC",
    "nauc_epistemic": "active learning (epistemic)",
}


@dataclass(frozen=True)
class Agreement:
    """How a proxy and AuReC under log loss rank methods: tau, and the best method by each."""

    source: str
    proxy: str
    tau: float
    by_proxy: str
    by_regret: str
    n_methods: int


def pages(_: Row) -> Pages:
    return {
        README: {"repeats": short()},
        GUIDE: {"repeats": f"{summary()}\n\n{agreements_table()}"},
    }


def agreements() -> list[Agreement]:
    """Return the agreement of each proxy with AuReC (log), as published and on our models."""
    proxy_agreements = [
        _agreement(
            "the paper's tables",
            everything(),
            Contest(dataset, proxy, ""),
            Contest("cifar10h", "aurec", "log"),
        )
        for proxy, dataset in (
            ("near_ood", "cifar10"),
            ("far_ood", "cifar10"),
            ("auac_labels", "cifar10"),
            ("nauc_epistemic", "openml-6"),
        )
    ]
    for source, run in _our_runs():
        proxy_agreements += [
            _agreement(source, run, Contest("", proxy, ""), Contest("", "aurec", "log"))
            for proxy in PROXIES
            if Contest("", proxy, "") in run.columns
        ]
    return proxy_agreements


def _our_runs() -> Iterator[tuple[str, Inversions]]:
    """Yield the inversions of each imported run, and of the run of studies.conventions."""
    for name, source in RUNS.items():
        (run,) = inverted(read_run(name))
        yield source, run
    scores = to_scores(record_of("conventions")["definition"])
    compared_scores = (replace(each, dataset="") for each in scores if each.criterion in COMPARED)
    yield AS_THE_CODE, find_inversions(compared_scores)


def _agreement(source: str, run: Inversions, proxy: Contest, regret: Contest) -> Agreement:
    i, j = run.columns.index(proxy), run.columns.index(regret)
    defined = [
        m for m, method in enumerate(run.methods) if not np.isnan(run.ranks[[i, j], m]).any()
    ]
    by_proxy, by_regret = (
        run.methods[min(defined, key=lambda m: float(run.ranks[row, m]))] for row in (i, j)
    )
    name = PROXIES[proxy.criterion.removesuffix("_labels")]
    return Agreement(source, name, float(run.tau[i, j]), by_proxy, by_regret, len(defined))


def summary() -> str:
    """Return the paragraph: where the headline repeats, and where it does not."""
    near = {each.source: each for each in agreements() if each.proxy == PROXIES["near_ood"]}
    paper, ours = near.pop("the paper's tables"), list(near.values())
    taus = [f"{each.tau:+.2f} on {each.source}" for each in ours]
    sizes = listed([str(n) for n in sorted({each.n_methods for each in ours})])
    same = {each.by_proxy for each in ours} | {each.by_regret for each in ours}
    both = f"{same.pop()} is first by both" if len(same) == 1 else "the first methods differ"
    spread: dict[str, list[float]] = {each.proxy: [] for each in agreements()}
    for each in agreements():
        if each.source != paper.source:
            spread[each.proxy].append(each.tau)
    others = [
        f"{name} {_span(values)}"
        for name, values in spread.items()
        if values and name != PROXIES["near_ood"]
    ]
    return (
        "**Does this repeat on models of our own? In part.** Kendall's tau says how far two orders "
        "of the methods agree: 1 is the same order, 0 no relation, -1 the reverse. In the paper's "
        "tables, tau is "
        f"{paper.tau:.2f} between near-OOD detection (of inputs that resemble the training data) "
        f"and AuReC under log loss: {paper.by_proxy} is first by the one and {paper.by_regret} by "
        "the other. But there the two come from different networks and data. On models that rue "
        f"trained and tested on the same data ({sizes} methods), the two orders mostly agree: "
        f"tau is {listed(taus)}, and {both}. Tau between AuReC and the other tests is: "
        f"{listed(others)} (AuAC is the area under the accuracy-coverage curve). So a test may "
        "rank methods as regret does, but you know it only after you have measured regret."
    )


def short() -> str:
    """Return the same in three sentences, for README."""
    near = {each.source: each for each in agreements() if each.proxy == PROXIES["near_ood"]}
    paper = near["the paper's tables"]
    images, reviews = (near[RUNS[name]].tau for name in ("cifar10h-images", "sentiment-movies"))
    return (
        "In the paper's tables, Kendall's tau between near-OOD detection and AuReC (log loss) is "
        f"{paper.tau:.2f}; of networks that we trained on CIFAR-10H's images it is {images:+.2f}, "
        f"and on movie reviews {reviews:+.2f}. So a test may rank methods as regret does or not; "
        "you know it only after you have measured regret ([comparison](docs/why_not_ood.md); "
        "[CIFAR-10H's images](docs/cifar10h_images.md))."
    )


def _span(taus: list[float]) -> str:
    """Return the least and the largest tau."""
    low, high = min(taus), max(taus)
    return f"{low:+.2f}" if low == high else f"{low:+.2f} to {high:+.2f}"


def agreements_table() -> str:
    """Return the agreement of every proxy with AuReC under log loss as a table."""
    columns: Columns = {
        "models": "{source}",
        "proxy": "{proxy}",
        "tau with AuReC (log)": "{tau:+.2f}",
        "best by proxy": "{by_proxy}",
        "best by AuReC": "{by_regret}",
        "methods": "{n_methods}",
    }
    return table_of(map(asdict, agreements()), columns, text=2)
