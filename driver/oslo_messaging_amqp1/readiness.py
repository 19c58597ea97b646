"""Waiting for a socket, or for another thread that wakes the one that waits."""

import contextlib
import select
import socket


class Readiness:
    """The I/O thread sleeps on this. Other threads may call only wake()."""

    def __init__(self) -> None:
        self._awake, self._waker = socket.socketpair()
        self._awake.setblocking(False)
        self._waker.setblocking(False)
        # Under eventlet there is no poll, and its select lets other green threads run.
        self._poll = select.poll() if hasattr(select, "poll") else None
        if self._poll is not None:
            self._poll.register(self._awake, select.POLLIN)
        self._watched: tuple[socket.socket, bool] | None = None

    def wait(self, sock: socket.socket | None, is_writing: bool, timeout_s: float | None) -> tuple[bool, bool]:
        """Sleep until the socket is readable or, if asked for, writable, until woken or for so long."""
        if self._poll is None:
            return self._select(sock, is_writing, timeout_s)
        self._watch(sock, is_writing)
        ready = dict(self._poll.poll(None if timeout_s is None else max(0, int(timeout_s * 1000) + 1)))
        if self._awake.fileno() in ready:
            self._take_wakes()
        found = ready.get(sock.fileno(), 0) if sock is not None else 0
        broken = select.POLLERR | select.POLLHUP | select.POLLNVAL
        return bool(found & (select.POLLIN | broken)), bool(found & (select.POLLOUT | broken))

    def _watch(self, sock: socket.socket | None, is_writing: bool) -> None:
        wanted = None if sock is None else (sock, is_writing)
        if wanted == self._watched:
            return
        assert self._poll is not None
        if self._watched is not None and (sock is None or self._watched[0] is not sock):
            self.forget()
        if sock is not None:
            self._poll.register(sock, select.POLLIN | (select.POLLOUT if is_writing else 0))
        self._watched = wanted

    def _select(self, sock: socket.socket | None, is_writing: bool, timeout_s: float | None) -> tuple[bool, bool]:
        reading = [self._awake] if sock is None else [self._awake, sock]
        writing = [sock] if sock is not None and is_writing else []
        readable, writable, _ = select.select(reading, writing, [], timeout_s)
        if self._awake in readable:
            self._take_wakes()
        return sock in readable, sock in writable

    def _take_wakes(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while len(self._awake.recv(4096)) == 4096:
                pass

    def wake(self) -> None:
        """End the sleep of the thread that waits, or the next one that it begins."""
        # When the buffer is full, it is going to wake up.
        with contextlib.suppress(BlockingIOError, OSError):
            self._waker.send(b"\0")

    def forget(self) -> None:
        """Stop watching a socket, before it is closed."""
        if self._watched is not None and self._poll is not None:
            with contextlib.suppress(KeyError, ValueError, OSError):
                self._poll.unregister(self._watched[0])
        self._watched = None

    def close_copies(self, sock: socket.socket | None) -> None:
        """Close the copies that a child has of these sockets and of another."""
        # Eventlet would take them out of the epoll set of the parent.
        if self._poll is not None:
            self._watched = None
            for one in (self._awake, self._waker, *([sock] if sock is not None else [])):
                one.close()

    def close(self) -> None:
        """Give the sockets back."""
        self._awake.close()
        self._waker.close()
