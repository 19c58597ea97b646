"""Facts about a router that nobody runs, for what the console and routerstat explain."""

from collections.abc import Callable
from random import Random
from typing import Any

RULES = (
    *("a", "a/b", "*", "a*", "a.*", "/b", "${user}", "${user}/b", "a.${user}", "${user}*", "a.${user}.*", "#"),
    *("*.${user}", "${user}.#", "a, x", ""),
)
ADDRESSES = ("a", "a/b", "u/b", "a.u", "a.b.b", "amqp://h/a/b", "a.u.x", "_topo/0/B/a", "_edge/E/a", "x", "u", "/b")
KEYS = ("M0a", "M1a", "MFa", "M0a/b", "M0x", "M0u", "M0a.u", "Ca", "Ea.*", "La", "HE", "M0A")
NODES = [
    {"id": "B", "nextHop": None, "cost": 2},
    {"id": "C", "nextHop": "B", "cost": 3},
    {"id": "D", "nextHop": None, "cost": None},
]
CONNECTIONS = [
    {"identity": "1", "container": "me", "role": "normal", "host": "h:1", "user": "u"},
    {"identity": "2", "container": "E", "role": "edge", "host": "h:2", "user": None},
    {"identity": "3", "container": "q", "role": "route-container", "host": "h:3", "user": None},
]


def made_up_facts(random: Random) -> dict[str, Any]:
    """Return facts in which about half of everything is there."""
    one_of, number = random.choice, random.randrange

    def some(most: int, make: Callable[[], dict[str, Any]]) -> list[dict[str, Any]]:
        return [make() for _ in range(number(most + 1))]

    def entry(key: str) -> dict[str, Any]:
        routers = random.sample(["B", "C", "D"], one_of([0, 0, 1, 2]))
        return {
            **{"key": key, "distribution": one_of(["balanced", "closest", "multicast"])},
            **{"inProcess": one_of([0, 0, 1]), "subscriberCount": number(3), "remoteCount": len(routers)},
            **{"remoteHostRouters": routers, "containerCount": number(2)},
            "transitOutstanding": one_of([None, [2], [0, 3]]),
        }

    def treatment() -> dict[str, Any]:
        return {
            **{"name": "t", "distribution": one_of(["balanced", "closest", "multicast", None])},
            **{one: number(3) == 0 for one in ("fallback", "enableFallback", "waypoint", "resendReleased")},
            **{"ingressPhase": one_of([0, 0, 1]), "egressPhase": number(2)},
        }

    def use(**values: Any) -> dict[str, Any]:
        return {
            **{"name": one_of(["n", "m"]), "direction": one_of(["in", "out"]), "connection": one_of([None, "c"])},
            **{"operStatus": one_of(["active", "inactive"]), "lastError": one_of([None, "why"]), **values},
        }

    def link() -> dict[str, Any]:
        return {
            **{"linkType": "endpoint", "linkDir": one_of(["out", "out", "in"]), "creditAvailable": number(3)},
            **{"owningAddr": one_of(["M0a", "M0a", "M1a", "MFa"]), "connectionId": one_of("1234")},
            **{"unsettledCount": number(6), "undeliveredCount": number(2), "zeroCreditSeconds": number(9)},
        }

    def group() -> dict[str, Any]:
        kinds = ("targets", "sources", "targetPattern", "sourcePattern")
        return {"users": one_of(["u", "*", "x, u"])} | {one: one_of(RULES) for one in kinds if number(2)}

    def vhost() -> dict[str, Any]:
        return {"hostname": "v", "allowUnknownUser": number(2) == 1, "groups": {"g": group(), "$default": group()}}

    return {
        **{"router": "A", "mode": one_of(["interior", "edge"]), "asker": one_of([None, "me", "you"])},
        "defaultDistribution": one_of(["balanced", "closest", "unavailable"]),
        "treatments": [{**treatment(), "pattern": one} for one in random.sample(["a", "#", "a.*", "u.#"], number(3))],
        "linkRoutes": some(1, lambda: use(prefix=one_of("aux"))) if number(3) == 0 else [],
        "autoLinks": some(2, lambda: use(address="a", phase=number(2), fallback=number(2) == 1)),
        "exchanges": some(1, lambda: {"name": "e", "address": "a", "alternateAddress": one_of([None, "x"])}),
        "bindings": some(2, lambda: {"exchangeName": "e", "bindingKey": one_of("k "), "nextHopAddress": one_of("xu")}),
        "addresses": [entry(key) for key in random.sample(KEYS, number(6)) if key[0] == "M" or number(3) == 0],
        "links": some(3, link),
        "nodes": one_of([[], NODES]),
        "connections": random.sample(CONNECTIONS, number(4)),
        "hasPolicy": one_of([False, True]),
        "vhosts": one_of([None, [], [vhost()]]),
        "vhostStats": [{"hostname": "v", "perUserState": {"u": ["h:1"]}}],
    }
