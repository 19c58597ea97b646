"""The listeners of RPC servers and of notification servers."""

import collections
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from oslo_messaging._drivers import base

from .addressing import Destination, Service
from .errors import SubscriptionRefused, Undecodable
from .links import ReceivingLink
from .subscription import Receipt, Subscription, rejection

if TYPE_CHECKING:
    from .bus import MessageBus

_log = logging.getLogger(__name__)

ATTACH_LIMIT_S = 10.0
"""How long making a listener waits for its subscriptions; without them it goes on, and they follow."""
DETACH_LIMIT_S = 5.0
LEAVE_LIMIT_S = 5.0
"""How long cleanup() waits for replies that were not sent yet."""
LINKS = {Service.RPC: 3, Service.NOTIFY: 1}
"""How many addresses a listener for one target is subscribed to."""

Read = Callable[[Receipt], Any]


class Listener(base.PollStyleListener):
    """Hands out the messages of some subscriptions, in the order in which they came."""

    def __init__(self, bus: "MessageBus", destinations: Sequence[Destination], window: int, read: Read) -> None:
        super().__init__(prefetch_size=-1)
        self._bus = bus
        self._read = read
        self._arrived: collections.deque[Receipt] = collections.deque()
        # Held while there is nothing new: to wait for a message or for the end is to get it.
        self._news = threading.Lock()
        self._news.acquire()
        self._is_stopped = False
        self.subscriptions = [
            Subscription(bus.context, destination, number, window, self)
            for destination in destinations
            for number in range(LINKS[destination.service])
        ]

    def subscribe(self) -> None:
        """Attach the subscriptions; SubscriptionRefused if the peer has refused one."""
        self._bus.subscribe(self.subscriptions)
        until_s = time.monotonic() + ATTACH_LIMIT_S
        slow = [one for one in self.subscriptions if not one.wait(max(0.0, until_s - time.monotonic()))]
        if slow:
            what = ", ".join(sorted({one.address or one.destination.topic for one in slow}))
            words = "Subscribing to %s takes more than %g s, going on without: %s"
            _log.warning(words, what, ATTACH_LIMIT_S, self._bus.state)
        for subscription in self.subscriptions:
            if subscription.refusal is not None:
                self.cleanup()
                raise SubscriptionRefused(subscription.address, subscription.refusal)

    # Called with the lock of the connection held.

    def put(self, receipt: Receipt) -> None:
        self._arrived.append(receipt)
        self._tell()

    def is_stopped(self) -> bool:
        return self._is_stopped

    def _tell(self) -> None:
        if self._news.locked():
            # Somebody else may just have done so.
            try:
                self._news.release()
            except RuntimeError:
                return

    # The listening threads call these.

    def poll(self, timeout: float | None = None, batch_size: int = 1, batch_timeout: float | None = None) -> list[Any]:
        until_s = None if timeout is None else time.monotonic() + timeout
        found: list[Any] = []
        while len(found) < (batch_size or 1):
            message = self._next(until_s)
            if message is None:
                break
            if not found and batch_timeout is not None:
                until_s = time.monotonic() + batch_timeout
            found.append(message)
        return found

    def _next(self, until_s: float | None) -> Any:
        while True:
            try:
                receipt = self._arrived.popleft()
            except IndexError:
                if not self._wait(until_s):
                    return None
                continue
            try:
                return self._read(receipt)
            except Undecodable as error:
                receipt.subscription.complain(error)
                receipt.settle(rejection(error))

    def _wait(self, until_s: float | None) -> bool:
        if self._is_stopped:
            return False
        if until_s is None:
            self._news.acquire()
        elif not self._news.acquire(timeout=max(0.0, until_s - time.monotonic())):
            return False
        return True

    def stop(self) -> None:
        """Take no more messages; those that arrived are still handed out."""
        self._is_stopped = True
        self._bus.connection.submit(self._withdraw)
        self._tell()

    def _withdraw(self) -> None:
        for subscription in self.subscriptions:
            subscription.withdraw()

    def cleanup(self) -> None:
        """Detach the subscriptions."""
        self._is_stopped = True
        self._tell()
        while self._arrived:
            self._arrived.popleft().settle(ReceivingLink.let_go)
        # Otherwise the replies of requests that have just finished would be lost with the process.
        self._bus.wait_for_posted(LEAVE_LIMIT_S)
        done = [self._bus.unsubscribe(subscription) for subscription in self.subscriptions]
        for one in done:
            one.wait(DETACH_LIMIT_S)
