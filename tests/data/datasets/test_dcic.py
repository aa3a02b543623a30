"""DCIC: files in the official layout, as a folder and as the zip, with every oddity."""

import hashlib
import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from PIL import Image

import rue.data
from rue.data.datasets import dcic
from rue.errors import FileError, InputError


def png(shade, mode="RGB"):
    content = io.BytesIO()
    Image.new(mode, (6, 4), shade).save(content, "PNG")
    return content.getvalue()


def answer(image, label, **further):
    return {
        "image_path": image,
        "class_label": label,
        "created_at": "01-01-2022-00-00-00",
        **further,
    }


def release(folder="Benthic", *, labels=("star", "coral", "worm")):
    """Give annotations.json and the images: one in each fold, two in fold 1."""
    images = [f"{folder}/fold{k}/x{k}.png" for k in range(1, 6)] + [f"{folder}/fold1/a.png"]
    first = [answer(image, labels[i % 3]) for i, image in enumerate(images)]
    second = [answer(image, labels[0]) for image in images] + [answer(images[0], None)]
    raters = [
        {"name": "INVALID", "dataset_name": folder, "annotations": first, "user_mail": "INVALID"},
        {"dataset_name": folder, "annotations": second},
    ]
    return raters, {image: png((40 * i, 0, 0)) for i, image in enumerate(images)}


