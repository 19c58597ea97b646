"""Makes a graph of what routers tell.

A trunk is there when link state says so: each router's own where it answers, else what the asked one has of it. No
entity has the cost of a trunk. It is the cost of the way to a neighbour where that way is the trunk itself; where a
cheaper way leads around it, it is the higher of what both ends told each other when they opened.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from routerd.cli.manage.network_map.graph import Edge, Graph, Health, RouterPoint, RouterState, Trunk, TrunkState
from routerd.cli.manage.node import Entity

_SELF = "(self)"
_COST = "qd.inter-router-cost"
_CONNECTED = "SUCCESS"
_ANY_HOSTS = (None, "", "0.0.0.0", "::")
_SERVICES = {"amqp": "5672", "amqps": "5671"}
_EVERYWHERE = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one router tells: entities as its management has them, those of connections between routers only."""

    router: Entity
    nodes: tuple[Entity, ...] = ()
    connections: tuple[Entity, ...] = ()
    connectors: tuple[Entity, ...] = ()
    listeners: tuple[Entity, ...] = ()


def id_in(answer: Answer) -> str:
    """Return the id of the router that answers."""
    return str(answer.router.get("id"))


def is_reachable(row: Entity) -> bool:
    """Whether a router knows a way to the one of this row."""
    return any(row.get(name) is not None for name in ("cost", "nextHop", "routerLink"))


def assembled(asked: str, answers: Mapping[str, Answer]) -> Graph:
    """Return the network as the asked router and those others tell it that answered, by their ids."""
    return _Assembly(asked, answers).graph()


class _Assembly:
    """The answers, with what is asked of them more than once."""

    def __init__(self, asked: str, answers: Mapping[str, Answer]) -> None:
        self._asked = asked
        self._answers = answers
        self._rows = {str(row.get("id")): row for row in answers[asked].nodes}
        self._reachable = {asked, *answers, *(name for name, row in self._rows.items() if is_reachable(row))}
        self._neighbours = {name: self._neighbours_of(name) for name in {*self._rows, *answers}}

    def graph(self) -> Graph:
        trunks = self._trunks()
        names = {*self._neighbours, *(name for trunk in trunks for name in (trunk.one, trunk.other))}
        routers = tuple(self._router(name) for name in sorted(names))
        return Graph(routers, tuple(trunks))

    # --- routers

    def _router(self, name: str) -> RouterPoint:
        answer = self._answers.get(name)
        return RouterPoint(
            id=name,
            state=self._state(name),
            is_asked=name == self._asked,
            health=None if answer is None else health_in(answer.router),
            path_cost=_whole(self._rows.get(name, {}).get("cost")),
            edges=() if answer is None else _edges(answer.connections),
            uplinks=() if answer is None else _uplinks(answer.connections),
        )

    def _state(self, name: str) -> RouterState:
        if name in self._answers:
            return RouterState.UP
        if name in self._reachable:
            return RouterState.SILENT
        # Others name it as their neighbour, but nothing else is known of it: it still counts as a router.
        is_router = name in self._rows or any(name in others for others in self._neighbours.values())
        return RouterState.UNREACHABLE if is_router else RouterState.UNKNOWN

    def _neighbours_of(self, name: str) -> frozenset[str]:
        answer = self._answers.get(name)
        own = next((row for row in answer.nodes if row.get("id") == name), None) if answer else None
        row = own or self._rows.get(name, {})
        return frozenset(str(one) for one in row.get("linkState") or () if one != name)

    # --- trunks

    def _trunks(self) -> list[Trunk]:
        claimed = {_pair(name, other) for name, others in self._neighbours.items() for other in others}
        open_to = {
            _pair(name, other)
            for name, answer in self._answers.items()
            for other in _containers(answer.connections)
            if other in self._neighbours
        }
        lost = self._lost_connectors()
        return [self._trunk(pair, lost.get(pair, [])) for pair in sorted(claimed | open_to | lost.keys())]

    def _trunk(self, pair: tuple[str, str], lost: list[Entity]) -> Trunk:
        one, other = pair
        state = self._trunk_state(one, other)
        costs = {self._cost_at(one, other), self._cost_at(other, one)} - {None}
        if not costs and state is not TrunkState.UP:
            costs = {_whole(connector.get("cost")) for connector in lost} - {None}
        counts = [
            _containers(self._answers[here].connections).count(there)
            for here, there in (pair, pair[::-1])
            if here in self._answers
        ]
        return Trunk(
            one=one,
            other=other,
            state=state,
            costs=tuple(sorted(cost for cost in costs if cost is not None)),
            connections=max(counts, default=0 if state is TrunkState.LOST else 1),
            lost_connections=len(lost),
        )

    def _trunk_state(self, one: str, other: str) -> TrunkState:
        claims = (other in self._neighbours.get(one, ())) + (one in self._neighbours.get(other, ()))
        if not {one, other} <= self._reachable:
            return TrunkState.LOST
        if claims:
            return TrunkState.UP if claims == 2 else TrunkState.ONE_SIDED
        is_open = any(
            there in _containers(self._answers[here].connections)
            for here, there in ((one, other), (other, one))
            if here in self._answers
        )
        return TrunkState.SILENT if is_open else TrunkState.LOST

    def _cost_at(self, name: str, neighbour: str) -> int | None:
        """Return the cost of a trunk as one end sees it."""
        answer = self._answers.get(name)
        if answer is None or neighbour not in self._neighbours[name]:
            return None
        row = next((row for row in answer.nodes if row.get("id") == neighbour), {})
        if row.get("nextHop") in (None, "", neighbour) and (cost := _whole(row.get("cost"))) is not None:
            return cost
        there = self._answers.get(neighbour)
        told = [_told_cost(answer, neighbour), None if there is None else _told_cost(there, name)]
        known = [cost for cost in told if cost is not None]
        return max(known) if len(known) == len(told) else None

    def _lost_connectors(self) -> dict[tuple[str, str], list[Entity]]:
        """Return the connectors that do not come through, by the router that has them and where they lead."""
        lost: dict[tuple[str, str], list[Entity]] = {}
        for name, answer in self._answers.items():
            for connector in answer.connectors:
                # A router that says nothing of how its connectors fare is an old one.
                if connector.get("connectionStatus") not in (None, _CONNECTED):
                    lost.setdefault(_pair(name, self._end_of(name, connector)), []).append(connector)
        return lost

    def _end_of(self, name: str, connector: Entity) -> str:
        """Return who is meant by a connector: the router that it is named after, or the only one that listens there."""
        if connector.get("name") in self._neighbours and connector.get("name") != name:
            return str(connector["name"])
        found = {
            other
            for other, answer in self._answers.items()
            if other != name and any(_leads_to(connector, listener) for listener in answer.listeners)
        }
        return found.pop() if len(found) == 1 else f"{connector.get('host')}:{connector.get('port')}"


