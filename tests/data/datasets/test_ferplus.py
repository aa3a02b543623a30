"""FER+: votes and images in the layout of the authors' script, real ones and broken ones."""

import io
import zipfile
from hashlib import sha256

import numpy as np
import pytest
from PIL import Image

import rue.data
from rue.data.datasets import ferplus
from rue.errors import AlignmentError, FileError, InputError

HEADER = (
    "Usage,Image name,neutral,happiness,surprise,sadness,anger,disgust,fear,contempt,unknown,NF"
)
ROWS = [
    "Training,a.png,4,0,0,1,3,2,0,0,0,0",
    "Training,,0,0,0,0,0,0,0,0,0,10",  # no image
    "Training,b.png,6,0,1,1,0,0,0,0,2,0",
    "Training,b.png,6,0,1,1,0,0,0,0,2,0",  # again, the same
    "PublicTest,c.png,0,5,0,0,0,0,0,0,4,1",  # exactly five
    "PublicTest,d.png,0,4,0,0,0,0,0,0,6,0",  # four
    "PrivateTest,e.png,0,0,0,0,0,0,0,10,0,0",
    "PrivateTest,f.png,5,0,0,1,1,0,0,0,3,0",
    "PrivateTest,f.png,0,0,0,0,0,0,0,0,0,10",  # again, another
]
FOLDERS = {"Training": "FER2013Train", "PublicTest": "FER2013Valid", "PrivateTest": "FER2013Test"}
NOTES = (
    "1 row without an image left out",
    "1 name with the same votes twice counted once",
    "1 name with two different votes left out: f.png",
    "1 face with fewer than 5 votes for an emotion left out",
    "6 votes for unknown and 1 for not a face set aside",
)


def png(shade, size=(48, 48), mode="L"):
    content = io.BytesIO()
    Image.new(mode, size, shade).save(content, "PNG")
    return content.getvalue()


def images(rows=ROWS):
    cells = [row.split(",") for row in rows]
    return {f"{FOLDERS[row[0]]}/{row[1]}": png(ord(row[1][0])) for row in cells if row[1]}


def write(root, rows=ROWS, files=None, *, kind="folder", inside="ferplus", header=HEADER):
    (root / "ferplus").mkdir(exist_ok=True)
    (root / "ferplus/fer2013new.csv").write_text("\r\n".join((header, *rows)), newline="")
    files = images() if files is None else files
    if kind == "zip":
        with zipfile.ZipFile(root / "ferplus/images.zip", "w") as archive:
            for name, data in files.items():
                archive.writestr(inside + name, data)
    else:
        for name, data in files.items():
            (root / inside / name).parent.mkdir(parents=True, exist_ok=True)
            (root / inside / name).write_bytes(data)
    return root


def load(root, name="ferplus"):
    return rue.data.load(name, root, verify=False)


@pytest.mark.parametrize(
    ("kind", "inside"),
    [
        *(("folder", folder) for folder in ("ferplus", "ferplus/images", "ferplus/data")),
        *(("zip", folder) for folder in ("", "data/")),
    ],
)
def test_layout(tmp_path, kind, inside):
    data = load(write(tmp_path, kind=kind, inside=inside))
    assert data.ids.tolist() == ["a.png", "b.png", "c.png", "e.png"]
    assert data.annotations.counts.tolist() == [
        [4, 0, 0, 1, 3, 2, 0, 0],
        [6, 0, 1, 1, 0, 0, 0, 0],
        [0, 5, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 10],
    ]
    assert data.extras["unknown"].tolist() == [0, 2, 4, 0]
    assert data.extras["not_a_face"].tolist() == [0, 0, 1, 0]
    splits = (data.train.tolist(), data.validation.tolist(), data.test.tolist())
    assert splits == ([0, 1], [2], [3])
    assert data.notes == NOTES
    assert (data.inputs.shape, data.inputs.dtype) == ((4, 48, 48, 1), np.uint8)
    assert data.inputs[:, 7, 7, 0].tolist() == list(map(ord, "abce"))


