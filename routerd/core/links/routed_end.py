"""One half of a routed link: a link of one peer. The other half is a link of another peer.

The near half is the one whose attach came in, the far half leads towards the container. Each half knows
the other one, since it passes on to it what it receives.
"""

from typing import TYPE_CHECKING, Any, cast

from routerd.core.links.end import End
from routerd.core.links.outlet import BURST

if TYPE_CHECKING:
    from collections import deque

    from routerd.core.links.peer import Peer
    from routerd.core.links.trunk import Trunk
    from routerd.wire.delivery import Delivery
    from routerd.wire.link import Link
    from routerd.wire.receiver import Receiver
    from routerd.wire.sender import Sender

_BURST = BURST


class WaitingTransfer:
    """A delivery that came when the far end had taken its credit back, and the octets of it."""

    delivery: "Delivery"
    octets: bytearray

    def __init__(self, delivery: "Delivery", octets: bytearray) -> None:
        self.delivery = delivery
        self.octets = octets


class RoutedEnd(End):
    """A half of a routed link, and its counters."""

    link: "Link"
    sender: "Sender"
    receiver: "Receiver"
    """Either is set, as the link is one that sends or one that receives."""
    trunk: "Trunk | None"
    other: "RoutedEnd | None"
    waiting: "deque[WaitingTransfer] | None"
    dropped: "Delivery | None"

    def __init__(self, number: int, peer: "Peer", link: "Link", is_near: bool) -> None:
        End.__init__(self, number, peer)
        self.peer = peer
        self.link = link
        if link.is_sender:
            self.sender = cast("Sender", link)
        else:
            self.receiver = cast("Receiver", link)
        self.trunk = peer.trunk
        self.is_near = is_near
        self.other = None
        # What the address was that the client wrote.
        self.address = ""
        # Of a near half: its terminus outlives it, so that the client may come back to what is unsettled.
        self.is_resumable = False
        # Of a near half: what is to be attached, while the name of an earlier link is in use.
        self.wish: Any = None
        # Of a far half: how the addresses of its container differ from those of clients, and that of the link.
        self.prefixes: Any = None
        self.plain_address = ""
        # Why the peer has detached, if it said so.
        self.reason: Any = None
        # The peer has detached, and is not answered before the other half is.
        self.has_left = False
        # How this half is to be detached once all that came before has been sent: closed or not, and the error.
        self.detach_due: Any = None
        # Deliveries for which there is no credit any more, though the other half had got it.
        self.waiting = None
        # The delivery of the other half whose rest is ignored.
        self.dropped = None
        # Frames for which the window of the other half's session is kept closed.
        self.held = 0
        # Of a half that sends and has no credit: since when.
        self.dry_since = 0.0

    def is_stuck(self) -> bool:
        """Whether its connection, or its session, has no room now; notes what waits for a write."""
        session = self.link.session
        if session.output.end >= _BURST:
            self.peer.is_full = True
            return True
        return self.peer.is_blocked or session.has_backlog or session.remote_incoming_window == 0

    def wait(self) -> None:
        """Be looked at when there is room."""
        self.peer.stuck[self] = None

    def hold(self) -> None:
        """Keep the window of the other half's session closed for a frame more, until this half has room."""
        if self.other is not None:
            self.other.link.session.withhold(1)
            self.held += 1
            self.peer.stuck[self] = None

    def let_go(self) -> None:
        """Let the window of the other half's session open again."""
        if self.held > 0:
            held = self.held
            self.held = 0
            if self.other is not None:
                self.other.link.session.give_back(held)
