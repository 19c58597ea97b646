"""What stands around the pages of a file: their headers, where each column is, and the footer."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from routerd.records.file_format.leaves import Leaf, Tree
from routerd.records.file_format.pages import PLAIN, RLE, Page
from routerd.records.file_format.thrift import (
    Field,
    Kind,
    i16,
    i32,
    i64,
    list_of,
    nested,
    numbers,
    struct,
    structs,
    text,
    texts,
)

MAGIC = b"PAR1"
CREATED_BY = "mobula version 1 (build 1)"
"""Readers look for known defects of writers by this, and want a version."""
_DATA, _DICTIONARY = 0, 2
_UNCOMPRESSED, _GZIP = 0, 2
_GZIP_WINDOW = 31
"""What zlib has for 15 bits and the header of gzip."""
_FORMAT = 2


@dataclass(frozen=True, slots=True)
class Chunk:
    """A column of a row group, as octets of a file."""

    octets: bytes
    size: int
    """Of the octets before they are compressed."""
    metadata: bytes
    """What the footer says of it."""


def chunk(leaf: Leaf, page: Page, start: int) -> Chunk:
    """Return a column that begins at a place of the file."""
    codec = _GZIP if page.is_repetitive else _UNCOMPRESSED
    size = 0
    dictionary = b""
    if page.dictionary is not None:
        size, dictionary = _page(
            _DICTIONARY, page.dictionary, nested(7, i32(1, page.entries), i32(2, PLAIN)), codec
        )
    kinds = i32(1, page.count), i32(2, page.encoding), i32(3, RLE), i32(4, RLE)
    data_size, octets = _page(_DATA, page.body, nested(5, *kinds), codec)
    size += data_size
    octets = dictionary + octets
    encodings = [PLAIN, RLE, page.encoding] if page.encoding != PLAIN else [PLAIN, RLE]
    found = [
        i32(1, leaf.physical),
        numbers(2, encodings),
        texts(3, leaf.path),
        i32(4, codec),
        i64(5, page.count),
        i64(6, size),
        i64(7, len(octets)),
        i64(9, start + len(dictionary)),
    ]
    if dictionary:
        found.append(i64(11, start))
    if page.range is not None:
        least, greatest = (one.to_bytes(8, "little", signed=True) for one in page.range)
        found.append(nested(12, i64(3, 0), text(5, greatest), text(6, least)))
    return Chunk(octets, size, struct(i64(2, start), nested(3, *found)))


def row_group(chunks: Sequence[Chunk], rows: int, start: int, ordinal: int) -> bytes:
    """Return what the footer says of a row group."""
    size, length = sum(one.size for one in chunks), sum(len(one.octets) for one in chunks)
    found = [structs(1, [one.metadata for one in chunks]), i64(2, size), i64(3, rows), i64(5, start), i64(6, length)]
    if ordinal <= 0x7FFF:
        found.append(i16(7, ordinal))
    return struct(*found)


def footer(tree: Tree, rows: int, groups: Sequence[bytes], notes: Mapping[bytes, bytes]) -> bytes:
    """Return the end of a file."""
    octets = struct(
        i32(1, _FORMAT),
        structs(2, tree.elements),
        i64(3, rows),
        structs(4, groups),
        structs(5, [struct(text(1, name), text(2, value)) for name, value in notes.items()]),
        text(6, CREATED_BY),
        # Without their order, nobody may rely on the least value and the greatest.
        Field(7, Kind.LIST, list_of(Kind.STRUCT, [struct(nested(1)) for _ in tree.leaves])),
    )
    return octets + len(octets).to_bytes(4, "little") + MAGIC


def _page(kind: int, body: bytes, header: Field, codec: int) -> tuple[int, bytes]:
    """Return a page with its header, and how many octets that would be if it were not compressed."""
    octets = body if codec == _UNCOMPRESSED else zlib.compress(body, 1, _GZIP_WINDOW)
    check = int.from_bytes(zlib.crc32(octets).to_bytes(4, "little"), "little", signed=True)
    head = struct(i32(1, kind), i32(2, len(body)), i32(3, len(octets)), i32(4, check), header)
    return len(head) + len(body), head + octets
