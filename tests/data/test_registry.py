"""The registry: its facts are true of the files, its names and options are checked."""

import json
import subprocess
import sys
import zipfile
from dataclasses import asdict, replace

import pytest

import rue
import rue.data
from rue.bench.suite import parse_suite
from rue.data.datasets import letter
from rue.data.registry import expand, find_problem, is_complete, stated_info
from rue.errors import FileError, InputError

KEYS = ["name", "n_points", "n_classes", "annotators_min", "annotators_mean", "annotators_max"]
KEYS += ["ids", "splits", "licence", "citation", "source", "checksums"]
REAL = ["fashion-mnist-h", "cifar10h-features", "letter"]
REAL += ["chaosnli-snli", "chaosnli-mnli", "chaosnli-alphanli", "ferplus-features"]
REAL += ["emobank-valence", "emobank-arousal", "emobank-dominance", "nli-variation"]
REAL += ["hs-brexit"]
PIP = [name for name in rue.data.ENTRIES if name.startswith("sentiment-")]


def test_names_are_those_of_the_design():
    names = set(rue.data.ENTRIES)
    dcic = "benthic mice-bone pig plankton quality-mri treeversity-1 treeversity-6 turkey"
    assert {f"dcic-{name}" for name in dcic.split()} <= names
    assert {"sentiment-movies", "sentiment-tweets", "sentiment-nyt", "sentiment-amazon"} <= names
    assert {"cifar10h", "cifar10h-features", "fashion-mnist-h", "appa-real"} <= names
    assert {"ferplus", "ferplus-features", "nli-variation", "hs-brexit"} <= names
    assert {f"chaosnli-{part}" for part in ("snli", "mnli", "alphanli")} <= names
    assert {f"emobank-{part}" for part in ("valence", "arousal", "dominance")} <= names
    assert {"random-rbf", "letter", "openood-tin", "openood-texture", "openood-mnist"} <= names


@pytest.mark.parametrize("name", rue.data.ENTRIES)
def test_every_entry_can_be_described_without_its_files(name):
    facts = asdict(stated_info(rue.data.ENTRIES[name]))
    assert list(facts) == KEYS
    assert json.loads(json.dumps(facts)) == {**facts, "ids": list(facts["ids"])}
    assert list(facts["splits"]) == ["train", "validation", "test"]
    assert facts["licence"]
    assert facts["citation"]
    assert facts["source"]
    assert "\n" not in facts["source"]


@pytest.mark.parametrize("name", REAL)
def test_measured_is_as_known(real, name):
    info = rue.data.info(name, real)
    assert len(info.ids) == 3
    assert replace(info, ids=()) == stated_info(rue.data.ENTRIES[name])


@pytest.mark.parametrize("name", PIP)
def test_measured_is_as_known_from_pip(sentiment, name):
    info = rue.data.info(name, sentiment)
    assert len(info.ids) == 3
    assert replace(info, ids=()) == stated_info(rue.data.ENTRIES[name])


def test_info_of_what_is_not_here():
    info = rue.data.info("sentiment-movies")
    assert (info.n_points, info.annotators_min, info.annotators_max) == (10_605, 15, 29)
    assert info.annotators_mean == 198_810 / 10_605
    assert rue.data.info("dcic-pig").annotators_mean is None


def test_how_a_data_set_is_had():
    said = {name: entry.source for name, entry in rue.data.ENTRIES.items()}
    assert said["random-rbf"] == "made here"
    address = "https://github.com/JULIELab/EmoBank"
    assert said["emobank-valence"] == f"{address}: `rue data fetch emobank-valence`"
    assert said["chaosnli-mnli"].startswith("https://github.com/easonnie/ChaosNLI: get https://")
    assert "Kaggle" in said["ferplus"]


def test_info_of_known_probabilities():
    info = rue.data.info("random-rbf")
    assert (info.n_points, info.annotators_mean) == (10_000, None)


def test_unknown_name():
    for call in (rue.data.load, rue.data.fetch, rue.data.info, rue.data.is_here):
        with pytest.raises(InputError, match=r"name must be one of .*, got 'mnist'"):
            call("mnist")


def test_unknown_option():
    with pytest.raises(InputError, match="letter has no option 'size'; its options: none"):
        rue.data.load("letter", size=3)
    with pytest.raises(InputError, match="no option 'reader'"):
        rue.data.load("random-rbf", reader=None)


@pytest.mark.parametrize("split", ["all", "train", "validation", "test"])
def test_split(split):
    data = rue.data.load("random-rbf", n_points=10, split=split)
    assert len(data) == {"all": 10, "train": 6}.get(split, 2)


def test_is_here(real, tmp_path):
    assert rue.data.is_here("cifar10h", real)
    assert not rue.data.is_here("cifar10h", tmp_path)
    assert rue.data.is_here("random-rbf")
    (tmp_path / "cifar-10-batches-bin").mkdir()
    (tmp_path / "cifar-10-batches-bin/test_batch.bin").touch()
    assert not rue.data.is_here("cifar10h", tmp_path)
    (tmp_path / "cifar-10h").mkdir()
    (tmp_path / "cifar-10h/cifar10h-counts.npy").touch()
    assert rue.data.is_here("cifar10h", tmp_path)
    assert not is_complete("cifar10h", tmp_path)


