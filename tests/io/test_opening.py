"""What a file declares is checked before it is allocated."""

import gzip
import json
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from memory import peak
from rue.errors import FileError, InputError
from rue.io.arrays import load_npy, load_npz, npz_shapes
from rue.io.files import read_frame
from rue.io.memory import (
    MemoryBudget,
    allowance,
    file_size,
    parse_size,
    require_memory,
    size_of_pages,
)


def load_table(path, **options):
    """The columns of a table as arrays: numbers where all cells are, otherwise words."""
    return {n: c.group for n, c in read_frame(path, **options).columns.items()}


GIB = 1 << 30


def npy_header(shape, descr="<f8", version=1):
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    size = 2 if version == 1 else 4
    text += b" " * (-(len(text) + 9 + size) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(size, "little") + text


@pytest.fixture(scope="module")
def bomb(tmp_path_factory):
    """An .npz of 3 MB that has 3 GiB of zeros beside its predictions."""
    path = tmp_path_factory.mktemp("bombs") / "bomb.npz"
    np.savez(path, probs=np.full((4, 2, 2), 0.5), counts=np.array([[3, 1]] * 4))
    info = zipfile.ZipInfo("unused.npy")
    info.compress_type, info._compresslevel = zipfile.ZIP_DEFLATED, 1
    with zipfile.ZipFile(path, "a") as archive, archive.open(info, "w", force_zip64=True) as out:
        out.write(npy_header((3 * GIB // 8,)))
        zeros = bytes(1 << 24)
        for _ in range(3 * 64):
            out.write(zeros)
    return path


@pytest.fixture(scope="module")
def many_rows(tmp_path_factory):
    """300 million constant rows in a parquet of a megabyte: the same row group, again and again."""
    path = tmp_path_factory.mktemp("bombs") / "many.parquet"
    n, times = 10_000_000, 30
    rows = pa.table({name: pa.array(np.zeros(n)) for name in ("aleatoric", "epistemic")})
    with pq.ParquetWriter(path, rows.schema, compression="zstd") as writer:
        for _ in range(times):
            writer.write_table(rows, row_group_size=n)
    return path


@pytest.mark.slow
def test_an_unused_member_of_3_gib_is_not_read(bomb):
    assert bomb.stat().st_size < 20 << 20
    code = (
        "from rue.io.arrays import load_npz, npz_shapes; from pathlib import Path\n"
        "path = Path(sys.argv[1]); print(npz_shapes(path)['unused'], *load_npz(path, ['probs']))"
    )
    printed, memory = peak(code, bomb)
    assert printed == "(402653184,) probs"
    assert memory < GIB // 2
    with pytest.raises(
        FileError, match=r"bomb.npz: reading it would take 3\.0 GiB of memory, and "
    ):
        load_npz(bomb)


@pytest.mark.slow
def test_a_parquet_of_300_million_rows_is_refused(many_rows):
    code = (
        "from rue.errors import FileError; from rue.io.files import read_frame\n"
        "from pathlib import Path\n"
        "try: read_frame(Path(sys.argv[1]))\n"
        "except FileError as error: print(error)"
    )
    printed, memory = peak(code, many_rows)
    assert "many.parquet: reading it would take" in printed
    assert memory < GIB // 2


def npz(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def test_what_an_array_declares_is_checked_before_it_is_made(tmp_path):
    path = npz(tmp_path / "a.npz", probs=npy_header((3 * GIB // 8,)))
    with pytest.raises(FileError, match=r"would take 3\.0 GiB of memory, and 1\.0 GiB are allowed"):
        load_npz(path)
    assert load_npz(path, []) == {}
    assert npz_shapes(path) == {"probs": (3 * GIB // 8,)}
    # Elements of no size take no memory, but time.
    for descr in ("<U0", "|V0", "|S0"):
        npz(path, ids=npy_header((10**9,), descr))
        with pytest.raises(FileError, match=r"reading it would take 7\.5 GiB"):
            load_npz(path)


def test_members_that_unpack_all_at_once_are_not_unpacked(tmp_path):
    """4 kB of bzip2 may hold gigabytes, and zipfile would unpack them for the first byte."""
    path = tmp_path / "a.npz"
    np.savez(path, probs=np.full((4, 2, 2), 0.5))
    for kind, name in ((zipfile.ZIP_BZIP2, "counts.npy"), (zipfile.ZIP_LZMA, "ids.npy")):
        with zipfile.ZipFile(path, "a", kind) as archive:
            archive.writestr(name, npy_header((1 << 21,)) + bytes(1 << 24))
    assert path.stat().st_size < 20_000
    assert npz_shapes(path) == {"probs": (4, 2, 2), "counts": (), "ids": ()}
    assert list(load_npz(path, ["probs"])) == ["probs"]
    for name in ("counts", "ids"):
        with pytest.raises(FileError, match=f"{name} is packed with bzip2 or LZMA, which is not"):
            load_npz(path, [name])


def test_a_header_of_any_length_is_not_read(tmp_path):
    long = b"\x93NUMPY\x02\x00" + (3 * GIB).to_bytes(4, "little")
    path = npz(tmp_path / "a.npz", probs=long)
    for read in (load_npz, npz_shapes):
        with pytest.raises(FileError, match="its header has 3,221,225,472 bytes, 10,000 are"):
            read(path)
    (tmp_path / "a.npy").write_bytes(long)
    with pytest.raises(FileError, match="its header has 3,221,225,472 bytes"):
        load_npy(tmp_path / "a.npy")


@pytest.mark.parametrize(
    "content",
    [
        npy_header((-1,)),
        npy_header((2, -(10**20))),
        npy_header((2,), "|O"),
        npy_header((10**30,)),
        npy_header((4,)) + b"half",
        npy_header((1,), [("a", "<f8")], version=1)[:20],
        b"\x93NUMPY\x03\x00" + npy_header((1,))[8:],
        b"\x93NUMPY\x01\x00\x10\x00" + b"(" * 16,
        b"\x93NUMPY",
    ],
)
def test_arrays_that_are_none_are_one_line(tmp_path, content):
    path = npz(tmp_path / "a.npz", probs=content)
    (tmp_path / "a.npy").write_bytes(content)
    for read, file in ((load_npz, path), (load_npy, tmp_path / "a.npy")):
        with pytest.raises(FileError, match=r"a\.np[zy]: ") as caught:
            read(file)
        assert "\n" not in str(caught.value)


def test_text_takes_as_much_as_its_longest_word(tmp_path):
    """A table of 300 kB whose column of words would take 20 GB."""
    path = tmp_path / "a.csv"
    path.write_text("name,x\n" + "a,1\n" * 50_000 + "b" * 100_000 + ",1\n")
    assert load_table(path)["name"].dtype == object  # each word as long as it is
    with pytest.raises(FileError, match=r"a\.csv: reading it would take 18\.6 GiB of memory"):
        _ = read_frame(path).columns["name"].words
    words = ["a"] * 50_000 + ["b" * 100_000]
    pq.write_table(pa.table({"name": words}), tmp_path / "a.parquet")
    with pytest.raises(FileError, match=r"a\.parquet: reading it would take 18\.6 GiB"):
        _ = read_frame(tmp_path / "a.parquet").columns["name"].words
    pq.write_table(pa.table({"name": ["long " * 50] * 50_000}), tmp_path / "b.parquet")
    assert (load_table(tmp_path / "b.parquet")["name"] == ("long " * 50).strip()).all()


def test_another_limit(tmp_path, monkeypatch):
    np.savez(tmp_path / "a.npz", probs=np.zeros(1000))
    (tmp_path / "a.csv").write_text("a,b\n" + "1,2\n" * 1000)
    for read, name in ((load_npz, "a.npz"), (load_table, "a.csv")):
        with pytest.raises(FileError, match=r"and 1\.0 KiB are allowed; .* max_memory"):
            read(tmp_path / name, max_memory=1024)
    monkeypatch.setenv("RUE_MAX_MEMORY", "1KiB")
    assert len(load_npz(tmp_path / "a.npz", max_memory=1 << 30)["probs"]) == 1000
    monkeypatch.setenv("RUE_MAX_MEMORY", "many")
    with pytest.raises(InputError, match="RUE_MAX_MEMORY must be a size such as 2GiB"):
        load_npz(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GiB", 2 * GIB), ("2g", 2 * GIB), ("500MB", 5 * 10**8), ("1.5 KiB", 1536), (" 7 ", 7)],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GiB", "-1GiB", "2 XiB", "nan", "inf", "0", "1e3", "1" * 30])
def test_what_is_no_size(text):
    with pytest.raises(InputError, match="max_memory must be a size such as 2GiB"):
        parse_size(text)


def test_the_allowance_is_the_larger_of_1_gib_and_100_times_the_file():
    assert allowance(0) == allowance(GIB // 100) == GIB
    assert allowance(GIB) == 100 * GIB
    require_memory("a", GIB, 0)
    with pytest.raises(FileError, match=r"^a: reading it would take 1\.0 GiB"):
        require_memory("a", GIB + 1, 0)


def test_dcic_annotations_that_unpack_to_too_much(tmp_path):
    import rue.data

    (tmp_path / "dcic").mkdir()
    with zipfile.ZipFile(tmp_path / "dcic/Turkey.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Turkey/annotations.json", b"[" + b" " * (120 << 20) + b"]")
    with pytest.raises(FileError, match=r"Turkey\.zip: reading it would take 1\.2 GiB of memory"):
        rue.data.load("dcic-turkey", tmp_path)


def test_the_estimate_for_dcic_is_above_what_it_takes():
    import tracemalloc

    from rue.data.datasets.dcic import _PARSED

    answers = [
        {"image_path": f"Turkey/fold1/{i}.png", "class_label": "a", "created_at": None}
        for i in range(20_000)
    ]
    content = json.dumps([{"dataset_name": "Turkey", "annotations": answers}]).encode()
    tracemalloc.start()
    json.loads(content)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < _PARSED * len(content)


def test_the_estimate_for_a_csv_is_above_what_it_takes(tmp_path):
    import tracemalloc

    rng = np.random.default_rng(0)
    for text in (
        "\n".join(",".join(map(repr, row)) for row in rng.random((2000, 10)).tolist()),
        "\n".join(",".join(map(str, row)) for row in rng.integers(9, 99, (5000, 10)).tolist()),
    ):
        path = tmp_path / "a.csv"
        path.write_text(text)
        tracemalloc.start()
        load_table(path)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        budget = MemoryBudget(path, 0)
        budget.take_text(text.encode(), b",;\t\n\r")
        assert most < budget.taken < 3 * most


def test_gzip_is_no_other_way_in(monkeypatch):
    from rue.data.files import gunzip

    monkeypatch.setenv("RUE_MAX_MEMORY", "1MiB")
    with pytest.raises(FileError, match=r"g: reading it would take 1\.0 MiB"):
        gunzip(gzip.compress(bytes(1 << 21)), "g")


@pytest.mark.parametrize("shape", [(2**33, 0), (2**40, 0), (2**31, 0), (0, 3)])
@pytest.mark.parametrize("name", ["counts", "ratings"])
def test_an_axis_of_size_0_is_refused_before_anything_is_allocated(tmp_path, name, shape):
    """A file of 246 bytes took 8.4 GB."""
    npz(tmp_path / "a.npz", **{name: npy_header(shape)})
    (tmp_path / "a.npy").write_bytes(npy_header(shape))
    code = (
        "from rue.errors import FileError; from rue.io import read_truth\n"
        "try: read_truth(sys.argv[1])\n"
        "except FileError as error: print(error)"
    )
    for file in ("a.npz", "a.npy"):
        printed, memory = peak(code, tmp_path / file)
        assert "at least one entry per axis" in printed or "would take" in printed
        assert memory < GIB // 2


def test_the_size_of_an_open_file(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    with (tmp_path / "a").open("rb") as file:
        file.read(3)
        assert file_size(file) == 5
        assert file.read() == b"12345"


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_pages_of_both_versions_are_counted(tmp_path, version):
    path, cells = tmp_path / "a.parquet", pa.table({"x": np.arange(5_000.0)})
    pq.write_table(cells, path, data_page_version=version, data_page_size=8_000)
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(0)
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    with path.open("rb") as file:
        n_bytes, n_values = size_of_pages(file, start, start + chunk.total_compressed_size, 5_000)
    assert n_values == 5_000
    assert 0 < n_bytes <= chunk.total_uncompressed_size


def test_a_budget_may_be_used_up_and_not_exceeded():
    budget = MemoryBudget("a.csv", 0, limit=10)
    budget.take(4)
    budget.take(6)
    with pytest.raises(FileError, match="take 11 bytes of memory, and 10 bytes are allowed"):
        budget.take(1)
    assert parse_size("512") == parse_size("512 B") == 512
    assert parse_size("2kB") == 2000
