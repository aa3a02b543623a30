"""Changes of single bytes, and of text by lines, of any file."""

import random

from fuzz import odd


def change_bytes(rng: random.Random, content: bytes) -> bytes:
    """Flip, cut, repeat or insert bytes somewhere."""
    if not content:
        return rng.randbytes(rng.choice((0, 1, 100)))
    at, length = rng.randrange(len(content)), rng.choice((1, 2, 4, 16, 64))
    match rng.randrange(8):
        case 0:
            return content[:at]
        case 1:
            return content[:at] + content[at + length :]
        case 2:
            return content[:at] + content[at : at + length] * 3 + content[at + length :]
        case 3:
            return content[:at] + rng.randbytes(length) + content[at + length :]
        case 4:
            return content[:at] + rng.choice((b"\x00", b"\xff")) * length + content[at + length :]
        case 5:
            other = rng.randrange(len(content))
            return content[:at] + content[other : other + length] + content[at:]
        case 6:
            changed = bytearray(content)
            for _ in range(rng.choice((1, 1, 3, 10))):
                changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
            return bytes(changed)
        case _:
            return content + rng.choice((b"", b"\n", b"\x00", content[:length]))


def change_lines(rng: random.Random, text: str, values: tuple[str, ...]) -> str:
    """Drop, repeat, swap or edit lines of ``key = value``."""
    lines = text.split("\n")
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(lines))
        key, sign, _ = lines[at].partition("=")
        match rng.randrange(7):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, lines[at])
            case 2:
                other = rng.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            case 3:
                lines.insert(at, f"{rng.choice(odd.NAMES) or 'x'} = {rng.choice(values)}")
            case _ if sign:
                lines[at] = f"{key}= {rng.choice(values)}"
            case _:
                lines[at] = odd.word(rng)
        lines = lines or [""]
    return "\n".join(lines)


def encode(rng: random.Random, text: str) -> bytes:
    """Return text as the bytes of a file: UTF-8, or sometimes what is sent instead of it."""
    how = rng.choice(("utf-8",) * 12 + ("utf-8-sig", "utf-16", "latin-1", "utf-32"))
    return text.encode(how, "replace" if how != "utf-8" else "surrogatepass")
