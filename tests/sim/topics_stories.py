"""Kinds of runs in which a rule is needed: profiles of faults, and stories that are directed."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.sim.topics import Run

FEW: dict[str, Any] = {
    "ids": "ABC",
    "publishers": 1,
    "topics": 1,
    "skew_s": 0.0,
    "slow_s": 0.0,
    "releases": 0.0,
    "is_exactly_once": True,
    "late_subscriber_s": None,
    "turn_s": 0.0,
}


def crossing(run: "Run", *, restarts: bool = False, back_s: float = 2.5) -> None:
    """The network splits; the publisher and its subscribers go to the other side, and the subscribers come back."""
    world, network, random = run.world, run.network, run.world.random
    (publisher,) = run.history.publishers
    one, other = run.history.subscribers
    publisher.target, one.target, other.target = "A", "B", random.choice("AB")
    world.later(1.0, network.split, {"A": 0, "B": 0, "C": 1})
    if restarts:
        world.later(2.0, network.crash, "C")
        world.later(2.1, network.start, "C")
    world.later(6.0, publisher.publish)
    if random.random() < 0.5:
        world.later(6.05 + 0.7 * random.random(), publisher.move, "C")
    else:
        publisher.on_outcome = lambda: publisher.move("C")
    for subscriber in (one, other):
        world.later(6.05 + 1.2 * random.random(), subscriber.move, "C")
    for subscriber in (one, other):
        world.later(6.5 + back_s * random.random(), subscriber.move, random.choice("AB"))


def crossing_to_a_new_router(run: "Run") -> None:
    """The same; the router on the other side has started within the split, and knows nobody."""
    crossing(run, restarts=True)


def returning(run: "Run") -> None:
    """The same; the subscribers take their time."""
    crossing(run, back_s=5.0)


def dying(run: "Run") -> None:
    """All routers die; the publisher is back before the subscribers are."""
    world, network, random = run.world, run.network, run.world.random
    (publisher,) = run.history.publishers
    world.later(1.0, publisher.publish)
    for id in run.plan.ids:
        world.later(2.0, network.crash, id)
        world.later(2.2, network.start, id)
    for subscriber in run.history.subscribers:
        world.later(1.9, subscriber.crash, 1.5 + 4.0 * random.random())
    world.later(2.5, publisher.publish)
    world.later(3.0, publisher.publish)


def expiring(run: "Run") -> None:
    """A publisher lives on behind a split for longer than its time-out, held up by a subscriber that is slow."""
    world, network, random = run.world, run.network, run.world.random
    (publisher,) = run.history.publishers
    one, other = run.history.subscribers
    publisher.target, one.target, other.target = "A", "B", "A"
    other.slow_s = 60.0
    world.later(1.5, publisher.publish)
    world.later(2.4 + 0.2 * random.random(), network.split, {"A": 0, "B": 1, "C": 1})
    world.later(6.0 + 6.0 * random.random(), publisher.publish)
    world.later(19.0 + 3.0 * random.random(), network.heal)


def closing(run: "Run") -> None:
    """A publisher closes its link while a subscriber is on the way to another router with its map."""
    world, random = run.world, run.world.random
    (publisher,) = run.history.publishers
    world.later(1.0, publisher.publish)
    world.later(1.0 + 0.5 * random.random(), publisher.close)
    for subscriber in run.history.subscribers:
        world.later(1.2 + 1.0 * random.random(), subscriber.move, random.choice(run.plan.ids))
        world.later(2.2 + 1.0 * random.random(), subscriber.move, random.choice(run.plan.ids))
    if random.random() < 0.5:
        world.later(1.2 + random.random(), run.network.split, {id: random.randrange(2) for id in run.plan.ids})
        world.later(3.0 + 3.0 * random.random(), run.network.heal)


def leaving(run: "Run") -> None:
    """A publisher has left a router that does not know it yet; a subscriber comes there with a later delivery."""
    world, network, random = run.world, run.network, run.world.random
    (publisher,) = run.history.publishers
    one, other = run.history.subscribers
    publisher.target, one.target, other.target = "A", "C", "B"
    world.later(1.0, network.slow.__setitem__, ("C", "A"), 1.1)
    world.later(1.2, publisher.move, "C")
    world.later(1.5, publisher.publish)
    world.later(1.7 + 0.8 * random.random(), one.move, "A")


def slow(run: "Run") -> None:
    """A router hears late what a publisher had; a subscriber comes there with a later delivery."""
    world, network, random = run.world, run.network, run.world.random
    (publisher,) = run.history.publishers
    one, other = run.history.subscribers
    publisher.target, one.target, other.target = "A", "C", "C"
    other.slow_s = 6.0
    network.slow["A", "B"] = 1.0 + random.random()
    world.later(1.5 + 1.5 * random.random(), publisher.publish)
    world.later(2.2 + 2.0 * random.random(), one.move, "B")
    world.later(6.0, network.slow.clear)


def joining(run: "Run") -> None:
    """A subscription begins on one side of a split, and the other side accepts without it."""
    world, network, random = run.world, run.network, run.world.random
    (publisher,) = run.history.publishers
    for client in (publisher, *run.history.subscribers):
        client.target = "B"
    world.later(1.0, network.split, {"A": 0, "B": 1, "C": 1})
    world.later(3.0, run.subscribe, "S2", publisher.topic, "A")
    world.later(4.0 + 2.0 * random.random(), publisher.publish)
    world.later(7.0, network.heal)


def announcing(run: "Run") -> None:
    """A subscription begins at a router that the publisher's ingress hears late."""
    world, network, random = run.world, run.network, run.world.random
    (publisher,) = run.history.publishers
    for client in (publisher, *run.history.subscribers):
        client.target = "A"
    world.later(1.9, network.slow.__setitem__, ("B", "A"), 1.0)
    world.later(2.0, run.subscribe, "S2", publisher.topic, "B")
    for _ in range(3):
        world.later(2.2 + 0.6 * random.random(), publisher.publish)
    world.later(4.5, network.slow.clear)


