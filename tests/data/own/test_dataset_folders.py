"""rue data check on folders that `datasets.save_to_disk` wrote, made in the same layout."""

import json

import pyarrow as pa
import pytest

import rue.data
from rue import read_truth
from rue.data.own import check
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
    with pytest.raises(FileError, match="'p3' is in more and train; give the folder of one part"):
        check(folder, folder=tmp_path)


def test_a_changed_table_has_another_checksum(tmp_path):
    folder = save_to_disk(tmp_path / "mine", rows(0, 8))
    other = save_to_disk(tmp_path / "other" / "mine", rows(1, 9))
    sums = [check(f, folder=f.parent).description.checksums for f in (folder, other)]
    assert sums[0].keys() == sums[1].keys()
    assert sums[0] != sums[1]
