"""Writes record files column by column: aside first, and under their name once they are complete."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from routerd.records.file_format.leaves import tree_of
from routerd.records.file_format.metadata import MAGIC, chunk, footer, row_group
from routerd.records.file_format.pages import Page
from routerd.records.files import RecordFile, aside
from routerd.records.schema import Table

TABLE_KEY = b"mobula.table"
VERSION_KEY = b"mobula.version"


class GroupWriter:
    """Writes one file, row group by row group; it appears when it is completed. Raises OSError."""

    def __init__(self, directory: Path, table: Table, file: RecordFile) -> None:
        self._directory = directory
        self._named = file
        path = directory / file.path
        self.aside = path.with_name(aside(path.name))
        self._tree = tree_of(table, file.version)
        self._notes = {TABLE_KEY: table.name.encode(), VERSION_KEY: str(file.version).encode()}
        self._groups: list[bytes] = []
        self.rows = 0
        self.octets = 0
        """What has been written so far."""
        self.aside.parent.mkdir(parents=True, exist_ok=True)
        self._file: BinaryIO = self.aside.open("wb", buffering=0)
        self._put(MAGIC)

    def write(self, pages: Mapping[str, Page], rows: int) -> None:
        """Append a row group, which has a page for each column."""
        start = self.octets
        chunks = []
        for leaf in self._tree.leaves:
            one = chunk(leaf, pages[leaf.name], start)
            start += len(one.octets)
            chunks.append(one)
        self._groups.append(row_group(chunks, rows, self.octets, len(self._groups)))
        self._put(b"".join(one.octets for one in chunks))
        self.rows += rows

    def complete(self, first_us: int | None = None) -> Path:
        """Write the end, and give the file its name; return where it is. The time in it may be another."""
        named = self._named if first_us is None else replace(self._named, first_us=first_us)
        path = self._directory / named.path
        try:
            self._put(footer(self._tree, self.rows, self._groups, self._notes))
            self._file.close()
            os.replace(self.aside, path)
        finally:
            self.discard()
        return path

    def discard(self) -> None:
        """Leave nothing of a file that is not complete."""
        self._file.close()
        self.aside.unlink(missing_ok=True)

    def _put(self, octets: bytes) -> None:
        rest = memoryview(octets)
        while rest:
            rest = rest[self._file.write(rest) :]
        self.octets += len(octets)
