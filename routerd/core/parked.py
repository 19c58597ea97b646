"""Messages that wait: for an outlet that can send, or for the rest of the sections that say where they go."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.address import Address
    from routerd.core.inlet import Inlet
    from routerd.wire.delivery import Delivery


class Parked:
    """A message, or as much of it as has come, that waits at its address for an outlet."""

    inlet: "Inlet"
    address: "Address"
    delivery: "Delivery"
    octets: bytes | bytearray
    is_settled: bool
    is_complete: bool
    frames: int


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
