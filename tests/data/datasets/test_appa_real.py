"""APPA-REAL: files in the official layout, as a folder and as the zip, with every oddity."""

import io
import zipfile

import numpy as np
import pytest
from PIL import Image

import rue.data
from rue.data.datasets import appa_real
from rue.errors import AlignmentError, FileError, ShapeError

HEADER = "file_name,real_age,apparent_age,worker_age,worker_gender"
CSV = {
    "train": [
        HEADER,
        "000000.jpg,4,5,30,male",
        "000001.jpg,18,25,41,female",
        "000000.jpg,4,5,22,female",
        "000000.jpg,4,3,22,male",
    ],
    "valid": [HEADER, "000002.jpg,90,101,30,male", "000002.jpg,90,100,30,male"],
    "test": [HEADER, "000003.jpg,1,0,30,female"],
}


def jpeg(shade):
    content = io.BytesIO()
    Image.new("RGB", (6, 4), (shade, 0, 0)).save(content, "JPEG", quality=95)
    return content.getvalue()


def members(csv=CSV, *, end="\n", mark=""):
    """Give the release's files: csv, and a cropped face for each image."""
    files = {}
    for part, lines in csv.items():
        files[f"gt_{part}.csv"] = (mark + end.join(lines) + end).encode()
        for line in lines[1:]:
            name = line.split(",")[0]
            if name:
                files[f"{part}/{name}"] = jpeg(10)
                files[f"{part}/{name}_face.jpg"] = jpeg(200)
    return files


def write(root, files, *, kind):
    if kind == "folder":
        for name, data in files.items():
            path = root / "appa-real-release" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    else:
        root.mkdir(exist_ok=True)
        with zipfile.ZipFile(root / "appa-real-release.zip", "w") as archive:
            for name, data in files.items():
                archive.writestr(f"appa-real-release/{name}", data)
    return root


def load(tmp_path, files, *, kind="folder", **options):
    return rue.data.load("appa-real", write(tmp_path, files, kind=kind), **options)


