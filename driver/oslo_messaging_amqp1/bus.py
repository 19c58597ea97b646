"""What a transport has on its connection: senders, subscriptions and the reply link, kept over reconnections."""

import threading
from collections.abc import Sequence

from .addressing import Addressing, Destination, address, addressing_for, subscriptions
from .connection import Connection
from .engine import Engine
from .errors import ShuttingDown
from .outgoing import Outgoing
from .replies import Replies
from .sender import Sender
from .settings import Settings
from .subscription import Subscription
from .url import Host

SENDERS_LIMIT = 10_000
"""Senders, one for each destination, that may be kept at once; beyond, those at rest are let go at once."""


class MessageBus:
    """One for each transport; send() and cancel() are for any thread."""

    def __init__(
        self, hosts: Sequence[Host], settings: Settings, default_exchange: str | None, vhost: str | None
    ) -> None:
        self.settings = settings
        self.connection = Connection(hosts, settings, vhost, self)
        self.replies = Replies(self)
        self.engine: Engine | None = None
        self._default_exchange = default_exchange
        self._vhost = vhost if settings.pseudo_vhost else None
        self._addressing: Addressing | None = None
        self._senders: dict[Destination | str, Sender] = {}
        self._subscriptions: list[Subscription] = []
        self._failed_attempts = 0
        self._is_shut_down = False

    def start(self) -> None:
        """Begin to connect."""
        self.connection.later(self.settings.default_sender_link_timeout, self._sweep)
        self.connection.start()

    def stop(self) -> None:
        """Fail what waits, close the connection; returns when that is done."""
        self.connection.stop()

    def send(self, outgoing: Outgoing) -> None:
        """Send a message as soon as that can be done."""
        self.connection.submit(lambda: self._send(outgoing))

    def cancel(self, outgoing: Outgoing) -> None:
        """Forget a message that its sender does not wait for any more."""
        self.connection.submit(lambda: self._cancel(outgoing))

    def subscribe(self, subscription: Subscription) -> None:
        """Keep a subscription from now on."""
        self.connection.submit(lambda: self._subscribe(subscription))

    def unsubscribe(self, subscription: Subscription) -> threading.Event:
        """End a subscription; the event is set when that is done."""
        is_done = threading.Event()
        self.connection.submit(lambda: self._unsubscribe(subscription, is_done))
        return is_done

    # From here on with the lock of the connection held.

    def _send(self, outgoing: Outgoing) -> None:
        if self._is_shut_down:
            outgoing.fail_with(ShuttingDown())
            return
        sender = self._senders.get(outgoing.destination)
        if sender is None:
            if len(self._senders) >= SENDERS_LIMIT:
                self._let_go_of_idle_senders()
            sender = self._senders[outgoing.destination] = Sender(outgoing.destination, self)
        sender.send(outgoing)

    def _let_go_of_idle_senders(self) -> None:
        for destination, sender in list(self._senders.items()):
            if sender.detach_if_unused() or sender.detach_if_unused():
                del self._senders[destination]

    def _cancel(self, outgoing: Outgoing) -> None:
        outgoing.is_done = True
        self.replies.forget(outgoing)
        if sender := self._senders.get(outgoing.destination):
            sender.cancel(outgoing)

    def _subscribe(self, subscription: Subscription) -> None:
        self._subscriptions.append(subscription)
        if self._is_shut_down:
            subscription.shut_down()
        elif self._addressing is not None:
            subscription.attach()
        elif self._failed_attempts >= self.connection.host_count:
            subscription.not_connected("there is no connection yet")

    def _unsubscribe(self, subscription: Subscription, is_done: threading.Event) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)
        subscription.detach()
        is_done.set()

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

    def connected(self, engine: Engine, product: str | None) -> None:
        """Called by the connection."""
        self.engine = engine
        self._failed_attempts = 0
        self._addressing = addressing_for(product, self.settings, self._default_exchange, self._vhost)
        self.replies.attach()
        for subscription in self._subscriptions:
            subscription.attach()
        for sender in self._senders.values():
            sender.attach()

    def disconnected(self, reason: str) -> None:
        """Called by the connection."""
        self.engine = self._addressing = None
        self._failed_attempts += 1
        self.replies.disconnected(reason)
        for sender in list(self._senders.values()):
            sender.disconnected(reason)
        self._senders = {key: sender for key, sender in self._senders.items() if not sender.is_idle}
        for subscription in self._subscriptions:
            subscription.disconnected()
            if self._failed_attempts >= self.connection.host_count:
                subscription.not_connected(reason)

    def shut_down(self) -> None:
        """Called by the connection, more than once maybe."""
        self._is_shut_down = True
        for sender in self._senders.values():
            sender.shut_down()
        self.replies.shut_down()
        for subscription in self._subscriptions:
            subscription.shut_down()

    def send_waiting(self) -> None:
        """There is an address for replies: send the calls that waited for it."""
        for sender in self._senders.values():
            sender.send_waiting()

    def take_a_retry(self, reason: str) -> None:
        """There is no address for replies."""
        for sender in self._senders.values():
            sender.take_a_retry(reason)

    def _sweep(self) -> None:
        for destination, sender in list(self._senders.items()):
            if sender.detach_if_unused():
                del self._senders[destination]
        self.connection.later(self.settings.default_sender_link_timeout, self._sweep)
