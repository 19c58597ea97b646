"""The passive side of a direct run: accepts connections, and answers every link with the role that fits it."""

import itertools
import socket
from typing import TYPE_CHECKING

from routerd.cli.load.line import Line
from routerd.cli.load.loop import Loop
from routerd.cli.load.meter import Meter
from routerd.cli.load.roles import Consuming, Responding, Role
from routerd.wire import ConnectionConfig, Source
from routerd.wire.sasl import AnonymousServer, SaslServer

if TYPE_CHECKING:
    from routerd.wire import Link, Sender

BACKLOG = 4096


class Welcome:
    """Answers links of peers: consumes from senders or responds to them, and gives receivers their reply address."""

    def __init__(self, meter: Meter, *, is_responding: bool, is_settled: bool, credit: int) -> None:
        self._meter = meter
        self._is_responding = is_responding
        self._is_settled = is_settled
        self._credit = credit
        self._reply_links: dict[str, Sender] = {}
        self._numbers = itertools.count(1)

    def attach(self, link: "Link") -> Role | None:
        """Answer an attach; a role, if there is one, is to be pumped."""
        if link.is_sender:
            self._attach_to_receiver(link)
            return None
        role = self._role()
        link.context = role
        link.attach(source=link.remote_source, target=link.remote_target)
        link.grant(self._credit)  # type: ignore[attr-defined]
        return role

    def _attach_to_receiver(self, link: "Link") -> None:
        source = link.remote_source
        if source is not None and source.dynamic:
            address = f"reply-{next(self._numbers)}"
            source = Source(address=address, dynamic=True)
            self._reply_links[address] = link  # type: ignore[assignment]
        link.attach(source=source, target=link.remote_target)

    def _role(self) -> Role:
        if self._is_responding:
            return Responding(self._meter, "", "", self._is_settled, self._credit, self._reply_links)
        return Consuming(self._meter, "", "", self._credit)


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
