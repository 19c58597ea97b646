"""The messages that a listener hands to oslo.messaging's servers."""

import logging
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

from oslo_messaging._drivers import base

from .links import ReceivingLink
from .messages import Request, reply_body
from .metrics import ServerMetrics
from .outgoing import HEARTBEAT, Outgoing, Terms
from .settings import Settings
from .subscription import Receipt

_log = logging.getLogger(__name__)


class Replier(Protocol):
    """Sends replies and heartbeats: the driver."""

    settings: Settings
    metrics: ServerMetrics
    reply_terms: Terms

    def post(self, outgoing: Outgoing, limit_s: float, complain: Callable[[BaseException], None]) -> None:
        """Send a message that no thread waits for."""

    def beat(self, outgoing: Outgoing) -> None:
        """Send a heartbeat."""


class IncomingNotification(base.IncomingMessage):
    """A notification."""

    def __init__(self, receipt: Receipt, request: Request) -> None:
        super().__init__(request.context, request.message, msg_id=receipt.message.message_id)
        self._receipt = receipt

    def acknowledge(self) -> None:
        self._receipt.settle(ReceivingLink.accept)

    def requeue(self) -> None:
        self._receipt.settle(ReceivingLink.let_go)


class IncomingRequest(base.RpcIncomingMessage):
    """An RPC request: a call if it says where to reply to, else a cast."""

    def __init__(self, receipt: Receipt, request: Request, replier: Replier) -> None:
        super().__init__(request.context, request.message, msg_id=receipt.message.message_id)
        self.client_timeout = request.call_monitor_timeout
        self._receipt = receipt
        self._replier = replier
        self._began_s = time.monotonic()
        self._has_complained = False
        replier.metrics.began(receipt.subscription.destination, request.message)

    def acknowledge(self) -> None:
        # The caller waits for the reply, so the outcome of the request may go out along with that.
        self._receipt.settle(ReceivingLink.accept, is_urgent=self._receipt.message.reply_to is None)

    def requeue(self) -> None:
        self._receipt.settle(ReceivingLink.let_go)

    def reply(self, reply: Any = None, failure: Any = None) -> None:
        request = self._receipt.message
        took_s = time.monotonic() - self._began_s
        self._replier.metrics.ended(self._receipt.subscription.destination, self.message, took_s, failure)
        if request.reply_to is None:
            _log.debug("No reply is sent to a request that does not say where to: %s", self.msg_id)
            return
        try:
            body = _body(reply, failure)
            outgoing = Outgoing(self._replier.reply_terms, request.reply_to, body, request.message_id)
            # The worker does not wait: a caller that is gone must not keep it from the next request.
            self._replier.post(outgoing, self._replier.settings.default_reply_timeout, self._complain)
        except Exception as error:
            self._complain(error)

    def _complain(self, error: BaseException) -> None:
        to = self._receipt.message.reply_to
        _log.error("The reply to request %s could not be sent to %s: %s", self.msg_id, to, error)

    def heartbeat(self) -> None:
        request = self._receipt.message
        if request.reply_to is None:
            if not self._has_complained:
                self._has_complained = True
                _log.warning("No heartbeat is sent for a request that does not say where to: %s", self.msg_id)
            return
        terms = Terms(kind=HEARTBEAT, is_settled=True, ttl_s=self.client_timeout)
        self._replier.beat(Outgoing(terms, request.reply_to, None, request.message_id))


def _body(reply: Any, failure: Any) -> str:
    try:
        return reply_body(reply, failure)
    except (TypeError, ValueError) as error:
        # The caller should learn that it can't have this, not wait for it.
        _log.error("A reply cannot be written as JSON: %s", error)
        return reply_body(None, sys.exc_info())


