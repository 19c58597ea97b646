"""The two ends of links, over proton's functions. Each calls its owner, but not after a detach."""

import enum
from typing import Any, Protocol

from cproton import (
    PN_ACCEPTED,
    PN_MODIFIED,
    PN_REJECTED,
    PN_RELEASED,
    pn_condition_get_description,
    pn_condition_get_name,
    pn_condition_set_description,
    pn_condition_set_name,
    pn_delivery,
    pn_delivery_abort,
    pn_delivery_aborted,
    pn_delivery_local,
    pn_delivery_partial,
    pn_delivery_pending,
    pn_delivery_readable,
    pn_delivery_remote,
    pn_delivery_remote_state,
    pn_delivery_settle,
    pn_delivery_settled,
    pn_delivery_update,
    pn_disposition_condition,
    pn_disposition_is_failed,
    pn_disposition_is_undeliverable,
    pn_disposition_set_failed,
    pn_disposition_set_undeliverable,
    pn_link_advance,
    pn_link_credit,
    pn_link_flow,
    pn_link_recv,
    pn_link_send,
)


class Outcome(enum.Enum):
    """The outcome of a message."""

    ACCEPTED = PN_ACCEPTED
    REJECTED = PN_REJECTED
    RELEASED = PN_RELEASED
    MODIFIED = PN_MODIFIED
    UNKNOWN = 0
    """Settled without saying anything else."""


class SendingOwner(Protocol):
    """The owner of a sending link."""

    def attached(self) -> None:
        """The peer has attached, too."""

    def detached(self, reason: str) -> None:
        """The link is over, by the peer's will."""

    def credit_changed(self) -> None:
        """The peer may take more now."""

    def settled(self, delivery: Any, outcome: Outcome, maybe_seen: bool, reason: str) -> None:
        """The peer has settled the message, with an outcome that tells whether it may have been seen."""


class ReceivingOwner(Protocol):
    """The owner of a receiving link: it gets the messages that come in."""

    def attached(self) -> None:
        """The peer has attached, too."""

    def detached(self, reason: str) -> None:
        """The link is over, by the peer's will."""

    def received(self, delivery: Any, data: bytes) -> None:
        """A message has come in; without a delivery it is settled already."""


class LinkEngine(Protocol):
    """The part of a connection's engine that links use."""

    def detach(self, link: Any) -> None:
        """Detach a link from our side; its owner hears no more of it."""

    def next_tag(self) -> bytes:
        """Return a delivery tag that no other delivery of the connection has."""

    def has_more_to_send(self, link: "SendingLink") -> None:
        """A link has sent a part of a large message."""

    def has_nothing_to_send(self, link: "SendingLink") -> None:
        """A link has sent all of its large message, or has given up."""


class _Link:
    """The common part of both ends; without a session it is over."""

    def __init__(self, end: Any, owner: Any, engine: LinkEngine) -> None:
        self.end = end
        self.session: Any = None
        self._owner = owner
        self._engine: LinkEngine | None = engine
        self._link = end._impl
        self.is_attached = False

    def detach(self) -> None:
        """Detach; deliveries that are under way end as they do when a link is lost."""
        if self._engine is not None:
            self._engine.detach(self)
            self._leave()

    def detached(self, reason: str) -> None:
        self._leave()
        self._owner.detached(reason)

    def _leave(self) -> None:
        self._engine = None
        self.is_attached = False

    def forget(self) -> None:
        """Take note that proton's connection is gone."""
        self._leave()
        # Here, with the lock held: proton must not be called by whichever thread happens to hold this link last.
        self.end = self.session = None

    def release(self) -> None:
        """Give proton's objects back, when the peer has confirmed their end."""
        self.end.free()
        self.session.free()
        self.forget()

    @property
    def is_usable(self) -> bool:
        """Whether proton may still be asked about this link."""
        return self._engine is not None


SLICE_BYTES = 65_536
"""Bytes of a message that proton gets at once: the time to frame them grows with the square of their number."""


