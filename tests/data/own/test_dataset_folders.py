"""rue data check on folders that `datasets.save_to_disk` wrote, made in the same layout."""

import json

import pyarrow as pa
import pytest

import rue.data
from rue import read_truth
from rue.data import check
from rue.data.own.description import save_description
from rue.errors import FileError

CLASS = {"names": ["no", "yes"], "_type": "ClassLabel"}
LISTS = [{"feature": CLASS, "_type": "List"}, {"feature": CLASS, "_type": "Sequence"}, [CLASS]]


def save_to_disk(folder, rows, feature=LISTS[0], n_files=2):
    """Write a table as `datasets` does: streams of Arrow, a state and a description."""
    folder.mkdir(parents=True)
    features = {"labels": feature, "id": {"dtype": "string", "_type": "Value"}}
    info = {"info": {"features": features}}
    table = pa.Table.from_pylist(rows).replace_schema_metadata({b"huggingface": json.dumps(info)})
    names = [f"data-{i:05}-of-{n_files:05}.arrow" for i in range(n_files)]
    for i, name in enumerate(names):
        part = table.slice(i * len(table) // n_files, len(table) // n_files)
        with (
            pa.OSFile(str(folder / name), "wb") as sink,
            pa.ipc.new_stream(sink, table.schema) as w,
        ):
            w.write_table(part)
    state = {"_data_files": [{"filename": name} for name in names], "_split": None}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text(json.dumps({"features": features}))
    return folder


def rows(start, stop):
    return [
        {"id": f"p{i}", "text": f"text {i}", "labels": [i % 2, 1, 0][: 2 + i % 2]}
        for i in range(start, stop)
    ]


@pytest.mark.parametrize("feature", LISTS, ids=["List", "Sequence", "list"])
def test_a_table_of_datasets(tmp_path, feature):
    folder = save_to_disk(tmp_path / "mine", rows(0, 8), feature)
    checked = check(folder, folder=tmp_path)
    assert (checked.name, checked.n_points, checked.n_answers) == ("mine", 8, 20)
    assert checked.inputs == f"text, {folder}"
    assert list(checked.classes) == ["no", "yes"]
    save_description(checked.description, tmp_path / "mine.toml")
    loaded = rue.data.load(str(tmp_path / "mine.toml"))
    assert loaded.annotations.counts.tolist() == read_truth(folder).counts.tolist()
    assert loaded.inputs[3] == "text 3"


def test_parts_are_splits_unless_their_ids_repeat(tmp_path):
    folder = tmp_path / "mine"
    for name, start, stop in (("train", 0, 8), ("validation", 8, 10), ("test", 10, 14)):
        save_to_disk(folder / name, rows(start, stop))
    (folder / "dataset_dict.json").write_text('{"splits": ["train", "validation", "test"]}')
    checked = check(folder, folder=tmp_path)
    assert (dict(checked.splits), checked.official) == (
        {"train": 8, "validation": 2, "test": 4},
        True,
    )
    assert check(folder / "test", folder=tmp_path).n_points == 4
    with pytest.raises(FileError, match="choose a part: test, train, validation"):
        read_truth(folder)  # rows of other parts may have the same ids
    save_to_disk(folder / "more", rows(3, 5))
    assert check(folder, folder=tmp_path).n_points == 14  # what is not listed is not read
    (folder / "dataset_dict.json").unlink()
    with pytest.raises(FileError, match="'p3' is in more and train; give the folder of one part"):
        check(folder, folder=tmp_path)


@pytest.mark.parametrize("state", [True, False], ids=["state", "no state"])
def test_caches_are_not_read(tmp_path, state):
    folder = save_to_disk(tmp_path / "mine", rows(0, 8))
    before = check(folder, folder=tmp_path).description.checksums
    others = save_to_disk(tmp_path / "other", rows(0, 8), n_files=1)
    for name in ("cache-1234.arrow", *(["older.arrow"] if state else [])):
        (folder / name).write_bytes((others / "data-00000-of-00001.arrow").read_bytes())
    if not state:
        (folder / "state.json").unlink()
    checked = check(folder, folder=tmp_path)
    assert (checked.n_points, checked.n_answers) == (8, 20)
    assert checked.description.checksums == before


BAD = "must list names inside its folder"


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("state.json", {"_data_files": [{"filename": "../x.arrow"}]}, BAD),
        ("state.json", {"_data_files": [{"filename": "/etc/x.arrow"}]}, BAD),
        ("state.json", {"_data_files": [{"filename": "C:\\x.arrow"}]}, BAD),
        ("state.json", {"_data_files": [{"file": 3}]}, BAD),
        ("state.json", {"_data_files": [{"filename": "gone.arrow"}]}, "'gone.arrow', which is not"),
        ("state.json", {"_data_files": []}, "_data_files must be a list of names"),
        ("state.json", [], "must be a JSON object"),
        ("state.json", {"_data_files": [1], "_indices_data_files": [1]}, "flatten_indices"),
        ("../dataset_dict.json", {"splits": ["../mine"]}, BAD),
        ("../dataset_dict.json", {"splits": ["gone"]}, "'gone', which is no folder"),
    ],
)
def test_lists_of_files_stay_in_their_folder(tmp_path, file, content, message):
    folder = save_to_disk(tmp_path / "mine" / "train", rows(0, 8))
    (folder / file).write_text(json.dumps(content))
    with pytest.raises(FileError, match=message) as caught:
        check(folder.parent if "splits" in content else folder, folder=tmp_path)
    assert "\n" not in str(caught.value)


def test_classes_of_the_description(tmp_path):
    folder = save_to_disk(tmp_path / "mine", rows(0, 8), n_files=1)
    file = folder / "data-00000-of-00001.arrow"
    table = pa.ipc.open_stream(file.read_bytes()).read_all().replace_schema_metadata(None)
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    assert list(check(folder, folder=tmp_path).classes) == ["no", "yes"]


def test_a_changed_table_has_another_checksum(tmp_path):
    folder = save_to_disk(tmp_path / "mine", rows(0, 8))
    other = save_to_disk(tmp_path / "other" / "mine", rows(1, 9))
    sums = [check(f, folder=f.parent).description.checksums for f in (folder, other)]
    assert sums[0].keys() == sums[1].keys()
    assert sums[0] != sums[1]
