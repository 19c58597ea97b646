"""What a message is marked with before it leaves for another router, and what is taken from it for a client."""

from typing import TYPE_CHECKING, Any

from routerd.core.annotations.annotation_filter import AnnotationFilter
from routerd.core.annotations.router_annotations import AnnotationReader, section
from routerd.core.directory.addresses import FALLBACK, FALLBACK_PHASE, UPLINK, canonical
from routerd.wire import DecodeError, NeedsMore
from routerd.wire.section_scan import may_carry_annotations

if TYPE_CHECKING:
    from routerd.core.annotations.router_annotations import RouterAnnotations
    from routerd.core.directory.treatment import Treatments
    from routerd.core.links.address import Address
    from routerd.core.links.address_route import AddressRoute
    from routerd.core.links.arrival import Arrival
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet

SAME = -1
UNREADABLE = -2
"""What `Marking.dress` returns in place of a size."""

_SAME = SAME
_UNREADABLE = UNREADABLE


class Marking:
    """Changes the annotations of messages.

    `octets` has the message that was changed last, until the next one is. They begin at its first octet.
    """

    octets: bytes | bytearray

    def __init__(self, treatments: "Treatments", router_id: str, is_edge: bool) -> None:
        self.reader = AnnotationReader(router_id, is_edge)
        self.octets = b""
        self._annotations = AnnotationFilter()
        self._treatments = treatments
        self._plain_entry, self._plain_count = self.reader.entry(None, 0)

    def read(self, arrival: "Arrival") -> None:
        """Read what the annotations of a message say; raises NeedsMore and DecodeError."""
        reader = self.reader
        arrival.read = reader.read(arrival.data, arrival.start, arrival.end, arrival.is_partial)
        arrival.place = reader.place
        arrival.stop = reader.stop

    def strip(self, arrival: "Arrival") -> None:
        """Take from a client's message what only routers may say; raises NeedsMore and DecodeError."""
        data, start, end = self._annotations.without(arrival.data, arrival.start, arrival.end, arrival.is_partial)
        arrival.data = data
        arrival.start = start
        arrival.end = end

    def has_to_mark(self, inlet: "Inlet", route: "AddressRoute | None") -> bool:
        """Whether a message needs annotations before it leaves; a sibling has added those of its messages."""
        if inlet.is_fabric:
            # A sibling does not know that a message leaves beside an edge router's link, and adds none for that.
            return route is not None and route.beside is not None and not route.beside.is_marked
        return not inlet.is_relay

    def dress(self, arrival: "Arrival", outlet: "Outlet") -> int:
        """Put a message into `octets` as it leaves by an outlet, and return its size.

        SAME means that the message leaves as it came. UNREADABLE means that its annotations cannot be read: it came
        when there was no route yet.
        """
        if arrival.route is not None or outlet.is_marked:
            if not self.has_to_mark(arrival.inlet, arrival.route):
                return _SAME
            size = self._mark(arrival, outlet.address if arrival.route is None else arrival.route.address)
            self.octets = self.reader.spliced
            return size
        if arrival.inlet.strips or not may_carry_annotations(arrival.data, arrival.start, arrival.end):
            return _SAME
        if arrival.read is not None:
            size = self._splice(arrival, arrival.read.stripped)
            self.octets = self.reader.spliced
            return size
        data, _, end = self._annotations.without_if_clear(arrival.data, arrival.start, arrival.end, arrival.is_partial)
        if data is arrival.data:
            return _SAME
        self.octets = data
        return end

    def _mark(self, arrival: "Arrival", address: "Address") -> int:
        if arrival.read is None and not self._reads(arrival):
            return _UNREADABLE
        annotations: Any = arrival.read
        if address.key[:2] == FALLBACK and arrival.inlet.address is not address:
            return self._splice(arrival, self.reader.diverted(annotations, address.key[2:], FALLBACK_PHASE))
        if arrival.inlet.trunk is not None and (arrival.inlet.address is None or annotations.to is not None):
            return self._splice(arrival, annotations.onward)
        if arrival.inlet.address is not None and annotations.user_count == 0:
            return self._splice(arrival, arrival.inlet.entry_section)
        return self._mark_anew(arrival, address, annotations)

    def _reads(self, arrival: "Arrival") -> bool:
        """Read what the annotations of a message say; whether that was possible."""
        try:
            self.read(arrival)
        except (NeedsMore, DecodeError):
            return False
        return True

    def _mark_anew(self, arrival: "Arrival", address: "Address", annotations: "RouterAnnotations") -> int:
        """Put our marks beside the annotations that others have made."""
        inlet = arrival.inlet
        if inlet.address is not None:
            entry, count = inlet.entry, inlet.entry_count
        elif inlet.peer.tenant or address.key == UPLINK or (address.key[:1] == "M" and address.key[1:2] != "0"):
            try:
                entry, count = self._entry_of(arrival, address)
            except (NeedsMore, DecodeError):
                return _UNREADABLE
        else:
            entry, count = self._plain_entry, self._plain_count
        return self._splice(arrival, section(annotations.user + entry, annotations.user_count + count))

    def _splice(self, arrival: "Arrival", annotations: bytes) -> int:
        return self.reader.splice(
            arrival.data, arrival.start, arrival.end, arrival.place, arrival.stop, annotations
        )

    def _entry_of(self, arrival: "Arrival", address: "Address") -> tuple[bytes, int]:
        """Return the marks of a message whose own `to` does not say where it goes: for a tenant, or a later phase."""
        if address.key[:1] == "M":
            return self.reader.entry(address.key[2:], int(address.key[1]) if address.key[1:2].isdecimal() else 22)
        to = arrival.to()
        if to is None or canonical(to).startswith("_"):
            return self._plain_entry, self._plain_count
        phase = self._treatments.of(to).ingress_phase
        tenant = arrival.inlet.peer.tenant
        if tenant:
            return self.reader.entry(f"{tenant}/{canonical(to)}", phase)
        return self.reader.entry(to, phase) if phase else (self._plain_entry, self._plain_count)
