"""An endpoint of the client joined to a scripted peer in memory."""

from typing import Any

from mobula_client.engine import AnonymousClient, ConnectionConfig, SaslClient
from mobula_client.errors import ConnectionFailed
from mobula_client.links import Endpoint, RecoverableLink


class Joined:
    """One connection; `pump` carries octets until both ends are silent."""

    def __init__(self, peer: Any, *links: RecoverableLink, sasl: SaslClient | None = None, **config: Any) -> None:
        self.now = 0.0
        self.peer = peer
        self.is_ready = False
        self.reasons: list[ConnectionFailed | None] = []
        self.links = {f"{number}": link for number, link in enumerate(links)}
        self.endpoint = Endpoint(
            "router",
            ConnectionConfig(container_id="till", **config),
            sasl or SaslClient([AnonymousClient()]),
            self.links,
            self,
        )
        peer.connection.start(self.now)
        self.endpoint.start(self.now)
        self.pump()

    def pump(self) -> None:
        """Carry octets both ways until there are none."""
        while True:
            up = bytes(self.endpoint.take_output(self.now))
            if up:
                self.peer.connection.receive_data(up, self.now)
            down = bytes(self.peer.connection.data_to_send(self.now))
            if down:
                self.endpoint.receive(down, self.now)
            if not up and not down:
                return

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
        if self.endpoint.next_deadline() <= self.now:
            self.endpoint.tick(self.now)
        self.pump()

    def cut(self) -> None:
        """Lose the connection."""
        self.peer.connection.transport_closed()
        self.endpoint.transport_closed("it was cut")

    def on_output(self) -> None:
        """Output is taken by `pump`."""

    def on_ready(self) -> None:
        """Note that the peer has opened."""
        self.is_ready = True

    def on_over(self, reason: ConnectionFailed | None) -> None:
        """Note the reason."""
        self.reasons.append(reason)
