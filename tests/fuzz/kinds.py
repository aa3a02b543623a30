"""The kinds of files, and what is done with each."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["KINDS", "Case", "Kind", "case", "kind"]


@dataclass(frozen=True)
class Case:
    """One case: its random numbers, the folder of its files, and whether they are changed."""

    rng: random.Random
    numbers: np.random.Generator
    folder: Path
    valid: bool

    @property
    def odd_form(self) -> bool:
        """Whether a file is written in an odd form, not only with odd content."""
        return not self.valid and self.rng.random() < 0.35

    def changed(self, change: Callable[[random.Random, Any], Any], content: Any) -> Any:
        """Return changed content, in a valid case the same."""
        if self.valid or self.rng.random() < 0.1:
            return content
        return change(self.rng, content)


@dataclass(frozen=True)
class Kind:
    """A kind of file: ``make`` writes those of a case, and returns what is done with them."""

    name: str
    make: Callable[[Case], Callable[[Path], Any]]


KINDS: list[Kind] = []
_VALID = 16  # one in so many cases is left unchanged, and must give a result


def kind(name: str) -> Callable[[Callable[[Case], Callable[[Path], Any]]], Any]:
    """Register a kind; the order of the registry decides what a case's number means."""

    def register(make: Callable[[Case], Callable[[Path], Any]]) -> Any:
        KINDS.append(Kind(name, make))
        return make

    return register


def case(number: int, folder: Path) -> tuple[Kind, Case]:
    """Return the kind of a case and all that is needed to make it."""
    found = KINDS[number % len(KINDS)]
    seed = random.Random(f"rue {number}")
    valid = (number // len(KINDS)) % _VALID == 0
    return found, Case(seed, np.random.default_rng(seed.randrange(2**63)), folder, valid)