class SendingLink(_Link):
    """Our end of a link that we send over."""

    _owner: SendingOwner

    def __init__(self, end: Any, owner: Any, engine: LinkEngine) -> None:
        super().__init__(end, owner, engine)
        self.large: Any = None
        """The delivery of a message that is sent in part; no other can be sent in the meantime."""
        self._rest = memoryview(b"")
        self._is_large_settled = False

    @property
    def credit(self) -> int:
        """How many messages the peer would take now."""
        return pn_link_credit(self._link) if self._engine is not None else 0

    def attached(self) -> None:
        # A peer that refuses attaches without a target, and detaches then (2.6.3).
        if self.end.remote_target.address is not None or self.end.remote_target.dynamic:
            self.is_attached = True
            self._owner.attached()

    def credit_changed(self) -> None:
        if self.is_attached:
            self._owner.credit_changed()

    def send(self, data: bytes, is_settled: bool) -> Any:
        """Send a message; return the delivery that an outcome will come for, None if it is settled already.

        Of a large one only the beginning is sent here. Its owner hears of the end of it, too, if it is settled.
        """
        assert self._engine is not None
        delivery = pn_delivery(self._link, self._engine.next_tag())
        if len(data) > SLICE_BYTES:
            self.large, self._rest, self._is_large_settled = delivery, memoryview(data), is_settled
            self.send_slice()
            self._engine.has_more_to_send(self)
            return delivery
        pn_link_send(self._link, data)
        if is_settled:
            pn_delivery_settle(delivery)
            return None
        pn_link_advance(self._link)
        return delivery

    @property
    def left(self) -> int:
        """How many octets of the large message are not sent yet."""
        return len(self._rest)

    def send_slice(self) -> None:
        """Send the next part of the large message."""
        pn_link_send(self._link, bytes(self._rest[:SLICE_BYTES]))
        self._rest = self._rest[SLICE_BYTES:]
        if self._rest:
            return
        delivery = self._end_large()
        if self._is_large_settled:
            pn_delivery_settle(delivery)
            self._owner.settled(delivery, Outcome.ACCEPTED, True, "")
        else:
            pn_link_advance(self._link)
        self._owner.credit_changed()

    def abort(self) -> None:
        """Take back the large message."""
        if self._engine is not None:
            pn_delivery_abort(self._end_large())
            self._owner.credit_changed()

    def _end_large(self) -> Any:
        assert self._engine is not None
        delivery, self.large, self._rest = self.large, None, memoryview(b"")
        self._engine.has_nothing_to_send(self)
        return delivery

    def _leave(self) -> None:
        if self._engine is not None and self.large is not None:
            self._end_large()
        super()._leave()

    def delivery_changed(self, delivery: Any) -> None:
        state = pn_delivery_remote_state(delivery)
        if self.large is not None and delivery == self.large:
            self._decided_early(delivery, state)
        elif state == PN_ACCEPTED:
            pn_delivery_settle(delivery)
            self._owner.settled(delivery, Outcome.ACCEPTED, True, "")
        elif state in _FAILURES or pn_delivery_settled(delivery):
            outcome, maybe_seen, reason = _failure(delivery, state)
            pn_delivery_settle(delivery)
            self._owner.settled(delivery, outcome, maybe_seen, reason)


    def _decided_early(self, delivery: Any, state: int) -> None:
        # The rest of it is not needed.
        if state in _FAILURES:
            outcome, maybe_seen, reason = _failure(delivery, state)
        elif pn_delivery_settled(delivery):
            outcome, maybe_seen, reason = Outcome.ACCEPTED if state == PN_ACCEPTED else Outcome.UNKNOWN, True, ""
        else:
            return
        self._owner.settled(delivery, outcome, maybe_seen, reason)
        self.abort()


_FAILURES = frozenset((PN_REJECTED, PN_RELEASED, PN_MODIFIED))


def _failure(delivery: Any, state: int) -> tuple[Outcome, bool, str]:
    disposition = pn_delivery_remote(delivery)
    if state == PN_RELEASED:
        return Outcome.RELEASED, False, ""
    if state == PN_MODIFIED:
        maybe_seen = bool(pn_disposition_is_failed(disposition))
        is_undeliverable = bool(pn_disposition_is_undeliverable(disposition))
        return Outcome.MODIFIED, maybe_seen or is_undeliverable, "undeliverable here" if is_undeliverable else ""
    if state == PN_REJECTED:
        condition = pn_disposition_condition(disposition)
        words = (pn_condition_get_name(condition), pn_condition_get_description(condition))
        return Outcome.REJECTED, True, ": ".join(filter(None, words))
    return Outcome.UNKNOWN, True, ""


class ReceivingLink(_Link):
    """Our end of a link that messages come in over."""

    _owner: ReceivingOwner

    @property
    def source_address(self) -> str | None:
        """The address that messages come from, as the peer has it."""
        return self.end.remote_source.address

    @property
    def credit(self) -> int:
        """How many messages the peer may still send."""
        return pn_link_credit(self._link) if self._engine is not None else 0

    def grant(self, credit: int) -> None:
        """Let the peer send `credit` messages more; fewer, if that is negative."""
        if self._engine is not None:
            pn_link_flow(self._link, credit)

    def attached(self) -> None:
        if self.end.remote_source.address is not None:
            self.is_attached = True
            self._owner.attached()

    def credit_changed(self) -> None:
        pass

    def delivery_changed(self, delivery: Any) -> None:
        if not pn_delivery_readable(delivery) or pn_delivery_partial(delivery):
            return
        if pn_delivery_aborted(delivery):
            pn_delivery_settle(delivery)
            self.grant(1)
            return
        _, data = pn_link_recv(self._link, pn_delivery_pending(delivery))
        pn_link_advance(self._link)
        if pn_delivery_settled(delivery):
            pn_delivery_settle(delivery)
            self._owner.received(None, data)
        else:
            self._owner.received(delivery, data)

    def accept(self, delivery: Any) -> None:
        """Settle a message as accepted."""
        self._settle(delivery, PN_ACCEPTED)

    def let_go(self, delivery: Any) -> None:
        """Settle a message as released: it may go to somebody else."""
        self._settle(delivery, PN_RELEASED)

    def reject(self, delivery: Any, reason: str) -> None:
        """Settle a message as rejected: it could not be read."""
        if delivery is not None and self._engine is not None:
            condition = pn_disposition_condition(pn_delivery_local(delivery))
            pn_condition_set_name(condition, "amqp:decode-error")
            pn_condition_set_description(condition, reason)
        self._settle(delivery, PN_REJECTED)

    def disown(self, delivery: Any) -> None:
        """Settle a message as one that is of no use here and must not come again."""
        if delivery is not None and self._engine is not None:
            disposition = pn_delivery_local(delivery)
            pn_disposition_set_failed(disposition, True)
            pn_disposition_set_undeliverable(disposition, True)
        self._settle(delivery, PN_MODIFIED)

    def _settle(self, delivery: Any, state: int) -> None:
        if delivery is not None and self._engine is not None:
            pn_delivery_update(delivery, state)
            pn_delivery_settle(delivery)
