"""Changes of what JSON holds, and JSON files."""

import copy
import json
import random
from pathlib import Path
from typing import Any

from fuzz import odd
from fuzz.bytewise import change_bytes, encode


def change_tree(rng: random.Random, tree: Any) -> Any:
    """Return a tree of lists and objects with other keys, lengths or values somewhere."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        inner = [node for node in _nodes(tree) if node]
        if not inner:
            return odd.value(rng)
        node = rng.choice(inner)
        key = rng.choice(sorted(node)) if isinstance(node, dict) else rng.randrange(len(node))
        match rng.randrange(8):
            case 0:
                del node[key]
            case 1 if isinstance(node, dict):
                node[rng.choice(odd.NAMES)] = node.pop(key)
            case 1:
                node.insert(key, node[rng.randrange(len(node))])
            case 2:
                other = rng.choice(sorted(node)) if isinstance(node, dict) else 0
                node[key], node[other] = node[other], node[key]
            case 3:
                node[key] = [node[key]] if rng.random() < 0.5 else {"a": node[key]}
            case 4 if isinstance(node[key], int | float):
                node[key] = rng.choice((-node[key], str(node[key]), node[key] + 1, bool(node[key])))
            case _:
                node[key] = odd.value(rng)
    return tree


def to_json(tree: Any) -> str:
    """Return JSON, and for NaN and infinity what Python writes for them."""
    try:
        return json.dumps(tree)
    except RecursionError:  # two deep lists in each other: as deep as that without the rest
        return "[" * 1_800 + "]" * 1_800


def write_json_lines(rng: random.Random, path: Path, records: Any, *, odd_form: bool) -> None:
    """Write a record a line; in an ``odd_form`` with blank lines, repeated keys or other bytes."""
    lines = [to_json(record) for record in records] if isinstance(records, list) else ["{}"]
    if odd_form:
        match rng.randrange(5):
            case 0:
                lines.insert(
                    rng.randrange(len(lines) + 1), rng.choice(("", " ", "\x00", "//", "["))
                )
            case 1:
                lines = [line.replace("{", '{"id": 1, ', 1) for line in lines]
            case 2:
                lines = [",".join(lines)]
            case _:
                pass
    content = encode(rng, "\n".join(lines)) if odd_form else "\n".join(lines).encode()
    if odd_form and rng.random() < 0.5:
        content = change_bytes(rng, content)
    path.write_bytes(content)


def write_json(rng: random.Random, path: Path, tree: Any, *, odd_form: bool) -> None:
    """Write one tree; in an ``odd_form`` with other codes or bytes."""
    content = to_json(tree).encode()
    if odd_form:
        content = change_bytes(rng, encode(rng, to_json(tree)))
    path.write_bytes(content)


def _nodes(tree: Any) -> list[Any]:
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict | list):
            found.append(node)
            waiting += node.values() if isinstance(node, dict) else node
    return found