def health_in(router: Entity) -> Health:
    """Return what the entity of a router tells of its health."""
    blocked = router.get("linksBlocked")
    version = router.get("version")
    return Health(
        connections=_whole(router.get("connectionCount")),
        addresses=_whole(router.get("addrCount")),
        stuck=_whole(router.get("deliveriesStuck")),
        blocked=_whole(router.get("blockedLinkCount") if blocked is None else blocked),
        uptime_s=_whole(router.get("uptimeSeconds")),
        version=None if version is None else str(version),
    )


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) else None


def _containers(connections: Iterable[Entity]) -> list[str]:
    return [str(row.get("container")) for row in connections if row.get("role") == "inter-router"]


def _edges(connections: Iterable[Entity]) -> tuple[Edge, ...]:
    found = {
        str(row.get("container")): Edge(str(row.get("container")), row.get("active") is not False)
        for row in connections
        if row.get("role") == "edge" and row.get("dir") != "out" and row.get("container")
    }
    return tuple(found[name] for name in sorted(found))


def _uplinks(connections: Iterable[Entity]) -> tuple[str, ...]:
    return tuple(
        sorted(str(row.get("container")) for row in connections if (row.get("role"), row.get("dir")) == ("edge", "out"))
    )


def _told_cost(answer: Answer, neighbour: str) -> int | None:
    """Return what a neighbour said its end costs when it opened, which is nothing if that is 1."""
    told = [
        _whole((row.get("properties") or {}).get(_COST)) or 1
        for row in answer.connections
        if row.get("role") == "inter-router" and row.get("container") == neighbour
    ]
    return min(told, default=None)


def _leads_to(connector: Entity, listener: Entity) -> bool:
    host, there = connector.get("host"), listener.get("host")
    is_host = there in _ANY_HOSTS or host == there or (host in _EVERYWHERE and there in _EVERYWHERE)
    return is_host and _port(connector) == _port(listener)


def _port(entity: Entity) -> str:
    port = str(entity.get("port"))
    return _SERVICES.get(port, port)
