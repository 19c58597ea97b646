"""Routed links, from attach to detach: each is a link of a client and one towards a container, its two halves.

The client gets an answer when the container has answered. Each half is detached when the other one was. If one half is
lost, the other is detached with the reason. `routed_traffic` passes on everything between attach and detach.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from routerd.core.links.role import LinkRole
from routerd.core.links.routed_end import RoutedEnd
from routerd.core.roles.routed_termini import routed_address, with_address
from routerd.wire import (
    Attach,
    ConnectionState,
    Error,
    FrameTooLarge,
    LinkState,
    SessionState,
    StateError,
    Symbol,
)

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.links.peer import Peer
    from routerd.core.observer import Observer
    from routerd.core.roles.attaching import Attaching
    from routerd.core.roles.routed_traffic import RoutedTraffic
    from routerd.core.settings import LinkRouteSettings
    from routerd.core.totals import Totals
    from routerd.wire import RemoteError
    from routerd.wire.delivery import Delivery
    from routerd.wire.link import Link
    from routerd.wire.session import Session

PATIENCE_S = 60.0
"""The time for a peer to answer an attach or a detach: old routers ignore the end of a session."""

_LOST = "qd:routed-link-lost"
_LOST_TEXT = "Connectivity to the peer container was lost"
_TOO_LONG = Error(condition="amqp:frame-size-too-small", description="the attach does not fit the container's frames")
_NO_ROOM = Error(condition="amqp:resource-limit-exceeded", description="the container takes no more links")
_OPENED = ConnectionState.OPENED
_MAPPED = SessionState.MAPPED
_ATTACH_RCVD = LinkState.ATTACH_RCVD
_ATTACH_SENT = LinkState.ATTACH_SENT
_ATTACHED = LinkState.ATTACHED
_DETACH_RCVD = LinkState.DETACH_RCVD
_DETACH_SENT = LinkState.DETACH_SENT
_BEGUN = (_ATTACH_RCVD, _ATTACH_SENT, _ATTACHED)
_DETACHING = (LinkState.DETACH_SENT, LinkState.DETACH_PIPE, LinkState.DETACH_RCVD)


class Wish:
    """A link to attach for a client."""

    def __init__(
        self,
        to: "Peer",
        name: str,
        performative: Attach,
        source: Any,
        target: Any,
        route: "LinkRouteSettings | None" = None,
        address: str = "",
    ) -> None:
        self.to = to
        self.name = name
        self.performative = performative
        self.source = source
        self.target = target
        # The link route whose prefixes the container's addresses have, and the address without these.
        self.route = route
        self.address = address


class RoutedLinks:
    """Pairs links, and takes them apart."""

    role: LinkRole
    """Set once by the builder of the parts."""

    def __init__(
        self,
        clock: "Clock",
        observer: "Observer",
        attaching: "Attaching",
        traffic: "RoutedTraffic",
        totals: "Totals",
    ) -> None:
        self._clock = clock
        self._traffic = traffic
        self._observer = observer
        self._attaching = attaching
        self._totals = totals
        # Links that wait for their peer, with the time since when.
        self.pending: dict[RoutedEnd, float] = {}
        # Near halves that wait for the name of a link that is being detached.
        self.namesakes: dict[Link, list[RoutedEnd]] = {}

    # --- attach

    def connect(self, peer: "Peer", link: "Link", wish: Wish, address: str, is_resumable: bool) -> None:
        """Attach the far half for a link that a peer has attached. The peer gets the same answer as this router."""
        near = RoutedEnd(self._attaching.take_number(), peer, link, True)
        near.role = self.role
        near.address = address
        near.is_resumable = is_resumable
        near.wish = wish
        near.dry_since = self._clock.now
        link.context = near
        link.is_relayed = True
        peer.routed[near] = None
        if link.is_sender:
            peer.routed_out += 1
        else:
            peer.routed_in += 1
        self._attach(near)

    def _attach(self, near: RoutedEnd) -> None:
        wish: Wish = near.wish
        connection = wish.to.connection
        if connection.state is not _OPENED:
            self._refuse(near, _lost(None))
            return
        is_sender = not near.link.is_sender
        name = wish.name
        earlier = connection.links.find(name, is_sender)
        # The container inside the router has done with a link that it has detached. The link's client may never answer.
        is_done_with = earlier is not None and wish.to.is_inner and earlier.state is _DETACH_RCVD
        if earlier is not None and earlier.state in _DETACHING and not is_done_with:
            # The name has to be the same: by it the container may know the unsettled deliveries of an earlier link.
            self.pending[near] = self._clock.now
            self.namesakes.setdefault(earlier, []).append(near)
            return
        number = 1
        # The container inside the router has to know the client's name without the number.
        mark = "\0" if wish.to.is_inner else "@"
        while earlier is not None:
            number += 1
            name = f"{wish.name}{mark}{number}"
            earlier = connection.links.find(name, is_sender)
        self.pending.pop(near, None)
        near.wish = None
        session = self._session(wish.to)
        if session is None:
            self._refuse(near, _NO_ROOM)
            return
        link: Link = session.sender(name) if is_sender else session.receiver(name)
        link.is_relayed = True
        performative = wish.performative
        try:
            link.attach(
                source=wish.source,
                target=wish.target,
                snd_settle_mode=performative.snd_settle_mode,
                rcv_settle_mode=performative.rcv_settle_mode,
                max_message_size=performative.max_message_size or 0,
                unsettled=performative.unsettled or None,
                incomplete_unsettled=performative.incomplete_unsettled,
                offered_capabilities=performative.offered_capabilities,
                desired_capabilities=performative.desired_capabilities,
                properties=performative.properties,
            )
        except FrameTooLarge:
            session.end_unused()
            self._refuse(near, _TOO_LONG)
            return
        except StateError:
            session.end_unused()
            self._refuse(near, _NO_ROOM)
            return
        far = RoutedEnd(self._attaching.take_number(), wish.to, link, False)
        far.role = self.role
        far.address = near.address
        far.prefixes = wish.route
        far.plain_address = wish.address
        far.dry_since = self._clock.now
        if wish.to.is_container and not is_sender:
            far.receiver.is_lenient = True
        far.wish = wish
        far.other = near
        near.other = far
        link.context = far
        wish.to.routed[far] = None
        self.pending[far] = self._clock.now
        if near.link.is_sender and near.link.credit > 0:
            self._traffic.flow(near)

    def _session(self, peer: "Peer") -> "Session | None":
        # Each link has one: a container may end it with the link, and a full window stops no other link.
        try:
            session: Session = peer.connection.session()
        except StateError:
            return self._shared_session(peer)
        session.begin()
        return session

    def _shared_session(self, peer: "Peer") -> "Session | None":
        for end in peer.routed:
            if not end.is_near and end.link.session.is_open:
                shared: Session = end.link.session
                return shared
        if peer.is_router or peer.is_fabric:
            return None
        for one in peer.connection.sessions():
            if one.is_open:
                return one
        return None

    def answered(self, far: RoutedEnd, performative: Attach) -> None:
        """Answer the client as the container has answered, or refuse its link."""
        self.pending.pop(far, None)
        far.wish = None
        near = far.other
        if near is None or near.link.state is not _ATTACH_RCVD or not near.link.session.is_open:
            return
        link = near.link
        source, target = performative.source, performative.target
        if far.prefixes is not None:
            if link.is_sender:
                source = _for_client(source, far)
            else:
                target = _for_client(target, far)
        size = performative.max_message_size or 0
        if not link.is_sender and near.peer.max_message_size:
            size = min(size or near.peer.max_message_size, near.peer.max_message_size)
        try:
            link.attach(
                source=source,
                target=target,
                snd_settle_mode=performative.snd_settle_mode,
                rcv_settle_mode=performative.rcv_settle_mode,
                max_message_size=size,
                unsettled=performative.unsettled or None,
                incomplete_unsettled=performative.incomplete_unsettled,
                offered_capabilities=performative.offered_capabilities,
                desired_capabilities=performative.desired_capabilities,
                properties=performative.properties,
            )
        except FrameTooLarge as error:
            self._refuse(near, Error(condition="amqp:frame-size-too-small", description=str(error)))
            self._detach(far, True, None)
            return
        if not link.is_sender and near.peer.max_message_size:
            self._attaching.limit(near.receiver)
        if far.peer.is_edge and far.link.is_sender:
            self._attaching.unlimit(far.link)
        far.is_open = near.is_open = True
        self._observer.link_attached(near)

    def _refuse(self, near: RoutedEnd, error: Error) -> None:
        """Refuse a client whose link could not be routed."""
        link = near.link
        if near.other is not None:
            near.other.let_go()
            near.let_go()
            near.other.other = None
            near.other = None
        self._forget(near)
        link.context = None
        link.is_relayed = False
        if link.state is _ATTACH_RCVD and link.session.is_open:
            self._attaching.refuse(link, error)

    # --- the end

    def detaching(self, end: RoutedEnd, closed: bool, error: Error | None) -> None:
        """Detach the other half, as a peer detaches this one. The peer is answered when the other half's peer has."""
        link = end.link
        other = end.other
        end.has_left = True
        end.is_open = False
        end.reason = error
        if other is None:
            self._leave_queue(end)
            link.detach(closed=closed)
            return
        self.pending[end] = self._clock.now
        self._traffic.cut(end, other)
        if closed:
            self._traffic.settle_left(end)
        self._detach(other, closed, error)

    def ended(self, end: RoutedEnd, error: Error | None) -> None:
        """Forget a half that is over, and detach the other one."""
        other = end.other
        link = end.link
        again: RoutedEnd | None = None
        if other is not None:
            if link.is_stolen and not end.is_near and end.wish is not None and other.link.state is _ATTACH_RCVD:
                # The peer has attached a link of this name at the same time, and keeps it.
                again = other
                again.wish = end.wish
            else:
                self._follow(end, other, error)
        self._traffic.let_go(end)
        if other is not None:
            other.let_go()
            end.let_go()
            end.other = other.other = None
        self._forget(end)
        self._leave_queue(end)
        for near in self.namesakes.pop(link, ()):
            self._attach(near)
        if again is not None:
            self._attach(again)
        if not end.is_near:
            link.session.end_unused()
        self._totals.add(end)
        self._observer.link_lost(end, end.reason if error is None else error)

    def _follow(self, end: RoutedEnd, other: RoutedEnd, error: Error | None) -> None:
        link = end.link
        if end.has_left:
            # If it was lost before it was answered, the other half is on its way out. If the peer of that one has left
            # as well, while our detach still waited behind messages, nothing else answers it.
            if other.has_left:
                self._detach(other, link.is_closed, None)
            return
        if link.session.is_over or link.is_stolen or not other.has_left:
            self._lose(end, other, _lost(error))
        else:
            # This answers our detach, and the peer of the other half waits for it.
            self._detach(other, link.is_closed, error)

    def _lose(self, end: RoutedEnd, other: RoutedEnd, error: Error) -> None:
        """Detach the half whose other half has lost its peer, or has a peer that does not answer."""
        closed = not (end.is_near and end.is_resumable)
        self._traffic.cut(end, other)
        if closed:
            self._traffic.settle_left(end)
        self._detach(other, closed, error)

    def _detach(self, end: RoutedEnd, closed: bool, error: Error | None) -> None:
        """Detach a half, or answer its detach, after everything that is still to be sent on it."""
        link = end.link
        if not link.session.is_open:
            return
        state = link.state
        if state is _ATTACH_RCVD:
            self._refuse(end, _lost(None) if error is None else error)
        elif state is _DETACH_RCVD:
            self._traffic.send_detach(link, closed or link.is_closed, error)
        elif state is _ATTACHED or state is _ATTACH_SENT:
            end.is_open = False
            self.pending[end] = self._clock.now
            if end.waiting or (link.is_sender and link.session.has_backlog):
                end.detach_due = closed, error
                end.wait()
            else:
                self._traffic.send_detach(link, closed, error)

    def _forget(self, end: RoutedEnd) -> None:
        self.pending.pop(end, None)
        peer = end.peer
        peer.stuck.pop(end, None)
        if end in peer.routed:
            del peer.routed[end]
            if end.is_near:
                if end.link.is_sender:
                    peer.routed_out -= 1
                else:
                    peer.routed_in -= 1

    def _leave_queue(self, near: RoutedEnd) -> None:
        """Stop waiting for a name."""
        if near.wish is not None:
            near.wish = None
            for namesake, waiting in list(self.namesakes.items()):
                if near in waiting:
                    waiting.remove(near)
                    if not waiting:
                        del self.namesakes[namesake]

    # --- what a peer did, or does not do

    def violated(self, peer: "Peer", error: "RemoteError") -> None:
        """Detach the other halves of those that were ended for a fault of their peer, which may never answer."""
        for end in list(peer.routed):
            other = end.other
            link = end.link
            if other is None or end.has_left or other.has_left or link.is_attached:
                continue
            is_faulty = link.has_error or (not error.is_told and link.state is _DETACH_SENT)
            if (is_faulty or not link.session.is_open) and other.link.state in _BEGUN:
                self._lose(end, other, Error(condition=error.condition, description=error.description))

    def each_second(self, now: float) -> None:
        """Give up waiting for peers that have been silent for too long."""
        late = [end for end, since in self.pending.items() if now - since >= PATIENCE_S]
        for end in late:
            if self.pending.pop(end, None) is not None:
                self._give_up(end)

    def _give_up(self, end: RoutedEnd) -> None:
        link = end.link
        other = end.other
        if end.is_near and end.wish is not None:
            self._leave_queue(end)
            self._refuse(end, _lost(None))
        elif end.detach_due is not None:
            closed, error = end.detach_due
            end.detach_due = end.waiting = None
            if link.is_attached:
                self._traffic.send_detach(link, closed, error)
                self.pending[end] = self._clock.now
        elif link.state is _DETACH_RCVD:
            self._traffic.send_detach(link, link.is_closed, None)
        elif link.state is _ATTACH_SENT:
            if other is not None:
                self._detach(other, True, _lost(None))
            if link.state is _ATTACH_SENT:
                self._traffic.send_detach(link, True, None)
                self.pending[end] = self._clock.now
        elif not end.is_near and link.session.state is _MAPPED and len(link.session.links()) == 1:
            # Nobody answers this detach: end the session, which may be answered.
            link.session.end()

    def close_all(self, peer: "Peer", error: Error) -> None:
        """Detach all halves of a connection that is about to be closed."""
        for end in list(peer.routed):
            if end.link.is_attached:
                end.link.detach(error=error)


