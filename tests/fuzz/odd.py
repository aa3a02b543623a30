"""Odd values: what files hold that their readers did not expect."""

import random

NUMBERS = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-12, 1e-13, 1e12, -1e12, 1e40, 1e-40, 1e100, -1e100, 1e151),
    *(5e-324, 1e-310, 1.7e308, -1.7e308, float("nan"), float("inf"), float("-inf")),
    *(255.0, 256.0, 2.0**31, 2.0**53, 2.0**63, -(2.0**63), 2.0**64, 1e9, 1e15),
)
WHOLE = (0, 1, -1, 2, 3, 7, 100, 255, 10**9, 2**31, 2**63 - 1, 2**63, -(2**63), 10**30, 10**400)
WORDS = (
    *(
        "",
        " ",
        "a",
        "A",
        "nan",
        "inf",
        "None",
        "true",
        "0",
        "-1",
        "1e400",
        "0x10",
        "1_000",
        "\uff11",
    ),
    *("=1+1", "@x", "+x", "-x", "'=x", "a,b", 'a"b', "a\nb", "a\r\nb", "a\tb", "\x00", "\x1b[31m"),
    *(
        "\u202e",
        "\ud800",
        "é",
        "e\u0301",
        "😀",
        "\ufeffid",
        "../../x",
        "/etc/passwd",
        "C:\\x",
        "con",
    ),
    *("id", "ids", "probs", "class", "label", "counts", "x" * 3000, "%s%n", "{}", "$(x)", "\u2028"),
)
NAMES = (
    *("id", "ids", "uid", "item", "probs", "logits", "alpha", "counts", "classes", "values"),
    *("epistemic", "actions", "method", "mean", "sd", "samples", "mu", "nu", "beta", "ratings"),
    *("range", "sampled_labels", "aleatoric", "risk", "regret", "total_hat", "class", "label"),
    *("annotator", "draw", "prob", "rating", "text", "images", "train", "test", "0", "1", "", "x"),
)


def number(rng: random.Random) -> float:
    """Return an odd float."""
    return rng.choice(NUMBERS)


def cell(rng: random.Random) -> str:
    """Return an odd cell of a table."""
    return rng.choice((rng.choice(WORDS), repr(number(rng)), str(rng.choice(WHOLE))))


def word(rng: random.Random) -> str:
    """Return an odd word without a lone surrogate, which no file can hold as UTF-8."""
    return rng.choice([w for w in WORDS if w != "\ud800"])


def value(rng: random.Random) -> object:
    """Return an odd value of JSON."""
    simple = (None, True, False, [], {}, [[]], [None], {"a": 1}, rng.choice(WHOLE), number(rng))
    return rng.choice((*simple, word(rng), [number(rng)] * 3, [1, "a"], [[1], [1, 2]], nested(rng)))


def nested(rng: random.Random) -> object:
    """Return a list within lists, as deep as parsers give up, or a little."""
    found: object = []
    for _ in range(rng.choice((3, 40, 900))):
        found = [found]
    return found
