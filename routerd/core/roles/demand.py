"""The consequences when an address gets its first consumer anywhere, or loses its last one."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.delivery.queues import Queues
    from routerd.core.directory.directory import Directory
    from routerd.core.links.address import Address
    from routerd.core.settings import Distribution

# The time for a producer to use its credit or to return it.
_RETURN_S = 1.0


class Demand:
    """Grants or withdraws the credit of producers, and sends or releases messages that wait."""

    def __init__(self, clock: "Clock", directory: "Directory", queues: "Queues") -> None:
        self._clock = clock
        self._directory = directory
        self._queues = queues
        # Addresses whose producers were asked to return their credit, with the time; the oldest first.
        self._recalled: dict[Address, float] = {}

    def came(self, address: "Address") -> None:
        """Grant credit to the producers of an address, and send messages that wait."""
        # If the consumers leave again, messages wait for news once more.
        self._directory.expectations.came(address.key)
        address.note_credit()
        for inlet in address.inlets:
            inlet.call_off()
            inlet.top_up()
        if address.primary is not None:
            for inlet in address.primary.inlets:
                inlet.call_off()
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
            self._recall(address)
            if address.primary is not None:
                self._recall(address.primary)
            self._directory.forget_if_idle(address)
        if address.local_count == 0 or address.is_multicast or address.returned is not None:
            # Otherwise nothing has changed for messages that wait. One that goes elsewhere has lost its last chance.
            self._queues.serve(address)

    def spread(self, address: "Address", distribution: "Distribution") -> None:
        """Send the messages of an address to one consumer or to all from now on, including those that wait."""
        address.spread(distribution)
        address.note_credit()
        for inlet in list(address.inlets):
            inlet.top_up()
        self._queues.serve(address)

    def each_second(self, now: float) -> None:
        """Take back credit that producers have not returned: many clients never answer a drain."""
        for address in list(self._recalled):
            if now - self._recalled[address] < _RETURN_S:
                break
            del self._recalled[address]
            for inlet in address.inlets:
                if inlet.link.drain:
                    inlet.withdraw()

    def _recall(self, address: "Address") -> None:
        is_asked = False
        for inlet in address.inlets:
            if not inlet.is_served(address):
                inlet.recall()
                is_asked = is_asked or inlet.link.drain
        if is_asked:
            self._recalled.pop(address, None)
            self._recalled[address] = self._clock.now
