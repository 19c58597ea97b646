"""One link that messages for a listener come in over, with its credit."""

import logging
import threading
import uuid
from collections.abc import Callable
from typing import Any, Protocol

from .addressing import Destination
from .codec import Message, decoded
from .credit import Credit
from .errors import Undecodable
from .link_context import LinkContext
from .links import ReceivingLink

_log = logging.getLogger(__name__)


def rejection(error: Undecodable) -> Callable[[ReceivingLink, Any], None]:
    """Return how to settle a message that nobody can read."""
    reason = str(error)
    return lambda link, delivery: link.reject(delivery, reason)


class Receipt:
    """A message that came in over a subscription and is to be settled there."""

    __slots__ = ("_delivery", "_is_settled", "_link", "message", "subscription")

    def __init__(self, subscription: "Subscription", link: ReceivingLink, delivery: Any, message: Message) -> None:
        self.subscription = subscription
        self.message = message
        self._link = link
        self._delivery = delivery
        self._is_settled = False

    def settle(self, how: Callable[[ReceivingLink, Any], None], is_urgent: bool = True) -> None:
        """Settle it, once, on whichever thread is at the connection; what is not urgent may wait for what goes next."""
        if self._is_settled:
            # Proton may have given the delivery to another message by now.
            return
        self._is_settled = True
        self.subscription.submit(lambda: self.subscription.settle(self._link, self._delivery, how), is_urgent)


class Inbox(Protocol):
    """Gets the messages that come in."""

    def put(self, receipt: Receipt) -> None:
        """Take a message; called with the lock of the connection held."""

    def is_stopped(self) -> bool:
        """Whether nothing more is wanted."""


class Subscription:
    """Kept by the bus over reconnections. Calls except submit() and wait() are made with the connection's lock held."""

    def __init__(
        self, context: LinkContext, destination: Destination, number: int, window: int, inbox: Inbox
    ) -> None:
        self._context = context
        self.destination = destination
        self._number = number
        self._window = window
        self._inbox = inbox
        self._link: ReceivingLink | None = None
        self._is_over = False
        self.in_hand = 0
        """How many messages that came in over the present link are not settled."""
        self._complaints: set[str] = set()
        self._settled_once = threading.Event()
        self.address = ""
        self.credit = Credit(window, "")
        self.refusal: str | None = None
        """Why the first attempt to attach did not succeed."""

    def wait(self, limit_s: float) -> bool:
        """Wait until it is known how the first attempt to attach went."""
        return self._settled_once.wait(limit_s)

    @property
    def is_attached(self) -> bool:
        """Whether messages can come in."""
        return self._link is not None and self._link.is_attached

    def submit(self, work: Callable[[], None], is_urgent: bool) -> None:
        """Do something with the lock of the connection held."""
        if is_urgent:
            self._context.connection.submit(work)
        else:
            self._context.connection.submit_soon(work)

    def attach(self) -> None:
        """Attach the link if there is a connection."""
        engine = self._context.engine
        if engine is None or self._is_over or self._link is not None or self._inbox.is_stopped():
            return
        self.address = self._context.source_address(self.destination, self._number)
        self.credit = Credit(self._window, self.address)
        self.in_hand = 0
        name = f"openstack.org/om/receiver/[{self.address}]/{uuid.uuid4().hex}"
        self._link = engine.receiving_link(name, self.address, self.address, self._window, self)

    def detach(self) -> None:
        """Detach the link, for ever."""
        self._is_over = True
        if self._link is not None:
            self._link.detach()
            self._link = None

    def withdraw(self) -> None:
        """Take the credit back, so that the peer sends what comes to somebody else."""
        if self._link is not None:
            self._link.grant(-self._link.credit)

    def attached(self) -> None:
        _log.debug("Subscribed to %s", self.address)
        self._settled_once.set()

    def detached(self, reason: str) -> None:
        self._link = None
        if self._is_over:
            return
        _log.warning("The subscription to %s was ended: %s", self.address, reason)
        if not self._settled_once.is_set():
            self.refusal = reason
            self._settled_once.set()
        self._context.connection.later(self._context.settings.link_retry_delay, self.attach)

    def disconnected(self) -> None:
        """The connection was lost; the link is made again with the next."""
        self._link = None

    @property
    def is_awaited(self) -> bool:
        """Whether it is not known yet how the first attempt to attach went."""
        return not self._settled_once.is_set()

    def go_on_without_connection(self) -> None:
        """No host could be connected to so far: let who waits go on."""
        self._settled_once.set()

    def shut_down(self) -> None:
        """The connection is closed for good."""
        self._is_over = True
        self._link = None
        self._settled_once.set()

    def received(self, delivery: Any, data: bytes) -> None:
        link = self._link
        assert link is not None
        self.credit.one_came(link)
        self.in_hand += 1
        self._context.received_count += 1
        try:
            message = decoded(data)
        except Undecodable as error:
            self.complain(error)
            self.settle(link, delivery, rejection(error))
            return
        if self._inbox.is_stopped() and delivery is not None:
            self.in_hand -= 1
            link.let_go(delivery)
        else:
            self._inbox.put(Receipt(self, link, delivery, message))
            self._context.connection.begin_grace()

    def complain(self, error: Undecodable) -> None:
        """Log that a message could not be read, once for each cause."""
        if len(self._complaints) < 100 and str(error) not in self._complaints:
            self._complaints.add(str(error))
            _log.error("Rejected a message to %s: %s", self.address, error)

    def settle(self, link: ReceivingLink, delivery: Any, how: Callable[[ReceivingLink, Any], None]) -> None:
        """Settle a message and renew the credit."""
        if not link.is_usable:
            _log.debug("A message to %s is not settled, since its link is gone", self.address)
            return
        how(link, delivery)
        if link is self._link:
            self.in_hand -= 1
        if not self._inbox.is_stopped():
            self.credit.renew(link)
