"""New credit and new room: they let messages leave, answer drains, and relieve connections that were full."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.delivery.queues import Queues
    from routerd.core.links.address import Address
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.peer import Peer
    from routerd.core.recording.journal import Journal
    from routerd.wire.session import Session


class Credit:
    """Continues with waiting messages when links, sessions and connections have room for them."""

    def __init__(self, clock: "Clock", journal: "Journal", queues: "Queues") -> None:
        self._clock = clock
        self._journal = journal
        self._queues = queues

    # --- links

    def of_consumer(self, outlet: "Outlet") -> None:
        """Use the credit that a consumer has now, and answer its drain."""
        link = outlet.link
        if outlet.dry_since != 0.0 and link.credit > 0 and self._journal.recorder is not None:
            self._journal.recorder.events.credit_came(outlet, self._clock.now)
        outlet.note_flow(self._clock.now)
        if outlet.is_open:
            if outlet.peer.starved:
                self.relieve_session(outlet.peer, link.session)
            outlet.is_draining = outlet.is_draining and link.drain
            if outlet.address.fabric_inlets:
                if outlet.address.waiting:
                    # This comes first: messages that wait here would take all new credit, and siblings would get none.
                    outlet.address.share_credit()
                else:
                    outlet.address.note_credit()
            self._queues.serve_outlet(outlet)
            self.answer_drain(outlet)
            if outlet.address.in_step:
                outlet.address.note_step()

    def of_producer(self, inlet: "Inlet") -> None:
        """Note the credit that a producer has given back."""
        inlet.is_quiet = not inlet.is_open
        if inlet.is_fabric and inlet.address is not None:
            self.siblings_drained(inlet.address)
        inlet.top_up()

    def answer_drain(self, outlet: "Outlet") -> None:
        """Tell a draining consumer that everything was sent, once siblings have sent what they could."""
        link = outlet.link
        if not link.drain or not link.is_attached or outlet.is_starved:
            return
        address = outlet.address
        if link.credit > 0 and not outlet.is_fabric and address.fabric_inlets and not address.is_multicast:
            if not outlet.is_draining:
                address.drain_siblings()
                outlet.is_draining = True
        else:
            link.drained()
            outlet.note_flow(self._clock.now)

    def siblings_drained(self, address: "Address") -> None:
        """Answer the drains that waited for siblings, once all of these have sent what they could."""
        for inlet in address.fabric_inlets:
            if inlet.link.credit > 0:
                return
        for outlet in address.outlets[: address.local_count]:
            if outlet.is_draining:
                outlet.is_draining = False
                if outlet.link.drain and outlet.link.is_attached:
                    outlet.link.drained()
                    outlet.note_flow(self._clock.now)
        address.note_credit()

    # --- sessions and connections

    def of_session(self, session: "Session") -> None:
        """Continue with messages that waited for a session's window."""
        peer: Peer | None = session.connection.context
        if peer is not None and peer.starved:
            self.relieve_session(peer, session)

    def relieve(self, peer: "Peer") -> None:
        """Continue with the outlets of a connection that had no room, since it may have room again."""
        starved = peer.starved
        for session in list(starved):
            if peer.is_blocked or peer.is_full:
                break
            if session in starved:
                # It moves behind the others first, so that they come before its next turn.
                starved[session] = starved.pop(session)
                self.relieve_session(peer, session)

    def relieve_session(self, peer: "Peer", session: "Session") -> None:
        """Continue with the outlets of a session that had no room, each once, until the room is used up."""
        waiting = peer.starved.get(session)
        left = 0 if waiting is None else len(waiting)
        while left > 0 and waiting:
            left -= 1
            outlet: Outlet = next(iter(waiting))
            if outlet.is_open:
                if outlet.is_stuck():
                    break
                outlet.wait_no_more()
                outlet.let_go()
                self._queues.serve_outlet(outlet)
                outlet.address.note_credit()
                self.answer_drain(outlet)
            else:
                outlet.wait_no_more()
