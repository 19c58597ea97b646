"""The messages to one destination: their link, and those that wait for credit or for an outcome."""

import collections
import logging
import uuid
from typing import Any

from .addressing import Destination
from .errors import ShuttingDown
from .link_context import LinkContext
from .links import Outcome, SendingLink
from .outgoing import HEARTBEAT, Outgoing
from .replies import Replies
from .timers import Timer

_log = logging.getLogger(__name__)


class Sender:
    """Everything here is called with the lock of the connection held."""

    def __init__(self, destination: Destination | str, context: LinkContext, replies: Replies) -> None:
        self._destination = destination
        self._context = context
        self._replies = replies
        self._address = ""
        self._link: SendingLink | None = None
        self._waiting: collections.deque[Outgoing] = collections.deque()
        self._under_way: dict[Any, Outgoing] = {}
        self._pause_timer: Timer | None = None
        self._pause_reason = ""
        self._was_used = True
        self.stalls = 0
        """How often a message had to wait since there was no credit."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits, neither to be sent nor for an outcome."""
        return not self._under_way and all(one.terms.kind == HEARTBEAT for one in self._waiting)

    @property
    def _is_paused(self) -> bool:
        return self._pause_timer is not None

    def send(self, outgoing: Outgoing) -> None:
        """Send a message behind those that wait already."""
        if outgoing.terms.kind == HEARTBEAT and self._waiting:
            # It would say nothing new when it could be sent.
            outgoing.succeed()
            return
        self._was_used = True
        self._waiting.append(outgoing)
        if self._link is None:
            self.attach()
        else:
            self.send_waiting()
            if self._waiting and self._link is not None and self._link.is_attached and self._link.credit <= 0:
                self._count_stall()

    def _count_stall(self) -> None:
        self.stalls += 1
        _log.debug("No credit to send to %s; %d wait, stall %d", self._address, len(self._waiting), self.stalls)

    def cancel(self, outgoing: Outgoing) -> None:
        """Forget a message: its sender waits no more."""
        if outgoing in self._waiting:
            self._waiting.remove(outgoing)
        elif self._link is not None and self._under_way.get(self._link.large) is outgoing:
            del self._under_way[self._link.large]
            self._link.abort()

    def is_getting_on(self, outgoing: Outgoing) -> bool:
        """Return whether more of a large message was sent since the last call."""
        link = self._link
        if link is None or link.large is None or self._under_way.get(link.large) is not outgoing:
            return False
        before, outgoing.left = outgoing.left, link.left
        return before is None or outgoing.left < before

    def stage(self, outgoing: Outgoing) -> str | None:
        """Return the reason why a message waits, in words; None if it is not here."""
        if self._link is not None and self._link.large is not None:
            is_large = self._under_way.get(self._link.large) is outgoing
            return f"{'it' if is_large else 'a large message before it'} was sent in part, and the peer takes no more"
        if any(one is outgoing for one in self._under_way.values()):
            return "it was sent, and nobody has accepted it"
        if outgoing not in self._waiting:
            return None
        if self._is_paused:
            return f"{self._pause_reason}; it waits for link_retry_delay"
        if self._link is None or not self._link.is_attached:
            return f"the peer has not answered the attach to {self._address}"
        if outgoing.wants_reply and self._replies.address is None:
            return f"there is no address for its reply, {self._replies.refusal or 'the peer has not given one'}"
        return f"there is no credit for {self._address}: nobody is subscribed to it, or all subscribers are busy"

    def attach(self) -> None:
        """Attach the link if something waits and there is a connection."""
        engine = self._context.engine
        if self._link is not None or not self._waiting or engine is None or self._is_paused:
            return
        self._address = self._context.address(self._destination)
        name = f"openstack.org/om/sender/[{self._address}]/{uuid.uuid4().hex}"
        self._link = engine.sending_link(name, self._address, self)

    def send_waiting(self) -> None:
        """Send as many of the waiting messages as there is credit for."""
        link, waiting = self._link, self._waiting
        while waiting and not self._is_paused and link is not None and link.is_attached and link.credit > 0:
            if link.large is not None:
                return
            outgoing = waiting[0]
            if not outgoing.is_done:
                if outgoing.wants_reply and self._replies.address is None:
                    return
                self._hand_over(outgoing, link)
            waiting.popleft()

    def _hand_over(self, outgoing: Outgoing, link: SendingLink) -> None:
        data = outgoing.encoded(self._address, self._replies.address)
        if outgoing.wants_reply:
            self._replies.expect(outgoing)
        delivery = link.send(data, outgoing.terms.is_settled)
        if delivery is not None:
            self._under_way[delivery] = outgoing
        elif not outgoing.wants_reply:
            outgoing.succeed()

    # The link calls these.

    def attached(self) -> None:
        _log.debug("Attached to send to %s", self._address)

    def credit_changed(self) -> None:
        self.send_waiting()

    def settled(self, delivery: Any, outcome: Outcome, maybe_seen: bool, reason: str) -> None:
        outgoing = self._under_way.pop(delivery, None)
        if outgoing is None or outgoing.is_done:
            return
        if outcome is Outcome.ACCEPTED:
            if not outgoing.wants_reply:
                outgoing.succeed()
            return
        self._replies.forget(outgoing)
        if maybe_seen:
            words = {Outcome.REJECTED: "rejected", Outcome.MODIFIED: "not delivered", Outcome.UNKNOWN: "in doubt"}
            outgoing.fail(f"{words[outcome]}{reason and ', '}{reason}")
        elif outgoing.terms.is_resent and outgoing.use_retry():
            self._send_again(outgoing)
        else:
            outgoing.came_back("nobody took it")

    def _send_again(self, outgoing: Outgoing) -> None:
        _log.debug("%s came back from %s and is sent again", outgoing.terms.kind, self._address)
        self._waiting.appendleft(outgoing)
        self._pause(f"a message came back from {self._address}, as nobody took it")

    def _pause(self, reason: str) -> None:
        self._pause_reason = reason
        if not self._is_paused:
            self._pause_timer = self._context.connection.later(self._context.settings.link_retry_delay, self._resume)

    def _resume(self) -> None:
        self._pause_timer = None
        if self._link is None:
            self.attach()
        else:
            self.send_waiting()

    def detached(self, reason: str) -> None:
        _log.warning("The link to %s was detached: %s", self._address, reason)
        self._link = None
        words = f"the link to {self._address} was detached, {reason}"
        self._link_lost(words, True)
        self._pause(words)

    def disconnected(self, reason: str, is_round_over: bool) -> None:
        """The connection was lost, or an attempt to make it failed; that all hosts failed counts as one attempt."""
        self._link = None
        if self._pause_timer is not None:
            self._pause_timer.cancel()
            self._pause_timer = None
        self._link_lost(reason, is_round_over)

    def _link_lost(self, reason: str, is_attempt_over: bool) -> None:
        under_way, self._under_way = self._under_way, {}
        for outgoing in under_way.values():
            # A call that was accepted is not in here: its reply may still come, if the connection holds.
            self._replies.forget(outgoing)
            outgoing.fail(f"in doubt, {reason}")
        waiting, self._waiting = self._waiting, collections.deque()
        for outgoing in waiting:
            if outgoing.is_done:
                continue
            if not is_attempt_over or outgoing.use_retry():
                self._waiting.append(outgoing)
            else:
                outgoing.fail(reason)

    def shut_down(self) -> None:
        """Fail everything that waits."""
        for outgoing in (*self._waiting, *self._under_way.values()):
            outgoing.fail_with(ShuttingDown())
        self._waiting.clear()
        self._under_way.clear()

    def take_a_retry(self, reason: str) -> None:
        """Count an attempt for the calls that wait, since there is no address for replies."""
        for outgoing in [one for one in self._waiting if one.wants_reply]:
            if not outgoing.use_retry():
                self._waiting.remove(outgoing)
                outgoing.fail(reason)

    def detach_if_unused(self) -> bool:
        """Detach if nothing was sent since the last call; return whether that was so."""
        was_used, self._was_used = self._was_used, False
        if was_used or not self.is_idle or self._is_paused:
            return False
        if self._link is not None:
            self._link.detach()
            self._link = None
        return True