def unheard(run: "Run") -> None:
    """The publisher's ingress stands still, with a message, while a subscription begins at a router that loses it."""
    world, network, random = run.world, run.network, run.world.random
    (publisher,) = run.history.publishers
    publisher.target = "A"
    for subscriber in run.history.subscribers:
        subscriber.topic = "none"
    world.later(2.0, run.subscribe, "S2", publisher.topic, "B")

    def rest() -> None:
        network.routers["A"].stand_still(2.5 + random.random())

    world.later(1.95 + 0.3 * random.random(), rest)
    for _ in range(3):
        world.later(2.0 + 0.4 * random.random(), publisher.publish)


def confirming(run: "Run") -> None:
    """The same; the ingress knows the subscription, and hears late that it is ready."""
    world, network, random = run.world, run.network, run.world.random
    (publisher,) = run.history.publishers
    for client in (publisher, *run.history.subscribers):
        client.target = "A"
    world.later(2.0, run.subscribe, "S2", publisher.topic, "B")

    def wait() -> None:
        if len(network.routers["A"].node.topics[publisher.topic].directory.subscriptions) < 3:
            world.later(0.005, wait)
            return
        network.slow["B", "A"] = 1.0
        for _ in range(3):
            world.later(0.1 + 0.4 * random.random(), publisher.publish)
        world.later(2.5, network.slow.clear)

    world.later(2.0, wait)


def settling(run: "Run") -> None:
    """A publisher has settled, and a subscriber goes by way of the ingress to a router that does not know it."""
    world, network, random = run.world, run.network, run.world.random
    (publisher,) = run.history.publishers
    one, other = run.history.subscribers
    publisher.target, one.target, other.target = "A", "B", "C"
    network.slow["A", "C"] = 0.5 + 0.1 * random.random()
    world.later(2.0, publisher.publish)

    def go() -> None:
        one.move("A")
        world.later(0.15 + 0.35 * random.random(), one.move, "C")

    publisher.on_outcome = go
    world.later(5.0, network.slow.clear)


def reborn(run: "Run") -> None:
    """A host has acknowledged, and dies; a subscriber that has nothing yet comes to its next life."""
    world, network, random = run.world, run.network, run.world.random
    (publisher,) = run.history.publishers
    one, other = run.history.subscribers
    publisher.target, one.target, other.target = "A", "B", "C"
    world.later(0.95, other.crash, 1.0 + 0.5 * random.random())
    world.later(1.0, publisher.publish)
    world.later(1.5, network.crash, "B")
    world.later(1.6, network.start, "B")
    world.later(1.55, one.move, "A")
    world.later(1.9, setattr, other, "target", "B")


def resting(run: "Run") -> None:
    """A router stands still with a publisher's attach, and takes it when the publisher has long been elsewhere."""
    world, network, random = run.world, run.network, run.world.random
    (publisher,) = run.history.publishers
    one, other = run.history.subscribers
    publisher.target, one.target, other.target = "A", "B", "B"
    other.slow_s = 8.0

    def rest() -> None:
        network.routers["C"].stand_still(1.5)

    world.later(1.5, rest)
    world.later(1.55, publisher.move, "C")
    world.later(2.1 + 0.3 * random.random(), publisher.move, "A")
    world.later(2.5 + 0.2 * random.random(), publisher.publish)


def deaf(run: "Run") -> None:
    """An ingress does not hear a host any more, and the host hears the ingress."""
    world, network, random = run.world, run.network, run.world.random
    (publisher,) = run.history.publishers
    one, other = run.history.subscribers
    publisher.target, one.target, other.target = "A", "B", "C"
    world.later(0.95, one.crash, 1.3 + 0.4 * random.random())
    world.later(1.0, publisher.publish)
    world.later(1.5, network.slow.__setitem__, ("C", "A"), 6.0)
    world.later(2.0, setattr, one, "target", "B")
    world.later(4.3 + 1.5 * random.random(), one.move, "C")
    world.later(8.0, network.slow.clear)


