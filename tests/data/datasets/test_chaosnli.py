"""ChaosNLI: the published JSON lines in a folder or in the zip, real ones and broken ones."""

import json
import zipfile

import pytest

import rue.data
from rue.errors import FileError

PARTS = ("chaosnli-snli", "chaosnli-mnli", "chaosnli-alphanli")


def item(uid="1.jpg#0r1n", counts=(30, 70, 0), **changes):
    letters = "enc" if len(counts) == 3 else "12"
    texts = {"premise": "Two dogs run.", "hypothesis": "Dogs are outside."}
    if len(counts) == 2:
        texts = {"obs1": "It rained.", "obs2": "He was dry.", "hyp1": "Roof.", "hyp2": "Lake."}
    row = {
        "uid": uid,
        "label_counter": {name: n for name, n in zip(letters, counts, strict=True) if n},
        "label_count": list(counts),
        "example": {"uid": uid, **texts, "source": "made"},
        "old_label": "n" if len(counts) == 3 else 2,
    }
    return row | changes


def write(root, *rows, name="chaosNLI_snli.jsonl", folder="chaosnli/chaosNLI_v1.0", mark=""):
    path = root / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_bytes((mark + "\r\n".join(lines)).encode())
    return path


def load(root, name="chaosnli-snli"):
    return rue.data.load(name, root, verify=False)


@pytest.mark.parametrize("folder", ["chaosnli/chaosNLI_v1.0", "chaosnli", "chaosNLI_v1.0", ""])
def test_layout(tmp_path, folder):
    write(tmp_path, item(), item("b", (0, 1, 99)), folder=folder)
    assert rue.data.is_here("chaosnli-snli", tmp_path)
    assert not rue.data.is_here("chaosnli-mnli", tmp_path)
    data = load(tmp_path)
    assert data.class_names == ("entailment", "neutral", "contradiction")
    assert data.ids.tolist() == ["1.jpg#0r1n", "b"]
    assert data.annotations.counts.tolist() == [[30, 70, 0], [0, 1, 99]]
    assert data.inputs.tolist() == ["Two dogs run.\nDogs are outside."] * 2
    assert data.extras["hypothesis"].tolist() == ["Dogs are outside."] * 2
    assert data.labels.tolist() == [1, 1]
    assert (len(data.train), len(data.validation), data.test.tolist()) == (0, 0, [0, 1])


def test_alphanli(tmp_path):
    write(tmp_path, item("x-1", (37, 63)), name="chaosNLI_alphanli.jsonl")
    data = load(tmp_path, "chaosnli-alphanli")
    assert data.class_names == ("1", "2")
    assert data.annotations.counts.tolist() == [[37, 63]]
    assert data.inputs.tolist() == ["It rained.\nHe was dry.\nRoof.\nLake."]
    assert data.labels.tolist() == [1]


def test_the_zip_is_read_and_not_unpacked(tmp_path):
    plain = write(tmp_path / "a", item(), mark="\ufeff")
    (tmp_path / "b").mkdir()
    with zipfile.ZipFile(tmp_path / "b/chaosNLI_v1.0.zip", "w") as archive:
        archive.writestr("chaosNLI_v1.0/chaosNLI_snli.jsonl", json.dumps(item()) + "\n")
        archive.writestr("__MACOSX/chaosNLI_v1.0/chaosNLI_snli.jsonl", "a twin")
    unpacked, packed = load(tmp_path / "a"), load(tmp_path / "b")
    assert plain.exists()
    assert packed.ids.tolist() == unpacked.ids.tolist()
    assert packed.checksums == unpacked.checksums  # of what is said: no mark, no line ends
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["chaosNLI_v1.0.zip"]


@pytest.mark.parametrize(("members", "message"), [([], "has no"), (["a", "b"], "has 2 files")])
def test_a_zip_needs_the_file_once(tmp_path, members, message):
    with zipfile.ZipFile(tmp_path / "chaosNLI_v1.0.zip", "w") as archive:
        for folder in members:
            archive.writestr(f"{folder}/chaosNLI_snli.jsonl", "{}")
    with pytest.raises(FileError, match=rf"chaosNLI_v1.0.zip {message} chaosNLI_snli.jsonl"):
        load(tmp_path)


BAD = {
    "no uid": (item(uid=""), "line 1: uid must be text, not blank, got ''"),
    "no counts": (item(label_counter=None), "label_counter must be an object, got None"),
    "no answers": (item(counts=(0, 0, 0)), "label_counter must count e, n, c, got {}"),
    "fractions": (
        item(label_counter={"e": 0.3}),
        "label_counter.e must be a whole number of at least 0",
    ),
    "negative": (
        item(label_counter={"e": -3}),
        "label_counter.e must be a whole number of at least 0",
    ),
    "huge": (item(label_counter={"e": 10**400}), "label_counter.e must be a whole number"),
    "a class": (item(label_counter={"x": 3}), "label_counter must count e, n, c, got {'x': 3}"),
    "the order": (item(label_count=[30, 0, 70]), r"label_count must be \[30, 70, 0\]"),
    "no old label": (item(old_label="x"), "old_label must be one of e, n, c, got 'x'"),
    "no example": (item(example=[]), r"example must be an object, got \[\]"),
    "no text": (item(example={"premise": "a", "hypothesis": " "}), "a text hypothesis, got ' '"),
    "no JSON": ("{", "cannot read as JSON"),
    "no object": ("[1]", "every entry must be a JSON object, entry 1 is a int"),
    "nothing": ("", "chaosNLI_snli.jsonl: holds no JSON objects"),
}


@pytest.mark.parametrize("case", BAD)
def test_broken_files_are_refused_in_one_line(tmp_path, case):
    row, message = BAD[case]
    write(tmp_path, row)
    with pytest.raises(FileError, match=message) as caught:
        load(tmp_path)
    assert "\n" not in str(caught.value)


def test_repeated_uids_and_bytes_that_are_no_text(tmp_path):
    path = write(tmp_path, item(), item())
    with pytest.raises(FileError, match=r"line 2 repeats the uid '1.jpg#0r1n'"):
        load(tmp_path)
    path.write_bytes(b"\xff")
    with pytest.raises(FileError, match=r"chaosNLI_snli.jsonl: must be UTF-8"):
        load(tmp_path)


def test_another_file_than_the_published_one(tmp_path):
    write(tmp_path, item())
    with pytest.raises(FileError, match=r"is not the published file.*get https://www.dropbox.com"):
        rue.data.load("chaosnli-snli", tmp_path)


def test_it_says_how_it_is_had(tmp_path):
    with pytest.raises(FileError, match=r"found in none of .*: get https://www.dropbox.com"):
        rue.data.load("chaosnli-snli", tmp_path)
    with pytest.raises(FileError, match=r"chaosnli-snli cannot be fetched: get https://"):
        rue.data.fetch("chaosnli-snli", tmp_path)


@pytest.mark.parametrize("name", PARTS)
def test_real(real, name):
    data = rue.data.load(name, real)
    assert (data.annotations.n_annotators == 100).all()
    assert len(set(data.ids.tolist())) == len(data) == rue.data.ENTRIES[name].n_points
    if name == "chaosnli-snli":  # the first line of the file
        assert data.ids[0] == "2407214681.jpg#0r1n"
        assert data.annotations.counts[0].tolist() == [30, 70, 0]
        assert data.inputs[0].endswith("\nTwo kids at a ballgame wash their hands.")


def test_training_on_it_is_refused(tmp_path):
    write(tmp_path, item())
    with pytest.raises(rue.errors.InputError, match="chaosnli-snli has none"):
        rue.data.featurize(load(tmp_path))
