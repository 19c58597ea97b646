"""Requests to management at a worker: what is taken, in which turn, and where the answers go."""

import logging
from concurrent.futures import Future
from typing import Any

import pytest

from routerd.core import ManagementAccess
from routerd.io.logs.log_system import module_log
from routerd.io.logs.seldom_log import AGAIN_S, CAUSES_MAX, SeldomLog
from routerd.io.management import answer_lines
from routerd.io.management.endpoint import (
    CAPACITY,
    IN_WORK_MAX,
    IN_WORK_OF_ONE,
    OLD_ADDRESS,
    ManagementAway,
    ManagementEndpoint,
)
from routerd.management import changes_refused
from routerd.wire import ACCEPTED, RELEASED, Message, Properties, Source
from tests.routers import Client, Workers, message, outcome

QUERY = {"operation": "QUERY", "entityType": "connection"}


class Host:
    """A router with management, whose agent answers when it is told to."""

    def __init__(self) -> None:
        self.workers = Workers()
        self.asked: list[tuple[bytes, Future[bytes | None]]] = []
        self.is_closed = False
        router = self.workers[0].router
        self.endpoint = ManagementEndpoint(router, self.workers.now, self._ask, self._post)
        self.workers.lines += [peer.shell for peer in router.peers.values()]
        self.workers.pump()

    def _ask(self, octets: bytes) -> "Future[bytes | None]":
        if self.is_closed:
            raise RuntimeError("Event loop is closed")
        answer: Future[bytes | None] = Future()
        self.asked.append((octets, answer))
        return answer

    def _post(self, function: Any, *arguments: Any) -> None:
        function(*arguments)

    @property
    def in_work(self) -> list[str]:
        """What requests say that are not answered."""
        return [body_of(octets) for octets, answer in self.asked if not answer.done()]

    def answer(self, body: Any = None, *, count: int = 1) -> list[str]:
        """Answer the oldest requests; return what they say."""
        done = []
        for octets, answer in [one for one in self.asked if not one[1].done()][:count]:
            properties = Message.decode(octets).properties
            said = body_of(octets)
            answered = Properties(to=properties.reply_to, correlation_id=properties.correlation_id)
            answer.set_result(message(said if body is None else body, properties=answered))
            self.workers.pump()
            done.append(said)
        return done

    def fail(self, error: Exception) -> None:
        """Have the oldest request fail."""
        next(answer for _, answer in self.asked if not answer.done()).set_exception(error)
        self.workers.pump()


class Requester:
    """A client of management."""

    def __init__(self, host: Host, *, credit: int = 1000, address: Any = "$management") -> None:
        self.workers = host.workers
        self.client: Client = host.workers.client()
        self.link = self.client.producer(address)
        self.receiver = self.client.consumer(None, credit=credit, source=Source(dynamic=True))

    def ask(self, body: Any, *, settled: bool = False, properties: Any = None, **fields: Any) -> Any:
        """Make a request."""
        asked = Properties(reply_to=self.receiver.remote_source.address, **fields)
        octets = message(body, properties=asked, application_properties=properties or QUERY)
        return self.client.send(self.link, octets, settled=settled)

    def flood(self, count: int, **options: Any) -> int:
        """Make requests as fast as credit lets; return how many."""
        made = 0
        while made < count and self.link.credit:
            self.ask(f"flood {made}", **options)
            made += 1
        return made

    @property
    def answers(self) -> list[Any]:
        """The bodies of what has come back."""
        return [body_of(octets) for octets in self.client.received(self.receiver)]


def body_of(octets: bytes) -> Any:
    return getattr(Message.decode(octets).body, "value", None)


@pytest.fixture
def host() -> Host:
    return Host()


def test_a_request_is_settled_when_its_answer_goes_and_not_before(host: Host) -> None:
    requester = Requester(host)
    delivery = requester.ask("request")
    assert (outcome(delivery), host.in_work) == ((None, False), ["request"])
    host.answer()
    assert (outcome(delivery), requester.answers) == ((ACCEPTED, True), ["request"])


@pytest.mark.parametrize("settled", [False, True])
def test_a_flood_of_requests_is_held_back_by_its_credit(host: Host, settled: bool) -> None:
    flooding = Requester(host)
    made = flooding.flood(100_000, settled=settled)
    assert made < 2 * flooding.client.peer.capacity
    assert len(host.asked) == IN_WORK_OF_ONE
    # What was sent and is not in work waits at the address, or here.
    taken = host.workers[0].router.addresses["M0$management"].outlets[0].deliveries
    assert taken <= CAPACITY
    while host.in_work:
        host.answer()
    assert len(flooding.answers) == made


