"""A message on its way out, and the thread that waits for its outcome."""

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from oslo_messaging.exceptions import MessageDeliveryFailure, MessageUndeliverable

from .addressing import Destination
from .codec import Message, encoded

CALL, REPLY, CAST, NOTIFY, HEARTBEAT = "rpc-call", "rpc-reply", "rpc-cast", "notify", "heartbeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a message is to be sent."""

    kind: str
    is_settled: bool = False
    """Whether it is sent without waiting for its outcome."""
    retry: int | None = 0
    """How often it may be tried again; None is without an end."""
    is_resent: bool = False
    """Whether it is sent again as well if it comes back unseen."""
    is_mandatory: bool = False
    """Whether its sender wants a separate exception if there is no receiver."""
    ttl_s: float | None = None
    call_monitor_timeout_s: float | None = None


class Outgoing:
    """One message to one destination: a target's, or the address of a caller for replies."""

    __slots__ = (
        *("terms", "destination", "correlation_id", "message_id", "error", "reply", "is_done", "heard_at_s"),
        *("when_done", "left", "_body", "_retries", "_waiter", "_expires_ms"),
    )

    def __init__(
        self, terms: Terms, destination: Destination | str, body: str | None, correlation_id: Any = None
    ) -> None:
        self.terms = terms
        self.destination = destination
        self.correlation_id = correlation_id
        self.message_id: str | None = None
        self.error: BaseException | None = None
        self.reply: Any = None
        self.is_done = False
        self.heard_at_s = 0.0
        self.left: int | None = None
        """How many octets of a large message were not sent yet when that was asked last."""
        self.when_done: Callable[[], None] | None = None
        """Called when it is done, with the lock of the connection held."""
        self._body = body
        self._retries = terms.retry
        self._expires_ms = None if terms.ttl_s is None else int((time.time() + terms.ttl_s) * 1000)
        # Held until the message is done: to wait for that is to get it.
        self._waiter = threading.Lock()
        self._waiter.acquire()

    @property
    def size(self) -> int:
        """The number of characters in its body."""
        return len(self._body or "")

    @property
    def wants_reply(self) -> bool:
        """Whether somebody waits for a reply to it."""
        return self.terms.kind == CALL

    def encoded(self, to: str, reply_to: str | None) -> bytes:
        """Return its bytes; a call gets a new id each time it is sent."""
        ttl_s = self.terms.ttl_s
        message = Message(self._body, to=to, ttl_ms=None if ttl_s is None else max(0, int(ttl_s * 1000)))
        if self.wants_reply:
            self.message_id = message.message_id = uuid.uuid4().hex
            message.reply_to = reply_to
        message.correlation_id = self.correlation_id
        if self.terms.kind != HEARTBEAT:
            message.expiry_time_ms = self._expires_ms
        return encoded(message)

    def use_retry(self) -> bool:
        """Count one failed attempt; return whether there may be another."""
        if self._retries is None:
            return True
        self._retries -= 1
        return self._retries >= 0

    def succeed(self, reply: Any = None) -> None:
        """It is done: delivered, and for a call answered."""
        self.reply = reply
        self._finish()

    def fail(self, reason: str) -> None:
        """It is done: it was not delivered, or its delivery is in doubt."""
        self.fail_with(MessageDeliveryFailure(f"{self.terms.kind} to {self.where}: {reason}"))

    def fail_with(self, error: BaseException) -> None:
        """It is done, with this for its sender."""
        if not self.is_done:
            self.error = error
        self._finish()

    def came_back(self, reason: str) -> None:
        """It is done: there is no receiver for it."""
        if self.terms.is_mandatory:
            exchange = getattr(self.destination, "exchange", None)
            self.fail_with(MessageUndeliverable(reason, exchange, self.where, self._body))
        else:
            self.fail(reason)

    def _finish(self) -> None:
        if not self.is_done:
            self.is_done = True
            self._waiter.release()
            if self.when_done is not None:
                self.when_done()

    def wait(self, until_s: float) -> bool:
        """Wait until it is done or a time of the monotonic clock; return whether it is done."""
        return self._waiter.acquire(timeout=max(0.0, until_s - time.monotonic()))

    @property
    def where(self) -> str:
        """The destination in words."""
        if isinstance(self.destination, str):
            return self.destination
        parts = (self.destination.exchange, self.destination.topic, self.destination.server)
        return "/".join(filter(None, parts)) + (" (fanout)" if self.destination.fanout else "")