@pytest.mark.parametrize("kind", ["folder", "zip"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_layout(tmp_path, kind, end, mark):
    data = load(tmp_path, members(end=end, mark=mark), kind=kind)
    assert data.ids.tolist() == [f"00000{i}.jpg" for i in range(4)]
    assert (data.n_classes, len(data)) == (101, 4)
    counts = data.annotations.counts
    assert counts.sum(axis=1).tolist() == [3, 1, 2, 1]
    assert (counts[0, 5], counts[0, 3], counts[1, 25], counts[3, 0]) == (2, 1, 1, 1)
    # 101 and 100 are both 100
    assert counts[2, 100] == 2
    assert data.notes == ("1 guess above 100 clipped to 100",)
    assert [s.tolist() for s in (data.train, data.validation, data.test)] == [[0, 1], [2], [3]]
    assert data.extras["real_age"].tolist() == [4, 18, 90, 1]
    assert data.values.tolist() == data.annotations.values.tolist() == list(range(101))
    assert sorted(data.checksums) == ["gt_test.csv", "gt_train.csv", "gt_valid.csv"]
    assert data.inputs[2].shape == (4, 6, 3)
    assert abs(int(data.inputs[2][0, 0, 0]) - 200) < 5  # the face, not the whole picture


def test_columns_are_found_by_name_in_any_order_and_spelling(tmp_path):
    csv = {part: ["Apparent Age, x ,File Name,REAL-AGE", f"30,?,{part}.jpg,31"] for part in CSV}
    files = {f"gt_{part}.csv": "\n".join(lines).encode() for part, lines in csv.items()}
    data = load(tmp_path, files)
    assert data.ids.tolist() == ["train.jpg", "valid.jpg", "test.jpg"]
    assert data.annotations.counts[:, 30].tolist() == [1, 1, 1]
    assert data.extras["real_age"].tolist() == [31, 31, 31]


def test_blank_lines_quotes_missing_guesses_and_whole_floats(tmp_path):
    lines = [HEADER, "", '"a, b.jpg",4,"5",,', "c.jpg,,7.0,,", "c.jpg,,,,", ",,,,"]
    data = load(tmp_path, members({**CSV, "train": lines}))
    assert data.ids[:2].tolist() == ["a, b.jpg", "c.jpg"]
    assert data.annotations.counts[1, 7] == 1
    assert np.isnan(data.extras["real_age"][1])
    assert "1 row without a guess left out" in data.notes


def test_non_ascii_file_names(tmp_path):
    data = load(tmp_path, members({**CSV, "test": [HEADER, "visage_é.jpg,1,2,,"]}), kind="zip")
    assert data.ids[-1] == "visage_é.jpg"
    assert data.inputs[3].shape == (4, 6, 3)


def test_missing_columns_name_those_that_are_there(tmp_path):
    # The file of averages has none of the ratings.
    averages = ["file_name,num_ratings,apparent_age_avg,real_age", "a.jpg,3,4.5,4"]
    with pytest.raises(
        FileError,
        match=r"gt_valid\.csv needs the columns file_name, apparent_age, real_age, "
        "found file_name, num_ratings, apparent_age_avg, real_age",
    ):
        load(tmp_path, members({**CSV, "valid": averages}))


def test_empty_file(tmp_path):
    with pytest.raises(FileError, match="found none"):
        load(tmp_path, {**members(), "gt_test.csv": b""})


@pytest.mark.parametrize(
    "line",
    [
        *("a.jpg,4,old,1,", "a.jpg,4,-1,1,", "a.jpg,4,5.5,1,", "a.jpg,4,1_0,1,"),
        *("a.jpg", ",4,5,1,", "a.jpg,4,inf"),
    ],
)
def test_bad_rows_name_the_line(tmp_path, line):
    rules = r"must hold a name and whole ages|is too short for the columns file_name, apparent_age"
    with pytest.raises(FileError, match=rf"gt_train\.csv: line 3 ({rules})"):
        load(tmp_path, members({**CSV, "train": [HEADER, "b.jpg,4,5,1,m", line]}))


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_missing_file(tmp_path, kind):
    files = members()
    del files["gt_valid.csv"]
    with pytest.raises(FileError, match=r"has no (appa-real-release/)?gt_valid\.csv"):
        load(tmp_path, files, kind=kind)


def test_a_face_in_two_splits(tmp_path):
    with pytest.raises(FileError, match=r"000000\.jpg is in two of the csv files"):
        load(tmp_path, members({**CSV, "test": [HEADER, "000000.jpg,4,5,1,m"]}))


def test_latin_1_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"gt_test\.csv must be UTF-8"):
        load(tmp_path, {**members(), "gt_test.csv": (HEADER + "\né.jpg,1,2").encode("latin-1")})


def test_a_zip_that_climbs_out(tmp_path):
    write(tmp_path, members(), kind="zip")
    with zipfile.ZipFile(tmp_path / "appa-real-release.zip", "a") as archive:
        archive.writestr("../evil.csv", "x")
    with pytest.raises(FileError, match="a path outside the archive"):
        rue.data.load("appa-real", tmp_path)


def test_missing_image_is_an_error_when_it_is_asked_for(tmp_path):
    files = members()
    del files["train/000001.jpg_face.jpg"]
    data = load(tmp_path, files)
    with pytest.raises(FileError, match=r"cannot read train/000001\.jpg_face\.jpg"):
        data.inputs[1]


def test_size(tmp_path):
    assert load(tmp_path, members(), size=8).inputs[0].shape == (8, 8, 3)


@pytest.mark.parametrize("layout", ["keys", "table"])
def test_features_by_file_name(tmp_path, layout):
    names = [f"00000{i}.jpg" for i in (3, 1, 0, 2, 9)]  # another order, and one too many
    rows = np.arange(10.0).reshape(5, 2)
    if layout == "keys":
        np.savez(tmp_path / "f.npz", **dict(zip(names, rows, strict=True)))
    else:
        np.savez(tmp_path / "f.npz", ids=names, features=rows)
    data = load(tmp_path, members(), features=tmp_path / "f.npz")
    assert data.task == "features"
    assert data.inputs.tolist() == [[4, 5], [2, 3], [6, 7], [0, 1]]


def test_bad_features(tmp_path):
    write(tmp_path, members(), kind="folder")

    def attach(**arrays):
        np.savez(tmp_path / "f.npz", **arrays)
        return rue.data.load("appa-real", tmp_path, features=tmp_path / "f.npz")

    names = [f"00000{i}.jpg" for i in range(4)]
    with pytest.raises(AlignmentError, match=r"no features of 3 of 4 .* first 000001\.jpg"):
        attach(**{"000000.jpg": np.zeros(2)})
    with pytest.raises(AlignmentError, match="must be unique"):
        attach(ids=["a", "a"], features=np.zeros((2, 2)))
    with pytest.raises(ShapeError, match="as many rows"):
        attach(ids=["a"], features=np.zeros((2, 2)))
    with pytest.raises(ShapeError, match="the same length"):
        attach(**{name: np.zeros(i + 1) for i, name in enumerate(names)})


def test_fetch_checks_a_zip_whose_sum_nobody_published(tmp_path, server, monkeypatch):
    source = write(tmp_path / "source", members(), kind="zip") / "appa-real-release.zip"
    server.files["/a.zip"] = source.read_bytes()
    monkeypatch.setattr(appa_real, "URL", f"{server.url}/a.zip")
    rue.data.fetch("appa-real", tmp_path / "root")
    assert len(rue.data.load("appa-real", tmp_path / "root")) == 4
    server.files["/a.zip"] = source.read_bytes()[:-30]
    with pytest.raises(FileError, match=r"not a valid zip file.*nothing was kept"):
        rue.data.fetch("appa-real", tmp_path / "other")


def test_a_cell_longer_than_csv_reads(tmp_path):
    csv = f"{HEADER}\n{'a' * 200_000},1,2,,\n".encode()
    with pytest.raises(FileError, match=r"gt_test\.csv is not a valid csv file: field larger"):
        load(tmp_path, {**members(), "gt_test.csv": csv})


@pytest.mark.parametrize("name", ["../../secret", "a/b.jpg", "a\\b.jpg", ".."])
def test_a_file_name_that_climbs_out(tmp_path, name):
    csv = f"{HEADER}\n{name},1,2,,\n".encode()
    with pytest.raises(FileError, match=r"gt_test\.csv: line 2 must name a file, got"):
        load(tmp_path, {**members(), "gt_test.csv": csv})


def test_two_real_ages_of_one_face(tmp_path):
    lines = [HEADER, "a.jpg,4,5,,", "a.jpg,5,5,,"]
    with pytest.raises(FileError, match=r"gt_test\.csv: a\.jpg has two real ages, 4.0 and 5.0"):
        load(tmp_path, members({**CSV, "test": lines}))
    lines = [HEADER, "a.jpg,,5,,", "a.jpg,,6,,"]  # twice not known is no contradiction
    assert len(load(tmp_path, members({**CSV, "test": lines}))) == 4


def test_no_guess_at_all(tmp_path):
    with pytest.raises(FileError, match=r"gt_test\.csv holds no guess"):
        load(tmp_path, members({**CSV, "test": [HEADER]}))
    lines = [HEADER, "a.jpg,1,2,,", "b.jpg,1,,,", "b.jpg,1,,,"]
    data = load(tmp_path, members({**CSV, "test": lines}))
    assert data.notes[1:] == (
        "2 rows without a guess left out",
        "1 face without any guess left out",
    )


def test_an_age_of_400_digits_is_one_line(tmp_path):
    changed = CSV | {"test": [HEADER, f"000003.jpg,1,{'9' * 400},30,female"]}
    with pytest.raises(FileError, match="line 2 must hold a name and whole ages"):
        load(tmp_path, members(changed))
