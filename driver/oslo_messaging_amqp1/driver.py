"""The transport driver that oslo.messaging loads for `amqp://`.

A child that was forked must use neither the connection of its parent nor a lock that a thread of the parent may have
held. So the child makes both anew before it runs anything else.
"""

import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from oslo_config import cfg
from oslo_messaging import exceptions
from oslo_messaging._drivers import base

from .addressing import Destination, Service
from .bus import MessageBus
from .errors import Undecodable
from .incoming import IncomingNotification, IncomingRequest
from .listener import Listener, Read
from .messages import notification_body, read_notification, read_reply, read_request, request_body
from .metrics import ServerMetrics
from .outgoing import CALL, CAST, NOTIFY, REPLY, Outgoing, Terms
from .settings import Settings, read_settings
from .subscription import Receipt
from .url import hosts_of, vhost_of

_log = logging.getLogger(__name__)

COMPLAINTS_LIMIT = 1000
"""Destinations for which the loss of a cast was logged as a warning; all other losses are logged at DEBUG."""
LEAVE_LIMIT_S = 5.0
"""How long cleanup() waits for replies and other messages that no thread waits for."""
CANCEL_LIMIT_S = 0.5
"""How long a thread whose time is over waits for the connection to tell how far its message came."""


class AMQPDriver(base.BaseDriver):
    """Connects when it is first used, and anew in a process that was forked."""

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        url: Any,
        default_exchange: str | None = None,
        allowed_remote_exmods: Iterable[str] | None = None,
    ) -> None:
        super().__init__(conf, url, default_exchange, list(allowed_remote_exmods or ()))
        self.settings: Settings = read_settings(conf, url)
        self._hosts = hosts_of(url, self.settings.sasl_default_realm)
        self._vhost = vhost_of(url)
        self.metrics = ServerMetrics(conf)
        self.reply_terms = self._terms(REPLY, retry=self.settings.default_reply_retry)
        self._lock = threading.Lock()
        self._bus: MessageBus | None = None
        self._left_to_the_parent: list[MessageBus] = []
        self._complaints: set[Destination] = set()
        _drivers.add(self)

    def require_features(self, requeue: bool = False) -> None:
        """Everything there is, is supported."""

    def send(
        self,
        target: Any,
        ctxt: Any,
        message: Any,
        wait_for_reply: bool | None = None,
        timeout: float | None = None,
        call_monitor_timeout: float | None = None,
        retry: int | None = None,
        transport_options: Any = None,
    ) -> Any:
        """Send a cast, or a call and return its reply."""
        kind = CALL if wait_for_reply else CAST
        terms = self._terms(kind, retry, timeout, call_monitor_timeout, transport_options)
        destination = Destination(
            target.topic, target.exchange, None if target.fanout else target.server, bool(target.fanout), Service.RPC
        )
        outgoing = Outgoing(terms, destination, request_body(ctxt, message, call_monitor_timeout))
        limit_s = timeout or self.settings.default_send_timeout
        if self._is_posted(terms, destination):
            self.post(outgoing, limit_s, lambda error: self._complain(destination, error))
            return None
        self.deliver(outgoing, limit_s, is_timeout_given=bool(timeout))
        if not wait_for_reply:
            return None
        try:
            reply, failure = read_reply(outgoing.reply, self._allowed_remote_exmods)
        except Undecodable as error:
            words = f"The reply from {outgoing.where} cannot be read: {error}"
            raise exceptions.MessageDeliveryFailure(words) from error
        if failure is not None:
            raise failure
        return reply

    def _is_posted(self, terms: Terms, destination: Destination) -> bool:
        what = "fanout" if destination.fanout else terms.kind
        return terms.kind == CAST and what in self.settings.return_at_once and not terms.is_mandatory

    def _complain(self, destination: Destination, error: BaseException) -> None:
        # Services that send to an absent receiver do so again and again.
        is_new = destination not in self._complaints and len(self._complaints) < COMPLAINTS_LIMIT
        if is_new:
            self._complaints.add(destination)
        _log.log(logging.WARNING if is_new else logging.DEBUG, "A cast was lost: %s", error)

    def send_notification(
        self, target: Any, ctxt: Any, message: Any, version: float, retry: int | None = None
    ) -> None:
        """Send a notification; returns when the bus has accepted it."""
        destination = Destination(target.topic, target.exchange, service=Service.NOTIFY)
        outgoing = Outgoing(self._terms(NOTIFY, retry), destination, notification_body(ctxt, message, version))
        self.deliver(outgoing, self.settings.default_notify_timeout, is_timeout_given=False)

    def listen(self, target: Any, batch_size: int, batch_timeout: float | None) -> base.PollStyleListenerAdapter:
        """Listen to the requests for a target."""
        destination = Destination(target.topic, target.exchange, target.server, service=Service.RPC)
        listener = self._listener([destination], self.settings.rpc_server_credit, self._read_request)
        return base.PollStyleListenerAdapter(listener, batch_size, batch_timeout)

    def listen_for_notifications(
        self, targets_and_priorities: Any, pool: str | None, batch_size: int, batch_timeout: float | None
    ) -> base.PollStyleListenerAdapter:
        """Listen to the notifications of some topics and priorities."""
        if pool:
            raise NotImplementedError('"pool" is not supported by the AMQP 1.0 driver')
        # Without the exchange: the notifier does not have it either, so that both meet at the default exchange.
        destinations = [
            Destination(f"{target.topic}.{priority}", service=Service.NOTIFY)
            for target, priority in targets_and_priorities
        ]
        listener = self._listener(destinations, self.settings.notify_server_credit, _read_notification)
        return base.PollStyleListenerAdapter(listener, batch_size, batch_timeout)

    def cleanup(self) -> None:
        """Close the connection; waiting messages fail. A driver that is used again connects again."""
        with self._lock:
            bus, self._bus = self._bus, None
        if bus is not None:
            bus.wait_for_posted(LEAVE_LIMIT_S)
            bus.stop()

    # Incoming messages use these.

    def deliver(self, outgoing: Outgoing, limit_s: float, is_timeout_given: bool) -> None:
        """Send a message and wait until it is done; raises its failure."""
        began_s = time.monotonic()
        bus = self.bus()
        bus.send(outgoing)
        if why := _wait(outgoing, began_s, limit_s):
            is_given = is_timeout_given or outgoing.terms.call_monitor_timeout_s
            error = exceptions.MessagingTimeout if is_given else exceptions.MessageDeliveryFailure
            bus.cancel(outgoing, why, error)
            if not outgoing.wait(time.monotonic() + CANCEL_LIMIT_S):
                raise error(f"{outgoing.terms.kind} to {outgoing.where}{why}: another thread is busy at the connection")
        if outgoing.error is not None:
            raise outgoing.error

    def post(self, outgoing: Outgoing, limit_s: float, complain: Callable[[BaseException], None]) -> None:
        """Send a message without waiting for it; after the limit it is given up. A failure is reported."""
        self.bus().post(outgoing, limit_s, complain)

    def beat(self, outgoing: Outgoing) -> None:
        """Send a heartbeat, which may be lost."""
        self.bus().send(outgoing)

    def bus(self) -> MessageBus:
        """Return the connection of this process."""
        bus = self._bus
        if bus is not None:
            return bus
        with self._lock:
            if self._bus is None:
                if self._left_to_the_parent:
                    _log.warning("Process %d was forked from another and connects for itself", os.getpid())
                self._bus = MessageBus(self._hosts, self.settings, self._default_exchange, self._vhost)
                self._bus.start()
            return self._bus

    def begin_anew(self) -> None:
        """Called in a child that was just forked, which has this thread alone."""
        self._lock = threading.Lock()
        if self._bus is not None:
            self._bus.connection.leave_to_the_parent()
            # It is kept, since a thread of the parent may have been at proton's objects in it.
            self._left_to_the_parent.append(self._bus)
            self._bus = None

    def _terms(
        self,
        kind: str,
        retry: int | None,
        ttl_s: float | None = None,
        call_monitor_timeout_s: float | None = None,
        transport_options: Any = None,
    ) -> Terms:
        settings = self.settings
        is_mandatory = bool(getattr(transport_options, "at_least_once", False))
        is_asked_for = (kind == CALL and retry is not None and retry > 0) or (kind == REPLY and retry != 0)
        return Terms(
            kind=kind,
            is_settled=kind in settings.pre_settled and not is_mandatory,
            retry=None if retry is None or retry < 0 else retry,
            is_resent=kind in settings.resend_released or is_asked_for,
            is_mandatory=is_mandatory,
            ttl_s=ttl_s or None,
            call_monitor_timeout_s=call_monitor_timeout_s,
        )

    def _listener(self, destinations: list[Destination], window: int, read: Read) -> Listener:
        listener = Listener(self.bus(), destinations, window, read)
        listener.subscribe()
        return listener

    def _read_request(self, receipt: Receipt) -> IncomingRequest:
        return IncomingRequest(receipt, read_request(receipt.message.body), self)


def _read_notification(receipt: Receipt) -> IncomingNotification:
    return IncomingNotification(receipt, read_notification(receipt.message.body))


_drivers: "weakref.WeakSet[AMQPDriver]" = weakref.WeakSet()


def _begin_anew() -> None:
    for driver in list(_drivers):
        driver.begin_anew()


os.register_at_fork(after_in_child=_begin_anew)


def _wait(outgoing: Outgoing, began_s: float, limit_s: float) -> str | None:
    """Wait until a message is done; return which limit was over before, in words."""
    until_s = began_s + limit_s
    is_over = f" was not over within {limit_s:g} s"
    monitor_s = outgoing.terms.call_monitor_timeout_s
    if not monitor_s:
        return None if outgoing.wait(until_s) else is_over
    while True:
        heard_until_s = max(began_s, outgoing.heard_at_s) + monitor_s
        if outgoing.wait(min(until_s, heard_until_s)):
            return None
        now_s = time.monotonic()
        if now_s >= until_s:
            return is_over
        if now_s >= max(began_s, outgoing.heard_at_s) + monitor_s:
            return f": nothing was heard of it for {monitor_s:g} s"
