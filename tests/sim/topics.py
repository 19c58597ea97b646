"""`python -m tests.sim.topics --seeds N`: topics and clients that keep maps, on virtual time.

Anything can go wrong between any two events. After each run the checker holds P1 to P3 of the promise against what the
clients wrote down, and P5 after quiet.
"""

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

from routerd.topics import TopicSettings
from tests.sim.campaign import Failed, run_all
from tests.sim.topics_checks import History
from tests.sim.topics_clients import PublisherClient, SubscriberClient
from tests.sim.topics_faults import PROFILES, Faults
from tests.sim.topics_network import PUBLISHER_TIMEOUT_S, SUBSCRIPTION_TIMEOUT_S, Network
from tests.sim.world import Broken, World

QUIET_STEP_S = 1.5
QUIET_MAX_S = 75.0
TOPICS = ("news", "orders")


@dataclass
class Plan:
    """What a run has, all of it from its seed unless given."""

    seed: int
    ids: str = "ABC"
    publishers: int = 1
    messages: int = 2
    topics: int = 1
    span_s: float = 2.0
    troubled_s: float = 8.0
    faults: int = 3
    hooked: float = 0.1
    kinds: tuple[str, ...] = PROFILES[0]
    loss: float = 0.0
    skew_s: float = 0.0
    drift: float = 0.0
    late_subscriber_s: float | None = None
    slow_s: float = 0.0
    releases: float = 0.0
    rejects: float = 0.0
    is_exactly_once: bool = True
    turn_s: float = 0.0
    """How long a router gathers what comes before it does what follows from all of it."""
    late_copies_s: float = 0.0
    plain: float = 0.0
    """How many publishers keep no unsettled map."""
    maps: float = 1.0
    """How many subscribers say that they keep one, and so wait until publishers keep to what it holds."""
    story: Any = None
    """Makes things happen in place of faults."""

    @classmethod
    def of_seed(cls, seed: int, **given: Any) -> "Plan":
        """Return the plan of a seed."""
        random = Random(seed * 7919 + 13)
        choice = random.choice
        plan = cls(
            seed,
            ids="ABCD"[: choice([3, 3, 4])],
            publishers=choice([1, 1, 2]),
            messages=choice([1, 1, 2, 2, 3, 4]),
            topics=choice([1, 1, 1, 2]),
            span_s=choice([0.3, 2.0, 8.0]),
            troubled_s=choice([4.0, 8.0, 16.0, 30.0]),
            faults=choice([1, 2, 2, 3, 3, 4, 5, 6]),
            hooked=choice([0.0, 0.05, 0.15, 0.3]),
            kinds=choice(PROFILES),
            loss=choice([0.0, 0.0, 0.2]),
            skew_s=choice([0.0, 0.0, 0.0, 1.0, 5.0]),
            drift=choice([0.0, 0.045]),
            late_subscriber_s=choice([None, None, 2.0, 6.0]),
            slow_s=choice([0.0, 0.0, 0.0, 2.0]),
            releases=choice([0.0, 0.0, 0.0, 0.0, 0.3]),
            is_exactly_once=choice([True, True, True, True, False]),
        )
        plan.turn_s = Random(seed ^ 0x7075).choice([0.0, 0.0, 0.04])
        plan.plain = Random(seed ^ 0x91A1).choice([0.0, 0.0, 0.0, 0.5, 1.0])
        plan.maps = Random(seed ^ 0x3A95).choice([1.0, 1.0, 0.5, 0.0])
        for name, value in given.items():
            setattr(plan, name, value)
        return plan


@dataclass(frozen=True)
class Result:
    """What came of a run."""

    seed: int
    digest: int
    events: int
    counts: Counter[str] = field(default_factory=Counter)


