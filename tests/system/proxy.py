"""What lies between two routers: passes octets on, and can be cut, refuse, stall and heal."""

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self

READ_SIZE = 1 << 16
JOIN_S = 10.0


class Proxy:
    """Listens at a port of its own for connections to another one."""

    def __init__(self, target: int) -> None:
        self.target = target
        self._lock = threading.Lock()
        self._passes = threading.Event()
        self._passes.set()
        self._is_refusing = self._is_over = False
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._threads: list[threading.Thread] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self._start(self._listen)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def cut(self) -> None:
        """End the connections that there are; new ones pass."""
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            _end(pair)

    def refuse(self) -> None:
        """End the connections, and every new one at once."""
        self._is_refusing = True
        self.cut()

    def stall(self) -> None:
        """Keep connections, new ones too, and pass nothing on."""
        self._passes.clear()

    def heal(self) -> None:
        """Pass everything on again, what has come meanwhile first."""
        self._is_refusing = False
        self._passes.set()

    def close(self) -> None:
        """End everything."""
        self._is_over = True
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.refuse()
        self._passes.set()
        for thread in self._threads:
            thread.join(JOIN_S)
            assert not thread.is_alive()

    def _start(self, call: object, *arguments: object) -> None:
        thread = threading.Thread(target=call, args=arguments, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _listen(self) -> None:
        while not self._is_over:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            self._connect(near)

    def _connect(self, near: socket.socket) -> None:
        try:
            far = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            near.close()
            return
        pair = (near, far)
        with self._lock:
            self._pairs.add(pair)
        for one in pair:
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._is_refusing:
            _end(pair)
        self._start(self._carry, pair)

    def _carry(self, pair: tuple[socket.socket, socket.socket]) -> None:
        """Pass octets on in both directions, until the connection ends."""
        near, far = pair
        back = threading.Thread(target=self._pump, args=(far, near, pair), daemon=True)
        back.start()
        self._pump(near, far, pair)
        back.join()
        with self._lock:
            self._pairs.discard(pair)
        near.close()
        far.close()

    def _pump(self, source: socket.socket, target: socket.socket, pair: tuple[socket.socket, socket.socket]) -> None:
        with contextlib.suppress(OSError):
            while octets := source.recv(READ_SIZE):
                self._passes.wait()
                target.sendall(octets)
        _end(pair)


def _end(pair: tuple[socket.socket, socket.socket]) -> None:
    for one in pair:
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