class RoutedRole(LinkRole):
    """The role of either half of a routed link."""

    def __init__(self, links: RoutedLinks, traffic: "RoutedTraffic") -> None:
        self._links = links
        self._traffic = traffic

    def transfer(self, end: RoutedEnd, delivery: "Delivery", data: bytes | bytearray, start: int, stop: int) -> None:
        """Pass it on."""
        self._traffic.transfer(end, delivery, data, start, stop)

    def flow(self, end: RoutedEnd) -> None:
        """Pass it on."""
        self._traffic.flow(end)

    def ended(self, end: RoutedEnd, error: Error | None) -> None:
        """Detach the other half."""
        self._links.ended(end, error)


def _lost(error: Error | None) -> Error:
    """Return the error for a link whose other half is lost, and the reason of that."""
    if error is None:
        return Error(condition=_LOST, description=_LOST_TEXT)
    info: dict[Any, Any] = {Symbol("condition"): Symbol(error.condition)}
    if error.description is not None:
        info[Symbol("description")] = error.description
    return Error(condition=_LOST, description=_LOST_TEXT, info=info)


def _for_client(terminus: Any, far: RoutedEnd) -> Any:
    """Return a terminus of a container as the client knows it."""
    route: LinkRouteSettings = far.prefixes
    asked = route.to_container(far.plain_address)
    if getattr(terminus, "dynamic", False) and routed_address(terminus) == asked:
        terminus = with_address(terminus, far.plain_address)
    address = getattr(terminus, "address", None)
    if not isinstance(address, str):
        return terminus
    return replace(terminus, address=far.plain_address if address == asked else route.to_client(address))
