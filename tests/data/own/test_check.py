"""rue.data.own.check: facts, leaks and duplicates, and the description that loads again."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import rue.data
from rue.data import check
from rue.data.own.description import read_description, save_description
from rue.errors import AlignmentError, FileError, InputError

TEXTS = ["good day", "bad day", "good day", "fine sun", "bad rain", "good sun", "no day", "so so"]
SPLITS = ["train", "train", "test", "dev", "train", "test", "train", ""]


def png(shade):
    content = io.BytesIO()
    Image.new("L", (4, 4), shade).save(content, "PNG")
    return content.getvalue()


def write(folder, *, header="id,annotator,label", rows=None, **files):
    """Write answers of eight points, and further files."""
    folder.mkdir(parents=True, exist_ok=True)
    if rows is None:
        rows = [f"p{n},u,{'xy'[n % 2]}" for n in range(8)]
        rows += [f"p{n},v,{'xy'[n // 4]}" for n in range(8)]
    (folder / "answers.csv").write_text("\n".join((header, *rows)) + "\n")
    for name, content in files.items():
        path = folder / name.replace("__", ".")
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content)
    return folder


def texts(words=TEXTS):
    return "id,text\n" + "".join(f"p{n},{word}\n" for n, word in enumerate(words))


def splits(parts=SPLITS):
    return "id,split\n" + "".join(f"p{n},{part}\n" for n, part in enumerate(parts))


def load(found, path, **options):
    save_description(found.description, path)
    return rue.data.load(str(path), **options)


def test_facts_by_hand(tmp_path):
    folder = write(tmp_path / "mine", texts__csv=texts(), splits__csv=splits())
    found = check(folder)
    assert (found.name, found.n_points, found.n_answers, found.n_annotators) == ("mine", 8, 16, 2)
    assert (found.annotators_min, found.annotators_mean, found.annotators_max) == (2, 2.0, 2)
    assert found.classes == {"x": 0.5, "y": 0.5}
    # u says xyxyxyxy and v xxxxyyyy: they agree on p0, p2, p5 and p7, and log 2 is the rest's.
    assert found.agreement == 0.5
    assert found.unanimous == 0.5
    assert found.entropy == pytest.approx(np.log(2) / 2)
    assert found.bayes_error == 0.25
    # n = 16, eight of each: 128 of 240 ordered pairs differ; 8 of 16 about one point do.
    assert found.alpha == pytest.approx(1 - (8 / 16) / (128 / 240))
    assert found.splits == {"train": 4, "validation": 1, "test": 2}
    assert (found.duplicates, found.leaks, found.official) == (1, 2, True)
    assert found.notes == ("1 point in no split",)
    assert found.warnings == (
        "1 point with the input of another, first p2 and p0",
        "2 points with an input of another split, first p0 (train) and p2 (test)",
    )


def test_the_description_loads_again(tmp_path):
    folder = write(tmp_path / "mine", texts__csv=texts(), splits__csv=splits())
    found = check(folder, folder=tmp_path)
    data = load(found, tmp_path / "mine.toml")
    assert (data.name, data.task) == ("mine", "text")
    assert data.inputs.tolist() == TEXTS
    assert data.annotations.counts.tolist() == [
        [(n % 2 == 0) + (n < 4), (n % 2) + (n >= 4)] for n in range(8)
    ]
    parts = (data.train.tolist(), data.validation.tolist(), data.test.tolist())
    assert parts == ([0, 1, 4, 6], [3], [2, 5])
    assert data.notes == ("1 point in no split",)
    assert rue.data.info(str(tmp_path / "mine.toml")).splits == found.splits
    assert set(data.checksums) == {"mine/answers.csv", "mine/texts.csv", "mine/splits.csv"}
    description = read_description(tmp_path / "mine.toml")
    assert description.facts == found.description.facts
    assert description.checksums == dict(data.checksums)


def test_a_file_that_changed_is_refused(tmp_path):
    folder = write(tmp_path / "mine", texts__csv=texts())
    save_description(check(folder, folder=tmp_path).description, tmp_path / "mine.toml")
    (folder / "texts.csv").write_text(texts(TEXTS[::-1]))
    with pytest.raises(FileError, match=r"texts\.csv is not the file that was checked: run"):
        rue.data.load(str(tmp_path / "mine.toml"))
    assert rue.data.load(str(tmp_path / "mine.toml"), verify=False).inputs[0] == TEXTS[-1]


def test_without_splits_copies_stay_together(tmp_path):
    folder = write(tmp_path / "mine", texts__csv=texts())
    found = check(folder, folder=tmp_path)
    assert (found.official, found.leaks, found.duplicates) == (False, 0, 1)
    tested = []
    for seed in range(5):
        data = load(found, tmp_path / "mine.toml", seed=seed)
        tested += data.test.tolist()
        for part in (data.train, data.validation, data.test):
            assert (0 in part) == (2 in part)
    assert sorted(tested) == list(range(8))


def test_groups_stay_together(tmp_path):
    rows = [f"p{n},{'xy'[n % 2]},d{n % 3}" for n in range(12)]
    folder = write(tmp_path / "mine", header="id,label,document", rows=rows)
    found = check(folder, folder=tmp_path)
    assert found.shared_groups == 0
    data = load(found, tmp_path / "mine.toml")
    assert data.extras["group"].tolist() == [f"d{n % 3}" for n in range(12)]
    rows = [f"p{n},{'xy'[n % 2]},d,{part}" for n, part in enumerate(("train", "test"))]
    found = check(write(tmp_path / "b", header="id,label,document,split", rows=rows))
    assert found.shared_groups == 1
    assert "1 group in more than one split" in found.warnings


def test_images(tmp_path):
    folder = write(tmp_path / "mine")
    (folder / "images").mkdir()
    for n in range(8):
        (folder / f"images/p{n}.png").write_bytes(png(n // 2))  # pairs of copies
    found = check(folder, folder=tmp_path)
    assert found.inputs.startswith("image, ")
    assert (found.duplicates, found.leaks) == (4, 0)
    data = load(found, tmp_path / "mine.toml", size=2)
    assert data.inputs[3].shape == (2, 2, 3)
    assert data.inputs[3].max() == 1
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for n in range(8):
            archive.writestr(f"deep/p{n}.png", png(n))
    found = check(folder, inputs=tmp_path / "all.zip", folder=tmp_path)
    assert found.duplicates == 0
    assert load(found, tmp_path / "b.toml").inputs[7][0, 0, 0] == 7
    (folder / "images/p3.png").unlink()
    with pytest.raises(
        AlignmentError, match=r"no image for 1 of 8 points, first 'p3' of the point"
    ):
        check(folder)
    (folder / "images/a").mkdir()
    (folder / "images/a/p1.png").write_bytes(png(0))
    with pytest.raises(AlignmentError, match=r"has 2 images called 'p1' for the point 'p1'"):
        check(folder)


def test_images_that_the_answers_name(tmp_path):
    rows = [f"p{n},{'xy'[n % 2]},pictures/{n}.png" for n in range(4)]
    folder = write(tmp_path / "mine", header="id,label,file", rows=rows)
    (folder / "pictures").mkdir()
    for n in range(4):
        (folder / f"pictures/{n}.png").write_bytes(png(n))
    data = load(check(folder, folder=tmp_path), tmp_path / "m.toml")
    assert [data.inputs[n].max() for n in range(4)] == [0, 1, 2, 3]


def test_features(tmp_path):
    folder = write(tmp_path / "mine")
    matrix = np.arange(16.0).reshape(8, 2)
    np.savez(folder / "features.npz", ids=[f"p{n}" for n in range(7, -1, -1)], features=matrix)
    data = load(check(folder, folder=tmp_path), tmp_path / "m.toml")
    assert data.inputs.tolist() == matrix[::-1].tolist()
    np.savez(
        tmp_path / "all.npz",
        counts=[[1, 2], [0, 0], [3, 0]],
        features=matrix[:3],
        split=["train", "test", "test"],
    )
    found = check(tmp_path / "all.npz", folder=tmp_path)
    assert (found.n_points, found.notes) == (2, ("1 point without any answer left out",))
    data = load(found, tmp_path / "n.toml")
    assert data.inputs.tolist() == matrix[[0, 2]].tolist()
    assert (data.train.tolist(), data.test.tolist()) == ([0], [1])


def test_numbered_classes_are_their_own_scale(tmp_path):
    rows = ["a,-2", "a,0", "b,5", "b,5"]
    found = check(write(tmp_path / "mine", header="id,label", rows=rows), folder=tmp_path)
    data = load(found, tmp_path / "m.toml")
    assert data.values.tolist() == data.annotations.values.tolist() == [-2.0, 0.0, 5.0]


def test_ratings(tmp_path):
    rows = ["a,1.5", "a,2.5", "b,-3", "b,-3"]
    found = check(write(tmp_path / "mine", header="id,rating", rows=rows), folder=tmp_path)
    assert (found.classes, found.entropy, found.spread) == ({}, None, 0.25)
    assert found.alpha > 0.9
    data = load(found, tmp_path / "m.toml")
    assert data.ratings.answers.values.tolist() == [1.5, 2.5, -3.0, -3.0]
    assert data.n_annotators.tolist() == [2, 2]


def test_warnings(tmp_path):
    rows = ["a,u,x", "b,u,y"]
    found = check(write(tmp_path / "one", rows=rows), classes=["x", "y", "z"])
    assert found.warnings == (
        "every point has one answer, so aleatoric and epistemic cannot be separated",
        "no annotator chose z",
        "no inputs found: it can be a truth, but nothing can be trained on it",
        *(w for w in found.warnings if w.startswith("no points in")),
    )
    found = check(write(tmp_path / "two", rows=[*rows, "a,u,y"]))
    assert "1 point with a single answer" in found.warnings
    assert "1 answer repeated by the same annotator, first u about a" in found.warnings


def test_a_text_column_of_any_name(tmp_path):
    table = texts().replace("id,text", "key,words")
    folder = write(tmp_path / "mine", texts__csv=table.replace("key", "id"))
    with pytest.raises(FileError, match=r"needs the columns id and text, it has id, words"):
        check(folder)
    assert check(folder, columns={"text": "words"}).n_points == 8
    rows = [row for n in range(8) for row in (f"p{n},x", f"p{n},y")]
    folder = write(tmp_path / "b", header="key,label", rows=rows, texts__csv=table)
    found = check(folder, columns={"id": "key", "text": "words"}, folder=tmp_path)
    assert load(found, tmp_path / "b.toml").inputs.tolist() == TEXTS


BAD_FOLDERS = {
    "empty": ({}, "needs a file answers.csv, answers.jsonl or counts.csv, its tables: none"),
    "many": ({"a.csv": "", "b.csv": ""}, "its tables: a.csv, b.csv"),
    "both": ({"answers.csv": "", "answers.jsonl": ""}, "has both answers.csv and answers.jsonl"),
}


@pytest.mark.parametrize("case", BAD_FOLDERS)
def test_a_folder_without_answers(tmp_path, case):
    files, message = BAD_FOLDERS[case]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        check(tmp_path)


BAD_INPUTS = {
    "lacking": ({"texts__csv": texts(TEXTS[:6])}, "has no text for 2 of 8 points, first 'p6'"),
    "empty": ({"texts__csv": texts([*TEXTS[:7], " "])}, "1 texts are empty, first that of 'p7'"),
    "second": ({"texts__csv": texts() + "p0,other\n"}, "p0 has a second text"),
    "split": ({"texts__csv": texts(), "splits__csv": splits(["dev2"] * 8)}, "must be train, val"),
    "splits": ({"texts__csv": texts(), "splits__csv": "a,b\n1,2\n"}, "needs the columns id and"),
    "twice": ({"texts__csv": texts(), "splits__csv": splits() + "p0,test\n"}, "but ids repeat"),
    "no npz": ({"features__npz": b"no"}, "cannot be read as .npz"),
    "no images": ({"images__zip": b"PK\5\6" + bytes(18)}, "holds no images"),
}


@pytest.mark.parametrize("case", BAD_INPUTS)
def test_bad_inputs_are_refused_in_one_line(tmp_path, case):
    files, message = BAD_INPUTS[case]
    with pytest.raises(InputError, match=message) as caught:
        check(write(tmp_path / "mine", **files))
    assert "\n" not in str(caught.value)


def test_features_need_their_points(tmp_path):
    folder = write(tmp_path / "mine")
    path = folder / "features.npz"
    for arrays, message in (
        ({"x": np.zeros(2)}, "needs an array features, it has x"),
        ({"features": np.zeros((8, 2))}, "needs an array ids"),
        ({"features": np.zeros((2, 2)), "ids": ["a", "a"]}, "ids of .* must be unique"),
        ({"features": np.zeros((2, 2)), "ids": ["a", "b"]}, "no row of features for 8 of 8"),
        ({"features": np.full((1, 2), np.nan), "ids": ["a"]}, "must be finite"),
    ):
        np.savez(path, **arrays)
        with pytest.raises(InputError, match=message):
            check(folder)


def test_no_such_file(tmp_path):
    with pytest.raises(FileError, match="no file or folder"):
        check(tmp_path / "nope.csv")
    with pytest.raises(FileError, match="no inputs at"):
        check(write(tmp_path / "mine"), inputs=tmp_path / "nope")
    with pytest.raises(FileError, match=r"inputs must be a table of texts .*, an \.npz"):
        check(tmp_path / "mine", inputs=Path(__file__))
    with pytest.raises(InputError, match="name must be letters, digits"):
        check(tmp_path / "mine", name="../x")


def test_a_file_of_the_users_is_not_replaced(tmp_path):
    found = check(write(tmp_path / "mine"))
    (tmp_path / "suite.toml").write_text('name = "precious"\n')
    with pytest.raises(InputError, match="exists and is not from `rue data check`"):
        save_description(found.description, tmp_path / "suite.toml")
    with pytest.raises(InputError, match=r"must be a \.toml file"):
        save_description(found.description, tmp_path / "mine.txt")
    save_description(found.description, tmp_path / "m.toml")
    save_description(found.description, tmp_path / "m.toml")


BAD_TOML = {
    "no TOML": ("answers = ", "is not a description of a data set"),
    "no answers": ('inputs = "a"\n', "the field answers is missing"),
    "a key": ('answer = "a"\n', "answer is no known field: must be one of answers, columns"),
    "a kind": ("answers = 3\n", "answers must be text, got 3"),
    "columns": ('answers = "a"\ncolumns = { id = 3 }\n', "columns.id must be text"),
    "classes": ('answers = "a"\nclasses = [1]\n', r"classes\[0\] must be text"),
    "facts": ('answers = "a"\n', "the table facts is missing"),
}


@pytest.mark.parametrize("case", BAD_TOML)
def test_bad_descriptions_are_refused_in_one_line(tmp_path, case):
    text, message = BAD_TOML[case]
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(FileError, match=message) as caught:
        rue.data.load(str(tmp_path / "m.toml"))
    assert "\n" not in str(caught.value)


def test_words_that_toml_must_quote(tmp_path):
    rows = ['"a ""b""",x', '"a ""b""",é\\']
    folder = write(tmp_path / "mine", header="the id,label", rows=rows)
    found = check(folder, columns={"id": "the id"}, classes=["x", "é\\"], folder=tmp_path)
    data = load(found, tmp_path / "m.toml")
    assert (data.class_names, data.ids.tolist()) == (("x", "é\\"), ['a "b"'])
