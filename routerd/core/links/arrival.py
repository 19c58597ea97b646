"""A message on its way through a router, from where it came to what is decided about it."""

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
    """A message, or as much of it as has come: `data[start:end]`.

    Parts of the router hand it to each other instead of a train of arguments. Each part that begins something with a
    message has one object and uses it again, so nobody keeps it longer than a call. Where all messages pass, what is in
    it has no other name: to count who refers to an object takes longer than to look at it.
    """

    inlet: "Inlet"
    delivery: "Delivery"
    """None is that of a copy whose producer has left."""
    data: bytes | bytearray

    def __init__(self) -> None:
        self.inlet = None  # type: ignore[assignment]
        self.delivery = None  # type: ignore[assignment]
        self.data = _NOTHING
        self.start = 0
        self.end = 0
        self.is_partial = False
        # When it came, and how much of it has come in all.
        self.stamp = 0.0
        self.size = 0
        # How it came here from another router; None for a message that entered here, and what records say of it.
        self.annotations: RouterAnnotations | None = None
        self.recorded: RouterAnnotations | None = None
        # What its annotations say, once they have been read, and where their section is.
        self.read: RouterAnnotations | None = None
        self.place = 0
        self.stop = 0
        # The way to other routers that was chosen; None for one of the outlets of its address.
        self.route: AddressRoute | None = None
        # What is being looked at again, now that there is more of it.
        self.collected: Collected | None = None
        self._priority = -1
        self._header = Sections(_NOTHING)

    def wait_over(self, parked: "Parked") -> None:
        """Be a message that has waited."""
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
        """Be a copy of a multicast message that has waited."""
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
        """Let go of the message. The link has others, most of the time."""
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
        """Be another message."""
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
        """Return where the message says that it goes; raises NeedsMore and DecodeError."""
        header = self._header
        header.reset(self.data, self.start, self.end, self.is_partial)
        try:
            return header.to
        finally:
            header.reset(_NOTHING, 0, 0, False)  # lets go of the octets
