"""What follows when an address has its first consumers, wherever they are, or loses its last."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.delivery.queues import Queues
    from routerd.core.directory.directory import Directory
    from routerd.core.links.address import Address


class Demand:
    """Gives producers credit and takes it, and sends what waits or releases it."""

    def __init__(self, clock: "Clock", directory: "Directory", queues: "Queues") -> None:
        self._clock = clock
        self._directory = directory
        self._queues = queues

    def came(self, address: "Address") -> None:
        """Have producers send to an address, and what waits leave."""
        # Should it have nobody once more, messages wait for news again.
        self._directory.expectations.came(address.key)
        address.note_credit()
        for inlet in address.inlets:
            inlet.top_up()
        self._queues.serve(address)

    def went(self, address: "Address") -> None:
        """Release what waits for nobody; messages that still come are late."""
        if not address.has_outlet(False):
            address.expected_until = 0.0
            self._directory.expectations.went(address.key, self._clock.now)
        address.note_credit()
        if address.local_count == 0:
            self._queues.release_parked(address)
            for inlet in address.inlets:
                if not address.has_outlet(inlet.is_fabric):
                    inlet.withdraw()
            self._directory.forget_if_idle(address)
        if address.local_count == 0 or address.is_multicast:
            # Otherwise nothing has changed for what waits for the others.
            self._queues.serve(address)
