"""Changes of a network, as they are written: `cost A B 5; remove-router C`."""

from dataclasses import dataclass

from analytics.errors import UnknownName, WrongChange
from analytics.network import LinkStates, Network

_FORMS = (
    "cost ROUTER ROUTER COST, remove-trunk ROUTER ROUTER, remove-router ROUTER, "
    "add-router ROUTER NEIGHBOUR=COST ..., move ADDRESS FROM-ROUTER TO-ROUTER"
)
_COST_MAX = 2**31


@dataclass(frozen=True, slots=True)
class Change:
    """One change: its word, and what stands behind it."""

    word: str
    names: tuple[str, ...]
    cost: int = 0
    costs: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Scenario:
    """Some changes made together."""

    name: str
    changes: tuple[Change, ...] = ()

    @property
    def moves(self) -> tuple[tuple[str, str, str], ...]:
        """Addresses whose consumers move, from where, and to where."""
        return tuple((one.names[0], one.names[1], one.names[2]) for one in self.changes if one.word == "move")

    def network(self, states: LinkStates) -> Network:
        """Return the network after the changes; raises UnknownName and WrongChange."""
        changed = {router: dict(costs) for router, costs in states.items()}
        for change in self.changes:
            _CHANGES[change.word](changed, change)
        return Network(changed)


def parse_scenario(text: str) -> Scenario:
    """Return the scenario that a text is; raises WrongChange."""
    changes = tuple(_parse(part.split(), part.strip()) for part in text.split(";") if part.strip())
    if not changes:
        raise WrongChange(f"no change in {text!r}: give one or more of {_FORMS}, with `;` between")
    return Scenario(text.strip(), changes)


def _parse(words: list[str], text: str) -> Change:
    word, names = words[0], tuple(words[1:])
    if word == "cost" and len(names) == 3:
        return Change(word, names[:2], cost=_cost(names[2], text))
    if (word == "remove-trunk" and len(names) == 2) or (word == "remove-router" and len(names) == 1):
        return Change(word, names)
    if word == "move" and len(names) == 3:
        return Change(word, names)
    if word == "add-router" and len(names) >= 2:
        pairs = [one.rpartition("=") for one in names[1:]]
        return Change(word, names[:1], costs=tuple((peer, _cost(cost, text)) for peer, _, cost in pairs))
    raise WrongChange(f"{text!r} is not a change: write one of {_FORMS}")


def _cost(text: str, change: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _COST_MAX:
        raise WrongChange(f"{text!r} in {change!r} is not a cost: give a number from 1 to {_COST_MAX}")
    return int(text)


def _set_cost(states: dict[str, dict[str, int]], change: Change) -> None:
    one, other = change.names
    _check_trunk(states, one, other)
    states[one][other] = states[other][one] = change.cost


def _remove_trunk(states: dict[str, dict[str, int]], change: Change) -> None:
    one, other = change.names
    _check_trunk(states, one, other)
    del states[one][other], states[other][one]


def _remove_router(states: dict[str, dict[str, int]], change: Change) -> None:
    (router,) = change.names
    _check_router(states, router)
    del states[router]
    for costs in states.values():
        costs.pop(router, None)


def _add_router(states: dict[str, dict[str, int]], change: Change) -> None:
    (router,) = change.names
    if router in states:
        raise WrongChange(f"router {router!r} is there already: give the new one another id")
    for peer, _ in change.costs:
        _check_router(states, peer)
    states[router] = dict(change.costs)
    for peer, cost in change.costs:
        states[peer][router] = cost


def _move(states: dict[str, dict[str, int]], change: Change) -> None:
    for router in change.names[1:]:
        _check_router(states, router)


def _check_router(states: dict[str, dict[str, int]], router: str) -> None:
    if router not in states:
        raise UnknownName("router", router, sorted(states))


def _check_trunk(states: dict[str, dict[str, int]], one: str, other: str) -> None:
    _check_router(states, one)
    _check_router(states, other)
    if other not in states[one] or one not in states[other]:
        trunks = sorted(f"{router} {peer}" for router, costs in states.items() for peer in costs if router < peer)
        raise UnknownName("trunk", f"{one} {other}", trunks)


_CHANGES = {
    "cost": _set_cost,
    "remove-trunk": _remove_trunk,
    "remove-router": _remove_router,
    "add-router": _add_router,
    "move": _move,
}
