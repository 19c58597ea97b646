"""The passive side of a direct run: accepts connections."""

import socket

from routerd.cli.load.line import Line
from routerd.cli.load.loop import Loop
from routerd.cli.load.welcome import Welcome
from routerd.wire import ConnectionConfig
from routerd.wire.sasl import AnonymousServer, SaslServer

BACKLOG = 4096


class Listener:
    """A listening socket whose connections become lines."""

    def __init__(self, loop: Loop, host: str, port: int, config: ConnectionConfig, welcome: Welcome) -> None:
        self._loop = loop
        self._config = config
        self._welcome = welcome
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        self._socket = socket.create_server(place[:2], family=family, backlog=BACKLOG)
        self._socket.setblocking(False)
        self.host, self.port = self._socket.getsockname()[:2]
        loop.watch(self._socket.fileno(), self._accept)

    def close(self) -> None:
        """Accept no more."""
        self._loop.unwatch(self._socket.fileno())
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._socket.accept()
            except BlockingIOError:
                return
            line = Line(
                self._loop,
                accepted,
                self._config,
                self._loop.meter,
                [],
                is_client=False,
                sasl=SaslServer([AnonymousServer()]),
                welcome=self._welcome,
            )
            self._loop.add(line)
