"""A run of one engine against composed octets, and what must hold in every such run.

A run is a list of steps: octets that arrive, calls of the application, time that passes. The same steps are played
twice, with the octets whole and cut, and the engine must tell and write the same both times.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from routerd.wire.connection import Connection
from routerd.wire.connection_config import ConnectionConfig
from routerd.wire.limits import CodecLimits
from routerd.wire.states import ConnectionState
from tests.fuzz.application import Application
from tests.fuzz.broken import Broken, check
from tests.fuzz.choices import Choices
from tests.fuzz.narration import narrate, narrate_octets
from tests.fuzz.walker import frames
from tests.fuzz.witness import Witness

SMALL = ConnectionConfig(
    container_id="engine",
    max_frame_size=1024,
    channel_max=3,
    handle_max=7,
    incoming_window=8,
    unsettled_per_session=10,
    link_names_max=6,
    limits=CodecLimits(depth=8, count=64, size_bytes=900),
)
CONFIGS = (
    SMALL,
    ConnectionConfig(container_id="engine"),
    ConnectionConfig(container_id="engine", max_frame_size=512, send_frame_size=512, incoming_window=1),
    ConnectionConfig(container_id="engine", idle_timeout_s=2.0, properties={"product": "fuzz"}),
)
Cuts = Callable[[int], Iterator[int]]


@dataclass(slots=True)
class Step:
    """Octets that arrive, or the choices of a call, or seconds that pass; `holds` keeps the output for later."""

    octets: bytes = b""
    call: bytes | None = None
    seconds: float = 0.0
    holds: bool = False


def whole(size: int) -> Iterator[int]:
    """Cut nothing."""
    yield size


def one_by_one(size: int) -> Iterator[int]:
    """Cut behind every octet."""
    yield from range(1, size + 1)


def unevenly(size: int) -> Iterator[int]:
    """Cut in a few places, for octets that are too many to cut them all."""
    yield from (*range(1, size, 97), size)


class Play:
    """One engine, its application, and the witness of what it writes."""

    def __init__(
        self, config: ConnectionConfig, answers: bytes, *, is_client: bool, sasl: Callable[[], Any] | None = None
    ) -> None:
        self.application = Application(Choices(answers, backwards=True))
        narrate("--- a client with" if is_client else "--- a server with", config)
        self.witness: Witness | None = Witness(is_client=is_client)
        self.connection = Connection(config, self.application, is_client=is_client, sasl=sasl and sasl())
        self.application.connection = self.connection
        self.written: list[bytes] = []
        self.now = 0.0
        self.connection.start(self.now)

    def take_steps(self, steps: list[Step], cuts: Cuts) -> None:
        """Play, and end with the loss of the transport."""
        for step in steps:
            if step.octets:
                narrate_octets("<-", step.octets)
                self.receive(step.octets, cuts)
                self._go_on()
            if step.call is not None:
                self.application.act(Choices(step.call))
            if step.seconds:
                self._pass_time(step.seconds)
            if not step.holds:
                self.write()
        self.write()
        self.connection.transport_closed()
        self._check_end()

    def receive(self, octets: bytes, cuts: Cuts) -> None:
        """Let octets arrive in pieces."""
        start = 0
        for end in cuts(len(octets)):
            self.connection.receive_data(octets, self.now, start, end)
            start = end

    def _go_on(self) -> None:
        """Have answers come that the authentication waits for."""
        go_on = getattr(self.connection.sasl, "go_on", None)
        if go_on is not None:
            go_on(self.connection, self.now)

    def write(self) -> bytes:
        """Take what the engine has to write."""
        application, connection = self.application, self.connection
        data = bytes(connection.data_to_send(self.now))
        check(application.is_told_of_output or not data, "output of which the application was not told")
        application.is_told_of_output = False
        narrate_octets("->", data)
        if self.witness is not None and data:
            if connection.remote_open is not None:
                self.witness.frame_size = max(connection.remote_open.max_frame_size, 512)
            self.witness.see(data)
        self.written.append(data)
        return data

    def _pass_time(self, seconds: float) -> None:
        self.now += seconds
        narrate("   now is", self.now)
        if self.connection.next_deadline() <= self.now:
            self.connection.tick(self.now)
            deadline = self.connection.next_deadline()
            check(deadline > self.now, f"after a tick at {self.now} the next is due at {deadline}")

    def _check_end(self) -> None:
        connection = self.connection
        check(connection.state is ConnectionState.END, f"the transport is lost, and the connection {connection.state}")
        check(connection.sessions() == [], f"sessions are left: {connection.sessions()}")
        check(len(connection.links) == 0, f"{len(connection.links)} links are left")
        check(not connection.data_to_send(self.now), "octets for a transport that is lost")
        check(self.application.is_told_of_end, "the end of the connection was not reported")


def play(config: ConnectionConfig, steps: list[Step], answers: bytes, **options: Any) -> Play:
    """Play the steps with the octets whole, and again in pieces; both must come to the same."""
    size = sum(len(step.octets) for step in steps)
    first = Play(config, answers, **options)
    first.take_steps(steps, whole)
    second = Play(config, answers, **options)
    second.witness = None  # what is written has to be the same
    second.take_steps(steps, one_by_one if size < 1500 else unevenly)
    check_same(first, second)
    return first


def check_same(first: Play, second: Play) -> None:
    """Raise unless both were told and wrote the same."""
    for one, other in zip(first.application.events, second.application.events, strict=False):
        if one != other and repr(one) != repr(other):  # a NaN differs from itself
            raise Broken(f"told {one} of octets that came whole, {other} of the same in pieces")
    check(len(first.application.events) == len(second.application.events), "told more or less of octets in pieces")
    for before, after in zip(first.written, second.written, strict=True):
        if before != after:
            raise Broken(f"wrote {frames(before)} for octets that came whole, {frames(after)} for the same in pieces")
