"""A proxy in the trunk that is cut: it passes octets on between two routers until it is told to stop."""

import contextlib
import socket
import threading

_READ_SIZE = 1 << 16


class Proxy:
    """Listens at a free port for connections to another port."""

    def __init__(self) -> None:
        self.target = 0
        self._is_cut = False
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        _start(self._listen)

    def cut(self) -> None:
        """End the connections that there are without a word, and every new one."""
        with self._lock:
            self._is_cut = True
            for one in self._sockets:
                _end(one)

    def mend(self) -> None:
        """Let connections pass again."""
        self._is_cut = False

    def close(self) -> None:
        """Listen no more."""
        _end(self._listening)
        self._listening.close()
        self.cut()

    def _listen(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            with self._lock:
                self._sockets |= {near, far}
                if self._is_cut:
                    _end(near)
            _start(self._pass_on, near, far)
            _start(self._pass_on, far, near)

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while octets := source.recv(_READ_SIZE):
                target.sendall(octets)
        with self._lock:
            _end(target)
            # The other direction ends in its own thread, and has no more use for this socket but to close it.
            self._sockets.discard(source)
            _end(source)


def _start(call: object, *arguments: object) -> None:
    threading.Thread(target=call, args=arguments, daemon=True).start()  # type: ignore[arg-type]


def _end(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