@pytest.mark.parametrize("settled", [False, True])
def test_others_have_their_turn_while_one_floods(host: Host, settled: bool) -> None:
    flooding, other = Requester(host), Requester(host)
    flooding.flood(500, settled=settled)
    other.ask("other")
    answered: list[str] = []
    while "other" not in answered:
        answered += host.answer()
    # Those in work when it came, and one for each that makes room for it here and at the address.
    assert len(answered) <= IN_WORK_OF_ONE + 3


def test_many_requesters_are_answered_at_a_time_and_not_all(host: Host) -> None:
    addresses = ("$management", "_local/$management", "_topo/0/R/$management", OLD_ADDRESS)
    requesters = [Requester(host, address=address) for address in addresses for _ in range(CAPACITY)]
    for requester in requesters:
        requester.ask("request")
    assert len(host.in_work) == IN_WORK_MAX
    assert len(host.answer(count=len(requesters))) == IN_WORK_MAX
    while host.in_work:
        host.answer()
    assert [requester.answers for requester in requesters] == [["request"]] * len(requesters)


def test_answers_that_nobody_takes_keep_no_others_back(host: Host) -> None:
    stuck, other = Requester(host, credit=0), Requester(host)
    made = stuck.flood(10)
    while host.in_work:
        host.answer("x" * 300_000)
    other.ask("other")
    host.answer()
    assert other.answers == ["other"]
    stuck.receiver.grant(1000)
    for _ in range(100):
        host.workers.pump(1.0)
    assert [len(each) for each in stuck.answers] == [300_000] * made


