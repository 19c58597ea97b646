"""Messages that wait: for an outlet that can send, or for the rest of the sections that say where they go."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.address import Address
    from routerd.core.inlet import Inlet
    from routerd.wire.delivery import Delivery


class Parked:
    """A message, or as much of it as has come, that waits at its address for an outlet."""

    def __init__(self, inlet: "Inlet", address: "Address", delivery: "Delivery") -> None:
        self.inlet = inlet
        self.address = address
        self.delivery: Delivery = delivery
        self.octets = bytearray()
        self.message_format = delivery.message_format
        self.is_settled = delivery.remote_settled
        self.is_complete = False
        self.frames = 0


class Collected:
    """The beginning of a message whose address or annotations have not all come yet."""

    def __init__(self, delivery: "Delivery") -> None:
        self.delivery = delivery
        self.octets = bytearray()
