"""The links of a session by handle: attach, detach, link stealing, and reports of their end (2.6.1 to 2.6.6)."""

from typing import TYPE_CHECKING

from routerd.wire.amqp_error import Error, error_about
from routerd.wire.errors import (
    FrameSizeTooSmall,
    FramingError,
    HandleInUse,
    LinkError,
    LinkLimitExceeded,
    LinkStolen,
    ResourceLimitExceeded,
    SessionLimitExceeded,
    StateError,
    UnattachedHandle,
)
from routerd.wire.handles import HandleTable
from routerd.wire.link import Link
from routerd.wire.performatives import Attach, Detach
from routerd.wire.receiver import Receiver
from routerd.wire.sender import Sender
from routerd.wire.states import LinkMove, LinkState

if TYPE_CHECKING:
    from routerd.wire.session import Session

# A module constant: access to a member of an enum is a Python call in CPython 3.11.
_ATTACHED = LinkState.ATTACHED
_ATTACH_RCVD = LinkState.ATTACH_RCVD
_ATTACH_SENT = LinkState.ATTACH_SENT
_DETACHED = LinkState.DETACHED
_DETACH_PIPE = LinkState.DETACH_PIPE
_DETACH_RCVD = LinkState.DETACH_RCVD
_DETACH_SENT = LinkState.DETACH_SENT
_RECV_DETACH = LinkMove.RECV_DETACH
_SEND_DETACH = LinkMove.SEND_DETACH
# The most octets of an attach without termini, beside the name of the link.
_ATTACH_OVERHEAD = 64
# Limit of links refused beyond a connection's limit, while the peer has not detached the refused ones.
_TURNED_AWAY_MAX = 1000


