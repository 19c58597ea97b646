"""HTTP on a connection: answers one after the other, limits, and what is said to peers that are wrong here."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from routerd.io.http import filter as http_filter
from routerd.io.http.filter import HEAD_MAX, PLAIN_REFUSED, REQUESTS_MAX, UNREAD_MAX
from routerd.io.http.requests import Answer, Request
from tests.unit.io.http.stacks import Health, Line
from tests.waiting import eventually_beside

GET = b"GET /livez HTTP/1.1\r\nHost: r\r\n\r\n"
UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "keep-alive, Upgrade",
    "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec_WebSocket_Protocol": "mqtt, amqp",
}
ACCEPTED = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
"""What RFC 6455 section 1.3 has for this key."""


def in_loop(body: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        await body()

    asyncio.run(run())


@pytest.fixture(autouse=True)
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is logged, without a limit to how often."""
    texts: list[str] = []
    monkeypatch.setattr(http_filter._seldom, "say", lambda level, cause, text: texts.append(text))
    return texts


def test_requests_are_answered_in_order_however_they_come(said: list[str]) -> None:
    async def body() -> None:
        line = Line()
        line.send(GET + GET.replace(b"GET", b"HEAD") + GET[:9])
        status, headers, text = await line.read()
        assert (status, text, headers["content-type"]) == (200, b"OK\n", "text/plain; charset=utf-8")
        await eventually_beside(lambda: b"\r\n\r\n" in line.stack.written, "HEAD is answered")
        assert bytes(line.stack.written).endswith(b"\r\n\r\n")
        assert b"Content-Length: 3\r\n" in line.stack.written
        line.stack.written.clear()
        for octet in GET[9:]:
            line.send(bytes([octet]))
        assert (await line.read())[0] == 200
        assert not line.stack.is_finished

    in_loop(body)
    assert said == []


def test_health_is_what_the_worker_says() -> None:
    async def body() -> None:
        health = Health()
        health.has_started, health.missing = False, ["One.", "Two."]
        line = Line(health)
        assert (await line.ask("/startupz"))[0] == 503
        status, _, text = await line.ask("/readyz")
        assert (status, text) == (503, b"One.\nTwo.\n")
        health.has_started, health.missing = True, []
        found = [(await line.ask(path))[0] for path in ("/startupz", "/readyz", "/livez", "/healthz", "/healthz/any")]
        assert found == [200] * 5
        assert [(await Line(healthz=False).ask(path))[0] for path in ("/healthz", "/livez", "/readyz")] == [404] * 3

    in_loop(body)


def test_methods_that_change_things_are_refused_with_those_that_do_not() -> None:
    async def body() -> None:
        line = Line()
        status, headers, _ = await line.ask("/livez", "POST")
        assert (status, headers["allow"]) == (405, "GET, HEAD")
        assert (await line.ask("/else"))[0] == 404

    in_loop(body)


