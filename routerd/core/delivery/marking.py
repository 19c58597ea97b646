"""Writes router annotations into messages for other routers, and takes them out of messages for clients."""

from typing import TYPE_CHECKING, Any

from routerd.core.annotations.annotation_filter import AnnotationFilter
from routerd.core.annotations.router_annotations import AnnotationReader, section
from routerd.core.directory.addresses import FALLBACK, FALLBACK_PHASE, UPLINK, canonical
from routerd.core.directory.naming import phase_of
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
"""Results of `Marking.dress` that are not a size."""

_SAME = SAME
_UNREADABLE = UNREADABLE


class Marking:
    """Changes the annotations of messages.

    `octets` begins with the message that was changed last. The next change overwrites it.
    """

    octets: bytes | bytearray

    def __init__(self, treatments: "Treatments", router_id: str, is_edge: bool) -> None:
        self.reader = AnnotationReader(router_id, is_edge)
        self.octets = b""
        self._is_edge = is_edge
        self._annotations = AnnotationFilter()
        self._treatments = treatments
        self._plain_entry, self._plain_count = self.reader.entry(None, 0)

    def read(self, arrival: "Arrival") -> None:
        """Read the annotations of a message; raises NeedsMore and DecodeError."""
        reader = self.reader
        arrival.read = reader.read(arrival.data, arrival.start, arrival.end, arrival.is_partial)
        arrival.place = reader.place
        arrival.stop = reader.stop

    def strip(self, arrival: "Arrival") -> None:
        """Remove annotations that only routers may write from a client's message; raises NeedsMore and DecodeError."""
        if self.reader.is_no_message(arrival.data, arrival.start, arrival.end):
            return
        data, start, end = self._annotations.without(arrival.data, arrival.start, arrival.end, arrival.is_partial)
        arrival.data = data
        arrival.start = start
        arrival.end = end

    def has_to_mark(self, inlet: "Inlet", route: "AddressRoute | None") -> bool:
        """Whether a message needs annotations before it leaves; a sibling has annotated its messages already."""
        if inlet.is_fabric:
            # A sibling adds no annotations for a link beside that of an edge router, since it does not know of it.
            return route is not None and route.beside is not None and not route.beside.is_marked
        return not inlet.is_relay

    def dress(self, arrival: "Arrival", outlet: "Outlet") -> int:
        """Write a message into `octets` in the form for an outlet, and return its size.

        SAME means that the message leaves as it came. UNREADABLE means that its annotations cannot be read: there was
        no route yet when it came.
        """
        if arrival.route is not None or outlet.is_marked:
            if not self.has_to_mark(arrival.inlet, arrival.route):
                return _SAME
            size = self._mark(arrival, outlet.address if arrival.route is None else arrival.route.address)
            self.octets = self.reader.spliced
            return size
        if outlet.is_told:
            size = self._tell(arrival)
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

    def _tell(self, arrival: "Arrival") -> int:
        """Write where a message entered the network and the routers on its path, with this one, for a client."""
        if arrival.read is None and not self._reads(arrival):
            return _SAME
        annotations: Any = arrival.read
        inlet = arrival.inlet
        if inlet.trunk is None and not (inlet.is_fabric and annotations.to is not None):
            return self._tell_of_entry(arrival, annotations)
        return self._splice(arrival, self.reader.diverted(annotations, annotations.to, annotations.phase))

    def _tell_of_entry(self, arrival: "Arrival", annotations: "RouterAnnotations") -> int:
        """Write the path of a message that entered the network here. The path that a client claims is kept."""
        inlet = arrival.inlet
        if annotations.ingress_as_written or annotations.steps:
            to, phase = self._destination(inlet)
            if inlet.address is None:
                to, phase = annotations.to, annotations.phase
            return self._splice(arrival, self.reader.diverted(annotations, to, phase))
        entry, count = (
            (self._plain_entry, self._plain_count) if inlet.address is None else (inlet.entry, inlet.entry_count)
        )
        return self._splice(arrival, section(annotations.user + entry, annotations.user_count + count))

    def _destination(self, inlet: "Inlet") -> tuple[str | None, int]:
        """Return the destination in the annotations of a link's messages: its address as written, and the phase."""
        address = inlet.address
        if address is None:
            return None, 0
        written = getattr(inlet.link.remote_target, "address", None)
        is_key = inlet.is_fabric or inlet.peer.tenant or type(written) is not str
        return address.key[2:] if is_key and address.key[:1] == "M" else written, phase_of(address.key)

    def _mark(self, arrival: "Arrival", address: "Address") -> int:
        if arrival.read is None and not self._reads(arrival):
            return _UNREADABLE
        annotations: Any = arrival.read
        if address.key[:2] == FALLBACK and arrival.inlet.address is not address:
            return self._splice(arrival, self.reader.diverted(annotations, address.key[2:], FALLBACK_PHASE))
        if arrival.inlet.trunk is not None and (arrival.inlet.address is None or annotations.to is not None):
            return self._splice(arrival, annotations.onward)
        if arrival.inlet.address is not None and annotations.user_count == 0 and annotations.hops == 0:
            return self._splice(arrival, arrival.inlet.entry_section)
        return self._mark_anew(arrival, address, annotations)

    def _reads(self, arrival: "Arrival") -> bool:
        """Read the annotations of a message; return whether that was possible."""
        try:
            self.read(arrival)
        except (NeedsMore, DecodeError):
            return False
        return True

    def _mark_anew(self, arrival: "Arrival", address: "Address", annotations: "RouterAnnotations") -> int:
        """Write our annotations, and keep those of others."""
        inlet = arrival.inlet
        if not inlet.strips and inlet.trunk is None and not inlet.is_fabric and not self._is_edge and annotations.hops:
            # The listener lets a client say which path its messages have come.
            to, phase = self._destination(inlet)
            return self._splice(arrival, self.reader.diverted(annotations, to, phase))
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
        """Return the annotations of a message whose `to` is not its destination: for a tenant, or a later phase."""
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
