"""The steps that all ends of links need when a link is over."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.delivery.endings import Endings
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.core.observer import Observer
    from routerd.core.recording.journal import Journal
    from routerd.core.totals import Totals
    from routerd.wire import Error


class Ends:
    """Removes ends from the router. A role calls `begin_...`, then handles its kind of link, and calls `finish_...`."""

    def __init__(
        self, clock: "Clock", observer: "Observer", journal: "Journal", endings: "Endings", totals: "Totals"
    ) -> None:
        self._clock = clock
        self._observer = observer
        self._journal = journal
        self._endings = endings
        self._totals = totals

    def begin_outlet(self, outlet: "Outlet") -> bool:
        """Settle the deliveries of an outlet and stop using it; return whether it was open."""
        was_open = outlet.is_open
        self._endings.outlet_lost(outlet)
        outlet.peer.outlets.pop(outlet, None)
        outlet.wait_no_more()
        outlet.address.remove(outlet)
        return was_open

    def finish_outlet(self, outlet: "Outlet", was_open: bool, error: "Error | None") -> None:
        """Report the end of an outlet."""
        self._totals.add(outlet)
        if outlet.peer.is_container:
            outlet.address.container_out += outlet.deliveries
        if was_open:
            self._observer.link_lost(outlet, error)
            if self._journal.recorder is not None:
                self._journal.recorder.events.consumer_detached(outlet, self._clock.now)

    def begin_inlet(self, inlet: "Inlet") -> None:
        """Release the deliveries of an inlet."""
        self._endings.inlet_lost(inlet)
        inlet.peer.inlets.pop(inlet, None)

    def finish_inlet(self, inlet: "Inlet", error: "Error | None") -> None:
        """Report the end of an inlet."""
        self._totals.add(inlet)
        if inlet.peer.is_container and inlet.address is not None:
            inlet.address.container_in += inlet.deliveries
        self._observer.link_lost(inlet, error)
        if self._journal.recorder is not None:
            self._journal.recorder.events.producer_detached(inlet, self._clock.now)