class Run:
    """One run."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.world = world = World(plan.seed)
        random = world.random
        settings = TopicSettings(
            is_exactly_once=plan.is_exactly_once,
            subscription_timeout_s=SUBSCRIPTION_TIMEOUT_S,
            publisher_timeout_s=PUBLISHER_TIMEOUT_S,
        )
        self.network = Network(
            world, plan.ids, settings, loss=plan.loss, turn_s=plan.turn_s, late_copies_s=plan.late_copies_s
        )
        for id in plan.ids:
            self.network.offsets[id] = plan.skew_s * random.random()
            self.network.rates[id] = 1.0 + plan.drift * (2 * random.random() - 1)
        self.history = History(self.network)
        self.network.entered = self._entered
        self._topics: dict[str, str] = {}
        for id in plan.ids:
            self.network.start(id)
        for number in range(2):
            self.subscribe(f"S{number}", TOPICS[number % plan.topics])
        for number in range(plan.publishers):
            publisher = PublisherClient(self.network, f"P{number}", TOPICS[number % plan.topics], self._some_router())
            publisher.is_plain = Random(plan.seed ^ number).random() < plan.plain
            self._topics[str(publisher)] = publisher.topic
            self.history.publishers.append(publisher)
            for _ in range(plan.messages):
                world.later(0.9 + plan.span_s * random.random(), publisher.publish)
        if plan.late_subscriber_s is not None:
            world.later(plan.late_subscriber_s, self.subscribe, "S2", TOPICS[0])
        self.faults = Faults(
            self.network, self.history, Random(plan.seed ^ 0x5EED5EED), plan.kinds, plan.faults, hooked=plan.hooked
        )

    def _some_router(self) -> str:
        return self.world.random.choice(self.plan.ids)

    def subscribe(self, name: str, topic: str, first: str | None = None) -> None:
        """Have a new subscriber attach at some router."""
        client = SubscriberClient(
            *(self.network, name, topic, first or self._some_router()),
            slow_s=self.plan.slow_s,
            releases=self.plan.releases,
            rejects=self.plan.rejects,
        )
        client.says_map = Random(self.plan.seed ^ len(self.history.subscribers)).random() < self.plan.maps
        self.history.subscribers.append(client)

    def _entered(self, payload: Any) -> None:
        self.history.enter((payload.publisher, payload.sequence), self._topics[payload.publisher])

    def go(self) -> Result:
        """Run, and check; raises Broken."""
        plan, world = self.plan, self.world
        if plan.story is not None:
            self.faults.left = 0
            plan.story(self)
        else:
            for _ in range(plan.faults):
                if world.random.random() < 0.5 or not plan.hooked:
                    world.later(0.9 + (plan.troubled_s - 0.9) * world.random.random(), self.faults.make)
        world.run_for(plan.troubled_s)
        self._calm_down()
        found = ""
        end = world.now + QUIET_MAX_S
        while world.now < end:
            world.run_for(QUIET_STEP_S)
            if not (found := self.history.unfinished()):
                break
        violations = [*self.history.violations(), *([found] if found else [])]
        # The one class of losses that the protocol can't prevent: docs/exactly-once.md says so.
        is_known_loss = self.network.has_lost_a_side and all(each.startswith("P1") for each in violations)
        if violations and not is_known_loss:
            raise Broken("; ".join(violations))
        return Result(plan.seed, world.digest, world.events, self._counts(known_losses=len(violations)))

    def _calm_down(self) -> None:
        self.world.note("quiet")
        self.network.is_quiet = True
        self.network.heal()
        self.network.slow.clear()
        for id in self.plan.ids:
            self.network.start(id)
            self.network.routers[id].resume()
        for client in [*self.history.publishers, *self.history.subscribers]:
            if not client.is_up and not client.is_gone:
                self.world.later(0.5 * self.world.random.random(), client.restart)

    def _counts(self, known_losses: int) -> Counter[str]:
        counts: Counter[str] = Counter(faults=self.faults.made, runs=1, known_losses=known_losses)
        for publisher in self.history.publishers:
            counts.update(
                published=publisher.sequence,
                accepted=len(publisher.accepted),
                rejected=len(publisher.rejected),
                unknown=len(publisher.unknown),
            )
        for subscriber in self.history.subscribers:
            counts["given"] += len(subscriber.got)
            counts["twice"] += len(subscriber.got) - len(set(subscriber.got))
            counts["subscriptions"] += len(subscriber.epochs)
            counts["ended"] += sum(each.has_ended for each in subscriber.epochs)
        return counts


def run(seed: int, **given: Any) -> Result:
    """Run and check one seed; raises Failed."""
    return run_plan(Plan.of_seed(seed, **given))


def run_plan(plan: Plan) -> Result:
    """Run and check a plan; raises Failed."""
    one: Run | None = None
    try:
        one = Run(plan)
        return one.go()
    except Exception as error:
        trace = "\n".join(one.world.trace) if one is not None else ""
        raise Failed(
            f"{trace}\nseed {plan.seed}: {type(error).__name__}: {error}\n"
            f"again: python -m tests.sim.topics --first {plan.seed} --seeds 1"
        ) from error


def main() -> int:
    """Return the exit status: 1 when a run failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.sim.topics", description=__doc__)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--seeds", type=int, default=200, help="how many")
    parser.add_argument("--go-on", action="store_true", help="run all seeds, even if one fails")
    options = parser.parse_args()
    start = time.process_time()
    seeds = range(options.first, options.first + options.seeds)
    try:
        campaign = run_all(seeds, run, goes_on=options.go_on)
    except Failed:
        return 1
    print(f"{options.seeds} seeds, {campaign.failed} failed, {time.process_time() - start:.0f} s: {campaign.report()}")
    return 1 if campaign.failed else 0


if __name__ == "__main__":
    sys.exit(main())
