"""Credit that comes and goes: what it lets leave, what a drain is answered, and what a full connection makes wait."""

from typing import TYPE_CHECKING

from routerd.core.waiting import Waiting

if TYPE_CHECKING:
    from routerd.core.address import Address
    from routerd.core.inlet import Inlet
    from routerd.core.outlet import Outlet
    from routerd.core.peer import Peer
    from routerd.wire.link import Link
    from routerd.wire.session import Session


class Flows(Waiting):
    """Goes on with what waits when links, sessions and connections have room for it."""

    def written(self, peer: "Peer") -> None:
        """Go on with what waited until all that was composed for a connection was written."""
        peer.is_full = False
        self.relieve(peer)

    def relieve(self, peer: "Peer") -> None:
        """Go on with the outlets of a connection that had no room, since it may have some again."""
        starved = peer.starved
        for session in list(starved):
            if peer.is_blocked or peer.is_full:
                break
            if session in starved:
                # The turn of the others comes before its next one.
                starved[session] = starved.pop(session)
                self.relieve_session(peer, session)

    def relieve_session(self, peer: "Peer", session: "Session") -> None:
        """Go on with the outlets of a session that had no room, each once, until there is none again."""
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
                self.serve_outlet(outlet)
                outlet.address.note_credit()
                self._answer_drain(outlet)
            else:
                outlet.wait_no_more()

    def _answer_drain(self, outlet: "Outlet") -> None:
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
            outlet.note_flow(self.now)

    def siblings_drained(self, address: "Address") -> None:
        """Answer the drains that waited for siblings, if all of them have sent what they could."""
        for inlet in address.fabric_inlets:
            if inlet.link.credit > 0:
                return
        for outlet in address.outlets[: address.local_count]:
            if outlet.is_draining:
                outlet.is_draining = False
                if outlet.link.drain and outlet.link.is_attached:
                    outlet.link.drained()
                    outlet.note_flow(self.now)
        address.note_credit()

    def on_link_flow(self, link: "Link") -> None:
        """Use new credit, answer a drain, or see what credit a producer gave back."""
        end = link.context
        if end is None:
            return
        if link.is_sender:
            outlet: Outlet = end
            if outlet.dry_since != 0.0 and link.credit > 0 and self.recorder is not None:
                self.recorder.events.credit_came(outlet, self.now)
            outlet.note_flow(self.now)
            if outlet.is_open:
                if outlet.peer.starved:
                    self.relieve_session(outlet.peer, link.session)
                outlet.is_draining = outlet.is_draining and link.drain
                if outlet.address.fabric_inlets:
                    if outlet.address.waiting:
                        # Before what waits here takes all of the new credit, or siblings would never get any.
                        outlet.address.share_credit()
                    else:
                        outlet.address.note_credit()
                self.serve_outlet(outlet)
                self._answer_drain(outlet)
                if outlet.address.in_step:
                    outlet.address.note_step()
        else:
            inlet: Inlet = end
            inlet.is_quiet = not inlet.is_open
            if inlet.is_fabric and inlet.address is not None:
                self.siblings_drained(inlet.address)
            inlet.top_up()

    def on_session_flow(self, session: "Session") -> None:
        """Go on with what waited for the session's window."""
        peer: Peer | None = session.connection.context
        if peer is not None and peer.starved:
            self.relieve_session(peer, session)
