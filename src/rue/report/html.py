"""Put a self-contained HTML page together from a template, a style sheet, scripts and content.

Text from users is never inserted as HTML: it is escaped in the title, and the scripts, which read
it as JSON, only set text. The content security policy forbids the browser to load anything, and to
run any script except the one with the given hash.
"""

import base64
import hashlib
import html
import json
import math
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np


def asset(name: str, package: str = "rue.report") -> str:
    """Return the text of a file in the folder ``assets`` of a package."""
    return (files(package) / "assets" / name).read_text(encoding="utf-8")


def assemble(
    template: str,
    *,
    title: str,
    style: str,
    scripts: Sequence[str],
    content: Any,
    blocks: Mapping[str, str] | None = None,
) -> str:
    """Return a page."""
    script = "(() => {\n" + "\n".join(scripts) + "\n})();\n"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = {
        **(blocks or {}),
        "policy": f"'sha256-{digest}'",
        "title": html.escape(plain(title)),
        "style": style,
        "content": _json(content),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], template)


def plain(content: Any) -> Any:
    """Return content of numbers, text, lists and dictionaries that JSON and UTF-8 can hold."""
    if type(content) is float:  # most of it
        return content if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {plain(str(key)): plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [plain(value) for value in content]
    if isinstance(content, np.generic):
        content = content.item()
    if isinstance(content, float) and not math.isfinite(content):
        return None
    if isinstance(content, str):  # lone surrogates cannot be written
        return content.encode("utf-8", "replace").decode()
    return content


def _json(content: Any) -> str:
    """Return JSON that is safe inside an HTML script element."""
    text = json.dumps(plain(content), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
