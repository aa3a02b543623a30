"""Small files that declare gigabytes are refused, with a peak of memory that stays small.

Each file is read by every command that takes it, in a fresh process whose own peak is measured.
"""

import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from memory import peak
from rue.data import check
from rue.errors import FileError
from rue.io.answers import read_truth
from rue.io.files import read_frame
from rue.io.predictions import read_predictions

MIB = 1 << 20
RUN = """
import contextlib, io
from rue.cli import main
for command in sys.argv[1].split("|"):
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            main(command.split(" "))
        except SystemExit as exit:
            code = exit.code
    print(code, " ".join(said.getvalue().split()))
"""


def array_header(shape):
    text = repr({"descr": "<f8", "fortran_order": False, "shape": shape}).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def outcomes(tmp_path, files, *options):
    """Run data check and evaluate on each file; return what they said, and the peak."""
    (tmp_path / "p.csv").write_text("id,x,y\na,0.5,0.5\nb,0.5,0.5\n")
    commands = []
    for file in files:
        description = tmp_path / f"{file.name}.toml"
        commands.append(["data", "check", file, "--out", description, *options])
        if not file.is_dir():
            commands.append(["evaluate", file, *options])
            commands.append(["evaluate", tmp_path / "p.csv", "--truth", file, *options])
    printed, most = peak(RUN, "|".join(" ".join(map(str, command)) for command in commands))
    lines = printed.split("\n")
    assert len(lines) == len(commands)
    assert not any("Traceback" in line for line in lines), lines
    return lines, most


@pytest.mark.parametrize("name", ["counts", "ratings"])
def test_an_axis_of_size_0_is_refused_before_anything_is_allocated(tmp_path, name):
    files = []
    for power in (31, 33, 40):
        shape = (2**power, 0)
        files.append(tmp_path / f"{power}.npz")
        with zipfile.ZipFile(files[-1], "w") as archive:
            archive.writestr(f"{name}.npy", array_header(shape))
        files.append(tmp_path / f"{power}.npy")
        files[-1].write_bytes(array_header(shape))
    lines, most = outcomes(tmp_path, files)
    assert all(line.startswith("2 ") for line in lines), lines
    assert sum("at least one entry per axis, got shape" in line for line in lines) > 6
    assert most < 300 * MIB


def parquets():
    word = pa.DictionaryArray.from_arrays(pa.array(np.zeros(100, np.int32)), ["w" * (20 * MIB)])
    n = 30_000_000
    same = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), ["a"])
    raw = pa.DictionaryArray.from_arrays(pa.array(np.zeros(100, np.int32)), [b"w" * (20 * MIB)])
    few = pa.array(list("ab") * 50)
    lists = pa.ListArray.from_arrays([0, n // 3, n // 3], pa.array(np.zeros(n // 3)))
    return {
        "one long word in all rows": pa.table({"id": few, "label": word}),
        "many rows": pa.table({"id": same, "label": same, "note": same}),
        "long bytes in all rows": pa.table({"id": few, "label": raw}),
        "many values in a list": pa.table({"id": ["a", "b"], "annotations": lists}),
        "lists of a long word": pa.table(
            {"id": ["a", "b"], "labels": pa.ListArray.from_arrays([0, 50, 100], word)}
        ),
    }


@pytest.mark.parametrize("case", parquets())
def test_what_a_parquet_unpacks_to_is_counted(tmp_path, case):
    file = tmp_path / "a.parquet"
    table = parquets()[case]
    pq.write_table(table, file, compression="zstd", row_group_size=len(table))
    assert file.stat().st_size < MIB
    lines, most = outcomes(tmp_path, [file])
    assert all(line.startswith("2 ") for line in lines), lines
    assert "reading it would take" in lines[0]
    assert "reading it would take" in lines[2]
    assert most < 1024 * MIB


def varint(number, length=0):
    data = []
    number *= 2  # zigzag
    while number > 127 or len(data) + 1 < length:
        data.append(number & 127 | 128)
        number >>= 7
    return bytes([*data, number])


@pytest.mark.parametrize("dictionary", [False, True])
def test_a_footer_that_lies_about_its_size(tmp_path, dictionary):
    file = tmp_path / "a.parquet"
    words = [letter * (20 * MIB) for letter in "abcdefghijklmno"]
    table = pa.table({"id": words, "label": words})
    pages = {"use_dictionary": dictionary, "dictionary_pagesize_limit": 1 << 30}
    pq.write_table(table, file, compression="zstd", write_statistics=False, **pages)
    content = file.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    for column in range(2):
        true = varint(pq.read_metadata(file).row_group(0).column(column).total_uncompressed_size)
        content = content[:footer] + content[footer:].replace(true, varint(1000, len(true)))
    file.write_bytes(content)
    assert pq.read_metadata(file).row_group(0).column(0).total_uncompressed_size == 1000
    lines, most = outcomes(tmp_path, [file], "--max-memory", "200MiB")
    assert all("reading it would take" in line for line in lines), lines
    assert most < 300 * MIB
    with pytest.raises(FileError, match=r"and 200\.0 MiB are allowed"):
        read_frame(file, max_memory=200 * MIB)


@pytest.mark.parametrize("writer", [pa.ipc.new_file, pa.ipc.new_stream])
def test_what_one_batch_of_arrow_unpacks_to_is_counted_before(tmp_path, writer):
    n = 40_000_000
    word = pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int32()), ["w" * (n * 8)])
    tables = {
        "rows": pa.table({"id": pa.array(np.zeros(n, np.int64))}),
        "word": pa.table({"id": pa.array(["a", "b"]), "label": word}),
    }
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    for name, table in tables.items():
        with writer(tmp_path / f"{name}.arrow", table.schema, options=options) as file:
            file.write_table(table)
    files = [tmp_path / f"{name}.arrow" for name in tables]
    del word, tables, table
    assert all(file.stat().st_size < MIB for file in files)
    lines, most = outcomes(tmp_path, files, "--max-memory", "200MiB")
    assert all("reading it would take" in line for line in lines), lines
    assert most < 300 * MIB


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_every_kind_of_column_is_read_from_arrow(tmp_path, compression):
    columns = {"id": ["a", "b", "c"], "x": [1.0, 2.0, None], "few": [[1, 2], [], None]}
    table = pa.table(columns | {"word": pa.array(["u", "v", "u"]).dictionary_encode()})
    options = pa.ipc.IpcWriteOptions(compression=compression)
    for writer in (pa.ipc.new_file, pa.ipc.new_stream):
        with writer(tmp_path / "a.arrow", table.schema, options=options) as file:
            file.write_table(table, max_chunksize=2)
        frame = read_frame(tmp_path / "a.arrow")
        assert list(frame.columns["id"].cells) == ["a", "b", "c"]
        assert list(frame.columns["word"].cells) == ["u", "v", "u"]
        assert frame.columns["few"].cells == [[1, 2], [], None]
        np.testing.assert_equal(frame.columns["x"].cells, [1.0, 2.0, np.nan])