def forgetting(run: "Run") -> None:
    """One side of a split ends a subscription, accepts without it, and dies before the split ends."""
    world, network = run.world, run.network
    (publisher,) = run.history.publishers
    one, other = run.history.subscribers
    publisher.target, one.target, other.target = "A", "A", "B"
    world.later(1.5, network.split, {"A": 0, "B": 1, "C": 1})
    world.later(12.0, publisher.publish)
    world.later(14.0, network.crash, "A")
    world.later(14.5, network.heal)
    world.later(15.0, network.start, "A")


def _story(story: "Callable[[Run], None]", **more: Any) -> dict[str, Any]:
    return {**FEW, "story": story, "messages": 0, "loss": 0.0, "troubled_s": 16.0, "hooked": 0.0, "drift": 0.0, **more}


PROFILES: dict[str, dict[str, Any]] = {
    "mixed": {},
    "exactly once": {"is_exactly_once": True, "releases": 0.0},
    "splits": {
        **FEW,
        "kinds": ("split", "move_subscriber", "move_publisher", "move_subscriber"),
        **{"faults": 8, "messages": 2, "span_s": 1.0, "troubled_s": 16.0, "hooked": 0.4},
    },
    "crashes": {
        **FEW,
        "kinds": ("crash", "move_subscriber", "move_subscriber", "slow"),
        **{"faults": 8, "messages": 2, "span_s": 1.0, "troubled_s": 8.0, "hooked": 0.5},
    },
    "lonely routers": {
        **FEW,
        "kinds": ("isolate", "move_subscriber", "move_subscriber"),
        **{"faults": 7, "messages": 2, "span_s": 1.0, "troubled_s": 8.0, "hooked": 0.4},
    },
    "moves": {
        **FEW,
        "kinds": ("move_publisher", "move_subscriber", "slow"),
        **{"faults": 8, "messages": 3, "span_s": 2.0, "troubled_s": 8.0, "hooked": 0.4},
    },
    "late": {
        "turn_s": 0.0,
        "late_subscriber_s": 2.0,
        **{"is_exactly_once": True, "kinds": ("slow", "slow", "crash", "move_publisher"), "messages": 8, "faults": 6},
        **{"span_s": 3.0, "troubled_s": 8.0, "releases": 0.0, "topics": 1},
    },
    "late copies": {
        **{"turn_s": 0.0, "late_subscriber_s": 2.0, "late_copies_s": 1.5, "is_exactly_once": True, "kinds": ("slow",)},
        **{"messages": 12, "faults": 6, "span_s": 3.0, "troubled_s": 8.0, "releases": 0.0, "topics": 1, "loss": 0.0},
    },
    "comings and goings": {
        "kinds": ("unsubscribe", "move_subscriber", "crash", "move_publisher", "split"),
        **{"rejects": 0.2, "faults": 8, "messages": 4, "troubled_s": 12.0, "hooked": 0.3},
    },
    "at least once": {"is_exactly_once": False, "faults": 6, "messages": 4},
    "crossing": _story(crossing),
    "crossing to a new router": _story(crossing_to_a_new_router),
    "returning": _story(returning),
    "dying": _story(dying),
    "expiring": _story(expiring, troubled_s=24.0),
    "forgetting": _story(forgetting, troubled_s=17.0),
    "leaving": _story(leaving, troubled_s=9.0),
    "slow": _story(slow, troubled_s=9.0),
    "joining": _story(joining, troubled_s=9.0),
    "announcing": _story(announcing, troubled_s=7.0),
    "unheard": _story(unheard, troubled_s=7.0),
    "confirming": _story(confirming, troubled_s=7.0, loss=0.4),
    "settling": _story(settling, troubled_s=7.0),
    "reborn": _story(reborn, troubled_s=6.0, loss=0.4),
    "resting": _story(resting, troubled_s=12.0),
    "deaf": _story(deaf, troubled_s=10.0),
    "skewed moves": {
        **FEW,
        "kinds": ("move_subscriber", "move_publisher", "move_subscriber", "slow", "pause"),
        **{"skew_s": 5.0, "faults": 8, "messages": 2, "span_s": 1.0, "troubled_s": 8.0, "hooked": 0.4},
    },
    "turns": {"turn_s": 0.05, "messages": 12, "span_s": 0.5, "faults": 6, "troubled_s": 8.0, "hooked": 0.3},
    "losses": {
        **FEW,
        "kinds": ("crash", "slow", "slow", "move_subscriber"),
        **{"loss": 0.4, "faults": 8, "messages": 4, "span_s": 0.3, "troubled_s": 8.0, "hooked": 0.5},
    },
    "closing": _story(closing, troubled_s=10.0),
}
"""What plans of seeds have by the kind of run."""
