"""Columns of .parquet and .arrow files, and of folders that `datasets.save_to_disk` wrote.

What is decoded is counted while it is decoded: what the pages of a parquet file unpack to, by
their own headers and not by the footer, rows, and the words of text.
"""

import json
import uuid
from pathlib import Path, PureWindowsPath
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rue.errors import FileError
from rue.io.columns import FrameColumn
from rue.io.files import Frame
from rue.io.memory import MemoryBudget, file_size, message_size, opened, reading, size_of_pages

_PER_ROW = 16  # bytes that a row of a column takes at least
_PER_OBJECT = 120  # bytes that a value inside a list or an object takes as a Python object
_INDEX = "__index_level_"


def read_arrow(path: Path, max_memory: int | None = None) -> Frame:
    """Read a .parquet or .arrow file."""
    with opened(path) as file, reading(path, path.suffix.lower()):
        budget = MemoryBudget(path, file_size(file), max_memory)
        packed = path.suffix.lower() == ".parquet"
        source = open_parquet(path, file, budget) if packed else _ipc(path, budget)
        schema = source.schema_arrow if packed else source.schema
        if len(set(schema.names)) < len(schema.names):
            raise FileError(f"{path}: column names must not repeat")
        if packed:  # one column at a time
            parts = [source.read(columns=[name], use_threads=False) for name in schema.names]
            columns = {part.column_names[0]: part.column(0) for part in parts}
        else:
            columns = {name: source.column(name) for name in schema.names}
        return _frame(path, columns, budget, _class_labels(schema))


def is_dataset_folder(path: Path) -> bool:
    """Whether ``datasets.save_to_disk`` wrote a folder: of one table, or of several parts."""
    return path.is_dir() and bool(_parts(path))


def dataset_files(path: Path) -> list[Path]:
    """Return the files of all tables in a folder of `datasets`, without its caches."""
    return [file for folder in _parts(path) for file in _files(folder)]


def _parts(path: Path) -> list[Path]:
    """Return the folder itself if it holds one table of `datasets`, or the folders of its parts."""
    if _is_table(path):
        return [path]
    listed = path / "dataset_dict.json"
    if not listed.is_file():
        return [folder for folder in sorted(path.iterdir()) if _is_table(folder)]
    folders = sorted(_inside(listed, name) for name in _entries(listed, "splits"))
    lacking = [folder.name for folder in folders if not _is_table(folder)]
    if lacking:
        raise FileError(f"{listed}: lists {lacking[0]!r}, which is no folder with a table")
    return folders


def _is_table(folder: Path) -> bool:
    """Whether a folder holds a table of `datasets`."""
    return (folder / "dataset_info.json").is_file() and bool(_files(folder))


def _files(folder: Path) -> list[Path]:
    """Return the files that the state of a table lists, or without a state all but caches."""
    state = folder / "state.json"
    if not state.is_file():
        return sorted(f for f in folder.glob("*.arrow") if not f.name.startswith("cache-"))
    if _entries(state, "_indices_data_files", needed=False):
        raise FileError(f"{state}: chooses rows by indices: call flatten_indices() and save again")
    entries = _entries(state, "_data_files")
    files = [_inside(state, e.get("filename") if isinstance(e, dict) else e) for e in entries]
    lacking = [file.name for file in files if not file.is_file()]
    if lacking:
        raise FileError(f"{state}: lists {lacking[0]!r}, which is not there")
    return files


def _entries(path: Path, key: str, *, needed: bool = True) -> list[Any]:
    """Return a list in a JSON file of `datasets`, or raise if it has none and one is needed."""
    try:
        entries = json.loads(path.read_bytes()).get(key)
    except (OSError, ValueError, AttributeError, RecursionError):
        raise FileError(f"{path}: must be a JSON object that can be read") from None
    if not isinstance(entries, list) or not entries:
        if not needed and not entries:
            return []
        raise FileError(f"{path}: {key} must be a list of names")
    return entries


def _inside(listed: Path, name: Any) -> Path:
    """Return the path of a name that a file lists, or raise if it is not inside its folder."""
    text = name if isinstance(name, str) else ""
    place = PureWindowsPath(text)
    if not place.parts or place.anchor or ".." in place.parts or "\0" in text:
        raise FileError(f"{listed}: must list names inside its folder, got {str(name)[:60]!r}")
    return listed.parent / text


