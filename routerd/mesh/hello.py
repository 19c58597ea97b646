"""Neighbours and the trunks to them (3.4).

The router that greets us on a trunk is at its other end. It is a neighbour once its greetings name us. Then it has
heard us. Several trunks may lead to one neighbour. Of those on which it was heard lately, the cheapest is in use. Of
equally cheap ones, that with the lowest number is. So a trunk that is lost or falls silent gives way to the next one.
"""

from math import inf

from routerd.mesh.settings import HELLO_ANSWER_GAP_S


class Trunk:
    """A connection to another router."""

    __slots__ = ("answered", "cost", "heard", "hello_at", "is_open", "number", "router")

    def __init__(self, number: int, cost: int) -> None:
        self.number = number
        self.cost = cost
        self.is_open = True
        """A trunk that is not is believed to be there, by a router that is resumed."""
        self.router: str | None = None
        """The router that was heard at its other end."""
        self.heard = -inf
        self.hello_at = -inf
        self.answered = -inf


class Neighbours:
    """The trunks, and the routers at their other ends."""

    def __init__(self, interval_s: float, max_age_s: float) -> None:
        self._interval_s = interval_s
        self._max_age_s = max_age_s
        self._trunks: dict[int, Trunk] = {}
        self._confirmed: dict[str, float] = {}
        """The time at which a neighbour last named us."""
        self.trunks: dict[str, tuple[int, ...]] = {}
        """The trunks to each neighbour, the one in use first."""
        self.links: dict[str, int] = {}
        """The cost of the trunk in use to each neighbour."""
        self.deadline = inf
        """When to call `expire` and `take_due`; it may be early."""

    def is_open(self, number: int) -> bool:
        """Return whether a trunk is there."""
        trunk = self._trunks.get(number)
        return trunk is not None and trunk.is_open

    def cost(self, number: int) -> int:
        """Return the cost of a trunk."""
        return self._trunks[number].cost

    def open(self, number: int, cost: int, now: float) -> bool:
        """Note a trunk; return whether the neighbours' trunks changed."""
        trunk = self._trunks.get(number)
        if trunk is None or trunk.is_open:
            trunk = self._trunks[number] = Trunk(number, cost)
        trunk.is_open = True
        trunk.cost = cost
        trunk.hello_at = self.deadline = now
        return self._review(now)

    def believe(self, number: int, router: str, cost: int, now: float) -> None:
        """Take a trunk to a neighbour for granted until it would be lost unheard."""
        trunk = self._trunks[number] = Trunk(number, cost)
        trunk.is_open = False
        trunk.router = router
        trunk.heard = self._confirmed[router] = now
        self.deadline = min(self.deadline, now + self._max_age_s)
        self._review(now)

    def close(self, number: int, now: float) -> bool:
        """Forget a trunk; return whether the neighbours' trunks changed."""
        self._trunks.pop(number, None)
        return self._review(now)

    def is_doubled(self, number: int) -> bool:
        """Whether there is another trunk to the same neighbour."""
        trunk = self._trunks.get(number)
        if trunk is None or trunk.router is None:
            return False
        return any(other is not trunk and other.router == trunk.router for other in self._trunks.values())

    def hear(self, number: int, router: str, has_heard_us: bool, now: float) -> bool:
        """Note a greeting; return whether the neighbours' trunks changed."""
        trunk = self._trunks[number]
        is_news = trunk.router != router or now >= trunk.heard + self._max_age_s
        trunk.router = router
        trunk.heard = now
        self.deadline = min(self.deadline, now + self._max_age_s)
        if has_heard_us:
            is_news |= router not in self._confirmed
            self._confirmed[router] = now
        else:
            self._answer(trunk, now)
        return is_news and self._review(now)

    def heard(self) -> tuple[str, ...]:
        """Return the routers that were heard lately."""
        return tuple(sorted({trunk.router for trunk in self._trunks.values() if trunk.router is not None}))

    def forgive(self, seconds: float) -> None:
        """Do not count this time against routers that were heard before it."""
        for trunk in self._trunks.values():
            trunk.heard += seconds
        for router in self._confirmed:
            self._confirmed[router] += seconds

    def expire(self, now: float) -> bool:
        """Forget routers that were silent for too long; return whether the neighbours' trunks changed."""
        for trunk in self._trunks.values():
            if trunk.router is not None and now >= trunk.heard + self._max_age_s:
                trunk.router = None
        return self._review(now)

    def take_due(self, now: float) -> list[int]:
        """Return the trunks on which a greeting is due."""
        due = [trunk for trunk in self._trunks.values() if trunk.is_open and now >= trunk.hello_at]
        for trunk in due:
            trunk.hello_at = now + self._interval_s
        times = [trunk.hello_at for trunk in self._trunks.values() if trunk.is_open]
        times += [trunk.heard + self._max_age_s for trunk in self._trunks.values() if trunk.router is not None]
        times += [confirmed + self._max_age_s for confirmed in self._confirmed.values()]
        self.deadline = min(times, default=inf)
        return [trunk.number for trunk in due]

    def _answer(self, trunk: Trunk, now: float) -> None:
        """Greet a neighbour soon that has not heard us, so that it need not wait for the next greeting."""
        at = max(now, trunk.answered + HELLO_ANSWER_GAP_S)
        if at < trunk.hello_at:
            trunk.hello_at = trunk.answered = at
            self.deadline = min(self.deadline, at)

    def _review(self, now: float) -> bool:
        ways: dict[str, list[Trunk]] = {}
        for trunk in self._trunks.values():
            if trunk.router is not None and now < self._confirmed.get(trunk.router, -inf) + self._max_age_s:
                ways.setdefault(trunk.router, []).append(trunk)
        for trunks in ways.values():
            trunks.sort(key=lambda trunk: (trunk.cost, trunk.number))
        self._confirmed = {router: at for router, at in self._confirmed.items() if router in ways}
        before = self.trunks, self.links
        self.trunks = {router: tuple(trunk.number for trunk in ways[router]) for router in sorted(ways)}
        self.links = {router: ways[router][0].cost for router in sorted(ways)}
        return before != (self.trunks, self.links)
