"""One AMQP connection without its socket: bytes go in, bytes and calls to the owners of links come out.

pyngus sets the connection up (open, SASL, TLS, idle time-out) and moves its bytes. Links and events are taken from
proton itself. With pyngus there are several objects for every event and for every message. Sending a message costs 140
microseconds there, and 10 here. An undecodable message would also end the loop of pyngus. Nothing here locks: every
caller holds the lock of the connection.
"""

import itertools
from typing import Any, Protocol

import proton
import pyngus
from cproton import (
    PN_CONNECTION_REMOTE_CLOSE,
    PN_CONNECTION_REMOTE_OPEN,
    PN_DELIVERY,
    PN_LINK_FLOW,
    PN_LINK_REMOTE_CLOSE,
    PN_LINK_REMOTE_DETACH,
    PN_LINK_REMOTE_OPEN,
    PN_SESSION_REMOTE_CLOSE,
    PN_TRANSPORT_ERROR,
    isnull,
    pn_collector_peek,
    pn_collector_pop,
    pn_event_delivery,
    pn_event_link,
    pn_event_session,
    pn_event_type,
    pn_session_outgoing_bytes,
)

from .links import SLICE_BYTES, ReceivingLink, SendingLink

PRODUCT = proton.symbol("product")
CLOSED_SOCKET = "the peer closed the socket without a word"
REQUIRES_SASL = "the peer requires SASL: name a user in the transport URL, or set sasl_mechanisms"


class ConnectionOwner(Protocol):
    """Gets the events of the connection as a whole."""

    def opened(self, product: str | None) -> None:
        """The peer has opened the connection; `product` is from its open."""

    def failed(self, reason: str) -> None:
        """The connection is over: the peer closed it, or it broke."""