def read_dataset_folder(path: Path, max_memory: int | None = None, *, parts: bool = False) -> Frame:
    """Read a folder of `datasets`; with ``parts``, all of them, and a column ``split``."""
    import pyarrow as pa

    folders = _parts(path)
    if not folders or (folders != [path] and not parts):
        hint = f"; choose a part: {', '.join(f.name for f in folders)}" if folders else ""
        raise FileError(f"{path}: cannot be read: a folder must be one of `datasets`{hint}")
    with reading(path, ".arrow"):
        files = {folder: _files(folder) for folder in folders}
        size = sum(file.stat().st_size for own in files.values() for file in own)
        budget = MemoryBudget(path, size, max_memory)
        tables = []
        for folder, own in files.items():
            table = pa.concat_tables([_ipc(file, budget) for file in own])
            if folder != path and "split" not in table.column_names:
                table = table.append_column("split", pa.array([folder.name] * len(table)))
            tables.append(table)
        table = pa.concat_tables(tables)
        columns = {name: table.column(name) for name in table.column_names}
        return _frame(path, columns, budget, _class_labels(table.schema, folders[0]))


def open_parquet(path: Path, file: BinaryIO, budget: MemoryBudget | None = None) -> Any:
    """Return an open parquet file whose pages fit into memory; words are kept once each."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    budget = budget or MemoryBudget(path, file_size(file))
    # Arrow opens the file itself: a thread of Arrow that calls into Python aborts at exit.
    plain = pq.ParquetFile(pa.OSFile(str(path)))
    meta, schema = plain.metadata, plain.schema_arrow
    leaves = [meta.schema.column(i) for i in range(meta.num_columns)]
    ordered = {field.name for field in schema if pa.types.is_dictionary(field.type)}
    words = [
        leaf.path
        for leaf in leaves
        if leaf.physical_type == "BYTE_ARRAY" and leaf.path not in ordered
    ]
    budget.take(meta.num_rows * _PER_ROW * meta.num_columns)
    for group in range(meta.num_row_groups):
        for column, leaf in enumerate(leaves):
            chunk = meta.row_group(group).column(column)
            start = chunk.data_page_offset
            if chunk.has_dictionary_page and chunk.dictionary_page_offset:
                start = min(start, chunk.dictionary_page_offset)
            end = start + chunk.total_compressed_size
            n_bytes, n_values = size_of_pages(file, start, end, chunk.num_values)
            budget.take(max(chunk.total_uncompressed_size, n_bytes))
            budget.take(max(chunk.num_values, n_values) * max(leaf.length, _PER_ROW))
    return pq.ParquetFile(pa.OSFile(str(path)), read_dictionary=words)


def _ipc(path: Path, budget: MemoryBudget) -> Any:
    """Return the table of a file or stream of Arrow, whose messages are counted before it."""
    import pyarrow as pa

    content = pa.OSFile(str(path)).read_buffer()
    # A file is a stream between two marks, with a footer that may lie.
    start = 8 if content[:6].to_pybytes() == b"ARROW1" else 0
    stream = pa.ipc.open_stream(pa.BufferReader(content.slice(start)))
    for message in pa.ipc.MessageReader.open_stream(pa.BufferReader(content.slice(start))):
        budget.take(message_size(message, _PER_ROW * len(stream.schema)))
    return stream.read_all()


def _class_labels(schema: Any, folder: Path | None = None) -> dict[str, list[str]]:
    """Return the names of classes that `datasets` stores for columns of their numbers."""
    try:
        stored: Any = (schema.metadata or {}).get(b"huggingface")
        if stored is None and folder is not None:
            info = json.loads((folder / "dataset_info.json").read_bytes())
        else:
            info = json.loads(stored)["info"]
        features = info["features"]
        inner = {
            name: one[0] if isinstance(one, list) else one.get("feature", one)
            for name, one in features.items()
        }
        return {
            name: [str(word) for word in one["names"]]
            for name, one in inner.items()
            if isinstance(one, dict) and one.get("_type") == "ClassLabel"
        }
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return {}


def _by_name(cell: Any, names: list[str]) -> Any:
    """Return numbers of classes, alone or in lists, as their names; -1 is no label."""
    if isinstance(cell, list):
        return [_by_name(one, names) for one in cell]
    missing = cell is None or cell != cell or cell == -1
    return None if missing else names[int(cell)] if 0 <= int(cell) < len(names) else cell


def _frame(
    path: Path, table: dict[str, Any], budget: MemoryBudget, labels: dict[str, list[str]]
) -> Frame:
    n_rows = len(next(iter(table.values()), ()))
    if not n_rows:
        raise FileError(f"{path}: holds no rows")
    columns = {}
    for name, stored in table.items():
        column = _column(stored, budget)
        if name in labels:
            cells = [_by_name(cell, labels[name]) for cell in column.listed]
            column = FrameColumn(cells, budget, tuple(labels[name]), "given")
        if not (name.startswith(_INDEX) and column.counts_rows):
            columns[name] = column
    return Frame(path, columns, {}, range(1, n_rows + 1))


def _column(cells: Any, budget: MemoryBudget) -> FrameColumn:
    import pyarrow as pa

    kind, order = cells.type, None
    if pa.types.is_dictionary(kind) and not _is_text(kind):
        cells = cells.cast(kind.value_type)
        kind = cells.type
    if _is_text(kind):
        encoded = cells.dictionary_encode().unify_dictionaries().combine_chunks()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.chunk(0)
        words = [_as_text(word) for word in encoded.dictionary.to_pylist()]
        if pa.types.is_dictionary(kind) and kind.ordered:
            order = tuple(words)
        words.append("")  # each once: it may stand in many rows
        budget.take(4 * sum(map(len, words)) + _PER_OBJECT * len(words))
        place = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        own = [words[i] for i in place.tolist()]
        return FrameColumn(own, budget, order, "none" if order is None else "scale")
    if pa.types.is_decimal(kind):
        cells = cells.cast(pa.float64())
        kind = cells.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        array: NDArray[Any] = cells.to_numpy()
        if array.dtype.kind == "O":  # booleans with missing ones
            return FrameColumn(array.tolist(), budget)
        return FrameColumn(array, budget)
    if pa.types.is_null(kind):
        return FrameColumn(np.full(len(cells), np.nan), budget)
    if pa.types.is_nested(kind):
        budget.take(_PER_OBJECT * _n_values(cells) + 2 * cells.nbytes)
        return FrameColumn(_plain_lists(cells.to_pylist()), budget)
    if pa.types.is_fixed_size_binary(kind):
        budget.take((4 * kind.byte_width + _PER_OBJECT) * len(cells))
        return FrameColumn([_as_text(cell) for cell in cells.to_pylist()], budget)
    return FrameColumn(["" if cell is None else str(cell) for cell in cells.to_pylist()], budget)


def _is_text(kind: Any) -> bool:
    """Whether a column holds text or bytes of any length."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return str(kind).removeprefix("large_") in ("string", "binary") or pa.types.is_string_view(kind)


