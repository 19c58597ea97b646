"""One half of a routed link: a link of one peer. The other half is a link of another peer.

The near half is the one whose attach came in; the far half leads towards the container. Each half knows
the other one, to pass on what it receives.
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
    """A delivery that came after the far end had taken its credit back, and its octets."""

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
    """One of the two is set: the link either sends or receives."""
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
        # The address as the client wrote it.
        self.address = ""
        # Near half only: its terminus outlives it, so that the client may resume unsettled deliveries.
        self.is_resumable = False
        # Near half: the link to attach once the name of an earlier link is free. Far half: its own, until answered.
        self.wish: Any = None
        # Far half only: the prefixes of its container's addresses, and the link's address without them.
        self.prefixes: Any = None
        self.plain_address = ""
        # The peer's reason for its detach, if it gave one.
        self.reason: Any = None
        # The peer has detached, and gets the answer after that of the other half.
        self.has_left = False
        # How to detach this half once everything before has been sent: closed or not, and the error.
        self.detach_due: Any = None
        # Deliveries without credit: the other half had it before it was taken back.
        self.waiting = None
        # The delivery of the other half whose rest is ignored.
        self.dropped = None
        # Frames for which the window of the other half's session stays closed.
        self.held = 0
        # Sending half only: the time since when it has no credit.
        self.dry_since = 0.0

    def is_stuck(self) -> bool:
        """Whether its connection or session has no room now; notes whether it waits for a write."""
        session = self.link.session
        if session.output.end >= _BURST:
            self.peer.is_full = True
            return True
        return self.peer.is_blocked or session.has_backlog or session.remote_incoming_window == 0

    def wait(self) -> None:
        """Wait for room."""
        self.peer.stuck[self] = None

    def hold(self) -> None:
        """Keep the window of the other half's session closed for one more frame, until this half has room."""
        if self.other is not None:
            self.other.link.session.withhold(1)
            self.held += 1
            self.peer.stuck[self] = None

    def let_go(self) -> None:
        """Open the window of the other half's session again."""
        if self.held > 0:
            held = self.held
            self.held = 0
            if self.other is not None:
                self.other.link.session.give_back(held)
