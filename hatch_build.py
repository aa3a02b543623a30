"""A package index shows README alone: links into the repository become absolute there."""

import re
from pathlib import Path
from typing import Any

try:
    from hatchling.metadata.plugin.interface import MetadataHookInterface as Hook
except ImportError:  # the tests call absolute_links without hatchling
    Hook = object

_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^]]*)\]\((?P<target>[^)\s]+)\)")
_ELSEWHERE = re.compile(r"[a-z]+:|#")


def absolute_links(page: str, source: str) -> str:
    """Return a page whose links to files of the repository start with the address of its source."""

    def absolute(link: re.Match[str]) -> str:
        if _ELSEWHERE.match(link["target"]):
            return link[0]
        kind = "raw" if link["image"] else "blob"
        return f"{link['image']}[{link['text']}]({source}/{kind}/main/{link['target']})"

    return _LINK.sub(absolute, page)


class Readme(Hook):
    """Set the field readme of the metadata; hatchling finds this class by its base."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Read README.md and make its links absolute by the project's own address."""
        page = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = absolute_links(page, metadata["urls"]["Source"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