def write(root, raters, images, *, folder="Benthic", kind="folder", mark="", inside=""):
    root.mkdir(exist_ok=True)
    text = (mark + json.dumps(raters, ensure_ascii=False)).encode()
    files = {**images, f"{folder}/annotations.json": text}
    if kind == "zip":
        with zipfile.ZipFile(root / (folder.replace("#", "") + ".zip"), "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        return root
    for name, data in files.items():
        path = root / inside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


@pytest.mark.parametrize(("kind", "inside"), [("folder", ""), ("folder", "dcic"), ("zip", "")])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_layout(tmp_path, kind, inside, mark):
    root = write(tmp_path, *release(), kind=kind, mark=mark, inside=inside)
    data = rue.data.load("dcic-benthic", root)
    assert data.class_names == ("coral", "star", "worm")
    names = ["fold1/a", "fold1/x1", "fold2/x2", "fold3/x3", "fold4/x4", "fold5/x5"]
    assert data.ids.tolist() == [f"Benthic/{name}.png" for name in names]
    # x1..x5 and a got star, coral, worm, star, coral, worm; everybody got star as well.
    assert data.annotations.counts.tolist() == [
        [0, 1, 1],
        [0, 2, 0],
        [1, 1, 0],
        [0, 1, 1],
        [0, 2, 0],
        [1, 1, 0],
    ]
    assert data.notes == ("1 answer without a label left out",)
    assert data.inputs[1].tolist() == [[[0, 0, 0]] * 6] * 4
    assert data.inputs[2][0, 0].tolist() == [40, 0, 0]
    assert len(data.checksums) == 1


@pytest.mark.parametrize(
    ("seed", "validation", "test"),
    [(0, [0, 1], [2]), (1, [2], [3]), (3, [4], [5]), (4, [5], [0, 1]), (5, [0, 1], [2])],
)
def test_folds(tmp_path, seed, validation, test):
    data = rue.data.load("dcic-benthic", write(tmp_path, *release()), seed=seed)
    assert data.validation.tolist() == validation
    assert data.test.tolist() == test
    assert sorted([*data.train, *validation, *test]) == list(range(6))


@pytest.mark.parametrize(("seed", "test"), [(0, [0, 1]), (1, [2]), (4, [5]), (5, [0, 1])])
def test_folds_of_the_papers_code(tmp_path, seed, test):
    """Fold s tests and the other four train; a tenth of fewer than ten points is none."""
    root = write(tmp_path, *release())
    data = rue.data.load("dcic-benthic", root, seed=seed, splits="paper")
    assert data.test.tolist() == test
    assert data.validation.tolist() == []
    assert sorted([*data.train, *test]) == list(range(6))
    with pytest.raises(InputError, match="splits must be one of dcic, paper, got 'odd'"):
        rue.data.load("dcic-benthic", root, splits="odd")


@pytest.mark.parametrize("entry", [n for n in rue.data.ENTRIES if n.startswith("dcic-")])
def test_all_eight(tmp_path, entry):
    folder = dcic._FOLDERS[entry]
    for kind in ("folder", "zip"):
        root = write(tmp_path / kind, *release(folder), folder=folder, kind=kind)
        data = rue.data.load(entry, root)
        assert (data.name, len(data)) == (entry, 6)
        assert data.inputs[0].shape == (4, 6, 3)


def test_registry_has_eight():
    assert len(dcic.ENTRIES) == 8
    # The release has an archive Treeversity1.zip with a folder Treeversity#1 in it.
    assert dcic._places("Treeversity#1")[:2] == ("dcic/Treeversity#1", "dcic/Treeversity1.zip")


def test_non_ascii_class_names_are_sorted_by_code_point(tmp_path):
    labels = ("élan", "zèbre", "Ωmega")
    data = rue.data.load("dcic-benthic", write(tmp_path, *release(labels=labels), kind="zip"))
    assert data.class_names == ("zèbre", "élan", "Ωmega")


def test_extra_keys_and_files_do_not_matter(tmp_path):
    raters, images = release()
    raters[0]["annotations"][0]["confidence"] = 0.5
    images["__MACOSX/Benthic/._x.png"] = b"junk"
    images["Benthic/README.txt"] = b"hello"
    images["Benthic/fold2/Thumbs.db"] = b"hello"
    images["Benthic/fold2/unlabelled.png"] = png((1, 2, 3))
    data = rue.data.load("dcic-benthic", write(tmp_path, raters, images, kind="zip"))
    assert len(data) == 6
    assert "1 image without any label left out" in data.notes


def test_image_with_only_null_labels_is_left_out(tmp_path):
    raters, images = release()
    images["Benthic/fold2/null.png"] = png((1, 2, 3))
    raters[1]["annotations"] += [answer("Benthic/fold2/null.png", None)] * 3
    data = rue.data.load("dcic-benthic", write(tmp_path, raters, images))
    assert "Benthic/fold2/null.png" not in data.ids
    assert data.notes == (
        "4 answers without a label left out",
        "1 image without any label left out",
    )


def test_grey_and_palette_images_become_rgb(tmp_path):
    raters, images = release()
    images["Benthic/fold1/a.png"] = png(7, "L")
    images["Benthic/fold1/x1.png"] = png(0, "P")
    data = rue.data.load("dcic-benthic", write(tmp_path, raters, images))
    assert data.inputs[0].tolist() == [[[7, 7, 7]] * 6] * 4
    assert data.inputs[1].shape == (4, 6, 3)


def test_images_are_decoded_lazily_and_sliced(tmp_path):
    raters, images = release()
    images["Benthic/fold3/x3.png"] = b"not an image"
    data = rue.data.load("dcic-benthic", write(tmp_path, raters, images, kind="zip"), size=5)
    assert data.inputs[0].shape == (5, 5, 3)
    with pytest.raises(FileError, match=r"fold3/x3\.png is not an image"):
        data.inputs[3]
    with pytest.raises(IndexError):
        data.inputs[6]
    few = data.inputs[np.array([5, 0])]
    assert len(few) == 2
    assert (few[1] == data.inputs[0]).all()
    assert len(data.inputs[1:3]) == 2
    again = pickle.loads(pickle.dumps(data.inputs))  # as a worker process gets it
    assert (again[2] == data.inputs[2]).all()
    part = data.part("test")
    assert part.inputs.names.tolist() == ["Benthic/fold2/x2.png"]


def edited(change):
    raters, images = release()
    return change(raters, images) or (raters, images)


def without_fold_3(raters, images):
    images.pop("Benthic/fold3/x3.png")
    for rater in raters:
        rater["annotations"] = [a for a in rater["annotations"] if "fold3" not in a["image_path"]]


def without_a_file(raters, images):
    images.pop("Benthic/fold3/x3.png")


def with_a_path(path):
    def change(raters, images):
        raters[0]["annotations"].append(answer(path, "star"))

    return change


@pytest.mark.parametrize("kind", ["folder", "zip"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_fold_3, r"needs labelled images in all five folds, not in \['fold3'\]"),
        (without_a_file, r"lacks 1 labelled images, first Benthic/fold3/x3\.png"),
        (with_a_path("Benthic/fold6/x.png"), "Benthic/foldK/name with K 1..5, got"),
        (with_a_path("Pig/fold1/x.png"), "Benthic/foldK/name with K 1..5, got"),
        (with_a_path("../../../etc/x.png"), "Benthic/foldK/name with K 1..5, got"),
        (lambda raters, images: ([], images), "must hold labels of at least two"),
        (lambda raters, images: ({"a": 1}, images), "must be a list of objects"),
        (lambda raters, images: ([{"x": []}], images), "KeyError 'annotations'"),
        (lambda raters, images: ([{"annotations": [{}]}], images), "KeyError 'image_path'"),
        (lambda raters, images: (None, images), "must be a list of objects"),
    ],
)
def test_bad_releases(tmp_path, kind, change, message):
    root = write(tmp_path, *edited(change), kind=kind)
    with pytest.raises(FileError, match=message):
        rue.data.load("dcic-benthic", root)