def test_a_fault_of_ours_costs_one_answer(monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    async def body() -> None:
        line = Line()

        async def fail(request: Request) -> Answer:
            raise KeyError("fault")

        monkeypatch.setattr(line.filter._site, "answer", fail)
        assert (await line.ask("/a"))[0] == 500
        monkeypatch.undo()
        assert (await line.ask("/livez"))[0] == 200

    in_loop(body)
    assert said == ["A request for /a failed: KeyError('fault')"]


@pytest.mark.parametrize(
    ("octets", "status", "text"),
    [
        (b"AMQP\x00\x01\x00\x00", 400, b"plain AMQP is for another port"),
        (b"AMQP\x03\x01\x00\x00", 400, b"plain AMQP is for another port"),
        (b"\x16\x03\x01\x02\x00\x01", 400, b"This port takes HTTP without TLS."),
        (b"no request\r\n\r\n", 400, b"This is not HTTP/1.1."),
        (b"GET / HTTP/1.1\r\n\r\n", 400, b"This is not HTTP/1.1."),
        (GET[:-2] + b"Content-Length: 3\r\n\r\nabc", 413, b"No request here has a body."),
        (GET[:-2] + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 413, b"No request here has a body."),
        (GET[:-2] + b"X: " + b"x" * HEAD_MAX + b"\r\n\r\n", 431, b"may have 16384 octets"),
        (b"GET /" + b"x" * (HEAD_MAX + 1), 431, b"may have 16384 octets"),
    ],
    ids=["AMQP", "SASL", "TLS", "text", "no host", "body", "chunks", "head at once", "head in part"],
)
def test_what_is_wrong_is_answered_with_a_sentence_and_ends_the_connection(
    octets: bytes, status: int, text: bytes, said: list[str]
) -> None:
    async def body() -> None:
        line = Line()
        line.send(octets)
        found, headers, sentence = await line.read()
        assert (found, headers["connection"]) == (status, "close")
        assert text in sentence
        assert sentence.count(b"\n") == 1
        # One that sends much may still be sending, and would lose its answer if nothing were read.
        assert line.stack.is_finished is (status == 400)
        line.send(GET)
        assert line.stack.written == b""

    in_loop(body)
    assert len(said) == 1
    assert said[0].startswith("HTTP from 192.0.2.7:40188 is refused: ")


@pytest.mark.parametrize(
    ("limit", "octets", "status"),
    [
        ("HEAD_S", b"", None),
        ("HEAD_S", GET[:9], 408),
        ("IDLE_S", GET, 200),
        ("LINGER_S", b"GET /" + b"x" * HEAD_MAX, 431),
    ],
    ids=["silent", "half a head", "idle", "refused"],
)
def test_nobody_is_waited_for_longer_than_a_limit(
    limit: str, octets: bytes, status: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_filter, limit, 0.01)

    async def body() -> None:
        line = Line()
        if octets:
            line.send(octets)
        await eventually_beside(lambda: line.stack.is_finished, "the connection is closed")
        assert status is None or (await line.read())[0] == status
        assert line.stack.written == b""

    in_loop(body)


def test_a_head_has_its_time_from_its_first_octet_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        line = Line()
        await line.ask("/livez")
        monkeypatch.setattr(http_filter, "HEAD_S", 0.01)
        line.send(GET[:4])
        timer = line.filter._timer
        line.send(GET[4:8])
        assert line.filter._timer is timer
        await eventually_beside(lambda: line.stack.is_finished, "the connection is closed")
        assert (await line.read())[0] == 408

    in_loop(body)


def test_a_peer_that_reads_a_long_answer_slowly_keeps_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_filter, "IDLE_S", 0.005)
    monkeypatch.setattr(http_filter, "LINGER_S", 0.005)

    async def body() -> None:
        line = Line()
        line.stack.buffered_octets = UNREAD_MAX
        await line.ask("/livez")
        looked = [line.filter._timer]
        for _ in range(3):
            line.stack.buffered_octets -= 1000
            await eventually_beside(lambda: line.filter._timer is not looked[-1], "it was looked at")
            assert not line.stack.is_finished
            looked.append(line.filter._timer)
        await eventually_beside(lambda: line.stack.is_finished, "it has stopped reading")

    in_loop(body)


def test_the_last_request_of_a_connection_is_answered_with_close(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_filter, "REQUESTS_MAX", 2)

    async def body() -> None:
        line = Line()
        assert "connection" not in (await line.ask("/livez"))[1]
        assert (await line.ask("/livez"))[1]["connection"] == "close"
        assert line.stack.is_finished
        assert REQUESTS_MAX == 1000

    in_loop(body)


def test_a_peer_that_asks_on_and_does_not_read_loses_its_connection() -> None:
    async def body() -> None:
        line = Line()
        line.stack.buffered_octets = UNREAD_MAX + 1
        line.send(GET + GET)
        await line.read()
        assert line.stack.written == b""
        assert line.filter._is_ending

    in_loop(body)


def test_a_peer_that_sends_far_ahead_of_its_answer_loses_its_connection(said: list[str]) -> None:
    async def body() -> None:
        line = Line()
        line.send(GET)
        line.send(GET * (HEAD_MAX // len(GET) + 1))
        assert line.stack.is_finished

    in_loop(body)
    assert len(said) == 1


def test_a_router_that_drains_closes_what_is_idle_and_answers_what_was_asked() -> None:
    async def body() -> None:
        idle, asked, asking, new = Line(), Line(), Line(), Line()
        assert (await idle.ask("/livez"))[0] == 200
        asked.send(GET)
        asking.send(GET[:10])
        for one in (idle, asked, asking, new):
            one.filter.retire()
        assert [one.stack.is_finished for one in (idle, asked, asking, new)] == [True, False, False, True]
        asking.send(GET[10:])
        for one in (asked, asking):
            assert (await one.read())[1]["connection"] == "close"
            assert one.stack.is_finished

    in_loop(body)


def test_what_is_under_way_ends_with_the_connection() -> None:
    async def body() -> None:
        line = Line()
        line.send(GET)
        task: Any = line.filter._task
        line.filter.end()
        await eventually_beside(task.done, "the task has ended")
        assert (task.cancelled(), line.stack.written) == (True, b"")

    in_loop(body)


def test_a_peer_is_named_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    written: list[str] = []
    now = [100.0]
    monkeypatch.setattr(http_filter._seldom, "_log", logging.getLogger("of this test"))
    monkeypatch.setattr(http_filter._seldom, "_now", lambda: now[0])
    monkeypatch.setattr(logging.getLogger("of this test"), "log", lambda level, form, *texts: written.append(texts[0]))

    async def body() -> None:
        for _ in range(3):
            Line().send(b"AMQP\x00\x01\x00\x00")
        now[0] += 1.0
        Line().send(b"AMQP\x00\x01\x00\x00")

    in_loop(body)
    assert len(written) == 2


def test_the_refusal_of_what_is_not_encrypted_is_a_whole_answer() -> None:
    head, _, body = PLAIN_REFUSED.partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in head.split(b"\r\n")
