"""Those that may get a message, and the choice among them."""

from collections.abc import Sequence
from dataclasses import dataclass

TAKES, WAITS, NEXT = ("takes", "waits", "next")
"""A candidate has credit, has none, or is another router."""
_NAMES_MAX = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A consumer here, or a router with consumers."""

    name: str
    state: str
    words: str
    phase: str = "0"
    cost: int | None = None
    outstanding: int | None = None
    credit: int | None = None
    way: str | None = None
    """The neighbour on the way to another router."""


def choice(distribution: str, candidates: Sequence[Candidate]) -> tuple[str, str]:
    """Return a verdict, and who of the candidates gets a message."""
    return _CHOICES.get(distribution, _balanced)(candidates)


def _balanced(candidates: Sequence[Candidate]) -> tuple[str, str]:
    here = [one for one in candidates if one.state == TAKES]
    remote = [one for one in candidates if one.state == NEXT]
    able = [*here, *remote]
    if not able:
        return "waits", "It waits here until one of the consumers gives credit."
    if len(able) == 1:
        return "routed", f"It goes to {able[0].name}, the only one that can take it now."
    why = "Unsettled deliveries count, and the cost of the way to other routers."
    if any(one.outstanding is None for one in remote):
        ways = counted(len({one.way for one in remote}), "way")
        return "routed", f"It goes to the least busy of {counted(len(here), 'consumer')} here and {ways}. {why}"
    least = min(_load(one) for one in able)
    # A consumer here is preferred to a way with the same load.
    best = [one.name for one in here if _load(one) == least] or [one.name for one in remote if _load(one) == least]
    return "routed", f"It goes to the least busy: now {any_of(best)}. {why}"


def _multicast(candidates: Sequence[Candidate]) -> tuple[str, str]:
    here = [one for one in candidates if one.state != NEXT]
    ways = list(dict.fromkeys(str(one.way) for one in candidates if one.state == NEXT))
    parts = [f"to {counted(len(here), 'consumer')} at this router"] if here else []
    if ways:
        parts.append(f"by {counted(len(ways), 'way')} to other routers ({', '.join(ways)})")
    waiting = sum(one.state == WAITS for one in here)
    wait = f" Those without credit ({waiting}) hold up its settlement." if waiting else ""
    return "routed", f"Copies go {' and '.join(parts)}.{wait}"


def _closest(candidates: Sequence[Candidate]) -> tuple[str, str]:
    here = [one for one in candidates if one.state != NEXT]
    ready = [one for one in here if one.state == TAKES]
    if ready:
        taking = ready[0].name if len(here) == 1 else f"one of {len(here)} consumers at this router, which take turns"
        return "routed", f"It goes to {taking}. Consumers here are the closest."
    if here:
        return "waits", "It waits here: the consumers at this router are the closest, and none of them has credit."
    known = [one.cost for one in candidates if one.cost is not None]
    least = min(known) if known else None
    names = [one.name for one in candidates if one.cost == least]
    return "routed", f"It goes to {any_of(names)}, at the lowest cost{'' if least is None else f', {least}'}."


_CHOICES = {"multicast": _multicast, "closest": _closest}


def _load(candidate: Candidate) -> int:
    return (candidate.outstanding or 0) + (candidate.cost or 0)


def any_of(names: Sequence[str]) -> str:
    """Return names as one text, the first few if there are many."""
    return " or ".join(names[:_NAMES_MAX]) + (" and others" if len(names) > _NAMES_MAX else "")


def counted(number: int, one: str) -> str:
    """Return a number of things in words."""
    return f"{number:,} {one}{'' if number == 1 else 's'}"