@pytest.mark.parametrize("settled", [False, True])
def test_who_leaves_answers_waiting_gets_no_more(
    host: Host, settled: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(answer_lines, "LINE_OCTETS", 1_000_000)
    stuck = Requester(host, credit=0)
    asked = len(host.asked)
    for _ in range(100):
        delivery = stuck.ask("request", settled=settled)
        host.answer("x" * 100_000)
    lines = host.endpoint._answers._lines
    assert sum(line.waiting_octets for line in lines.values()) < 1_200_000
    assert len(host.asked) - asked < 20
    if not settled:
        assert outcome(delivery) == (RELEASED, True)
    other = Requester(host)
    other.ask("other")
    host.answer()
    assert other.answers == ["other"]


def test_small_answers_that_wait_are_bounded_by_their_number(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_lines, "LINE_MESSAGES", 10)
    stuck = Requester(host, credit=0)
    for _ in range(50):
        stuck.ask("request")
        host.answer()
    assert len(host.asked) <= 10 + answer_lines.LINE_ANSWERS + 1


def test_of_all_that_wait_those_that_wait_longest_go(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_lines, "ALL_OCTETS", 2_000_000)
    stuck = [Requester(host, credit=0) for _ in range(10)]
    for requester in stuck:
        requester.ask("request")
        host.answer("x" * 600_000)
    lines = host.endpoint._answers._lines
    assert sum(line.waiting_octets for line in lines.values()) <= 2_000_000
    assert list(lines)[-1] == stuck[-1].receiver.remote_source.address
    for requester in stuck:
        requester.receiver.grant(1)
    for _ in range(100):
        host.workers.pump(1.0)
    assert len(stuck[-1].answers) == 1
    assert stuck[0].answers == []


def test_no_answer_is_too_large_for_a_requester_that_takes_it(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_lines, "ALL_OCTETS", 100_000)
    requester = Requester(host)
    requester.ask("request")
    host.answer("x" * 600_000)
    for _ in range(100):
        host.workers.pump(1.0)
    assert [len(each) for each in requester.answers] == [600_000]


def test_requesters_that_are_many_have_lines_in_turn(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_lines, "LINES_MAX", 4)
    monkeypatch.setattr(answer_lines, "IDLE_LINES", 2)
    for _ in range(10):
        requester = Requester(host)
        requester.ask("request")
        host.answer()
        assert requester.answers == ["request"]
    assert len(host.endpoint._answers._lines) <= 3
    stuck = [Requester(host, credit=0) for _ in range(10)]
    for requester in stuck:
        for _ in range(10):
            requester.ask("request")
            host.answer()
    assert len(host.endpoint._answers._lines) <= 4
    last = Requester(host)
    last.ask("last")
    host.answer()
    assert last.answers == ["last"]
    router = host.workers[0].router
    inner = [peer for peer in router.peers.values() if peer.is_inner]
    assert sum(len(peer.inlets) for peer in inner) <= 4


@pytest.mark.parametrize(
    ("operation", "body"), [("QUERY", {}), ("CREATE", None)], ids=["a map", "nothing where an entity would be"]
)
def test_who_asks_while_nobody_answers_is_told_so(host: Host, operation: str, body: Any) -> None:
    requester = Requester(host)
    delivery = requester.ask("request", properties={"operation": operation}, correlation_id="it")
    host.fail(ManagementAway("the management actor is not there: ask again in some seconds"))
    answer = Message.decode(requester.client.received(requester.receiver)[0])
    assert answer.application_properties == {
        "statusCode": 503,
        "statusDescription": "the management actor is not there: ask again in some seconds",
    }
    assert (answer.properties.correlation_id, answer.body.value) == ("it", body)
    assert outcome(delivery) == (ACCEPTED, True)


def test_a_fault_of_the_router_is_told_and_logged_once(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    requester = Requester(host)
    log = module_log("AGENT")
    lines: list[str] = []
    said = SeldomLog(_Lines(lines), lambda: host.workers.now)
    host.endpoint._seldom = said
    assert log is not None
    for _ in range(5):
        requester.ask("request", settled=True)
        host.fail(ValueError("a fault"))
    told = [Message.decode(one).application_properties for one in requester.client.received(requester.receiver)]
    assert told == [{"statusCode": 500, "statusDescription": "a fault"}] * 5
    assert lines == ["A request is answered with 500: a fault"]


def test_when_the_router_ends_requests_are_answered_with_that(host: Host) -> None:
    requester = Requester(host)
    host.is_closed = True
    requester.ask("request")
    answer = Message.decode(requester.client.received(requester.receiver)[0])
    assert answer.application_properties == {"statusCode": 503, "statusDescription": "the router is shutting down"}


def test_what_asks_for_no_answer_is_asked_all_the_same(host: Host) -> None:
    client = host.workers.client()
    link = client.producer("$management")
    delivery = client.send(link, message("request", application_properties=QUERY))
    [(_, answer)] = host.asked
    answer.set_result(None)
    host.workers.pump()
    assert outcome(delivery) == (ACCEPTED, True)
    failing = client.send(link, message("request", application_properties=QUERY))
    host.fail(ManagementAway("away"))
    assert outcome(failing) == (ACCEPTED, True)


def test_who_may_not_ask_is_told_unless_it_leaves_its_answers(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_lines, "LINE_MESSAGES", 10)
    forbid = host.workers[0].router.intake.answer_forbidden
    assert forbid is not None
    asking, stuck = Requester(host), Requester(host, credit=0)

    def request_of(requester: Requester) -> bytes:
        properties = Properties(reply_to=requester.receiver.remote_source.address, correlation_id="it")
        return message("request", properties=properties, application_properties={"operation": "DELETE"})

    told = []
    for _ in range(50):
        told.append(forbid(request_of(stuck)))
        host.workers.pump()
    assert told == [True] * 14 + [False] * 36
    assert forbid(request_of(asking))
    host.workers.pump()
    answer = Message.decode(asking.client.received(asking.receiver)[0])
    assert answer.application_properties == {
        "statusCode": 403,
        "statusDescription": str(changes_refused(ManagementAccess.POLICY)),
    }
    assert (answer.properties.correlation_id, answer.body.value) == ("it", {})
    assert not forbid(message("request"))
    assert not forbid(b"no message")


def test_an_answer_to_one_that_has_gone_is_dropped(host: Host) -> None:
    requester = Requester(host)
    requester.ask("request")
    requester.client.vanish()
    host.answer()
    assert [line.is_idle for line in host.endpoint._answers._lines.values()] == [True]


class _Lines:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def log(self, level: int, text: str, *arguments: object) -> None:
        self.lines.append(text % arguments)


class TestSeldomLog:
    def test_a_cause_is_named_again_after_a_while_with_how_often_it_was_there(self) -> None:
        now, lines = [0.0], list[str]()
        log = SeldomLog(_Lines(lines), lambda: now[0])
        for _ in range(4):
            log.say(logging.WARNING, "cause", "It is so")
        log.say(logging.WARNING, "other", "It is so, too")
        now[0] = AGAIN_S
        log.say(logging.WARNING, "cause", "It is so")
        assert lines == ["It is so", "It is so, too", "It is so (and 3 times more since this was last said)"]

    def test_causes_that_are_many_take_no_more_memory(self) -> None:
        now, lines = [0.0], list[str]()
        log = SeldomLog(_Lines(lines), lambda: now[0])
        for number in range(10 * CAUSES_MAX):
            now[0] += 0.001
            log.say(logging.WARNING, f"cause {number}", "It is so")
        assert len(log._said) == CAUSES_MAX
