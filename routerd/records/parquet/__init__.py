"""Records as Parquet: the only part of this package that needs pyarrow, which a router that records nothing lacks."""

from routerd.records.parquet.arrow import arrow_schema
from routerd.records.parquet.footer import Footer, read_footer
from routerd.records.parquet.writing import RecordWriter, write_record_file

__all__ = [
    "Footer",
    "RecordWriter",
    "arrow_schema",
    "read_footer",
    "write_record_file",
]
