"""The font of formulas: the part of STIX Two Math that the pages use.

Browsers set MathML with a mathematical font, and not every system has one. STIX Two Math (SIL Open
Font Licence) comes with the package ziamath; only the glyphs that occur are served.
"""

import re
from html import unescape
from importlib.util import find_spec
from pathlib import Path

from fontTools.subset import Options, Subsetter, load_font, save_font

FORMULA = re.compile(r"<math.*?</math>", re.DOTALL)
ALWAYS = "0123456789()[]{}|+-=<>.,"


def write_font(site: Path, out: Path) -> int:
    """Write the font for all formulas of a site, and return how many formulas there are."""
    formulas = [
        formula for page in site.rglob("*.html") for formula in FORMULA.findall(page.read_text())
    ]
    text = unescape("".join(re.sub(r"<[^>]+>", "", formula) for formula in formulas))
    used = set(ALWAYS) | set(text)
    # Browsers draw single letters in mathematical italics, which are other characters.
    used |= {chr(0x1D44E + i) for i in range(26)} | {chr(0x1D434 + i) for i in range(26)}
    used |= {chr(0x210E)} | {chr(code) for code in range(0x1D6FC, 0x1D71B)}  # h, and Greek
    options = Options(flavor="woff", layout_features=["*"], notdef_outline=True)
    with load_font(str(_source()), options) as font:
        subsetter = Subsetter(options)
        subsetter.populate(text="".join(used))
        subsetter.subset(font)
        save_font(font, str(out), options)
    return len(formulas)


def _source() -> Path:
    package = find_spec("ziamath")  # its file is enough: nothing of it runs
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent / "fonts" / "STIXTwoMath-Regular.ttf"
