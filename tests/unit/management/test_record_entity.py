"""What is recorded of the router's decisions: looked at, and changed."""

from typing import Any

import pytest

from routerd.management import RECORD_COUNTERS
from tests.unit.management.fake_router import client_of, refusal, worker

RECORD = "org.mobula.record"
WHERE = {"type": RECORD, "identity": "record/decisions"}
COUNTERS = dict.fromkeys(RECORD_COUNTERS.values(), 0)


def test_a_router_without_a_section_records_nothing() -> None:
    assert client_of().ask("READ", **WHERE).body == {
        "level": "off",
        "sample": 100,
        "rotateSeconds": 60,
        "rotateMegabytes": 64,
        "retentionHours": 168,
        "retentionMegabytes": 10_240,
        "status": "off",
        **dict.fromkeys(RECORD_COUNTERS, 0),
        "name": "record/decisions",
        "identity": "record/decisions",
        "type": RECORD,
    }


def test_counters_are_those_of_all_workers() -> None:
    found = client_of(("record", {"level": "all", "directory": "/records"}))
    found.router.worker_rows = [
        worker(0, recording_status="recording", recording=COUNTERS | {"rows_written": 5, "errors": 1}),
        worker(1, recording_status="stopped: the disk is full", recording=COUNTERS | {"rows_written": 7}),
    ]
    [row] = found.rows(RECORD, "level", "directory", "status", "rowsWritten", "errorCount", "filesWritten")
    assert row == ["all", "/records", "stopped: the disk is full", 12, 1, 0]


def test_the_place_of_the_report_is_told_and_changed() -> None:
    url = "https://reports.example.com/report.html"
    found = client_of(("record", {"level": "all", "directory": "/records"}))
    assert found.ask("UPDATE", {"reportUrl": url}, **WHERE).status == 200
    assert found.rows(RECORD, "reportUrl", "level") == [[url, "all"]]


def test_it_is_changed_as_a_whole_or_in_part() -> None:
    found = client_of(("record", {"level": "sampled", "directory": "/records", "sample": 10}))
    told = found.ask("UPDATE", {"level": "all", "sample": None, "retentionHours": 0, "type": RECORD}, **WHERE)
    assert told.status == 200
    assert {name: told.body[name] for name in ("level", "sample", "directory", "retentionHours")} == {
        "level": "all",
        "sample": 100,
        "directory": "/records",
        "retentionHours": 0,
    }
    assert found.router.asked == ["update record/decisions"]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"level": "much"}, "much"),
        ({"sample": 0}, "1 to 1000000"),
        ({"rotateSeconds": 4000}, "1 to 3600"),
        ({"rowsWritten": 5}, "Cannot update attribute 'rowsWritten' in UPDATE"),
        ({"identity": "another"}, "Cannot update attribute 'identity' in UPDATE"),
        ({"leve": "all"}, "leve"),
        ([1], ""),
    ],
)
def test_what_does_not_fit_is_refused(body: Any, sentence: str) -> None:
    status, description = refusal(client_of().ask("UPDATE", body, **WHERE))
    assert (status, sentence in description) == (400, True), description


@pytest.mark.parametrize("operation", ["CREATE", "DELETE"])
def test_there_is_always_one(operation: str) -> None:
    found = client_of()
    assert found.ask(operation, {}, **WHERE).status in (400, 501)
    assert found.ask("READ", **WHERE).status == 200
