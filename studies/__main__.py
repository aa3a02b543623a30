"""Compute studies, store their rows, and fill their pages and figures.

    python -m studies NAME [WORD ...] [--root ROOT] [--again]   compute a study, and fill its pages
    python -m studies --fill [NAME ...]                         fill pages from stored rows
    python -m studies --numbers                                 compute all that take minutes

The words are folders or parts, which the module of the study explains; without them it computes
what is missing, or what needs no folder. :mod:`studies.study` says what a study is.
"""

import argparse

from studies import study

NUMBERS = (
    *("agreement", "results", "opening", "sandbox", "published", "headline", "report", "deploy"),
    *("deploy_clusters", "estimation", "proxies", "answer_scales", "corrected"),
    *("uncertainty", "plans", "recalibration", "chaosnli", "others", "two_answers", "data"),
    *("cifar10h_images", "examples", "gallery", "leaderboard", "architecture"),
)
"""What `make numbers` computes, in this order."""
OTHERS = ("replicates", "reliability", "conventions", "two_cells", "atlas_checks", "atlas")
"""Studies that take hours: `make numbers` only fills their pages."""
NAMES = (*NUMBERS, *OTHERS)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("name", nargs="?", choices=NAMES)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--root")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--fill", nargs="*", metavar="NAME")
    parser.add_argument("--numbers", action="store_true")
    given = parser.parse_args()
    options = study.Options(given.root, tuple(given.words), given.again)
    for name in NUMBERS if given.numbers else filter(None, [given.name]):
        study.compute(name, options)
    filled = NAMES if given.fill == [] else given.fill or OTHERS * given.numbers
    for name in filled:
        study.fill(name)


if __name__ == "__main__":
    main()