def test_images_packed_with_lzma_are_refused(tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "answers.csv").write_text("id,label\na,x\na,y\nb,x\nb,y\n")
    with zipfile.ZipFile(folder / "images.zip", "w", zipfile.ZIP_LZMA) as archive:
        for name in ("a.png", "b.png"):
            archive.writestr(name, bytes(60 * MIB))
    lines, most = outcomes(tmp_path, [folder])
    assert lines[0].startswith("2 ")
    assert "images.zip is packed with bzip2 or LZMA, which is not read" in lines[0]
    assert most < 120 * MIB


def test_images_are_hashed_piece_by_piece(tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "answers.csv").write_text("id,label\na,x\na,y\nb,x\nb,y\n")
    with zipfile.ZipFile(folder / "images.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a.png", "b.png"):
            archive.writestr(name, bytes(200 * MIB), compresslevel=1)
    lines, most = outcomes(tmp_path, [folder])
    assert lines[0].startswith("0 ")
    assert "1 point with the input of another" in lines[0]
    assert most < 200 * MIB


def refused(read, path, words):
    with pytest.raises(FileError, match=words) as error:
        read(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("mark", ["\x1c", "\x1d", "\x1e", "\x1f", "\u0131nf", "\x85", "\uff11"])
@pytest.mark.parametrize("cell", ["0.5{}", "{}0.5"])
def test_a_strange_character_beside_a_number_is_refused(tmp_path, cell, mark):
    text = f"id,x,y\na,{cell.format(mark)},0.5\nb,0.5,0.5\nc,0.25,0.75\n"
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    for read in (read_predictions, read_truth):
        refused(read, tmp_path / "a.csv", "column x holds numbers and .* at line 2; correct it")


@pytest.mark.parametrize("draw", ["[]", "{}", "[1]"])
def test_draws_must_be_numbers_or_words(tmp_path, draw):
    line = '{"id": "%s", "draw": %s, "probs": [0.5, 0.5]}\n'
    (tmp_path / "a.jsonl").write_text(line % ("a", draw) + line % ("b", draw))
    refused(read_predictions, tmp_path / "a.jsonl", "draw must be a number or a word in every row")


def test_check_reads_lines_that_end_in_cr_and_blank_counts(tmp_path):
    (tmp_path / "cr.csv").write_bytes(b"id,x,y\ra,5,1\rb,3,2\r")
    assert check(tmp_path / "cr.csv").n_answers == 11
    (tmp_path / "blank.csv").write_text("id,x,y\na,  ,5\nb,3,2\n")
    found = check(tmp_path / "blank.csv")
    assert found.n_answers == 10
    assert any("1 empty cell" in note for note in found.notes)
    (tmp_path / "long.csv").write_text("id,label,count\na,x,  \nb,y,2\n")
    refused(check, tmp_path / "long.csv", "column count has no number at line 2")
