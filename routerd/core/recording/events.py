"""Events of links, addresses and the network, as rows of records. They are rare, so each row is an object.

A link of a consumer or a trunk stalls when messages wait for it and it has no credit. Stalls that ended are summed over
a second, since a consumer that grants single credits stalls with every message. A long stall is reported in pieces.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from routerd.core.directory.addresses import canonical
from routerd.core.recording.columns import RecordedEvent
from routerd.core.recording.names import address_text, container_of, kind_of, link_text

if TYPE_CHECKING:
    from routerd.core.directory.network import Network, RouteTo
    from routerd.core.links.address import Address
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.peer import Peer

EVENTS_MAX = 50_000
"""Limit of the events that wait to be taken; later ones are lost."""
STALL_LEAST_S = 0.005
"""Stalls of a second with a shorter sum get no row."""
STALL_PIECE_S = 10.0
"""The time after which a lasting stall is reported."""
HUNGRY_MAX = 10_000
"""Limit of the addresses that are checked for stalls."""
_HOUR_S = 3600


class Stall:
    """The stalls of a link that are not reported yet."""

    __slots__ = ("count", "seconds", "until")

    def __init__(self) -> None:
        self.until = 0.0
        """The time until which all has been reported or summed."""
        self.seconds = 0.0
        self.count = 0


class RecordedEvents:
    """Events of one worker; `is_witness` says whether it reports the events of the network."""

    def __init__(self, router_id: str, offset: float, is_witness: bool) -> None:
        self.offset = offset
        self.second_us = 0
        """The start of the present second."""
        self.lost = 0
        self._router_id = router_id
        self._is_witness = is_witness
        self._rows: list[RecordedEvent] = []
        self._hour = -1
        self._fresh: dict[Outlet, float] = {}
        self._hungry: dict[Address, None] = {}
        self._stalls: dict[Outlet, Stall] = {}

    def take(self) -> list[RecordedEvent]:
        """Return the events since the last call."""
        rows, self._rows = self._rows, []
        return rows

    def tick(self, now: float, peers: Iterable["Peer"], network: "Network") -> None:
        """Record the events of a second, and once an hour all that exists."""
        for outlet, since in self._fresh.items():
            self._attached(outlet, since)
        self._fresh.clear()
        hour = int(now + self.offset) // _HOUR_S
        if hour != self._hour:
            self._hour = hour
            self._tell_all(now, peers, network)
        self._look_for_stalls(now)
        self._tell_stalls(now)

    # --- links and addresses

    def producer_attached(self, inlet: "Inlet", now: float) -> None:
        """A producer's link was attached."""
        self._attached(inlet, now)

    def consumer_attached(self, outlet: "Outlet", now: float) -> None:
        """A consumer's link was attached; its credit follows, so the row waits for the end of the second."""
        if len(self._fresh) < HUNGRY_MAX:
            self._fresh[outlet] = now

    def producer_detached(self, inlet: "Inlet", now: float) -> None:
        """A producer's link is over."""
        self._link("link-detached", inlet, now, None)

    def consumer_detached(self, outlet: "Outlet", now: float) -> None:
        """A consumer's link is over."""
        since = self._fresh.pop(outlet, None)
        if since is not None:
            self._attached(outlet, since)
        self._tell_stall(outlet, now)
        self._link("link-detached", outlet, now, None)

    def address_added(self, key: str, now: float) -> None:
        """An address has its first consumer at this router."""
        self._note(now, "address-added", address=address_text(key, self._router_id)[0])

    def address_removed(self, key: str, now: float) -> None:
        """An address has lost its last consumer at this router."""
        self._note(now, "address-removed", address=address_text(key, self._router_id)[0])

    def rows_lost(self, number: int, why: str, now: float) -> None:
        """Rows were lost."""
        self._note(now, "rows-lost", number=number, detail=why)

    def _attached(self, end: "Inlet | Outlet", now: float) -> None:
        link = end.link
        credit = link.credit + link.unsettled_count if link.is_sender else end.peer.capacity
        self._link("link-attached", end, now, credit)

    def _link(self, kind: str, end: "Inlet | Outlet", now: float, credit: int | None) -> None:
        self._note(
            now,
            kind,
            address=self._address_of(end),
            link=link_text(end),
            link_kind=kind_of(end.peer),
            peer=container_of(end.peer),
            credit=credit,
        )

    def _address_of(self, end: "Inlet | Outlet") -> str | None:
        address = end.address
        return None if address is None else address_text(address.key, self._router_id)[0]

    # --- stalls

    def waits(self, address: "Address") -> None:
        """A message waits at an address whose `hungry_in` is not this object."""
        if len(self._hungry) < HUNGRY_MAX:
            self._hungry[address] = None
            address.hungry_in = self

    def credit_came(self, outlet: "Outlet", now: float) -> None:
        """An outlet without credit got some, or is over."""
        if outlet.dry_since == 0.0 or not _is_waited_for(outlet):
            return
        stall = self._stall(outlet)
        stall.seconds += max(0.0, now - max(outlet.dry_since, stall.until))
        stall.count += 1
        stall.until = now

    def _stall(self, outlet: "Outlet") -> Stall:
        stall = self._stalls.get(outlet)
        if stall is None:
            stall = self._stalls[outlet] = Stall()
        return stall

    def _look_for_stalls(self, now: float) -> None:
        """Count stalls that have lasted for long."""
        for address in list(self._hungry):
            if not _has_waiting(address):
                del self._hungry[address]
                address.hungry_in = None
            for outlet in address.outlets:
                if outlet.dry_since and _is_waited_for(outlet):
                    stall = self._stalls.get(outlet)
                    since = max(outlet.dry_since, stall.until if stall is not None else 0.0)
                    if now - since >= STALL_PIECE_S:
                        stall = self._stall(outlet)
                        stall.seconds += now - since
                        stall.count += 1
                        stall.until = now

    def _tell_stalls(self, now: float) -> None:
        for outlet in list(self._stalls):
            self._tell_stall(outlet, now)
            if not (outlet.dry_since and outlet.is_open):
                self._stalls.pop(outlet, None)

    def _tell_stall(self, outlet: "Outlet", now: float) -> None:
        stall = self._stalls.get(outlet)
        if stall is None or not stall.count:
            return
        if stall.seconds >= STALL_LEAST_S:
            self._note(
                min(now, stall.until),
                "credit-stall",
                address=self._address_of(outlet) if outlet.trunk is None else None,
                link=link_text(outlet),
                link_kind=kind_of(outlet.peer),
                peer=container_of(outlet.peer),
                duration_us=round(stall.seconds * 1e6),
                number=stall.count,
            )
        stall.seconds, stall.count = 0.0, 0

    # --- the network

    def network_changed(
        self, routes: Mapping[str, "RouteTo"], link_state: Mapping[str, int], network: "Network", now: float
    ) -> None:
        """Routers, or trunks to them, have changed since `routes` and `link_state`."""
        if not self._is_witness:
            return
        if network.link_state != link_state:
            self._trunks_changed(link_state, network.link_state, now)
        for router, old in routes.items():
            new = network.routes.get(router)
            if new is None:
                self._note(now, "router-lost", peer=router)
            elif (new.next_hop, new.cost) != (old.next_hop, old.cost):
                self._note(now, "route-changed", peer=router, cost=new.cost, detail=new.next_hop)
        for router, new in network.routes.items():
            if router not in routes:
                self._note(now, "router-reached", peer=router, cost=new.cost)

    def _trunks_changed(self, old: Mapping[str, int], new: Mapping[str, int], now: float) -> None:
        for router in old:
            if router not in new:
                self._trunk("trunk-lost", router, None, now)
        for router, cost in new.items():
            if router not in old:
                self._trunk("trunk-up", router, cost, now)
        self._note(now, "link-state", costs=dict(new))

    def _trunk(self, kind: str, router: str, cost: int | None, now: float) -> None:
        self._note(now, kind, link=f"trunk/{router}", link_kind="trunk", peer=router, cost=cost)

    def _tell_all(self, now: float, peers: Iterable["Peer"], network: "Network") -> None:
        if self._is_witness:
            self._note(now, "link-state", costs=dict(network.link_state))
        for peer in peers:
            if not peer.is_external or peer.is_router:
                continue
            ends: list[Inlet | Outlet] = [*peer.inlets, *peer.outlets]
            for end in ends:
                if end.is_open:
                    self._attached(end, now)

    def _note(self, now: float, kind: str, **columns: object) -> None:
        if len(self._rows) >= EVENTS_MAX:
            self.lost += 1
            return
        self._rows.append(RecordedEvent(round((now + self.offset) * 1e6), kind, **columns))  # type: ignore[arg-type]


def written_address(text: str) -> str:
    """Return the address in a message, as records write it."""
    return canonical(text)


def _has_waiting(address: "Address") -> bool:
    if address.parked or address.parked_from_siblings or address.parked_from_trunks:
        return True
    return any(outlet.waiting for outlet in address.outlets)


def _is_waited_for(outlet: "Outlet") -> bool:
    if outlet.trunk is not None:
        return bool(outlet.trunk.hungry)
    if outlet.waiting:
        return True
    address = outlet.address
    return bool(address.parked or address.parked_from_siblings or address.parked_from_trunks)
