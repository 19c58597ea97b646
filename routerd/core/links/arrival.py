"""An arrival: a message on its way through the parts of a router."""

from typing import TYPE_CHECKING

from routerd.wire import DecodeError, NeedsMore
from routerd.wire.sections import Sections

if TYPE_CHECKING:
    from routerd.core.annotations.router_annotations import RouterAnnotations
    from routerd.core.links.address import Address
    from routerd.core.links.address_route import AddressRoute
    from routerd.core.links.fan_out import FanOut
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.parked import Collected, Parked
    from routerd.wire.delivery import Delivery

DEFAULT_PRIORITY = 4
HIGHEST_PRIORITY = 9

_DEFAULT_PRIORITY = DEFAULT_PRIORITY
_HIGHEST_PRIORITY = HIGHEST_PRIORITY
_HEADER = 0x70
_NOTHING = b""


class Arrival:
    """A message, or the part of it that has come: `data[start:end]`.

    Parts of the router pass this one object instead of many arguments. Each part that starts with messages has one
    object and reuses it, so no other part keeps it after a call. On the path of all messages, its fields are not bound
    to other names: a reference count costs more than the access.
    """

    inlet: "Inlet"
    delivery: "Delivery"
    """None for a copy whose producer has left."""
    data: bytes | bytearray

    def __init__(self) -> None:
        self.inlet = None  # type: ignore[assignment]
        self.delivery = None  # type: ignore[assignment]
        self.data = _NOTHING
        self.start = 0
        self.end = 0
        self.is_partial = False
        # The time at which it came, and the octets that have come in all.
        self.stamp = 0.0
        self.size = 0
        # Its annotations from another router, or None if it entered here; and the annotations for records.
        self.annotations: RouterAnnotations | None = None
        self.recorded: RouterAnnotations | None = None
        # Its annotations once they have been read, and the bounds of their section.
        self.read: RouterAnnotations | None = None
        self.place = 0
        self.stop = 0
        # The chosen route to another router; None for an outlet of the address.
        self.route: AddressRoute | None = None
        # The size of the message as it left, if its annotations were changed; -1 if it left as it came.
        self.changed = -1
        # A collected message that is tried again, because more of it has come.
        self.collected: Collected | None = None
        self._priority = -1
        self._header = Sections(_NOTHING)

    def wait_over(self, parked: "Parked") -> None:
        """Take over a message that has waited."""
        delivery = parked.delivery
        self.inlet = parked.inlet
        self.delivery = delivery
        self.data = parked.octets
        self.start = 0
        self.end = len(parked.octets)
        self.is_partial = delivery.is_partial
        self.stamp = delivery.stamp
        self.size = delivery.size

    def copy_of(self, fan: "FanOut") -> None:
        """Take over a copy of a multicast message that has waited."""
        self.inlet = fan.inlet
        self.delivery = fan.delivery  # type: ignore[assignment]
        self.data = fan.octets
        self.start = 0
        self.end = len(fan.octets)
        self.is_partial = not fan.is_complete
        self.stamp = fan.stamp
        self.size = fan.size()
        self.recorded = fan.annotations

    def is_over(self) -> None:
        """Release the message. `inlet` stays: the next message is mostly of the same link."""
        self.delivery = None  # type: ignore[assignment]
        self.data = None  # type: ignore[assignment]
        self._priority = -1
        if self.recorded is not None:
            self.recorded = None
        if self.annotations is not None:
            self.annotations = None
        if self.read is not None:
            self.read = None
        if self.route is not None:
            self.route = None
        if self.collected is not None:
            self.collected = None

    def forget_priority(self) -> None:
        """Prepare for another message."""
        self._priority = -1

    def priority(self, address: "Address | None") -> int:
        """Return the priority of the message at an address, 0 to 9."""
        if address is None:
            return _DEFAULT_PRIORITY
        if address.priority >= 0:
            return address.priority
        if self._priority < 0:
            self._priority = self._read_priority()
        return self._priority

    def _read_priority(self) -> int:
        view = self.data
        start = self.start
        if self.end - start < 10 or view[start] != 0 or view[start + 1] != 0x53:
            return self._search_priority()
        if view[start + 2] != _HEADER:
            return _DEFAULT_PRIORITY
        if view[start + 3] == 0xC0 and view[start + 5] > 1:
            at = start + 6
            at += 2 if view[at] == 0x56 else 1
            if view[at] == 0x50:
                return min(int(view[at + 1]), _HIGHEST_PRIORITY)
            return _DEFAULT_PRIORITY
        if view[start + 3] == 0x45:
            return _DEFAULT_PRIORITY
        return self._search_priority()

    def _search_priority(self) -> int:
        header = self._header
        header.reset(self.data, self.start, self.end, True)
        try:
            return min(int(header.priority), _HIGHEST_PRIORITY)
        except (NeedsMore, DecodeError):
            return _DEFAULT_PRIORITY
        finally:
            header.reset(_NOTHING, 0, 0, False)

    def to(self) -> str | None:
        """Return the destination in the message; raises NeedsMore and DecodeError."""
        header = self._header
        header.reset(self.data, self.start, self.end, self.is_partial)
        try:
            return header.to
        finally:
            header.reset(_NOTHING, 0, 0, False)  # release the octets
