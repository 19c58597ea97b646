"""What a worker writes in the course of a turn of its loop, what it leaves for the end, and what it tells then."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from routerd.core import Peer, Router, RouterSettings
from routerd.core.trunk import Trunk
from routerd.io.busy_poll import BusyPoll
from routerd.io.worker_turn import STEP, Pipe, Turn
from routerd.wire import Connection, ConnectionConfig

STEPS = 4


class Host:
    """A worker in which one turn is looked at, and its loop, which is turned by hand."""

    def __init__(self) -> None:
        self.router = Router(RouterSettings(id="R"), lambda: "token")
        self.ready: list[Callable[[], None]] = []
        self.turn = Turn(self, self.router, self.ready.append, BusyPoll(self.ready.append, 0.0))
        self.looked_at: list[tuple[Any, bool]] = []
        self.conclusions = 0

    def look_at(self, pipe: Any, was_open: bool, now: float) -> None:
        self.looked_at.append((pipe, was_open))

    def conclude(self, now: float) -> None:
        self.conclusions += 1

    def end_turn(self) -> None:
        ready, self.ready[:] = list(self.ready), []
        for call in ready:
            call()


class Talker(Connection):
    """A connection that has something to say, and counts how often it is asked."""

    def __init__(self, host: Host, trunk: Trunk | None = None) -> None:
        super().__init__(ConnectionConfig(container_id="R"), host.router, is_client=False)
        self.asked = 0
        self.host = host
        self.context = peer = host.router.new_peer()
        peer.is_open = True
        peer.trunk = trunk
        peer.connection = self
        peer.shell = self.pipe = Pipe(host.turn, peer, self)
        self.pipe.socket = cast(Any, Socket())

    def data_to_send(self, now: float) -> bytearray:
        self.asked += 1
        return bytearray(b"said")

    def speak(self) -> None:
        if self not in self.host.router.awake:
            self.host.router.awake.append(self)


class Heard(Talker):
    """The connection whose octets are read: each step of it brings output for both."""

    other: Talker

    def receive_some(self, data: Any, now: float, start: int, end: int, enough: int) -> int:
        self.other.speak()
        self.speak()
        return min(end, start + enough)


class Socket:
    """Takes what is written, until it is cut."""

    def __init__(self) -> None:
        self.written = bytearray()
        self.is_cut = False

    def write(self, octets: bytes) -> None:
        self.written += octets

    def abort(self) -> None:
        self.is_cut = True


@pytest.fixture
def host() -> Host:
    return Host()


@pytest.mark.parametrize(("is_router", "answers"), [(False, STEPS - 1), (True, 0)], ids=["a client", "a router"])
def test_a_router_is_answered_when_all_that_it_sent_is_taken(host: Host, is_router: bool, answers: int) -> None:
    onward = Talker(host)
    heard = Heard(host, Trunk(host.router.new_peer(), 1) if is_router else None)
    heard.other = onward
    heard.pipe.buffer_updated(STEPS * STEP)
    # What the last step brought about is written at the end of the turn.
    assert (onward.asked, heard.asked) == (STEPS - 1, answers)
    assert set(host.router.awake) == {onward, heard}
    host.end_turn()
    assert (onward.asked, heard.asked, host.router.awake) == (STEPS, answers + 1, [])
    assert bytes(onward.pipe.socket.written) == b"said" * STEPS  # type: ignore[union-attr]


def test_a_turn_ends_once_however_much_was_read_in_it(host: Host) -> None:
    heard = Heard(host)
    heard.other = Talker(host)
    for _ in range(3):
        heard.pipe.buffer_updated(10)
    host.turn.due()
    assert len(host.ready) == 1
    host.end_turn()
    assert (heard.asked, heard.other.asked, host.ready) == (1, 1, [])


def test_messages_between_open_connections_are_nobody_elses_business(host: Host) -> None:
    heard = Heard(host)
    heard.other = Talker(host)
    heard.pipe.buffer_updated(10)
    host.end_turn()
    assert (host.looked_at, host.conclusions) == ([], 0)


@pytest.mark.parametrize("why", ["not open yet", "over", "told to"])
def test_what_is_more_than_messages_is_looked_at(host: Host, why: str) -> None:
    heard = Heard(host)
    heard.other = Talker(host)
    peer: Peer = heard.context
    if why == "not open yet":
        peer.is_open = False
    elif why == "over":
        heard.transport_closed()
    else:
        host.turn.due()
    heard.pipe.buffer_updated(10)
    host.end_turn()
    assert host.looked_at == ([] if why == "told to" else [(heard.pipe, False)])
    assert host.conclusions == 1


def test_a_fault_of_ours_costs_one_connection(host: Host) -> None:
    heard = Heard(host)  # which has no other, so that reading fails
    mute = Talker(host)
    mute.data_to_send = broken  # type: ignore[method-assign]
    other = Talker(host)
    mute.speak()
    other.speak()
    heard.pipe.buffer_updated(10)
    host.end_turn()
    sockets: list[Any] = [each.pipe.socket for each in (heard, mute, other)]
    assert [each.is_cut for each in sockets] == [True, True, False]
    assert bytes(sockets[2].written) == b"said"


def broken(now: float) -> bytearray:
    raise ValueError("a fault")


def test_the_longest_turn_is_kept(host: Host) -> None:
    host.turn.due(1.0)
    host.end_turn()
    assert host.turn.longest_s > 1.0
