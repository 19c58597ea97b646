"""The link that replies come in over, one for all calls of a transport, and the calls that wait for them."""

import logging
import time
import uuid
from typing import Any, Protocol

from .codec import decoded
from .credit import Credit
from .errors import ShuttingDown, Undecodable
from .link_context import LinkContext
from .links import ReceivingLink
from .outgoing import Outgoing

_log = logging.getLogger(__name__)

NOT_IMPLEMENTED = "amqp:not-implemented"
"""The condition from a peer that makes up no addresses."""


class Callers(Protocol):
    """Has calls that wait for an address for their replies."""

    def send_waiting(self) -> None:
        """There is an address."""

    def take_a_retry(self, reason: str) -> None:
        """There is none."""


class Replies:
    """Everything here is called with the lock of the connection held."""

    def __init__(self, context: LinkContext, callers: Callers) -> None:
        self._context = context
        self._callers = callers
        self._calls: dict[Any, Outgoing] = {}
        self._link: ReceivingLink | None = None
        self.credit = Credit(context.settings.reply_link_credit, "replies")
        self._own_address: str | None = None
        self.address: str | None = None
        """Where replies are to be sent to; None while there is no link."""
        self.refusal: str | None = None
        """Why the peer has given no address, if it has said so."""

    @property
    def is_idle(self) -> bool:
        """Whether no call waits for its reply."""
        return not self._calls

    def attach(self) -> None:
        """Attach the link, with an address that the peer makes up, or with ours where it can't."""
        if self._context.engine is None or self._link is not None:
            return
        name = f"openstack.org/om/receiver/[rpc-response]/{uuid.uuid4().hex}"
        target = self._own_address or "rpc-response"
        self._link = self._context.engine.receiving_link(name, self._own_address, target, 0, self)

    def expect(self, outgoing: Outgoing) -> None:
        """Wait for the reply to a call that is sent now."""
        self._calls[outgoing.message_id] = outgoing

    def forget(self, outgoing: Outgoing) -> None:
        """Wait no more for the reply to a call."""
        self._calls.pop(outgoing.message_id, None)

    def attached(self) -> None:
        assert self._link is not None
        self.address, self.refusal = self._link.source_address, None
        self.credit.begin(self._link)
        self._callers.send_waiting()

    def detached(self, reason: str) -> None:
        self._link = None
        if self.address is not None:
            self._context.connection.abandon(f"the link for replies was detached, {reason}")
            return
        if self._own_address is None and reason.startswith(NOT_IMPLEMENTED):
            # RabbitMQ knows no dynamic sources, but makes a queue for every address that is attached to.
            self._own_address = f"reply.{uuid.uuid4().hex}"
            self.attach()
            return
        self.refusal = reason
        _log.warning("The peer gives no address for replies, so calls have to wait: %s", reason)
        self._callers.take_a_retry(f"there is no address for its reply, {reason}")
        self._context.connection.later(self._context.settings.link_retry_delay, self.attach)

    def disconnected(self, reason: str) -> None:
        """The connection was lost: no reply can come to the calls that were sent."""
        self._link = self.address = self._own_address = self.refusal = None
        calls, self._calls = self._calls, {}
        for outgoing in calls.values():
            outgoing.fail(f"its reply cannot come any more, {reason}")

    def shut_down(self) -> None:
        """Fail the calls that wait."""
        for outgoing in self._calls.values():
            outgoing.fail_with(ShuttingDown())
        self._calls.clear()

    def received(self, delivery: Any, data: bytes) -> None:
        link = self._link
        assert link is not None
        try:
            message = decoded(data)
        except Undecodable as error:
            _log.warning("Rejected a message to %s: %s", self.address, error)
            link.reject(delivery, str(error))
        else:
            self._match(link, delivery, message)
        self.credit.one_came(link)
        self.credit.renew(link)

    def _match(self, link: ReceivingLink, delivery: Any, message: Any) -> None:
        outgoing = self._calls.get(message.correlation_id)
        if outgoing is None:
            # A server that works on a call which was given up goes on to send heartbeats: these are nothing new.
            what, level = ("heartbeat", logging.DEBUG) if message.body is None else ("reply", logging.WARNING)
            _log.log(level, "A %s to %s came for no call that waits: id %s", what, self.address, message.correlation_id)
            link.disown(delivery)
            return
        link.accept(delivery)
        if message.body is None:
            outgoing.heard_at_s = time.monotonic()
            return
        del self._calls[message.correlation_id]
        outgoing.succeed(message.body)
