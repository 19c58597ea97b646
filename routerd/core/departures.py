"""Which way to other routers a message may take, and how it is marked before it leaves.

A message that came from another router goes on only to a neighbour that it has not passed. Of balanced and multicast
addresses it goes on only where the path from its origin leads over us: so each router serves its own branch of the
origin's tree of shortest paths, and nobody gets a copy twice.
"""

from typing import TYPE_CHECKING

from routerd.core.addresses import UPLINK, canonical
from routerd.core.network import Network
from routerd.core.passage import Passage, Passages, section
from routerd.core.settlement import Settlement
from routerd.wire import DecodeError, NeedsMore
from routerd.wire.delivery import Delivery
from routerd.wire.sections import Sections

if TYPE_CHECKING:
    from routerd.core.address import Address
    from routerd.core.inlet import Inlet
    from routerd.core.observer import Observer
    from routerd.core.outlet import Outlet
    from routerd.core.way import Way

DEFAULT_PRIORITY = 4
HIGHEST_PRIORITY = 9
UNSETTLED_S = 3.0
"""For how long after a change others may see another network than we do."""
OUTSTANDING_MAX = 250
"""Unsettled deliveries of an address that go one way, beyond which others are preferred."""

_OVERLOADED = 1 << 40
_OUTSTANDING_MAX = OUTSTANDING_MAX
_HEADER = 0x70
_NOTHING = b""


