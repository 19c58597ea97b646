"""Every request has an answer, also when the router has none."""

import logging

import pytest

from routerd.management import Unanswered
from tests.unit.management.fake_router import SECTIONS, client_of, refusal


def test_a_router_that_gives_no_answer_is_told_of() -> None:
    client = client_of(*SECTIONS)
    client.router.failure = Unanswered("connection.1 said nothing for 5 s")
    sentence = "Part of the router gave no answer: connection.1 said nothing for 5 s"
    live = client.query("P.connection")
    assert (refusal(live), live.body) == ((500, sentence), {"attributeNames": [], "results": []})
    general = client.query("P.logStats")
    assert (refusal(general), general.body) == ((500, sentence), {})


def test_a_fault_of_ours_is_told_of_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    client = client_of(*SECTIONS)
    client.router.failure = KeyError("x")
    with caplog.at_level(logging.ERROR):
        answer = client.query("P.connection")
    assert refusal(answer) == (500, "KeyError: 'x'")
    [record] = caplog.records
    assert record.getMessage() == "Management request failed: operation QUERY, type org.amqp.management"
    assert record.exc_info is not None


def test_a_sentence_is_no_longer_than_people_read() -> None:
    answer = client_of().query("x" * 5000)
    assert answer.status == 400
    assert answer.description == f"No such entity type 'org.apache.qpid.dispatch.{'x' * 954}..."


def test_a_property_that_is_no_text_is_taken_as_it_reads() -> None:
    client = client_of()
    assert refusal(client.ask("READ", name=[1])) == (404, "No entity with name=a list")
    assert refusal(client.ask("READ", name=True)) == (404, "No entity with name=True")
    assert refusal(client.ask("READ", type=b"x", name="y")) == (
        400,
        "No such entity type 'org.apache.qpid.dispatch.b'x''",
    )
    assert client.ask("READ", name="", identity="").body["name"] == "self"
