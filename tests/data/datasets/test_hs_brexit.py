"""HS-Brexit: the shared task's three files, real and broken."""

import json

import pytest

import rue.data
from rue.errors import FileError

PARTS = ("train", "dev", "test")


def write(root, **items):
    folder = root / "lewidi" / "2023" / "HS-Brexit_dataset"
    folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        content = items.get(part, {"1": {"text": f"a {part} tweet", "annotations": "0,0,1,0,0,0"}})
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"HS-Brexit_{part}.json").write_text(text)
    return root


def load(root):
    return rue.data.load("hs-brexit", root, verify=False)


def test_layout(tmp_path):
    more = {
        "7": {"text": "one", "annotations": "1,1,1,1,1,1"},
        "8": {"text": "two", "annotations": "0,1,0,1,0,1"},
    }
    data = load(write(tmp_path, dev=more))
    assert data.ids.tolist() == ["train-1", "dev-7", "dev-8", "test-1"]
    assert data.annotations.counts.tolist() == [[5, 1], [0, 6], [3, 3], [5, 1]]
    assert data.class_names == ("no hate", "hate")
    assert data.extras["part"].tolist() == ["train", "dev", "dev", "test"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "HS-Brexit_dev.json is not a JSON file"),
        ("[]", r"HS-Brexit_dev.json is not a JSON file of tweets: it must be an object, got \[\]"),
        ({"3": {"text": " ", "annotations": "0"}}, "3.text must be text, not blank, got ' '"),
        ({"3": {"text": "x", "annotations": "0,2"}}, "annotations must be 0 or 1, got '0,2'"),
        ({"3": {"text": "x", "annotations": {"a": 1}}}, "3.annotations must be text, got {'a'"),
        ({"3": "x"}, "3 must be an object, got 'x'"),
    ],
)
def test_broken_files(tmp_path, content, message):
    with pytest.raises(FileError, match=message):
        load(write(tmp_path, dev=content))


def test_the_real_files(real):
    data = rue.data.load("hs-brexit", real)
    assert len(data.ids) == len(set(data.ids)) == 1_120
    assert (data.annotations.counts.sum(axis=1) == 6).all()
    texts = {part: set(data.part(part).inputs) for part in ("train", "validation", "test")}
    assert not texts["train"] & texts["test"]
    assert not texts["validation"] & (texts["train"] | texts["test"])
