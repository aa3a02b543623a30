"""README is short, and begins with how to start."""

import re

from studies.examples import README


def test_readme_is_short_and_begins_with_how_to_start():
    page = README.read_text()
    text = re.sub(r"```.*?```|<!--.*?-->|!?\[([^\]]*)\]\([^)]*\)", r" \1 ", page, flags=re.DOTALL)
    assert len(text.split()) <= 900
    before = page.partition("```")[0]
    assert len(before.split()) < 150
    heads = re.findall(r"^## (.*)", page, re.MULTILINE)
    assert heads[:3] == ["Install", "In Python", "On the command line"]
