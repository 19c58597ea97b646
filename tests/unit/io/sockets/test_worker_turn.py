"""What a worker writes in the course of a turn of its loop, what it leaves for the end, and what it tells then."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from routerd.core import Peer, Router, RouterSettings
from routerd.core.links.trunk import Trunk
from routerd.io.scheduling.busy_poll import BusyPoll
from routerd.io.sockets import worker_turn
from routerd.io.sockets.worker_turn import ANSWERS_MAX, LEAST_READ, READ_SIZE, SHARE_S, STEP, Pipe, Turn
from routerd.wire import Connection, ConnectionConfig

STEPS = 4
FRAME = 4


class Clock:
    """The time of a turn, which is set by hand: a busy machine uses nobody's share."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Host:
    """A worker in which one turn is looked at, and its loop, which is turned by hand."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
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
        self.context = peer = host.router.connections.new_peer()
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


class Laborious(Talker):
    """A connection each of whose frames, of `FRAME` octets, takes a little longer than its share of a turn."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.taken = b""
        self.answer = b""

    def receive_some(self, data: Any, now: float, start: int, end: int, enough: int) -> int:
        self.host.clock.now += 1.001 * SHARE_S
        stop = min(end, start + FRAME)
        self.taken += bytes(data[start:stop])
        self.output.put_raw(self.answer)
        return stop

    def read(self, octets: bytes) -> None:
        """Have octets come in by the socket."""
        assert self.pipe.socket.is_read  # type: ignore[union-attr]
        self.host.turn.buffer_view[: len(octets)] = octets
        self.pipe.buffer_updated(len(octets))


class Socket:
    """Takes what is written, until it is cut."""

    def __init__(self) -> None:
        self.written = bytearray()
        self.is_cut = False
        self.is_read = True

    def write(self, octets: bytes) -> None:
        self.written += octets

    def is_closing(self) -> bool:
        return self.is_cut

    def pause_reading(self) -> None:
        self.is_read = False

    def resume_reading(self) -> None:
        self.is_read = True

    def abort(self) -> None:
        self.is_cut = True


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    clock = Clock()
    monkeypatch.setattr(worker_turn, "monotonic", clock)
    return Host(clock)


@pytest.mark.parametrize(("is_router", "answers"), [(False, STEPS - 1), (True, 0)], ids=["a client", "a router"])
def test_a_router_is_answered_when_all_that_it_sent_is_taken(host: Host, is_router: bool, answers: int) -> None:
    onward = Talker(host)
    heard = Heard(host, Trunk(host.router.connections.new_peer(), 1) if is_router else None)
    heard.other = onward
    heard.pipe.step_octets = STEP
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


def test_who_causes_much_work_gets_a_share_of_each_turn(host: Host) -> None:
    busy, other = Laborious(host), Heard(host)
    other.other = Talker(host)
    busy.read(b"one two six ")
    socket: Any = busy.pipe.socket
    assert (busy.taken, socket.is_read) == (b"one ", False)
    # What another reads is taken at once.
    other.pipe.buffer_updated(10)
    assert other.host.router.awake == [other.other, other]
    host.end_turn()
    assert (busy.taken, socket.is_read) == (b"one two ", False)
    host.end_turn()
    assert (busy.taken, socket.is_read) == (b"one two six ", True)
    host.end_turn()
    assert host.ready == []


def test_who_has_used_its_share_waits_with_what_it_has_not_sent_yet(host: Host) -> None:
    busy = Laborious(host)
    busy.read(b"one ")
    socket: Any = busy.pipe.socket
    assert (busy.taken, socket.is_read) == (b"one ", False)
    host.end_turn()
    assert socket.is_read


def test_all_that_have_used_their_shares_have_their_turns_by_and_by(host: Host) -> None:
    many = [Laborious(host) for _ in range(8)]
    for one in many:
        one.read(b"one two ")
    host.end_turn()
    served = sum(one.taken == b"one two " for one in many)
    assert 0 < served < len(many)
    while not all(one.pipe.socket.is_read for one in many):  # type: ignore[union-attr]
        host.end_turn()
    assert [one.taken for one in many] == [b"one two "] * len(many)