class Engine:
    """The protocol of one connection, from its start to its end."""

    def __init__(
        self, container_name: str, properties: dict[str, Any], owner: ConnectionOwner, is_traced: bool = False
    ) -> None:
        self._owner = owner
        self._is_trace_due = is_traced
        self._shows_password = "x-password" in properties
        self._pyngus = pyngus.Container(container_name).create_connection("peer", properties=properties)
        self._collector = proton.Collector()
        self._pyngus.pn_connection.collect(self._collector)
        self._links: dict[Any, SendingLink | ReceivingLink] = {}
        self._sessions: dict[Any, SendingLink | ReceivingLink] = {}
        # Links with a large message that was sent in part.
        self._large: dict[SendingLink, None] = {}
        self._numbers = itertools.count(1)

    def open(self) -> None:
        """Start the protocol."""
        self._trace_if_due()
        self._pyngus.open()

    def _trace_if_due(self) -> None:
        # Frames of SASL have the password in them, so these are left out.
        if self._is_trace_due and not (self._shows_password and self._pyngus.pn_sasl.outcome is None):
            self._is_trace_due = False
            self._pyngus.pn_transport.trace(proton.Transport.TRACE_FRM)

    def close(self) -> None:
        """Detach all links and close the connection, after the output that waits."""
        for link in list(self._links.values()):
            link.detach()
        self._pyngus.close()

    def destroy(self) -> None:
        """Give everything back; links must not be used from here on."""
        for link in self._sessions.values():
            link.forget()
        self._links.clear()
        self._sessions.clear()
        self._large.clear()
        self._pyngus.destroy()

    def feed(self, data: bytes) -> None:
        """Take bytes of the peer and act on them; no bytes mean the end of its output."""
        if not data:
            self._pyngus.close_input()
        while data:
            taken = self._pyngus.process_input(data)
            if taken <= 0:
                break
            data = data[taken:]
        self._trace_if_due()
        self.act()

    def output(self) -> bytes | None:
        """Return the output for the peer, if there is any."""
        return self._pyngus.output_data()

    def send_slices(self) -> bool:
        """Send more of the large messages that there is room for; return whether anything was sent."""
        is_any = False
        for link in list(self._large):
            # Bytes that the peer's window does not let out yet stay here.
            if pn_session_outgoing_bytes(link.session._impl) < SLICE_BYTES:
                link.send_slice()
                is_any = True
        return is_any

    def has_more_to_send(self, link: SendingLink) -> None:
        """A link has sent a part of a large message."""
        self._large[link] = None

    def has_nothing_to_send(self, link: SendingLink) -> None:
        """A link has sent all of its large message, or has given up."""
        self._large.pop(link, None)

    def written(self, count: int) -> None:
        """Forget output that the socket has taken."""
        self._pyngus.output_written(count)

    def tick(self, now: float) -> float:
        """Let idle time-outs pass; return when to call again, 0 for never."""
        deadline = self._pyngus.process(now)
        self.act()
        return deadline

    @property
    def error(self) -> str:
        """The reason for the end of the connection, in words."""
        for condition in (self._pyngus.pn_transport.condition, self._pyngus.pn_connection.remote_condition):
            if condition is not None and (words := _explained(condition)):
                return words
        return CLOSED_SOCKET

    def sending_link(self, name: str, address: str, owner: Any) -> SendingLink:
        """Attach a link that messages are sent to an address over."""
        session = self._session()
        end = session.sender(name)
        end.source.address = end.target.address = address
        return self._opened(session, SendingLink(end, owner, self))

    def receiving_link(self, name: str, address: str | None, target: str, credit: int, owner: Any) -> ReceivingLink:
        """Attach a link that messages come in over from an address; with None, from one that the peer makes up."""
        session = self._session()
        end = session.receiver(name)
        if address is None:
            end.source.dynamic = True
        else:
            end.source.address = address
        end.target.address = target
        link: ReceivingLink = self._opened(session, ReceivingLink(end, owner, self))
        if credit:
            link.grant(credit)
        return link

    def _session(self) -> Any:
        # One for each link: a peer that answers a bad attach by ending the session must not take other links along.
        session = self._pyngus.pn_connection.session()
        session.open()
        return session

    def _opened(self, session: Any, link: Any) -> Any:
        end = link.end
        end.snd_settle_mode = proton.Link.SND_MIXED
        end.rcv_settle_mode = proton.Link.RCV_FIRST
        end.open()
        self._links[end._impl] = link
        self._sessions[session._impl] = link
        link.session = session
        return link

    def next_tag(self) -> bytes:
        """Return a delivery tag that no other delivery of the connection has."""
        return b"%x" % next(self._numbers)

    def act(self) -> bool:
        """Act on all events of proton; return whether there were any."""
        collector = self._collector._impl
        is_news = False
        while not isnull(event := pn_collector_peek(collector)):
            is_news = True
            kind = pn_event_type(event)
            if kind == PN_DELIVERY:
                link, delivery = self._links.get(pn_event_link(event)), pn_event_delivery(event)
                pn_collector_pop(collector)
                if link is not None:
                    link.delivery_changed(delivery)
            elif kind in _ON_LINK:
                link = self._links.get(pn_event_link(event))
                pn_collector_pop(collector)
                if link is not None:
                    self._link_changed(kind, link)
            elif kind == PN_SESSION_REMOTE_CLOSE:
                of_session = self._sessions.pop(pn_event_session(event), None)
                pn_collector_pop(collector)
                if of_session:
                    self._session_ended(of_session)
            else:
                pn_collector_pop(collector)
                if kind in _ON_CONNECTION:
                    self._connection_changed(kind)
        return is_news

    def _link_changed(self, kind: int, link: Any) -> None:
        if kind == PN_LINK_FLOW:
            link.credit_changed()
        elif kind == PN_LINK_REMOTE_OPEN:
            link.attached()
        else:
            self._detached(link, link.end.remote_condition)

    def _session_ended(self, link: Any) -> None:
        self._detached(link, link.session.remote_condition)
        link.release()

    def _detached(self, link: Any, condition: Any) -> None:
        known = self._links.get(link.end._impl)
        if known is not None and known is link:
            self.detach(known)
            known.detached(_words(condition))

    def detach(self, link: Any) -> None:
        """Detach a link from our side; its owner hears no more of it."""
        self._links.pop(link.end._impl, None)
        link.end.close()
        link.session.close()

    def _connection_changed(self, kind: int) -> None:
        if kind == PN_CONNECTION_REMOTE_OPEN:
            properties = self._pyngus.remote_properties or {}
            self._owner.opened(properties.get(PRODUCT))
        elif kind == PN_CONNECTION_REMOTE_CLOSE:
            self._pyngus.close()
            self._owner.failed(self.error)
        else:
            self._owner.failed(self.error)


_ON_LINK = frozenset((PN_LINK_FLOW, PN_LINK_REMOTE_OPEN, PN_LINK_REMOTE_CLOSE, PN_LINK_REMOTE_DETACH))
_ON_CONNECTION = frozenset((PN_CONNECTION_REMOTE_OPEN, PN_CONNECTION_REMOTE_CLOSE, PN_TRANSPORT_ERROR))


def _explained(condition: Any) -> str | None:
    """Return proton's reason in words of the user; None if it only tells that the socket was closed."""
    # Proton calls all of these framing errors.
    _, _, tls = str(condition.description).partition("SSL Failure: ")
    if tls:
        return f"TLS failed: {tls}"
    if "got: AMQP SASL layer" in str(condition.description):
        return REQUIRES_SASL
    return None if "connection aborted" in str(condition.description) else _words(condition)


def _words(condition: Any) -> str:
    if condition is None:
        return "no reason given"
    return f"{condition.name}: {condition.description}" if condition.description else str(condition.name)
