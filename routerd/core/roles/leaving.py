"""The end of a router: deliveries under way may settle, then links and connections are closed with the reason."""

from typing import TYPE_CHECKING

from routerd.core.roles.refusals import SHUTTING_DOWN
from routerd.wire import ConnectionState

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.delivery.copies import Copies
    from routerd.core.delivery.endings import Endings
    from routerd.core.delivery.queues import Queues
    from routerd.core.directory.directory import Directory
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.peer import Peer
    from routerd.core.roles.attaching import Attaching
    from routerd.core.roles.routed_links import RoutedLinks
    from routerd.core.roles.trunks import Trunks

QUIET_S = 1.0
"""How long a router that ends waits for a producer to answer the withdrawal of its credit."""

_OPENED = ConnectionState.OPENED


class Leaving:
    """Ends all links of a worker."""

    def __init__(
        self,
        clock: "Clock",
        directory: "Directory",
        copies: "Copies",
        queues: "Queues",
        endings: "Endings",
        attaching: "Attaching",
        trunks: "Trunks",
        routed: "RoutedLinks",
        peers: "dict[int, Peer]",
    ) -> None:
        self._clock = clock
        self._directory = directory
        self._copies = copies
        self._queues = queues
        self._endings = endings
        self._attaching = attaching
        self._trunks = trunks
        self._routed = routed
        self._peers = peers
        self._quiet_at = 0.0

    def drain(self) -> None:
        """Take no new links and no new messages; deliveries under way may settle."""
        self._attaching.is_draining = True
        self._directory.tracking.is_silent = True
        self._quiet_at = self._clock.now + QUIET_S
        self._trunks.leave_network()
        for peer in self._peers.values():
            for inlet in peer.inlets:
                if not (peer.is_fabric or peer.is_router or _stays(inlet)):
                    inlet.is_quiet = inlet.link.credit == 0
                    inlet.withdraw()
                    inlet.is_open = False
                    if not inlet.is_quiet and inlet.link.is_attached:
                        # The answer comes behind all messages sent on the earlier credit.
                        inlet.link.flow(echo=True)

    def is_drained(self) -> bool:
        """Detach producers with nothing under way; return whether nothing at all is under way."""
        is_drained = True
        is_late = self._clock.now >= self._quiet_at
        for peer in self._peers.values():
            for outlet in peer.outlets:
                if outlet.link.unsettled_count or outlet.waiting:
                    is_drained = False
            for end in peer.routed:
                if end.link.unsettled_count or end.waiting:
                    is_drained = False
            for inlet in peer.inlets:
                if inlet.link.unsettled_count or inlet.waiting or inlet.current is not None:
                    is_drained = False
                elif peer.is_fabric or peer.is_router:
                    continue
                elif inlet.link.is_attached and not _stays(inlet):
                    if inlet.is_quiet or is_late:
                        inlet.link.detach(error=SHUTTING_DOWN)
                    else:
                        is_drained = False
        return is_drained

    def close_all(self) -> None:
        """Settle the remaining deliveries, detach every link with the reason, and close every connection."""
        for peer in self._peers.values():
            for outlet in peer.outlets:
                self._endings.outlet_lost(outlet)
                outlet.address.remove(outlet)
        for address in list(self._directory.addresses.values()):
            address.remote_count = 0
            for route in address.routes:
                self._copies.route_lost(route)
            address.routes = []
            self._queues.release_parked(address)
        for peer in list(self._peers.values()):
            self._routed.close_all(peer, SHUTTING_DOWN)
            for inlet in list(peer.inlets):
                if inlet.link.is_attached:
                    # A qdrouterd never frees an error that its link for heartbeats is detached with. The close has it.
                    inlet.link.detach(error=None if inlet.is_control else SHUTTING_DOWN)
            for outlet in list(peer.outlets):
                if outlet.link.is_attached:
                    outlet.link.detach(error=SHUTTING_DOWN)
            if peer.is_open and not peer.connection.is_finished:
                peer.is_open = False
                # A connection that was closed before waits for the peer's close.
                if peer.connection.state is _OPENED:
                    peer.connection.close(SHUTTING_DOWN)


def _stays(inlet: "Inlet") -> bool:
    """Whether an inlet is needed to the end, for endpoints inside the router or heartbeats of edge routers."""
    if inlet.peer.is_inner:
        # An exchange still has to send on the messages that it has taken.
        return inlet.address is None or inlet.peer.is_followed
    return inlet.is_control