def test_fetch_of_what_rue_data_has_does_nothing(real, monkeypatch, cache):
    monkeypatch.setenv("RUE_DATA", str(real))
    rue.data.fetch("fashion-mnist-h")
    assert not cache.exists()


ROW = "A" + ",1" * 16 + "\n"


@pytest.fixture
def small_letter(monkeypatch):
    """Publish a letter of one row, and count how often it is fetched."""
    digest = letter._sorted_digest(ROW.split())
    calls = []

    def fetch(root, progress):
        calls.append(root)
        (root / "letter").mkdir(parents=True, exist_ok=True)
        (root / letter.PATH).write_text(ROW)

    entry = replace(rue.data.ENTRIES["letter"], checksums={letter.PATH: digest}, fetch=fetch)
    monkeypatch.setitem(rue.data.ENTRIES, "letter", entry)
    return calls


def test_fetch_replaces_a_bad_file_of_the_cache(small_letter, cache):
    rue.data.fetch("letter")
    rue.data.fetch("letter")
    assert small_letter == [cache]
    (cache / letter.PATH).write_bytes(b"\xff damaged")
    assert "is not the published file" in find_problem("letter")
    rue.data.fetch("letter")
    assert small_letter == [cache, cache]
    assert find_problem("letter") is None


def test_fetch_says_that_a_bad_file_of_rue_data_shadows_it(
    small_letter, cache, tmp_path, monkeypatch
):
    shared = tmp_path / "shared"
    monkeypatch.setenv("RUE_DATA", str(shared))
    (shared / "letter").mkdir(parents=True)
    (shared / letter.PATH).write_text(ROW + ROW)
    with pytest.raises(
        FileError, match=r"letter was fetched into .*cache, but another is found first: .*shared/"
    ):
        rue.data.fetch("letter")
    assert small_letter == [cache]


def test_a_damaged_image_of_a_zip_is_a_flaw(cache, monkeypatch):
    (cache / "dcic").mkdir(parents=True)
    path = cache / "dcic/Benthic.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("image", "hello" * 100)
    monkeypatch.setattr("rue.data.registry.load", lambda *_: None)
    assert find_problem("dcic-benthic") is None
    path.write_bytes(path.read_bytes().replace(b"hellohello", b"hellojello", 1))
    assert find_problem("dcic-benthic") == f"{path}: image in it is damaged"


def test_fetch_into_rue_data_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("RUE_DATA", str(tmp_path))
    with pytest.raises(InputError, match="root must not be in RUE_DATA"):
        rue.data.fetch("letter", tmp_path)
    assert not list(tmp_path.iterdir())


def test_fetch_of_what_is_made_here_does_nothing(tmp_path):
    rue.data.fetch("random-rbf", tmp_path)
    assert not list(tmp_path.iterdir())


def test_load_finds_rue_data_then_the_cache(monkeypatch, tmp_path, cache):
    row = "A" + ",1" * 16
    for folder, n in ((tmp_path / "shared", 2), (cache, 3)):
        (folder / "letter").mkdir(parents=True)
        (folder / "letter/letter-recognition.data").write_text(f"{row}\n" * n)
    assert len(rue.data.load("letter", verify=False)) == 3
    monkeypatch.setenv("RUE_DATA", str(tmp_path / "shared"))
    assert len(rue.data.load("letter", verify=False)) == 2
    with pytest.raises(FileError, match="is not the published file"):
        rue.data.load("letter")


def test_expand():
    assert expand(["letter", "sentiment-*", "sentiment-nyt"]) == ["letter", *PIP]
    with pytest.raises(InputError, match=r"got 'mnist\*'"):
        expand(["mnist*"])


def test_import_is_light():
    heavy = ("pandas", "pyarrow", "sklearn", "scipy", "PIL", "pooch", "torch", "matplotlib")
    code = f"import rue, sys; rue.data.ENTRIES; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("seed", [-1, 1.5, 1.0, True, "0", None])
@pytest.mark.parametrize("name", ["random-rbf", "letter"])
def test_seeds_are_whole(name, seed):
    with pytest.raises(InputError, match="seed must be a whole number of at least 0, got"):
        rue.data.load(name, seed=seed)


@pytest.mark.parametrize("option", ["n_points", "n_features", "n_classes", "n_centroids", "world"])
@pytest.mark.parametrize("size", [7.5, -1, True, "9"])
def test_sizes_are_whole(option, size):
    with pytest.raises(InputError, match=f"{option} must be a whole number of at least"):
        rue.data.load("random-rbf", **{option: size})


def test_a_loader_may_take_any_option(monkeypatch):
    """``load=lambda *a, **k: ...`` says nothing of its options, so none is refused before."""
    made = rue.data.ENTRIES["random-rbf"]
    anything = replace(made, name="anything", load=lambda *a, **k: made.load(*a, **k))
    monkeypatch.setitem(rue.data.ENTRIES, "anything", anything)
    assert len(rue.data.load("anything", n_points=30).ids) == 30
    options = "[dataset.anything]\nn_points = 30\n"
    suite = parse_suite('name = "t"\ndatasets = ["anything"]\n' + options)
    assert suite.dataset["anything"] == {"n_points": 30}
    plain = replace(made, name="plain", load=lambda reader, entry, *, seed: ...)
    monkeypatch.setitem(rue.data.ENTRIES, "plain", plain)
    with pytest.raises(InputError, match=r"plain has no option 'entry'; its options: none"):
        rue.data.load("plain", entry=3)