def test_no_json(tmp_path):
    write(tmp_path, *release())
    path = tmp_path / "Benthic/annotations.json"
    path.write_text("[{")
    with pytest.raises(FileError, match=r"annotations.json must be a list"):
        rue.data.load("dcic-benthic", tmp_path)
    path.unlink()
    with pytest.raises(FileError, match=r"has no Benthic/annotations.json"):
        rue.data.load("dcic-benthic", tmp_path)


def test_a_zip_that_climbs_out(tmp_path):
    write(tmp_path, *release(), kind="zip")
    with zipfile.ZipFile(tmp_path / "Benthic.zip", "a") as archive:
        archive.writestr("Benthic/../../evil.png", png((1, 2, 3)))
    with pytest.raises(FileError, match="a path outside the archive"):
        rue.data.load("dcic-benthic", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["Benthic.zip"]


def test_unknown_option(tmp_path):
    with pytest.raises(InputError, match="has no option 'folder'; its options: size, splits"):
        rue.data.load("dcic-benthic", tmp_path, folder="Pig")


@pytest.fixture
def zenodo(tmp_path, server, monkeypatch):
    """Publish Treeversity1.zip with its MD5, as the Zenodo record does."""
    root = write(tmp_path / "source", *release("Treeversity#1"), folder="Treeversity#1", kind="zip")
    data = (root / "Treeversity1.zip").read_bytes()
    md5 = hashlib.md5(data).hexdigest()
    record = {"files": [{"key": "Treeversity1.zip", "checksum": f"md5:{md5}"}]}
    server.files["/api/records/8115942"] = json.dumps(record).encode()
    server.files["/records/8115942/files/Treeversity1.zip"] = data
    monkeypatch.setattr(dcic, "_ZENODO", server.url)
    return server


def test_fetch(zenodo, tmp_path):
    rue.data.fetch("dcic-treeversity-1", tmp_path / "root")
    assert len(rue.data.load("dcic-treeversity-1", tmp_path / "root")) == 6


def test_fetch_of_other_than_the_published_sum(zenodo, tmp_path):
    zenodo.files["/records/8115942/files/Treeversity1.zip"] += b"?"
    with pytest.raises(FileError, match="MD5 should be"):
        rue.data.fetch("dcic-treeversity-1", tmp_path / "root")
    assert not (tmp_path / "root/dcic/Treeversity1.zip").exists()


def test_fetch_without_a_published_sum(zenodo, tmp_path):
    with pytest.raises(FileError, match=r"publishes no checksum of Pig\.zip"):
        rue.data.fetch("dcic-pig", tmp_path / "root")
    del zenodo.files["/api/records/8115942"]
    with pytest.raises(FileError, match="the server answered 404"):
        rue.data.fetch("dcic-pig", tmp_path / "root")


def test_annotations_nested_too_deeply(tmp_path):
    write(tmp_path, *release())
    (tmp_path / "Benthic/annotations.json").write_text("[" * 200_000)
    with pytest.raises(FileError, match=r"must be a list of objects .*RecursionError"):
        rue.data.load("dcic-benthic", tmp_path)


@pytest.mark.parametrize("label", ["", "  ", float("nan"), ["x"], 3, True])
def test_labels_are_words(tmp_path, label):
    raters, images = release()
    raters[0]["annotations"][0]["class_label"] = label
    write(tmp_path, raters, images)
    with pytest.raises(FileError, match=r"must be words, got .* of 'Benthic/fold1/x1\.png'"):
        rue.data.load("dcic-benthic", tmp_path)


def test_spaces_around_a_label_do_not_count(tmp_path):
    raters, images = release()
    raters[0]["annotations"][0]["class_label"] = " star\n"
    assert rue.data.load("dcic-benthic", write(tmp_path, raters, images)).n_classes == 3


def test_one_class_is_none(tmp_path):
    write(tmp_path, *release(labels=("star",) * 3))
    with pytest.raises(FileError, match=r"Benthic/annotations\.json must hold labels of at least"):
        rue.data.load("dcic-benthic", tmp_path)
