"""Address tracking: an interior router tells its edge routers which of their destinations have consumers.

An edge router gets a notice when it begins to send to an address that has consumers. It gets another one whenever that
changes. Notices wait for credit (inter-router protocol 6).
"""

from routerd.core.links.address import Address
from routerd.core.links.outlet import Outlet
from routerd.core.links.peer import Peer
from routerd.wire import AmqpValue, Header, Message, WireError

_EVERYBODY = "everybody"


class AddressTracking:
    """The edge routers that track addresses, and the notices that each of them got."""

    def __init__(self, addresses: dict[str, Address]) -> None:
        self._addresses = addresses
        self._trackers: dict[Peer, Outlet] = {}
        # By edge router: the addresses with the last notice about each, and the addresses that need a notice.
        self._tracked: dict[Peer, dict[str, bool]] = {}
        self._untold: dict[Peer, dict[str, None]] = {}
        self._tracking_due: dict[Address, None] = {}
        self._telling_due: dict[Peer, None] = {}
        # By address key, the last result of `_reach_of` for the senders; no entry stands for None.
        self._reach: dict[str, object] = {}
        # This router is about to end. It has left the network, so it would report each address as unreachable. A
        # qdrouterd in edge mode unbinds its links of these addresses then. When the uplink is lost it keeps pointers to
        # those links, gets no credit for the addresses at the next interior router, and aborts later.
        self.is_silent = False

    def begin(self, outlet: Outlet) -> None:
        """Send notices to an edge router by this link."""
        peer = outlet.peer
        self._trackers[peer] = outlet
        self._tracked[peer], self._untold[peer] = {}, {}
        for inlet in peer.inlets:
            if inlet.address is not None:
                self.sends(peer, inlet.address)

    def end(self, outlet: Outlet) -> None:
        """Send no more notices by a link that is over."""
        if self._trackers.get(outlet.peer) is outlet:
            del self._trackers[outlet.peer]
            self.forget(outlet.peer)
            if not self._trackers:
                self._reach.clear()

    def forget(self, peer: Peer) -> None:
        """Forget the notices of a connection, sent and unsent."""
        self._tracked.pop(peer, None)
        self._untold.pop(peer, None)

    def sends(self, peer: Peer, address: Address) -> None:
        """Note a further link by which a connection sends to an address; notify an edge router."""
        if peer in self._trackers:
            self._untold[peer][address.key] = None
            self._telling_due[peer] = None
            self._tracking_due[address] = None

    def sends_no_more(self, peer: Peer, address: Address) -> None:
        """Note that a connection has no link to an address; another link needs a new notice."""
        if peer in self._tracked:
            self._tracked[peer].pop(address.key, None)
            self._untold[peer].pop(address.key, None)

    def changed(self, address: Address) -> None:
        """Note that the consumers of an address may have changed."""
        if self._trackers:
            self._tracking_due[address] = None

    def forgotten(self, key: str) -> None:
        """Forget an address that nobody here uses any more."""
        self._reach.pop(key, None)

    def tell(self) -> None:
        """Send notices of the changes of this turn."""
        if not self._tracking_due or self.is_silent:
            return
        due, self._tracking_due = self._tracking_due, {}
        for address in due:
            self._have_told(address)
        telling, self._telling_due = self._telling_due, {}
        for peer in telling:
            if peer in self._trackers:
                self._tell_edge(peer)

    def go_on(self, peer: Peer) -> None:
        """Send an edge router the notices that waited for credit or room."""
        if self._untold and not self.is_silent and peer in self._untold:
            self._tell_edge(peer)

    def _have_told(self, address: Address) -> None:
        """Notify the edge routers that send to an address whether it has consumers, as soon as they grant credit.

        An address may have thousands of senders and consumers. A change that leaves the reach of the address as it was
        costs no notice.
        """
        key, reach = address.key, self._reach_of(address)
        if self._addresses.get(key) is not address:
            # The address was forgotten in this turn.
            return
        if reach is self._reach.get(key):
            return
        if reach is None:
            del self._reach[key]
        else:
            self._reach[key] = reach
        for peer in {inlet.peer: None for inlet in address.inlets}:
            if peer in self._trackers:
                self._untold[peer][key] = None
                self._tell_edge(peer)

    def _tell_edge(self, peer: Peer) -> None:
        tracker = self._trackers.get(peer)
        untold, tracked = self._untold[peer], self._tracked[peer]
        while untold and tracker is not None and tracker.link.is_attached and tracker.link.credit > 0:
            key = next(iter(untold))
            del untold[key]
            is_reached = self._is_reached(key, peer)
            if tracked.get(key, False) is not is_reached:
                tracked[key] = is_reached
                tracker.link.send(_notice(key, is_reached), None, True)

    def _is_reached(self, key: str, edge: Peer) -> bool:
        """Whether an address has consumers beyond this edge router's."""
        address = self._addresses.get(key)
        reach = None if address is None else self._reach_of(address)
        return reach is _EVERYBODY or (reach is not None and reach is not edge)

    def _reach_of(self, address: Address) -> object:
        """Return the one connection that has all consumers of an address, _EVERYBODY for several, or None without
        consumers.
        """
        if address.remote_count > 0 or address.routes:
            return _EVERYBODY
        if address.local_count == 0:
            return None
        first = address.outlets[0].peer
        for at in range(1, address.local_count):
            if address.outlets[at].peer is not first:
                return _EVERYBODY
        return first


def _notice(key: str, is_reached: bool) -> bytes:
    return Message(header=Header(), body=AmqpValue([key, is_reached])).encode()


def read_notice(octets: bytes) -> tuple[str, bool] | None:
    """Return the key of an address and whether the interior router reaches consumers of it; None for a malformed
    notice.
    """
    try:
        body = Message.decode(octets).body
    except WireError:
        return None
    notice = body.value if isinstance(body, AmqpValue) else None
    if not isinstance(notice, list) or len(notice) != 2 or not isinstance(notice[0], str):
        return None
    return notice[0], bool(notice[1])
