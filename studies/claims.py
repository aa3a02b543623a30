"""What the text of the paper says of its tables, and whether they bear it out."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

from rue.metrics.columns import COLUMNS
from rue.published import read_published
from rue.ranking.inversions import Contest, Inversion, Inversions, find_inversions
from rue.ranking.scores import CRITERIA, to_scores

ROWS = read_published()


@dataclass(frozen=True)
class Claim:
    """What the text says, whether it is true of the tables, and what they say."""

    section: str
    says: str
    verdict: str
    tables: str


def compared(datasets: tuple[str, ...] | None, criteria: tuple[str, ...] | None) -> Inversions:
    """Return the inversions among some data sets and criteria, or among all."""
    rows = (row.to_dict() for row in ROWS if datasets is None or row.dataset in datasets)
    return find_inversions(
        score for score in to_scores(rows) if criteria is None or score.criterion in criteria
    )


@cache
def everything() -> Inversions:
    """Return the inversions among all published tables."""
    return compared(None, None)


def value(dataset: str, criterion: str, method: str, loss: str = "") -> str:
    """Return a cell as the paper prints it."""
    row = next(r for r in ROWS if (r.dataset, r.method, r.loss) == (dataset, method, loss))
    return f"{getattr(row, criterion):.{COLUMNS[criterion].digits}f}"


def place(dataset: str, criterion: str, method: str, loss: str = "") -> int:
    """Return the rank of a method; it must not be tied."""
    rank = everything().ranks_of(dataset, criterion, loss)[method]
    assert rank == int(rank), "a tie has no place"
    return int(rank)


def filled(text: str) -> str:
    """Return a text with cells for "<data set, criterion, method, loss>"; "<#...>" is a rank."""

    def cell(mark: re.Match[str]) -> str:
        return str((place if mark[1] else value)(*mark[2].split()))

    return re.sub(r"<(#?)([^>]+)>", cell, text)


def has_rank(rank: int, method: str, *columns: str) -> bool:
    """Return whether a method has this rank in all columns ("data set, criterion, loss")."""
    places = [
        (dataset, criterion, method, *loss) for dataset, criterion, *loss in map(str.split, columns)
    ]
    return all(place(*one) == rank for one in places)


def at(dataset: str, criterion: str, rank: int, loss: str = "") -> str:
    """Return the one method of that rank."""
    ranks = everything().ranks_of(dataset, criterion, loss)
    (method,) = (m for m, r in ranks.items() if r == rank)
    return method


def worst_and_best(criterion: str) -> tuple[int, Counter[str], Counter[str], list[Contest]]:
    """Count how often each method is best, and worst, over ten data sets with two losses each."""
    columns = [c for c in everything().columns if c.criterion == criterion and c.dataset != "dcic"]
    best = Counter(at(c.dataset, criterion, 1, c.loss) for c in columns)
    worst = Counter(at(c.dataset, criterion, 4, c.loss) for c in columns)
    return len(columns), best, worst, columns


def full_swaps() -> tuple[list[Inversion], int]:
    """Return the inversions of strength 1 between a proxy and regret, and the number of all."""
    kinds = {name: criterion.kind for name, criterion in CRITERIA.items()}
    pairs = [
        x
        for x in everything().inversions
        if (kinds[x.first.criterion], kinds[x.second.criterion]) == ("proxy", "regret")
    ]
    return [x for x in pairs if x.strength == 1], len(pairs)


def verdict(holds: bool, partly: bool = False) -> str:
    return "yes" if holds else "in part" if partly else "**no**"


def claims() -> list[Claim]:
    """Return every claim that the tables can decide."""
    return [
        Claim(
            section, says, verdict(*(holds if isinstance(holds, tuple) else (holds,))), filled(text)
        )
        for section, says, holds, text in _decided()
    ]


def _decided() -> list[tuple[str, str, bool | tuple[bool, bool], str]]:
    """Return section, claim, whether it holds (or holds in part), and what the tables say."""

    def leaders(dataset: str) -> bool:
        first = ({at(dataset, c, 1), at(dataset, c, 2)} for c in ("near_ood", "far_ood"))
        return all(methods == {"ensemble", "ddu"} for methods in first)

    n, best, worst, columns = worst_and_best("aurec")
    last = at("cifar10h", "aurec", 4, "log")
    exceptions = ", ".join(
        f"{c.dataset} {c.loss}" for c in columns if at(c.dataset, "aurec", 4, c.loss) != "ddu"
    )
    near, far = at("cifar10", "near_ood", 1), at("cifar10", "far_ood", 1)
    learning = [
        f"{d} {c}" for d in ("openml-6", "openml-156") for c in ("nauc_epistemic", "nauc_total")
    ]
    leading = [
        {at(dataset, column, rank) for rank in (1, 2)}
        for dataset, column in map(str.split, learning)
    ]
    swaps, n_inversions = full_swaps()
    on_cifar = {
        (x.method, x.rival, x.first.dataset) for x in swaps if x.second.dataset == "cifar10h"
    }
    ((top, bottom, proxy),) = on_cifar
    rows = [r for r in ROWS if (r.dataset, r.loss) == ("cifar10h", "log")]
    highest = max(rows, key=lambda row: row.spearman_star or 0)
    return [
        (
            "5.3",
            "Ensembles and DDU are the dominant methods in OOD detection.",
            (leaders("cifar10") and leaders("imagenet"), leaders("cifar10")),
            "They are the first two on CIFAR-10, near and far. On ImageNet, DDU has rank "
            "<#imagenet near_ood ddu> of 4 for near-OOD (<imagenet near_ood ddu>), behind "
            "evidential networks (<imagenet near_ood evidential>).",
        ),
        (
            "5.3",
            "Evidential networks perform poorly on both OOD splits of CIFAR-10.",
            has_rank(4, "evidential", "cifar10 near_ood", "cifar10 far_ood"),
            "They are last: <cifar10 near_ood evidential> near, <cifar10 far_ood evidential> far.",
        ),
        (
            "5.3",
            "On CIFAR-10H under CE, evidential networks have the lowest AuReC and ex-AuReC.",
            has_rank(1, "evidential", "cifar10h aurec log", "cifar10h excess_aurec log"),
            "AuReC <cifar10h aurec evidential log>, ex-AuReC "
            "<cifar10h excess_aurec evidential log>.",
        ),
        (
            "5.3",
            "On CIFAR-10H under CE, DDU has the worst AuReC.",
            last == "ddu",
            f"{last.capitalize()} has the worst, <cifar10h aurec {last} log>. DDU has "
            "<cifar10h aurec ddu log>, rank <#cifar10h aurec ddu log> of 4, and rank "
            "<#cifar10h aurec ddu zero_one> under 0/1 loss. The claim is true "
            f"elsewhere: DDU has the worst AuReC in {worst['ddu']} of {n} pairs of data set and "
            f"loss. The exceptions are {exceptions}.",
        ),
        (
            "5.3",
            "Selecting by OOD detection selects a different model than selecting by regret.",
            (near not in best and far not in best, near != at("cifar10h", "aurec", 1, "log")),
            f"This is true on CIFAR-10H. Over all {n} pairs, AuReC is best for the ensemble in "
            f"{best['ensemble']} and for evidential networks in {best['evidential']}, and the "
            "ensemble is also best for near-OOD on CIFAR-10 and on ImageNet. DDU, which is best "
            f"for far-OOD on CIFAR-10, has the best AuReC in {best['ddu']}.",
        ),
        (
            "5.3",
            "In active learning, MC dropout and ensembles are reliable.",
            (
                all(methods == {"dropout", "ensemble"} for methods in leading),
                all("ensemble" in methods for methods in leading),
            ),
            "The ensemble is always first or second. Dropout has rank "
            "<#openml-6 nauc_epistemic dropout> on OpenML 6. On OpenML 156 it has "
            "rank <#openml-156 nauc_epistemic dropout> by epistemic uncertainty "
            "(<openml-156 nauc_epistemic dropout>; DDU has <openml-156 nauc_epistemic ddu>) and "
            "rank <#openml-156 nauc_total dropout> by total uncertainty.",
        ),
        (
            "5.3",
            "In active learning, evidential networks struggle.",
            has_rank(4, "evidential", *learning),
            "They are always last, with <openml-6 nauc_epistemic evidential> on OpenML 6.",
        ),
        (
            "abstract",
            "Pairs of methods swap between best and worst from one criterion to another.",
            bool(swaps),
            f"This happens in {len(swaps)} of the {n_inversions:,} inversions between a proxy and "
            f"a regret criterion. With regret on CIFAR-10H, {top} beats {bottom} on {proxy}, and "
            f"{bottom} beats {top} by regret.",
        ),
        (
            "5.4",
            "On CIFAR-10H under CE, the realised components correlate up to 0.882.",
            highest.spearman_star == 0.882,
            f"This is {highest.method}. For evidential networks, the estimates correlate "
            "<cifar10h spearman_hat evidential log> but the realised components "
            "only <cifar10h spearman_star evidential log>: the correlation of "
            "their estimates is not that of the truth.",
        ),
        (
            "5.4",
            "Evidential networks have r_s hat 0.999 and yet the lowest P-gap and AuReC (CE).",
            value("cifar10h", "spearman_hat", "evidential", "log") == "0.999"
            and has_rank(1, "evidential", "cifar10h pareto_gap log", "cifar10h aurec log"),
            "P-gap <cifar10h pareto_gap evidential log>. Under 0/1 loss the "
            f"{at('cifar10h', 'pareto_gap', 1, 'zero_one')} has a lower P-gap, "
            "<cifar10h pareto_gap ensemble zero_one> against "
            "<cifar10h pareto_gap evidential zero_one>.",
        ),
    ]
