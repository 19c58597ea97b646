"""What is recorded of a router's decisions: the tables, and where their files lie. `parquet` writes and checks them."""

from routerd.records.errors import NotARecordFile, RecordsError
from routerd.records.files import Place, RecordFile, aside, is_aside
from routerd.records.message_key import message_key
from routerd.records.schema import CANDIDATE, Column, Kind, Table
from routerd.records.tables import DECISIONS, EVENTS, FLOWS, TABLES
from routerd.records.vocabulary import Cause, EventKind, LinkKind, Outcome

__all__ = [
    "CANDIDATE",
    "DECISIONS",
    "EVENTS",
    "FLOWS",
    "TABLES",
    "Cause",
    "Column",
    "EventKind",
    "Kind",
    "LinkKind",
    "NotARecordFile",
    "Outcome",
    "Place",
    "RecordFile",
    "RecordsError",
    "Table",
    "aside",
    "is_aside",
    "message_key",
]
