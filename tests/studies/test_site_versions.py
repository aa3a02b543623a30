"""A site has a folder for each version, each of which lists all of them."""

import json

import pytest

from studies.site import versions


def build(folder):
    (folder / "assets").mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(folder.name)
    versions.write_list(folder, [folder.name])


def listed(folder):
    text = (folder / "assets" / "versions.js").read_text()
    return json.loads(text.removeprefix("window.rueVersions = ").removesuffix(";\n"))


def test_each_version_lists_all(tmp_path):
    (tmp_path / "old.html").write_text("of a site without versions")
    (tmp_path / "assets").mkdir()
    for version in ("0.9.0", "0.10.0", "0.10.0rc1"):
        versions.add_version(tmp_path, build, version)
    expected = ["0.10.0", "0.10.0rc1", "0.9.0"]
    for version in expected:
        assert listed(tmp_path / version) == expected
        assert (tmp_path / version / "index.html").read_text() == version
    assert 'url=0.10.0/index.html"' in (tmp_path / "index.html").read_text()
    assert not (tmp_path / "old.html").exists()


def test_a_version_is_built_again(tmp_path):
    for _ in range(2):
        versions.add_version(tmp_path, build, "1.0.0")
    assert listed(tmp_path / "1.0.0") == ["1.0.0"]


@pytest.mark.parametrize(
    ("older", "newer"), [("0.9", "0.10"), ("1.0rc1", "1.0"), ("1.0a1", "1.0b1"), ("1.9.9", "2.0")]
)
def test_the_order_of_versions(older, newer):
    assert versions.version_key(older) < versions.version_key(newer)
