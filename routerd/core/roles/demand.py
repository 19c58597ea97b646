"""The consequences when an address gets its first consumer anywhere, or loses its last one."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.delivery.queues import Queues
    from routerd.core.directory.directory import Directory
    from routerd.core.links.address import Address
    from routerd.core.settings import Distribution


class Demand:
    """Grants or withdraws the credit of producers, and sends or releases messages that wait."""

    def __init__(self, clock: "Clock", directory: "Directory", queues: "Queues") -> None:
        self._clock = clock
        self._directory = directory
        self._queues = queues

    def came(self, address: "Address") -> None:
        """Grant credit to the producers of an address, and send messages that wait."""
        # If the consumers leave again, messages wait for news once more.
        self._directory.expectations.came(address.key)
        address.note_credit()
        for inlet in address.inlets:
            inlet.top_up()
        if address.primary is not None:
            for inlet in address.primary.inlets:
                inlet.top_up()
        self._queues.serve(address)

    def went(self, address: "Address") -> None:
        """Release messages that wait without consumers; messages still under way will be late."""
        if not address.has_outlet(False):
            address.expected_until = 0.0
            self._directory.expectations.went(address.key, self._clock.now)
        address.note_credit()
        if address.local_count == 0:
            self._queues.release_parked(address)
            for inlet in address.inlets:
                if not inlet.is_served(address):
                    inlet.withdraw()
            if address.primary is not None:
                for inlet in address.primary.inlets:
                    if not inlet.is_served(address.primary):
                        inlet.withdraw()
            self._directory.forget_if_idle(address)
        if address.local_count == 0 or address.is_multicast:
            # Otherwise nothing has changed for messages that wait for other consumers.
            self._queues.serve(address)

    def spread(self, address: "Address", distribution: "Distribution") -> None:
        """Have the messages of an address go to one consumer or to all from now on, those that wait included."""
        address.spread(distribution)
        address.note_credit()
        for inlet in list(address.inlets):
            inlet.top_up()
        self._queues.serve(address)