def test_what_comes_with_what_is_kept_is_taken_behind_it(host: Host) -> None:
    # One read of TLS may hold more than one buffer of what was encrypted.
    busy = Laborious(host)
    busy.read(b"one two ")
    host.turn.buffer_view[:4] = b"six "
    busy.pipe.buffer_updated(4)
    assert busy.taken == b"one "
    for _ in range(2):
        host.end_turn()
    assert busy.taken == b"one two six "


def test_nothing_is_taken_from_a_peer_for_which_much_waits_until_it_has_read(host: Host) -> None:
    busy = Laborious(host)
    socket: Any = busy.pipe.socket
    busy.context.is_blocked = True
    busy.answer = bytes(ANSWERS_MAX // 2)
    busy.read(b"one ")
    host.end_turn()
    assert socket.is_read
    busy.read(b"two six ")
    host.end_turn()
    host.end_turn()
    assert (busy.taken, socket.is_read, list(host.turn.choked)) == (b"one two ", False, [busy.pipe])
    # The transport says that there is room again.
    busy.context.is_blocked = False
    busy.pipe.relax()
    assert not socket.is_read
    host.end_turn()
    host.end_turn()
    assert (busy.taken, socket.is_read, host.turn.choked) == (b"one two six ", True, {})


def test_what_others_than_the_engine_spend_on_octets_counts(host: Host) -> None:
    one = Laborious(host)
    socket: Any = one.pipe.socket
    assert host.turn.used_by(one.pipe) == 0.0
    host.turn.charge(one.pipe, SHARE_S / 2)
    assert (host.turn.used_by(one.pipe), socket.is_read) == (SHARE_S / 2, True)
    host.turn.charge(one.pipe, SHARE_S)
    assert not socket.is_read
    host.end_turn()
    assert (host.turn.used_by(one.pipe), socket.is_read) == (0.0, True)


def test_what_waits_for_a_peer_for_other_reasons_is_none_for_not_reading(host: Host) -> None:
    busy = Laborious(host)
    # As much as two routers may have to tell each other when they meet.
    busy.output.put_raw(bytes(3 * ANSWERS_MAX))
    busy.context.is_blocked = True
    busy.answer = b"an answer"
    busy.read(b"one ")
    host.end_turn()
    assert (busy.pipe.socket.is_read, busy.pipe.answered) == (True, 9)  # type: ignore[union-attr]


def test_nothing_is_kept_of_a_connection_that_is_lost(host: Host) -> None:
    busy = Laborious(host)
    busy.context.is_blocked = True
    busy.answer = bytes(ANSWERS_MAX)
    busy.read(b"one two ")
    busy.pipe.forget_rest()
    busy.pipe.socket = None
    host.end_turn()
    assert (busy.taken, busy.pipe.rest, host.turn.choked, host.ready) == (b"one ", None, {}, [])


def test_steps_become_shorter_where_octets_cause_much_work(host: Host) -> None:
    busy = Laborious(host)
    before = busy.pipe.step_octets
    busy.read(b"one ")
    assert busy.pipe.step_octets == before // 2


def test_no_more_is_read_at_a_time_than_is_taken_at_a_time(host: Host) -> None:
    pipe = Laborious(host).pipe
    assert len(pipe.get_buffer(-1)) == READ_SIZE
    while len(pipe.get_buffer(-1)) > LEAST_READ:
        before = len(pipe.get_buffer(-1))
        pipe.buffer_updated(2 * FRAME)
        assert len(pipe.get_buffer(-1)) == before // 2
        while pipe.rest is not None:
            host.end_turn()
    quick = Talker(host).pipe
    quick.read_octets = READ_SIZE // 2
    quick.buffer_updated(READ_SIZE // 2 - 1)
    assert len(quick.get_buffer(-1)) == READ_SIZE // 2
    quick.connection.transport_closed()
    quick.buffer_updated(READ_SIZE // 2)
    assert len(quick.get_buffer(-1)) == READ_SIZE


def test_the_longest_turn_is_kept(host: Host) -> None:
    for lasted in (0.5, 2.0, 1.0):
        host.turn.due(host.clock.now)
        host.clock.now += lasted
        host.end_turn()
    assert host.turn.longest_s == 2.0


def test_the_clock_of_the_router_is_set_when_a_turn_begins_and_when_it_ends(host: Host) -> None:
    began = host.turn.begin()
    assert host.router.now == began == host.clock.now
    host.clock.now += 1.0
    host.turn.due()
    host.end_turn()
    assert host.router.now == began + 1.0
