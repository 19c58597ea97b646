"""What is to be made up: a network, its addresses and their consumers, and the faults that are planted."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise

from analytics.errors import AnalyticsError
from analytics.network import Network

HOUR_S = 3600
GOOD_COST = 10
BAD_COST = 90
USUAL_LATENCY_US = 1_500
SLOWNESS = 25
HOP_US = 220
FLAPS_AN_HOUR = 4
FLAP_S = 20
SURGE = 6.0


@dataclass(frozen=True, slots=True)
class Consumer:
    """One consumer of an address."""

    link: str
    router: str
    latency_us: int
    """Its mean time to settle a message."""
    credit: int = 100


@dataclass(frozen=True, slots=True)
class MadeAddress:
    """One address, its share of all messages, and who receives from it."""

    name: str
    distribution: str
    share: float
    consumers: tuple[Consumer, ...]


@dataclass(frozen=True, slots=True)
class Planted:
    """The faults that are in the records."""

    bad_cost: tuple[str, str]
    """A trunk whose cost is so high that its messages go another way."""
    slow_consumer: tuple[str, str]
    """The address and link of a consumer that takes many times as long as the others."""
    flapping: tuple[str, str]
    """A trunk that is lost and found again and again."""
    lonely: str
    """An address that nobody receives from."""
    surge: tuple[str, int] | None
    """An address that had many times its usual messages in an hour of the last day, by seconds since 1970."""
    clock: tuple[str, float]
    """A router whose clock is ahead, and by how many seconds."""


@dataclass(frozen=True)
class Plan:
    """What is to be made up."""

    rows: int = 100_000
    """Decisions, roughly."""
    routers: int = 5
    addresses: int = 30
    days: float = 1.0
    begin: datetime = datetime(2026, 11, 1, tzinfo=UTC)
    seed: int = 1
    weight: int = 100
    """How many decisions each row of them stands for."""
    skew_s: float = 2.5
    """By how much one clock is ahead."""

    def __post_init__(self) -> None:
        if self.routers < 4:
            raise AnalyticsError(f"{self.routers} routers are too few for a network with faults: 4 are the least")
        if self.addresses < 3:
            raise AnalyticsError(f"{self.addresses} addresses are too few: 3 are the least")
        if self.rows < 1 or self.days <= 0:
            raise AnalyticsError("the number of rows and of days has to be above 0")

    @cached_property
    def router_ids(self) -> tuple[str, ...]:
        """The routers, which form a ring."""
        return tuple(f"R{number}" for number in range(1, self.routers + 1))

    @cached_property
    def hours(self) -> tuple[int, ...]:
        """The beginnings of all hours, seconds since 1970."""
        first = int(self.begin.timestamp()) // HOUR_S * HOUR_S
        return tuple(first + HOUR_S * at for at in range(max(1, round(self.days * 24))))

    @cached_property
    def network(self) -> Network:
        """The network with all trunks."""
        return Network(self._states(None))

    @cached_property
    def broken_network(self) -> Network:
        """The network while the flapping trunk is lost."""
        return Network(self._states(self.planted.flapping))

    def _states(self, lost: tuple[str, str] | None) -> dict[str, dict[str, int]]:
        states: dict[str, dict[str, int]] = {router: {} for router in self.router_ids}
        ring = [*pairwise(self.router_ids), (self.router_ids[0], self.router_ids[-1])]
        for trunk in ring:
            if trunk == lost:
                continue
            one, other = trunk
            states[one][other] = states[other][one] = BAD_COST if trunk == self.planted.bad_cost else GOOD_COST
        return states

    @cached_property
    def planted(self) -> Planted:
        """The faults."""
        ids = self.router_ids
        surge = ("surge.prices", self.hours[-4]) if len(self.hours) >= 72 else None
        return Planted(
            bad_cost=(ids[1], ids[2]),
            slow_consumer=("orders.new", "orders.new/worker-2"),
            flapping=(ids[0], ids[-1]),
            lonely="lost.letters",
            surge=surge,
            clock=(ids[2], self.skew_s),
        )

    @cached_property
    def made_addresses(self) -> tuple[MadeAddress, ...]:
        """The addresses; the n-th has a share in proportion to 1/n."""
        names = ["orders.new", "surge.prices", self.planted.lonely]
        families = ("orders", "rpc", "telemetry", "stock")
        names += [f"{families[at % len(families)]}.a{at}" for at in range(3, self.addresses)]
        weights = [0.02 if name == self.planted.lonely else 1 / (at + 1) for at, name in enumerate(names)]
        total = math.fsum(weights)
        return tuple(
            MadeAddress(name, "closest" if at % 5 == 4 else "balanced", weight / total, self._consumers(at, name))
            for at, (name, weight) in enumerate(zip(names, weights, strict=True))
        )

    def _consumers(self, at: int, name: str) -> tuple[Consumer, ...]:
        if name == self.planted.lonely:
            return ()
        # The busiest address lies across the trunk with the bad cost.
        homes = [self.router_ids[2]] * 3 if at == 0 else [self.router_ids[(at * 2 + n) % self.routers] for n in (0, 1)]
        return tuple(
            Consumer(link, home, USUAL_LATENCY_US * (SLOWNESS if (name, link) == self.planted.slow_consumer else 1))
            for link, home in ((f"{name}/worker-{n}", home) for n, home in enumerate(homes, 1))
        )

    def rate(self, hour: int, address: str) -> float:
        """Return how busy an hour is for an address: more by day than by night."""
        of_day = hour // HOUR_S % 24
        usual = 1 + 0.8 * math.sin((of_day - 8) / 24 * 2 * math.pi)
        return usual * (SURGE if self.planted.surge == (address, hour) else 1.0)

    def lost_times(self, hour: int) -> tuple[tuple[int, int], ...]:
        """Return when in an hour the flapping trunk is lost: beginnings and ends, seconds since 1970."""
        if self.hours.index(hour) % 3 != 1 and len(self.hours) > 2:
            return ()
        step = HOUR_S // (FLAPS_AN_HOUR + 1)
        return tuple((hour + step * n, hour + step * n + FLAP_S) for n in range(1, FLAPS_AN_HOUR + 1))
