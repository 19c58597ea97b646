"""docs/management.md says what the schema says, and an agent gives the answers that it shows."""

from pathlib import Path

from routerd.core import ManagementAccess, RouterSettings
from routerd.management import ALL_TYPES, LogRow, Purpose
from routerd.management.document import DOCUMENT, document, main
from routerd.management.examples import EXAMPLES, SECTIONS
from tests.unit.management.fake_router import Client, FakeRouter, connection, run, worker


def test_the_document_is_up_to_date() -> None:
    assert DOCUMENT.read_text() == document(), "run `python -m routerd.management.document`"


def test_the_document_is_written_where_one_says(tmp_path: Path) -> None:
    main([str(tmp_path / "d.md")])
    assert (tmp_path / "d.md").read_text() == document()


def test_every_type_has_a_row() -> None:
    rows = {line.split("`")[1] for line in document().splitlines() if line.startswith("| `org.")}
    assert rows == {one.full_name for one in ALL_TYPES if one.purpose is not Purpose.BASE}


def test_an_agent_gives_the_answers_that_are_shown() -> None:
    router = FakeRouter(*SECTIONS, settings=RouterSettings(id="Router.A", management_access=ManagementAccess.CHANGE))
    router.connection_rows = [connection(1, container="billing"), connection(2, container="shop")]
    router.worker_rows = [worker(0, connections=2)]
    router.log_rows = [
        LogRow(module="SERVER", level="info", text=text, file=None, line=None, time=1_795_176_862.0)
        for text in ("[C1] Connection Opened", "[C2] Connection Opened")
    ]
    agent = Client(router).agent
    for example in EXAMPLES:
        assert run(agent.answer(example.request)) == example.answer, example.title
