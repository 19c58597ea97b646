"""The common data of senders, subscriptions and the reply link: the connection, and the addresses of its peer."""

from .addressing import Addressing, Destination, address, addressing_for, subscriptions
from .connection import Connection
from .engine import Engine
from .settings import Settings


class LinkContext:
    """One for each transport, kept over reconnections; everything here is called with the connection's lock held."""

    def __init__(
        self, connection: Connection, settings: Settings, default_exchange: str | None, vhost: str | None
    ) -> None:
        self.connection = connection
        self.settings = settings
        self.engine: Engine | None = None
        """None while there is no connection."""
        self.received_count = 0
        """How many messages have come in over subscriptions."""
        self._default_exchange = default_exchange
        self._vhost = vhost if settings.pseudo_vhost else None
        self._addressing: Addressing | None = None

    def connected(self, engine: Engine, product: str | None) -> None:
        """There is a connection; `product` is from the peer's open."""
        self.engine = engine
        self._addressing = addressing_for(product, self.settings, self._default_exchange, self._vhost)

    def disconnected(self) -> None:
        """There is no connection any more."""
        self.engine = self._addressing = None

    def address(self, destination: Destination | str) -> str:
        """Return the address of a destination at the peer that is connected."""
        if isinstance(destination, str):
            return destination
        assert self._addressing is not None
        return address(self._addressing, destination)

    def source_address(self, destination: Destination, number: int) -> str:
        """Return the address of the numbered one of a listener's subscriptions at the peer that is connected."""
        assert self._addressing is not None
        return subscriptions(self._addressing, destination)[number]
