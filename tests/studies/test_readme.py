"""README shows what its code prints, and is short."""

import re

from studies import readme


def test_readme_shows_what_its_code_prints():
    page = readme.PAGE.read_text()
    assert readme.filled(page) == page


def test_readme_is_short_and_begins_with_how_to_start():
    page = readme.PAGE.read_text()
    text = re.sub(r"```.*?```|<!--.*?-->|!?\[([^\]]*)\]\([^)]*\)", r" \1 ", page, flags=re.DOTALL)
    assert len(text.split()) <= 900
    before = page.partition("```")[0]
    assert len(before.split()) < 150
    heads = re.findall(r"^## (.*)", page, re.MULTILINE)
    assert heads[:3] == ["Install", "In Python", "On the command line"]