class Attachments:
    """Our endpoints of a session's links, by our handle and by the peer's."""

    def __init__(self, session: "Session") -> None:
        self.session = session
        self.names = session.connection.links
        self.local = HandleTable()
        self.remote = HandleTable()
        # Endpoints that lost their name before the peer answered their attach, oldest first.
        self.abandoned: list[Link] = []

    def all(self) -> list[Link]:
        """Return the links that have a handle on either side."""
        return list(dict.fromkeys([*self.local, *self.remote]))

    def claim(self, link: Link) -> None:
        """Give an endpoint its name and the lowest free handle before it attaches, unless it has them."""
        if link.handle >= 0:
            return
        handle = self.local.lowest_free()
        if handle > self.session.remote_handle_max:
            raise StateError(f"the peer takes handles up to {self.session.remote_handle_max} on a session")
        self.names.add(link)
        self.local.put(handle, link)
        link.handle = handle

    def give_up(self, link: Link) -> None:
        """Take name and handle back from an endpoint that could not attach."""
        if link.handle >= 0 and link.remote_handle < 0:
            self.names.drop(link)
            self.local.remove(link.handle)
            link.handle = -1

    def receive_attach(self, performative: Attach) -> None:
        """Complete a link that we attached, or create our endpoint for a link of the peer."""
        handle = performative.handle
        if handle > self.session.handle_max:
            raise FramingError(f"handle {handle} is above handle-max {self.session.handle_max}")
        if self.remote.get(handle) is not None:
            raise HandleInUse(f"handle {handle} is in use")
        self._check_answerable(performative)
        link = self._endpoint(performative)
        if link is None:
            return
        link.remote_handle = handle
        self.remote.put(handle, link)
        link.receive_attach(performative)
        if link.state is not _DETACH_SENT:
            self.session.handler.on_link_attached(link, performative)

    def _check_answerable(self, performative: Attach) -> None:
        room = self.session.send_frame_size - _ATTACH_OVERHEAD
        if 4 * len(performative.name) > room and len(performative.name.encode()) > room:
            raise FrameSizeTooSmall("the name of the link does not fit the frames that the peer accepts")

    def _endpoint(self, performative: Attach) -> Link | None:
        # Finds or creates our endpoint; an older one of the same name loses it (2.6.1).
        name, is_sender = performative.name, performative.role
        for abandoned in self.abandoned:
            if abandoned.name == name and abandoned.is_sender == is_sender:
                self.abandoned.remove(abandoned)
                return abandoned
        link = self.names.find(name, is_sender)
        if link is not None and link.session is self.session and link.state in (_ATTACH_SENT, _DETACH_PIPE):
            return link
        if self.local.lowest_free() > self.session.remote_handle_max:
            raise SessionLimitExceeded("the peer's handle-max leaves no handle for our end of the link")
        if link is not None and link.state is _ATTACH_SENT and not self.session.connection.is_client:
            # Both ends attach one link on two sessions at once. The server's attempt wins, or the two would go on
            # without end.
            self._turn_away(performative, LinkStolen(f"link {name!r} was attached elsewhere"))
            return None
        most = self.session.connection.config.link_names_max
        if link is None and len(self.names) >= most:
            error = LinkLimitExceeded(f"the connection has reached its limit of {most} links")
            self._refuse_another(performative, error)
            return None
        kind = Sender if is_sender else Receiver
        heir = kind(self.session, name)
        if link is not None:
            link.session.attachments.lose(link)
        self.claim(heir)
        if link is not None:
            # The handler does not know the heir yet. So it is not told of the heir's end if it ends the session now.
            heir.is_reported = True
            link.session.attachments.report(link, False, _stolen(link))
            if not self.session.is_receiving:
                self.give_up(heir)
                return None
            heir.is_reported = False
        return heir

    def _refuse_another(self, performative: Attach, error: LinkError) -> None:
        # The other links stay. The connection ends if the peer keeps attaching and never detaches refused links.
        if self.names.turned_away >= _TURNED_AWAY_MAX:
            raise ResourceLimitExceeded(f"{error.description}; {_TURNED_AWAY_MAX} more were refused and not detached")
        self._turn_away(performative, error)
        if self.names.turned_away == 1:
            self.session.handler.on_violation(self.session.connection, error)

    def _turn_away(self, performative: Attach, error: LinkError) -> None:
        self.session.answer()
        kind = Sender if performative.role else Receiver
        link = kind(self.session, performative.name)
        link.is_reported = True
        link.handle = self.local.lowest_free()
        self.local.put(link.handle, link)
        link.remote_handle = performative.handle
        self.remote.put(performative.handle, link)
        Link.receive_attach(link, performative)
        link.is_turned_away = True
        self.names.turned_away += 1
        link.refuse(error_about(error))

    def receive_detach(self, performative: Detach) -> None:
        """Finish a link that we detached, or answer and report the peer's detach."""
        link = self.link_at(performative.handle)
        self.session.answer()
        if link.state is _ATTACH_RCVD:
            link.attach(source=None, target=None)
        was_detaching = link.state is _DETACH_SENT
        link.move(_RECV_DETACH)
        self.remote.remove(performative.handle)
        link.remote_handle = -1
        is_late_close = was_detaching and performative.closed and not link.is_closed
        if not was_detaching:
            link.is_closed = performative.closed
            if link.is_relayed:
                # Its deliveries may be settled until the detach is answered (2.7.6).
                self.session.drop_backlog(link)
                self.session.handler.on_link_detaching(link, performative.closed, performative.error)
                return
            self.session.flush()
            self.session.drop_backlog(link)
            link.move(_SEND_DETACH)
            self.session.connection.send_performative(
                self.session.channel, Detach(handle=link.handle, closed=performative.closed)
            )
        self.local.remove(link.handle)
        link.handle = -1
        self.names.drop(link)
        if is_late_close:
            link.is_closed = True
            if self.names.find(link.name, link.is_sender) is None:
                self._close_again(link)
        self.report(link, performative.closed, performative.error)

    def finish(self, link: Link) -> None:
        """Report a link whose peer has detached first, and that has been answered."""
        self.local.remove(link.handle)
        link.handle = -1
        self.report(link, link.is_closed, None)

    def fail(self, link: Link, error: LinkError) -> None:
        """Detach a link for a violation of the peer."""
        self.session.answer()
        if link.is_attached:
            link.detach(error=error_about(error) if error.is_told else None)
        self.session.handler.on_violation(self.session.connection, error)

    def lose(self, link: Link) -> None:
        """Detach a link whose name the peer attached again, and free its name (2.6.1, link stealing)."""
        self.session.answer()
        link.is_stolen = True
        self.names.drop(link)
        if not self.session.is_open:
            return
        if link.state in (_ATTACH_SENT, _DETACH_PIPE):
            self.abandoned.append(link)
        if link.state is _DETACH_RCVD:
            link.detach(closed=link.is_closed)
        elif link.state is _ATTACH_RCVD:
            link.refuse(_stolen(link))
        elif link.state in (_ATTACHED, _ATTACH_SENT):
            link.detach(error=_stolen(link))

    def link_at(self, handle: int) -> Link:
        """Return the link of a handle of the peer."""
        link: Link | None = self.remote.get(handle)
        if link is None:
            raise UnattachedHandle(f"no link is attached to handle {handle}")
        return link

    def report_all(self, error: Error | None) -> None:
        """Report every link as detached, because the session is over."""
        links = self.all()
        self.local = HandleTable()
        self.remote = HandleTable()
        self.abandoned = []
        for link in links:
            link.handle = link.remote_handle = -1
            link.state = _DETACHED
            link.is_attached = False
            link.is_over = True
            link.drop_spares()
        for link in links:
            self.report(link, False, error)

    def report(self, link: Link, closed: bool, error: Error | None) -> None:
        """Free the name of a link, keep its unsettled deliveries with it, and tell the handler once."""
        self.names.drop(link)
        if link.is_turned_away:
            link.is_turned_away = False
            self.names.turned_away -= 1
        self.session.drop_backlog(link)
        self._suspend(link, self.session.is_open and error is None and not link.has_error and not link.is_closed)
        if not link.is_reported:
            link.is_reported = True
            self.session.handler.on_link_detached(link, closed, error)
        # The endpoint that took a stolen name may take over the unsettled deliveries too.
        if (closed or link.is_closed) and not link.is_stolen:
            link.suspended = None

    def _suspend(self, link: Link, is_known_on: bool) -> None:
        # After a plain detach the peer may still refer to the deliveries by their ids (2.7.6).
        ring = self.session.outgoing if link.is_sender else self.session.incoming
        if link.unsettled_count > 0:
            kept = {} if link.suspended is None else link.suspended
            for delivery in ring.of_link(link):
                kept[delivery.tag] = delivery
                if not is_known_on:
                    self.session.untrack(delivery)
            link.suspended = kept
        ring.forget_link(link)

    def _close_again(self, link: Link) -> None:
        # The peer closed the link while our plain detach was under way. 2.6.6 requires that we attach again and close.
        # Without a terminus nobody takes it for a link that is to be used: a router would route it.
        again = self.session.sender(link.name) if link.is_sender else self.session.receiver(link.name)
        again.is_reported = True
        again.attach()
        again.detach()


def _stolen(link: Link) -> Error:
    return error_about(LinkStolen(f"link {link.name!r} was attached elsewhere"))
