"""The parts of a transport on its connection: senders, subscriptions and the reply link, kept over reconnections."""

import logging
import threading
from collections.abc import Callable, Sequence

from oslo_messaging.exceptions import MessageDeliveryFailure

from .addressing import Destination
from .connection import Connection
from .engine import Engine
from .errors import ShuttingDown
from .failback import FailBack
from .link_context import LinkContext
from .outgoing import Outgoing
from .posted import Posted
from .replies import Replies
from .sender import Sender
from .settings import Settings
from .subscription import Subscription
from .url import Host

_log = logging.getLogger(__name__)

SENDERS_LIMIT = 10_000
"""Limit of the senders, one for each destination; beyond it, those at rest are dropped at once."""


class MessageBus:
    """One for each transport; send() and cancel() are for any thread."""

    def __init__(
        self, hosts: Sequence[Host], settings: Settings, default_exchange: str | None, vhost: str | None
    ) -> None:
        self.settings = settings
        self.connection = Connection(hosts, settings, vhost, self)
        self.context = LinkContext(self.connection, settings, default_exchange, vhost)
        self.replies = Replies(self.context, self)
        self._posted = Posted(self.connection, self)
        self._fail_back = FailBack(self.connection, self, settings)
        self._senders: dict[Destination | str, Sender] = {}
        self._subscriptions: list[Subscription] = []
        self._is_out_of_reach = False
        self._last_failure: str | None = None
        self._is_shut_down = False

    def start(self) -> None:
        """Begin to connect."""
        self.connection.later(self.settings.default_sender_link_timeout, self._sweep)
        self.connection.start()

    def stop(self) -> None:
        """Fail the waiting messages and close the connection; returns when that is done."""
        self.connection.stop()

    def send(self, outgoing: Outgoing) -> None:
        """Send a message as soon as that can be done."""
        self.connection.submit(lambda: self._send(outgoing))

    def cancel(self, outgoing: Outgoing, why: str, error: type[Exception]) -> None:
        """Fail a message whose time is over, unless it has just been done."""
        self.connection.submit(lambda: self.give_up(outgoing, why, error))

    def post(self, outgoing: Outgoing, limit_s: float, complain: Callable[[BaseException], None]) -> None:
        """Send a message that no thread waits for; after the limit it is given up. A failure is reported."""

        def posting() -> None:
            self._send(outgoing)
            self._posted.add(outgoing, limit_s, complain)

        self.connection.submit(posting)

    def wait_for_posted(self, limit_s: float) -> bool:
        """Wait until no posted message waits; return whether that is so."""
        if self.connection.is_left:
            return True
        is_empty = threading.Event()
        self.connection.submit(lambda: self._posted.when_empty(is_empty.set))
        return is_empty.wait(limit_s)

    def subscribe(self, subscriptions: Sequence[Subscription]) -> None:
        """Keep the subscriptions of a listener from now on."""
        self.connection.submit(lambda: self._subscribe(subscriptions))

    def unsubscribe(self, subscription: Subscription) -> threading.Event:
        """End a subscription; the event is set when that is done."""
        is_done = threading.Event()
        if self.connection.is_left:
            is_done.set()
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
            sender = self._senders[outgoing.destination] = Sender(outgoing.destination, self.context, self.replies)
        sender.send(outgoing)

    def _let_go_of_idle_senders(self) -> None:
        for destination, sender in list(self._senders.items()):
            if sender.detach_if_unused() or sender.detach_if_unused():
                del self._senders[destination]

    def give_up(self, outgoing: Outgoing, why: str, error: type[Exception] = MessageDeliveryFailure) -> None:
        """Fail a message, with how far it came."""
        if outgoing.is_done:
            return
        stage = self._stage(outgoing)
        self.replies.forget(outgoing)
        if sender := self._senders.get(outgoing.destination):
            sender.cancel(outgoing)
        outgoing.fail_with(error(f"{outgoing.terms.kind} to {outgoing.where}{why}: {stage}"))

    def is_getting_on(self, outgoing: Outgoing) -> bool:
        """Return whether more of a large message was sent since the last call."""
        sender = self._senders.get(outgoing.destination)
        return sender is not None and sender.is_getting_on(outgoing)

    @property
    def state(self) -> str:
        """The host of the connection, or the reason for none, in words."""
        if self.context.engine is not None:
            return f"connected to {self.connection.host}"
        failure = self._last_failure or "no attempt has failed yet"
        return f"there is no connection, {self.connection.progress}; the last failure was: {failure}"

    def _stage(self, outgoing: Outgoing) -> str:
        if self.context.engine is None:
            return self.state
        sender = self._senders.get(outgoing.destination)
        stage = sender and sender.stage(outgoing)
        if not stage:
            # A call leaves its sender when it is accepted, or sent if it is pre-settled.
            done = "sent" if outgoing.terms.is_settled else "accepted by a server"
            heard = "a heartbeat of it came, but no reply" if outgoing.heard_at_s else "no reply came"
            stage = f"it was {done}, and {heard}"
        return f"{stage} ({self.state})"

    def _subscribe(self, subscriptions: Sequence[Subscription]) -> None:
        self._subscriptions += subscriptions
        for subscription in subscriptions:
            if self._is_shut_down:
                subscription.shut_down()
            elif self.context.engine is not None:
                subscription.attach()
        if self._is_out_of_reach:
            self._go_on_without_connection(self._last_failure or "there is no connection yet")

    def _unsubscribe(self, subscription: Subscription, is_done: threading.Event) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)
        subscription.detach()
        is_done.set()

    def connected(self, engine: Engine, product: str | None) -> None:
        """Called by the connection."""
        self.context.connected(engine, product)
        self._is_out_of_reach = False
        self.replies.attach()
        for subscription in self._subscriptions:
            subscription.attach()
        for sender in self._senders.values():
            sender.attach()
        self._fail_back.connected()

    def disconnected(self, reason: str, is_round_over: bool) -> None:
        """Called by the connection."""
        self.context.disconnected()
        self._last_failure = reason
        self._fail_back.disconnected()
        self.replies.disconnected(reason)
        for sender in list(self._senders.values()):
            sender.disconnected(reason, is_round_over)
        self._senders = {key: sender for key, sender in self._senders.items() if not sender.is_idle}
        for subscription in self._subscriptions:
            subscription.disconnected()
        if is_round_over:
            self._is_out_of_reach = True
            self._go_on_without_connection(reason)

    def _go_on_without_connection(self, reason: str) -> None:
        waiting = [one for one in self._subscriptions if one.is_awaited]
        if waiting:
            topics = ", ".join(sorted({one.destination.topic for one in waiting}))
            _log.warning("Subscribing to %s has to wait for a connection: %s", topics, reason)
        for subscription in waiting:
            subscription.go_on_without_connection()

    def shut_down(self) -> None:
        """Called by the connection, more than once maybe."""
        self._is_shut_down = True
        self._fail_back.disconnected()
        for sender in self._senders.values():
            sender.shut_down()
        self.replies.shut_down()
        for subscription in self._subscriptions:
            subscription.shut_down()

    @property
    def received_count(self) -> int:
        """How many messages have come in over subscriptions."""
        return self.context.received_count

    def is_at_rest(self) -> bool:
        """Return whether no message is being sent, no reply is awaited, and all incoming messages are settled."""
        is_sending = any(not sender.is_idle for sender in self._senders.values())
        is_receiving = any(subscription.in_hand for subscription in self._subscriptions)
        return not is_sending and not is_receiving and self.replies.is_idle and self._posted.is_empty

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
