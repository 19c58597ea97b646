"""Messages that wait: for an outlet that can send, or for the rest of the sections that say where they go."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.address import Address
    from routerd.core.inlet import Inlet
    from routerd.wire.delivery import Delivery
    from routerd.wire.halt import Halt


class Parked:
    """A message, or as much of it as has come, that waits at its address for an outlet."""

    inlet: "Inlet"
    address: "Address"
    delivery: "Delivery"
    octets: bytes | bytearray
    is_settled: bool
    is_complete: bool
    frames: int

    @property
    def count(self) -> int:
        """How many messages these are."""
        return 1

    @property
    def stamp(self) -> float:
        """When it came."""
        return self.delivery.stamp


class ParkedTogether:
    """Whole messages of one producer that came together, and wait at its address as they are."""

    def __init__(self, inlet: "Inlet", address: "Address", halt: "Halt", stamp: float) -> None:
        self.inlet = inlet
        self.address = address
        self.halt = halt
        self.is_settled = halt.is_settled
        self.is_complete = True
        self.stamp = stamp

    @property
    def count(self) -> int:
        """How many messages these are."""
        return self.halt.count


def parked(
    inlet: "Inlet", address: "Address", delivery: "Delivery", data: bytes | bytearray, start: int, end: int
) -> Parked:
    """Return a message that waits, of which data[start:end] has come."""
    view = data
    made: Parked = Parked.__new__(Parked)
    made.inlet = inlet
    made.address = address
    made.delivery = delivery
    made.octets = bytearray(view[start:end]) if delivery.is_partial else view[start:end]
    made.is_settled = delivery.remote_settled
    made.is_complete = False
    made.frames = 0
    return made


class Collected:
    """The beginning of a message whose address or annotations have not all come yet."""

    def __init__(self, delivery: "Delivery") -> None:
        self.delivery = delivery
        self.octets = bytearray()
