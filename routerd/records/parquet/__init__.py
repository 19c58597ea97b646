"""Records as Parquet by Arrow, for who reads them and makes others of them: a router needs no pyarrow."""

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