def _n_values(cells: Any) -> int:
    """Return how many values a column of lists or objects holds, long words as several."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(cells.type) and _is_text(cells.type):
        n_letters = 0
        for chunk in getattr(cells, "chunks", [cells]):
            lengths = pc.take(pc.binary_length(chunk.dictionary), chunk.indices)
            n_letters += pc.sum(pc.cast(lengths, pa.int64())).as_py() or 0
        return len(cells) + 4 * n_letters // _PER_OBJECT
    if pa.types.is_struct(cells.type):
        return len(cells) + sum(_n_values(part) for part in cells.flatten())
    if pa.types.is_map(cells.type) or not hasattr(cells.type, "value_type"):
        return 4 * len(cells)
    parts = [chunk.flatten() for chunk in getattr(cells, "chunks", [cells])]
    return len(cells) + sum(_n_values(part) for part in parts)


def _plain_lists(cells: list[Any]) -> list[Any]:
    """Return maps, which Arrow gives as lists of pairs, as objects."""
    return [
        dict(cell)
        if isinstance(cell, list) and cell and all(isinstance(pair, tuple) for pair in cell)
        else cell
        for cell in cells
    ]


def _as_text(cell: str | bytes | None) -> str:
    """Return text, or bytes as the text, the UUID or the number in base 16 that they are."""
    if cell is None or isinstance(cell, str):
        return cell or ""
    try:
        text = cell.decode("utf-8")
        if text.isprintable():
            return text
    except UnicodeDecodeError:
        pass
    return str(uuid.UUID(bytes=cell)) if len(cell) == 16 else cell.hex()