def test_a_folder_and_a_zip_have_one_checksum(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    folder = load(write(tmp_path / "a"))
    files = {name: png((ord(name[-5]),) * 3, mode="RGB") for name in images()}  # other bytes
    archive = load(write(tmp_path / "b", files=files, kind="zip", inside=""))
    assert folder.checksums == archive.checksums


def test_features(tmp_path):
    write(tmp_path, files={})
    features = np.arange(12.0).reshape(6, 2).astype(np.float16)
    path = tmp_path / "ferplus/efficientnet-lite0-pca192.npz"
    np.savez(path, ids=[f"{name}.png" for name in "fedcba"], features=features)
    assert rue.data.is_here("ferplus-features", tmp_path)
    assert not rue.data.is_here("ferplus", tmp_path)
    data = load(tmp_path, "ferplus-features")
    assert data.inputs.tolist() == [[10, 11], [8, 9], [6, 7], [2, 3]]
    assert (data.task, data.notes) == ("features", NOTES)
    np.savez(path, ids=["a.png"], features=features[:1])
    with pytest.raises(AlignmentError, match=r"has no features of 3 of 4 points .* first b\.png"):
        load(tmp_path, "ferplus-features")


def test_some_of_the_faces(tmp_path):
    rows = [f"Training,t{i}.png,10" + ",0" * 9 for i in range(8)]
    rows += [f"PublicTest,v{i}.png,10" + ",0" * 9 for i in range(4)]
    rows += [f"PrivateTest,p{i}.png,10" + ",0" * 9 for i in range(4)]
    write(tmp_path, rows, images(rows), kind="zip", inside="")
    some = rue.data.load("ferplus", tmp_path, verify=False, n_faces=8)
    assert [len(part) for part in (some.train, some.validation, some.test)] == [4, 2, 2]
    assert some.inputs.shape == (8, 48, 48, 1)
    assert some.notes[-1] == "8 of 16 faces kept (n_faces)"
    # by hand: the four training names with the lowest SHA-256
    names = sorted((f"t{i}.png" for i in range(8)), key=lambda n: sha256(n.encode()).hexdigest())
    assert set(some.ids[some.train]) == set(names[:4])
    assert some.ids.tolist() == [name for name in load(tmp_path).ids if name in set(some.ids)]
    fewer = rue.data.load("ferplus", tmp_path, verify=False, n_faces=4)
    assert set(fewer.ids) < set(some.ids)
    assert fewer.checksums != some.checksums
    for wrong, message in ((17, "at most 16"), (2, "at least 3"), (2.5, "whole")):
        with pytest.raises(InputError, match=f"n_faces .*{message}"):
            rue.data.load("ferplus", tmp_path, verify=False, n_faces=wrong)


BAD_ROWS = {
    "usage": ("Test,a.png" + ",1" * 10, r"line 2: Usage must be one of Training, .*, got 'Test'"),
    "fraction": ("Training,a.png,1.5" + ",1" * 9, r"votes must be whole numbers, got '1\.5'"),
    "negative": ("Training,a.png,-1" + ",1" * 9, "votes must be whole numbers, got '-1'"),
    "huge": ("Training,a.png," + "9" * 30 + ",1" * 9, "votes must be whole numbers, got '9999"),
    "empty": ("Training,a.png," + ",1" * 9, "votes must be whole numbers, got ''"),
    "short": ("Training,a.png,1", "line 2 is too short"),
    "path": ("Training,../a.png" + ",1" * 10, r"must name a \.png file, got '\.\./a\.png'"),
    "no face": ("Training,a.png" + ",0" * 8 + ",5,5", "holds no face with 5 votes"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_broken_votes_are_refused_in_one_line(tmp_path, case):
    row, message = BAD_ROWS[case]
    with pytest.raises(FileError, match=message) as caught:
        load(write(tmp_path, [row]))
    assert "\n" not in str(caught.value)


def test_a_missing_column(tmp_path):
    with pytest.raises(FileError, match=r"needs the columns Usage, .*, found Usage, Image name;"):
        load(write(tmp_path, header=HEADER.replace(",", ";").replace(";", ",", 1)))


BAD_IMAGES = {
    "missing": (None, r"has no FER2013Train/a\.png"),
    "damaged": (b"no image", r"FER2013Train/a\.png is not an image"),
    "small": (png(0, (32, 48)), r"a\.png must have 48 x 48 pixels, got 48 x 32"),
}


@pytest.mark.parametrize("kind", ["folder", "zip"])
@pytest.mark.parametrize("case", BAD_IMAGES)
def test_broken_images_are_refused_in_one_line(tmp_path, case, kind):
    data, message = BAD_IMAGES[case]
    files = images()
    del files["FER2013Train/a.png"]
    if data is not None:
        files["FER2013Train/a.png"] = data
    with pytest.raises(FileError, match=message):
        load(write(tmp_path, files=files, kind=kind, inside="" if kind == "zip" else "ferplus"))


def test_a_damaged_zip(tmp_path):
    write(tmp_path, files={})
    (tmp_path / "ferplus/images.zip").write_bytes(b"PK not a zip")
    with pytest.raises(FileError, match="not a valid zip file"):
        load(tmp_path)


def test_other_votes_or_images_than_the_published_ones(tmp_path):
    write(tmp_path)
    with pytest.raises(FileError, match=r"fer2013new\.csv is not the published file"):
        rue.data.load("ferplus", tmp_path)


def test_fetch_gets_the_votes_and_says_how_images_are_had(tmp_path, server, monkeypatch):
    content = "\n".join((HEADER, *ROWS)).encode()
    server.files["/fer2013new.csv"] = content
    digest = rue.data.files.content_digest(ferplus.VOTES, content)
    fetch = rue.data.entry.fetch_urls(
        {ferplus.VOTES: (server.url + "/fer2013new.csv",)}, {ferplus.VOTES: digest}
    )
    monkeypatch.setattr(ferplus, "_fetch_votes", fetch)
    with pytest.raises(FileError, match=r"its images are not: get fer2013\.csv .* Kaggle"):
        rue.data.fetch("ferplus", tmp_path)
    assert (tmp_path / ferplus.VOTES).read_bytes() == content
    write(tmp_path)
    rue.data.fetch("ferplus", tmp_path)


def test_real_votes(real):
    data = rue.data.load("ferplus-features", real)
    assert data.notes == (
        "173 rows without an image left out",
        "3 names with the same votes twice counted once",
        "1 name with two different votes left out: fer0033120.png",
        "30 faces with fewer than 5 votes for an emotion left out",
        "16,790 votes for unknown and 172 for not a face set aside",
    )
    first = data.ids.tolist().index("fer0000000.png")  # the file's second line
    assert data.annotations.counts[first].tolist() == [4, 0, 0, 1, 3, 2, 0, 0]
    assert "fer0006953.png" in data.ids
    assert "fer0033120.png" not in data.ids


def test_some_real_images(real):
    some = rue.data.load("ferplus", real, n_faces=40)
    assert [len(part) for part in (some.train, some.validation, some.test)] == [32, 4, 4]
    features = rue.data.load("ferplus-features", real, n_faces=40)
    assert features.ids.tolist() == some.ids.tolist()
    assert (features.annotations.counts == some.annotations.counts).all()


@pytest.mark.slow
def test_real_images(real):  # 35,679 PNGs are decoded
    data = rue.data.load("ferplus", real)
    assert data.inputs.shape == (35_679, 48, 48, 1)
    assert len(np.unique(data.inputs)) == 256
