"""What pages of parquet and messages of Arrow unpack to, by their own headers."""

from typing import Any, BinaryIO

_LONGEST_HEADER = 16 << 20  # bytes of a page, as Arrow has it: statistics may hold long words


def size_of_pages(file: BinaryIO, start: int, end: int, n_wanted: int) -> tuple[int, int]:
    """Return the bytes and the values of the pages of a column chunk, by the pages' own headers."""
    n_bytes, n_values, place, n_read = 0, 0, start, 256
    while place < end and n_values < n_wanted:
        file.seek(place)
        fields: dict[tuple[int, ...], int] = {}
        try:
            used = _skip_struct(file.read(n_read), 0, fields)
        except IndexError:
            if n_read >= min(_LONGEST_HEADER, end - place):
                raise ValueError("a page has no valid header") from None
            n_read *= 16
            continue
        if (2,) not in fields or fields.get((3,), -1) < 0:
            raise ValueError("a page has no valid header")
        n_bytes += fields[2,]
        n_values += fields.get((5, 1), 0) + fields.get((8, 1), 0)
        place += used + fields[3,]
    return n_bytes, n_values


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, place


def _skip_struct(
    data: bytes, place: int, fields: dict[tuple[int, ...], int], parents: tuple[int, ...] = ()
) -> int:
    """Return where a struct ends; its whole numbers go into ``fields`` by their path."""
    number = 0
    while True:
        byte = data[place]
        place += 1
        if byte == 0:
            return place
        kind, delta = byte & 0x0F, byte >> 4
        if delta:
            number += delta
        else:
            raw, place = _varint(data, place)
            number = (raw >> 1) ^ -(raw & 1)
        if kind in (4, 5, 6):  # i16, i32, i64 in zigzag
            raw, place = _varint(data, place)
            fields[*parents, number] = (raw >> 1) ^ -(raw & 1)
        elif kind == 3:
            place += 1
        elif kind == 7:
            place += 8
        elif kind == 8:
            length, place = _varint(data, place)
            place += length
        elif kind == 12:
            place = _skip_struct(data, place, fields, (*parents, number))
        elif kind not in (1, 2):
            raise IndexError


def message_size(message: Any, per_row: int) -> int:
    """Return the bytes that a message takes once it is unpacked: see Message.fbs of Arrow."""
    data, body = message.metadata.to_pybytes(), message.body

    def number(place: int, n_bytes: int) -> int:
        return int.from_bytes(data[place : place + n_bytes], "little", signed=n_bytes > 2)

    def field(table: int, index: int) -> int:
        """Return where the field of a table is, or 0 if it is not there."""
        names = table - number(table, 4)
        at = 4 + 2 * index
        offset = number(names + at, 2) if at < number(names, 2) else 0
        return table + offset if offset else 0

    def target(place: int) -> int:
        return place + number(place, 4)

    if message.type not in ("record batch", "dictionary"):
        return 0
    batch = target(field(number(0, 4), 2))
    if message.type == "dictionary":
        batch = target(field(batch, 1))
    rows, buffers, packed = (field(batch, index) for index in (0, 2, 3))
    n_bytes = max(number(rows, 8), 0) * per_row if rows else 0
    first = target(buffers) + 4 if buffers else len(data)
    for place in range(first, min(first + 16 * number(first - 4, 4), len(data)), 16):
        begin, length = number(place, 8), number(place + 8, 8)
        head = body[begin : begin + 8].to_pybytes() if packed and length > 8 else b""
        n_bytes += max(int.from_bytes(head, "little", signed=True), length)
    return n_bytes
