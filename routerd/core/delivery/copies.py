"""The copies of a multicast message: sent to every outlet, or kept for outlets that cannot take them yet."""

from collections import deque
from typing import TYPE_CHECKING

from routerd.core.delivery.windows import CLOSES, STAYS_OPEN, effect_of, open_for
from routerd.core.links.arrival import Arrival
from routerd.core.links.fan_out import FanOut
from routerd.core.recording.journal import AUTOMATIC
from routerd.core.recording.names import NO_ROUTE, RECORDED_DROPPED, RECORDED_RELEASED, TOO_MANY_WAIT
from routerd.wire import RELEASED

if TYPE_CHECKING:
    from routerd.core.delivery.sending import Sending
    from routerd.core.delivery.settlement import Settlement
    from routerd.core.directory.path_rules import PathRules
    from routerd.core.links.address import Address
    from routerd.core.links.address_route import AddressRoute
    from routerd.core.links.outlet import Outlet
    from routerd.core.recording.journal import Journal

_RELEASED = RELEASED
_CLOSES = CLOSES
_STAYS_OPEN = STAYS_OPEN


class Copies:
    """Sends a copy of each message to every consumer."""

    def __init__(self, rules: "PathRules", journal: "Journal", settlement: "Settlement", sending: "Sending") -> None:
        self._rules = rules
        self._journal = journal
        self._settlement = settlement
        self._sending = sending
        self._arrival = Arrival()

    def fan_out(self, arrival: Arrival, address: "Address") -> None:
        """Send the copies of a message, or of the beginning of one."""
        inlet = arrival.inlet
        delivery = arrival.delivery
        count = address.local_count if inlet.is_fabric else len(address.outlets)
        routes = None
        if address.routes and not inlet.is_fabric:
            routes = self._rules.routes_for(address, arrival.annotations)
        if count == 0 and not routes:
            self._sending.drop(arrival, _RELEASED, address, AUTOMATIC)
            return
        fan = FanOut(inlet, delivery)
        fan.annotations = arrival.recorded
        more = arrival.is_partial
        fan.is_complete = not more
        if more:
            inlet.current = delivery
        if more or not fan.is_settled:
            delivery.context = fan
        inlet.link.session.connection.work += count >> 2
        for outlet in address.outlets[:count]:
            if inlet.trunk is not None and outlet.peer is inlet.peer:
                # An edge router has served its own consumers already.
                continue
            link = None
            if not outlet.waiting:
                link = _link_for(outlet, more)
            if link is None:
                self._wait_for(fan, outlet)
                continue
            if link is not outlet:
                arrival.route = outlet.side
            elif arrival.route is not None:
                arrival.route = None
            self._sending.copy(arrival, fan, link)
        if routes:
            priority = arrival.priority(address)
            for route in routes:
                link = None
                if not route.waiting:
                    link = route.pick(priority, more)
                if link is None:
                    self._wait_for_route(fan, route, priority)
                else:
                    arrival.route = route
                    self._sending.copy(arrival, fan, link)
        if fan.waiting:
            self.keep(fan, arrival.data, arrival.start, arrival.end)
        if fan.is_complete:
            self.all_sent(fan)
        elif fan.under_way:
            open_for(inlet)

    def all_sent(self, fan: FanOut) -> None:
        """Finish a message after its first copies were sent; others may wait."""
        if fan.is_settled:
            if fan.delivery is not None:
                fan.delivery.context = None
            fan.inlet.presettled += 1
            fan.inlet.top_up()
        else:
            if fan.delivery is not None and fan.delivery.remote_settled:
                # Its consumers wait for no other settlement.
                fan.settle_awaiting()
            self._settlement.check_copies(fan)

    # --- copies that wait

    def serve(self, outlet: "Outlet") -> None:
        """Send the copies that wait for an outlet, or for a link for large messages beside it."""
        waiting = outlet.waiting
        while waiting:
            fan: FanOut = waiting[0]
            if fan.is_cut:
                waiting.popleft()
                self.lose(fan, outlet.address, outlet, TOO_MANY_WAIT)
                continue
            link = None
            if fan.is_alive():
                link = _link_for(outlet, not fan.is_complete)
                if link is None:
                    return
            waiting.popleft()
            self._send_waiting(fan, link, None if link is outlet else outlet.side)

    def serve_route(self, route: "AddressRoute") -> None:
        """Send the copies that wait for a route."""
        if route.beside is not None:
            self.serve(route.beside)
            return
        waiting = route.waiting
        while waiting:
            fan: FanOut = waiting[0]
            if fan.is_cut:
                waiting.popleft()
                self.lose(fan, route.address, None, TOO_MANY_WAIT)
                continue
            link = None
            if fan.is_alive():
                link = route.pick(self._priority_of(fan, route.address), not fan.is_complete)
                if link is None:
                    return
            waiting.popleft()
            self._send_waiting(fan, link, route)

    def _priority_of(self, fan: FanOut, address: "Address") -> int:
        arrival = self._arrival
        arrival.copy_of(fan)
        priority = arrival.priority(address)
        arrival.is_over()
        return priority

    def _send_waiting(self, fan: FanOut, link: "Outlet | None", route: "AddressRoute | None") -> None:
        """Send a copy that has waited; without a link, drop its message."""
        self._leave_wait(fan)
        if link is not None:
            arrival = self._arrival
            arrival.copy_of(fan)
            arrival.route = route
            try:
                self._sending.copy(arrival, fan, link)
            finally:
                arrival.is_over()
            if not fan.is_complete:
                open_for(fan.inlet)
        self._settlement.check_copies(fan)

    def route_lost(self, route: "AddressRoute") -> None:
        """Release the copies that wait for a route that is gone."""
        waiting, route.waiting = route.waiting, None
        for fan in [] if waiting is None else waiting:
            self.lose(fan, route.address, None, NO_ROUTE)

    def lose(self, fan: FanOut, address: "Address", outlet: "Outlet | None", cause: int) -> None:
        """Release a copy that has waited in vain."""
        self._sending.unsent(fan, address, outlet, RECORDED_RELEASED, cause)
        self._leave_wait(fan)
        if not fan.is_settled:
            fan.open_copies += 1
            fan.combine(_RELEASED)
        self._settlement.check_copies(fan)

    def _wait_for_route(self, fan: FanOut, route: "AddressRoute", priority: int) -> None:
        if route.waiting is None:
            route.waiting = deque()
        if fan.is_settled and len(route.waiting) >= fan.inlet.capacity:
            outlet = route.outlet if route.end is None else route.end.link_of(priority)
            self._sending.unsent(fan, route.address, outlet, RECORDED_DROPPED, TOO_MANY_WAIT)
            return
        self._journal.waits(route.address)
        route.waiting.append(fan)
        self._begin_wait(fan)
        if not fan.is_complete:
            fan.note_route(route)

    def _wait_for(self, fan: FanOut, outlet: "Outlet") -> None:
        if outlet.waiting is None:
            outlet.waiting = deque()
        if fan.is_settled and len(outlet.waiting) >= outlet.peer.capacity:
            # The router has promised nothing for a settled copy: a consumer that lags that far behind misses it.
            self._sending.unsent(fan, outlet.address, outlet, RECORDED_DROPPED, TOO_MANY_WAIT)
            return
        self._journal.waits(outlet.address)
        outlet.waiting.append(fan)
        self._begin_wait(fan)
        if fan.is_complete:
            return
        if outlet.side is not None:
            fan.note_route(outlet.side)
        elif outlet.streams is not None:
            fan.note_outlet(outlet)

    def _begin_wait(self, fan: FanOut) -> None:
        fan.waiting += 1
        if not fan.is_settled:
            fan.open_copies += 1

    def _leave_wait(self, fan: FanOut) -> None:
        fan.waiting -= 1
        if not fan.is_settled:
            fan.open_copies -= 1

    def keep(self, fan: FanOut, data: bytes | bytearray, start: int, end: int) -> None:
        """Keep more of a message for the copies that wait."""
        if fan.is_cut:
            return
        inlet = fan.inlet
        if not fan.is_complete:
            effect = effect_of(inlet, end - start, inlet.peer.unheld_octets)
            if effect == _CLOSES:
                fan.frames += 1
                inlet.link.session.withhold(1)
            elif effect == _STAYS_OPEN:
                fan.unheld += end - start
                inlet.peer.unheld_octets += end - start
            else:
                fan.is_cut = True
                fan.octets = bytearray()
                self._settlement.let_go(fan)
                return
        fan.octets += data[start:end]


def _link_for(outlet: "Outlet", is_partial: bool) -> "Outlet | None":
    """Return the link for a copy, or None if it cannot leave now. Routers and siblings have some for large copies."""
    if is_partial and outlet.side is not None:
        return outlet.side.pick(0, True)
    return outlet.link_for(is_partial)