class Departures(Settlement):
    """Chooses ways, and marks messages for the next router."""

    def __init__(self, observer: "Observer", router_id: str, is_edge: bool = False) -> None:
        Settlement.__init__(self, observer)
        self.router_id = router_id
        self.is_edge_router = is_edge
        self.network = Network()
        # How many routers a message may have passed: all there are.
        self.hops_max = 1
        self.paths_changed_at = 0.0
        self.passages = Passages(router_id, is_edge)
        # Deliveries that came from one router and went to another.
        self.transit = 0
        self._header = Sections(_NOTHING)
        # The link that the way chosen last can send on.
        self.picked: Outlet | None = None
        # The delivery whose annotations `passages` has read last, as long as its octets are there.
        self.read_last: Delivery | None = None
        self.passage_read = self.passages.unmarked
        # How the message that is being routed has come; None for one that entered here.
        self.routed: Passage | None = None
        self._plain_entry, self._plain_count = self.passages.entry(None, 0)

    def may_take(self, address: "Address", way: "Way", passage: "Passage | None") -> bool:
        """Whether a message may go this way; one without a passage entered here."""
        if passage is None:
            return True
        if self.is_edge_router or way.next_hop in passage.passed:
            return False
        origin = passage.ingress
        if not origin or origin == self.router_id or not (address.is_balanced or address.is_multicast):
            return not (address.is_multicast and origin == self.router_id)
        network = self.network
        if origin not in network.routes:
            return not address.is_multicast
        return network.is_through_us(origin, way.routers)

    def has_destination(self, address: "Address", passage: "Passage | None") -> bool:
        """Whether anybody can get a message, now or later."""
        if address.local_count > 0 or address.remote_count > 0:
            return True
        for way in address.ways:
            if self.may_take(address, way, passage) or self.may_detour(address, way, passage):
                return True
        return False

    def may_detour(self, address: "Address", way: "Way", passage: "Passage | None") -> bool:
        """Whether a message that has no proper way may take this one.

        So it is while the network changes: the router that sent it here and we do not see the same one then.
        """
        if passage is None or self.now - self.paths_changed_at > UNSETTLED_S:
            return False
        return not (address.is_multicast or self.is_edge_router or way.next_hop in passage.passed)

    def ways_for(self, address: "Address", passage: "Passage | None") -> "list[Way]":
        """Return where copies of a multicast message go."""
        ways = address.ways
        return ways if passage is None else [way for way in ways if self.may_take(address, way, passage)]

    def choose_way(
        self, address: "Address", passage: "Passage | None", local: "Outlet | None", priority: int, is_partial: bool
    ) -> "Way | None":
        """Return the way that is better than a consumer of this router, if there is one; its link is `picked`."""
        if address.is_balanced:
            way = self._least_loaded(address, passage, local, priority, is_partial)
            if way is None and local is None and passage is not None:
                way = self._detour(address, passage, priority, is_partial)
            return way
        if address.local_count or address.remote_count:
            return None
        return self._nearest(address, passage, priority, is_partial)

    def _least_loaded(
        self, address: "Address", passage: "Passage | None", local: "Outlet | None", priority: int, is_partial: bool
    ) -> "Way | None":
        limit = -1
        if local is not None:
            limit = local.link.unsettled_count
            if local.side is not None:
                limit += local.side.outstanding
            limit = limit // local.weight
            if limit == 0:
                return None
        best: Way | None = None
        ways = address.ways
        count = len(ways)
        at = address.way_turn if address.way_turn < count else 0
        # Those with equal loads take turns.
        for _ in range(count):
            way: Way = ways[at]
            at = at + 1 if at + 1 < count else 0
            value = way.outstanding + way.cost
            if way.outstanding >= _OUTSTANDING_MAX:
                value += _OVERLOADED
            if (limit >= 0 and value >= limit) or not self.may_take(address, way, passage):
                continue
            outlet = way.pick(priority, is_partial)
            if outlet is not None:
                best = way
                limit = value
                self.picked = outlet
                address.way_turn = at
        return best

    def _detour(
        self, address: "Address", passage: "Passage", priority: int, is_partial: bool
    ) -> "Way | None":
        """Return the cheapest way for a message that has no proper one; None for one that has."""
        best: Way | None = None
        for way in address.ways:
            if self.may_take(address, way, passage):
                return None
            if (best is None or way.cost < best.cost) and self.may_detour(address, way, passage):
                best = way
        if best is None or address.local_count or address.remote_count:
            return None
        self.picked = best.pick(priority, is_partial)
        return best if self.picked is not None else None

    def _nearest(
        self, address: "Address", passage: "Passage | None", priority: int, is_partial: bool
    ) -> "Way | None":
        ways = address.ways
        count = len(ways)
        at = address.way_turn if address.way_turn < count else 0
        if address.way_taken >= ways[at].nearest:
            at = at + 1 if at + 1 < count else 0
        best: Way | None = None
        chosen = at
        # Those that are equally near take turns, each as many in a row as it leads to routers.
        for _ in range(count):
            way: Way = ways[at]
            if (best is None or way.cost < best.cost) and self.may_take(address, way, passage):
                best = way
                chosen = at
            at = at + 1 if at + 1 < count else 0
        if best is None:
            return None
        self.picked = best.pick(priority, is_partial)
        if self.picked is None:
            return None
        if chosen != address.way_turn or address.way_taken >= best.nearest:
            address.way_turn = chosen
            address.way_taken = 0
        address.way_taken += 1
        return best

    def priority_of(self, address: "Address", data: bytes | bytearray, start: int, end: int) -> int:
        """Return the priority of a message, 0 to 9."""
        if address.priority >= 0:
            return address.priority
        view = data
        if end - start < 10 or view[start] != 0 or view[start + 1] != 0x53:
            return self._priority_in(data, start, end)
        if view[start + 2] != _HEADER:
            return DEFAULT_PRIORITY
        if view[start + 3] == 0xC0 and view[start + 5] > 1:
            at = start + 6
            at += 2 if view[at] == 0x56 else 1
            if view[at] == 0x50:
                return min(int(view[at + 1]), HIGHEST_PRIORITY)
            return DEFAULT_PRIORITY
        if view[start + 3] == 0x45:
            return DEFAULT_PRIORITY
        return self._priority_in(data, start, end)

    def _priority_in(self, data: bytes | bytearray, start: int, end: int) -> int:
        header = self._header
        header.reset(data, start, end, True)
        try:
            return min(header.priority, HIGHEST_PRIORITY)
        except (NeedsMore, DecodeError):
            return DEFAULT_PRIORITY
        finally:
            header.reset(_NOTHING, 0, 0, False)

    def marked(
        self,
        inlet: "Inlet",
        address: "Address",
        delivery: Delivery | None,
        data: bytes | bytearray,
        start: int,
        end: int,
        is_partial: bool,
    ) -> int:
        """Put a message as the next router is to get it into `passages.spliced`; return its size.

        Raises NeedsMore and DecodeError.
        """
        if delivery is not None and self.read_last is delivery:
            passage = self.passage_read
        else:
            passage = self.passages.read(data, start, end, is_partial)
        if inlet.trunk is not None and (inlet.address is None or passage.to is not None):
            return self.passages.splice(data, start, end, passage.onward)
        if inlet.address is not None:
            if passage.user_count == 0:
                return self.passages.splice(data, start, end, inlet.entry_section)
            entry, count = inlet.entry, inlet.entry_count
        elif inlet.peer.tenant or address.key == UPLINK or (address.key[:1] == "M" and address.key[1:2] != "0"):
            entry, count = self._entry_of(inlet, address, data, start, end, is_partial)
        else:
            entry, count = self._plain_entry, self._plain_count
        return self.passages.splice(data, start, end, section(passage.user + entry, passage.user_count + count))

    def _entry_of(
        self, inlet: "Inlet", address: "Address", data: bytes | bytearray, start: int, end: int, is_partial: bool
    ) -> tuple[bytes, int]:
        """Return the marks of a message whose own `to` does not say where it goes: for a tenant, or a later phase."""
        if address.key[:1] == "M":
            return self.passages.entry(address.key[2:], int(address.key[1]) if address.key[1:2].isdecimal() else 22)
        header = self._header
        header.reset(data, start, end, is_partial)
        try:
            to = header.to
        finally:
            header.reset(_NOTHING, 0, 0, False)
        if to is None or canonical(to).startswith("_"):
            return self._plain_entry, self._plain_count
        phase = self.ingress_phase_of(to)
        if inlet.peer.tenant:
            return self.passages.entry(f"{inlet.peer.tenant}/{canonical(to)}", phase)
        return self.passages.entry(to, phase) if phase else (self._plain_entry, self._plain_count)

    def ingress_phase_of(self, to: str) -> int:
        """Return the phase that messages for an address enter; `Trunks` knows."""
        return 0

    def has_to_mark(self, inlet: "Inlet", way: "Way | None") -> bool:
        """Whether a message needs annotations before it leaves; a sibling has added those of its messages."""
        if inlet.is_fabric:
            # A sibling does not know that a message leaves beside an edge router's link, and adds none for that.
            return way is not None and way.beside is not None and not way.beside.is_marked
        return not inlet.is_relay

    def departed(self, inlet: "Inlet", way: "Way", out: Delivery | None) -> None:
        """Count a delivery that has gone this way; there is none of a message that left settled as a whole."""
        if way.beside is not None:
            way.address.egress += 1
        elif inlet.trunk is not None:
            way.address.transit += 1
            self.transit += 1
        if out is not None and not out.settled:
            way.outstanding += 1
            out.way = way
