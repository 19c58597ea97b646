"""Parquet as far as a router writes it, without a library: pages made of columns of numbers, and files of these."""

from routerd.records.file_format.columns import page_of_optional, page_of_texts, pages_of_column
from routerd.records.file_format.leaves import BYTE_ARRAY, INT32, INT64
from routerd.records.file_format.packing import (
    differences,
    list_levels,
    looked_up,
    packed,
    present,
    range_of,
    which_of,
)
from routerd.records.file_format.pages import (
    Page,
    absent,
    constant,
    everywhere,
    here_and_there,
    named,
    numeric,
    of_few,
    series,
    wide,
)
from routerd.records.file_format.writing import TABLE_KEY, VERSION_KEY, GroupWriter

__all__ = [
    "BYTE_ARRAY",
    "INT32",
    "INT64",
    "TABLE_KEY",
    "VERSION_KEY",
    "GroupWriter",
    "Page",
    "absent",
    "constant",
    "differences",
    "everywhere",
    "here_and_there",
    "list_levels",
    "looked_up",
    "named",
    "numeric",
    "of_few",
    "packed",
    "page_of_optional",
    "page_of_texts",
    "pages_of_column",
    "present",
    "range_of",
    "series",
    "which_of",
    "wide",
]
