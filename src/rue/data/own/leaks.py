"""Leaks between splits: the same input, or points of one group, in several splits."""

from collections.abc import Sequence

__all__ = ["find_duplicates", "find_leaks", "shared_groups"]


def find_duplicates(ids: Sequence[str], digests: Sequence[str]) -> tuple[int, str]:
    """Return the number of points whose input equals an earlier one, and the first such pair."""
    first: dict[str, str] = {}
    pairs = []
    for key, digest in zip(ids, digests, strict=True):
        if digest in first:
            pairs.append(f"{key} and {first[digest]}")
        first.setdefault(digest, key)
    return len(pairs), pairs[0] if pairs else ""


def find_leaks(ids: Sequence[str], digests: Sequence[str], part: Sequence[str]) -> tuple[int, str]:
    """Return the number of points whose input is also in another split, and the first such pair."""
    seen: dict[str, dict[str, str]] = {}
    for key, digest, split in zip(ids, digests, part, strict=True):
        if split:
            seen.setdefault(digest, {}).setdefault(split, key)
    shared = {digest: splits for digest, splits in seen.items() if len(splits) > 1}
    n_points = sum(bool(s) and d in shared for d, s in zip(digests, part, strict=True))
    if not shared:
        return 0, ""
    (one, first), (other, second) = list(next(iter(shared.values())).items())[:2]
    return n_points, f"{first} ({one}) and {second} ({other})"


def shared_groups(groups: Sequence[str], part: Sequence[str]) -> int:
    """Count the groups that have points in more than one split."""
    within: dict[str, set[str]] = {}
    for group, split in zip(groups, part, strict=True):
        if split:
            within.setdefault(group, set()).add(split)
    return sum(len(parts) > 1 for parts in within.values())
