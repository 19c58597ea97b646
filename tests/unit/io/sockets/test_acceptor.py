import asyncio
import errno
import os
import resource
import socket
from collections.abc import Callable
from typing import Any

import pytest

from routerd.io.logs.log_system import module_log
from routerd.io.sockets.acceptor import AGAIN_S, AT_ONCE, QUIET_S, Acceptor, Shortage


class Bound:
    """A socket at which connections come, or do not."""

    def __init__(self) -> None:
        self.coming: list[int | None] = []
        """Errors; None is a connection."""
        self.is_closed = False

    def setblocking(self, is_blocking: bool) -> None:
        assert not is_blocking

    def listen(self, backlog: int) -> None:
        """There is a loop to say when connections have come."""

    def accept(self) -> tuple[Any, Any]:
        if not self.coming:
            raise BlockingIOError
        code = self.coming.pop(0)
        if code is not None:
            raise OSError(code, os.strerror(code))
        return Accepted(), None

    def close(self) -> None:
        self.is_closed = True


class Accepted:
    """A connection."""

    def setblocking(self, is_blocking: bool) -> None:
        assert not is_blocking


class Loop:
    """A loop that is turned by hand."""

    def __init__(self) -> None:
        self.reader: Callable[[], None] | None = None
        self.later: list[tuple[float, Callable[[], None]]] = []
        self.begun = 0

    def add_reader(self, bound: Bound, call: Callable[[], None]) -> None:
        self.reader = call

    def remove_reader(self, bound: Bound) -> None:
        self.reader = None

    def call_later(self, delay: float, call: Callable[[], None]) -> "Loop":
        self.later.append((delay, call))
        return self

    def cancel(self) -> None:
        self.later.clear()

    def create_task(self, coroutine: Any) -> Any:
        coroutine.close()
        self.begun += 1
        return self

    def add_done_callback(self, call: Callable[[Any], None]) -> None:
        call(self)


class Place:
    """A socket, its loop and what accepts."""

    def __init__(self) -> None:
        self.bound: Any = Bound()
        self.loop: Any = Loop()
        self.acceptor = Acceptor(self.loop, self.bound, asyncio.Protocol, Shortage())

    def come(self, *codes: int | None) -> None:
        self.bound.coming += codes
        self.loop.reader()


@pytest.fixture
def place() -> Place:
    return Place()


def test_a_crowd_is_accepted_by_and_by(place: Place) -> None:
    place.come(*[None] * (AT_ONCE + 5))
    assert place.loop.begun == AT_ONCE
    place.come()
    assert place.loop.begun == AT_ONCE + 5


def test_who_leaves_before_it_is_accepted_is_in_nobodys_way(place: Place) -> None:
    place.come(errno.ECONNABORTED, None)
    assert (place.loop.begun, place.loop.later) == (1, [])


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_connections_wait_where_there_is_no_room_for_them(place: Place, code: int) -> None:
    place.come(None, code, None)
    assert (place.loop.begun, place.loop.reader) == (1, None)
    [(delay, again)] = place.loop.later
    assert delay == AGAIN_S
    again()
    place.come()
    assert place.loop.begun == 2


@pytest.mark.parametrize(
    ("code", "what", "advised"),
    [
        (errno.EMFILE, "Too many open files", "the limit of this process is 9 open files"),
        (errno.ENFILE, "Too many open files in system", "fs.file-max"),
        (errno.ENOMEM, "Cannot allocate memory", ""),
    ],
)
def test_a_shortage_is_said_once_with_what_to_do_and_when_it_is_over(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], code: int, what: str, advised: str
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (9, 99))
    monkeypatch.setattr(module_log("SERVER"), "is_notice", True)
    shortage = Shortage()
    error = OSError(code, os.strerror(code))
    for now in (1.0, 2.0, 3.0):
        shortage.note(error, now)
        shortage.accepted(now)
    shortage.accepted(3.0 + QUIET_S)
    shortage.accepted(3.0 + QUIET_S)
    shortage.note(error, 20.0)
    lines = [line.partition(" SERVER ")[2] for line in capfd.readouterr().err.splitlines()]
    first = lines[0]
    assert lines == [first, "(notice) Connections are accepted again", first]
    assert first.startswith(f"(error) No connection can be accepted: {what}. Those that come wait")
    assert advised in first


def test_nothing_is_accepted_at_a_socket_that_is_closed(place: Place) -> None:
    place.come(errno.EMFILE)
    place.acceptor.close()
    assert (place.loop.reader, place.loop.later, place.bound.is_closed) == (None, [], True)


def test_a_connection_that_ends_before_it_begins_leaves_no_socket() -> None:
    class Failing(asyncio.SelectorEventLoop):
        async def connect_accepted_socket(self, make: Any, sock: socket.socket, **options: Any) -> Any:
            raise OSError(errno.ENOTCONN, "it is gone")

    loop = Failing()
    bound = socket.create_server(("127.0.0.1", 0))
    acceptor = Acceptor(loop, bound, asyncio.Protocol, Shortage())
    with socket.create_connection(bound.getsockname()) as peer:
        # Its socket is closed on our side, too.
        loop.run_until_complete(loop.run_in_executor(None, peer.recv, 1))
    acceptor.close()
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
