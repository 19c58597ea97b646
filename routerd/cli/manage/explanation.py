"""Where a message to an address would go from a router, and why, from what its management tells.

The steps are those of a router: policy, link routes, the treatment of the address, exchanges, auto-links, consumers.
The console explains by the same rules (`routerd/console/app/explain.js`), and both are tested with the same examples.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from routerd.cli.manage.candidates import NEXT, TAKES, WAITS, Candidate, any_of, choice, counted
from routerd.cli.manage.node import Entity
from routerd.cli.manage.rights import Membership, Right, membership, rights
from routerd.core import PatternTree, canonical

PHASES = (*"0123456789", "F")
"""As the keys of addresses have them; `F` is that of the fallback destination."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a router says, as far as it counts."""

    router: str
    mode: str = "interior"
    default_distribution: str = "balanced"
    treatments: Sequence[Entity] = ()
    link_routes: Sequence[Entity] = ()
    auto_links: Sequence[Entity] = ()
    exchanges: Sequence[Entity] = ()
    bindings: Sequence[Entity] = ()
    addresses: Sequence[Entity] = ()
    """The address table."""
    links: Sequence[Entity] = ()
    nodes: Sequence[Entity] = ()
    connections: Sequence[Entity] = ()
    has_policy: bool = False
    vhosts: Sequence[Entity] | None = ()
    """None where they cannot be read."""
    vhost_stats: Sequence[Entity] = ()
    asker: str | None = None
    """The container-id of the connection that asks."""


@dataclass(frozen=True, slots=True)
class Step:
    """One reason."""

    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What becomes of a message."""

    verdict: str
    """`routed`, `waits`, `link` (routed with its link), `refused` or `nowhere`."""
    sentence: str
    distribution: str
    phase: str = "0"
    steps: tuple[Step, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    rights: tuple[Right, ...] = ()


def explain(address: str, known: Facts) -> Explanation:
    """Follow what a router does with a message to an address."""
    return _Explaining(canonical(address), known).explanation()


def pattern_of(entity: Entity) -> str:
    """Return the pattern that an entity with a prefix or a pattern has."""
    prefix = entity.get("prefix")
    return str(entity.get("pattern") or (f"{prefix}/#" if prefix else ""))


def best_match(entities: Iterable[tuple[str, Entity]], address: str) -> list[Entity]:
    """Return the entities of the pattern that a router takes for an address."""
    tree: PatternTree[list[Entity]] = PatternTree()
    for pattern, one in entities:
        if not pattern.strip("./"):
            continue
        same = tree.find(pattern)
        if same is None:
            tree.add(pattern, [one])
        else:
            same.append(one)
    return tree.match(address) or []


class _Explaining:
    """One address from the view of one router."""

    def __init__(self, address: str, known: Facts) -> None:
        self._address = address
        self._known = known
        self._router = known.router
        self._is_edge = known.mode == "edge"
        self._entries = {str(one.get("key")): one for one in known.addresses}
        self._nodes = {one.get("id"): one for one in known.nodes}
        uplinks = [one for one in known.connections if self._is_edge and one.get("role") == "edge"]
        self._uplink = str(uplinks[0].get("container")) if uplinks else None
        self._treatment = next(iter(best_match(((pattern_of(one), one) for one in known.treatments), address)), None)
        self._phase = str(_number(self._treatment, "ingressPhase"))
        self._auto_links = [one for one in known.auto_links if canonical(str(one.get("address"))) == address]
        self._exchange = next((one for one in known.exchanges if self._is_at(one)), None)
        self._bindings = [
            one for one in known.bindings
            if self._exchange is not None and one.get("exchangeName") == self._exchange.get("name")
        ]
        self._steps: list[Step] = []
        self._rights: tuple[Right, ...] = ()

    def _is_at(self, exchange: Entity) -> bool:
        at = canonical(str(exchange.get("address"))), str(_number(exchange, "phase"))
        return at == (self._address, self._phase)

    def explanation(self) -> Explanation:
        """Return what becomes of a message."""
        self._weigh_policy()
        return self._at_place() or self._with_its_link() or self._one_by_one()

    def _ended(
        self, verdict: str, sentence: str, distribution: str, candidates: Iterable[Candidate] = ()
    ) -> Explanation:
        return Explanation(
            verdict=verdict,
            sentence=sentence,
            distribution=distribution,
            phase=self._phase,
            steps=tuple(self._steps),
            candidates=tuple(candidates),
            rights=self._rights,
        )

    def _entry(self, phase: str) -> Entity:
        return self._entries.get(f"M{phase}{self._address}", {})

    # --- policy

    def _weigh_policy(self) -> None:
        known = self._known
        if not known.has_policy:
            self._steps.append(Step("Policy", "There is no policy of virtual hosts: every client may send here."))
            return
        on = "The policy of virtual hosts is on"
        if known.vhosts is None:
            self._steps.append(Step("Policy", f"{on}. This user may not read the virtual hosts."))
            return
        asker = membership(known.asker, known.connections, known.vhost_stats, known.vhosts)
        self._rights = tuple(rights(self._address, known.vhosts, asker))
        text = f"{on}: a client may send here only if its group allows the address as a target."
        if not any(one.may_send is not False for one in self._rights):
            text += " No group allows it: add the address to the targets of a group."
        self._steps.append(Step("Policy", f"{text} {self._of_asker(asker)}"))

    def _of_asker(self, asker: Membership | None) -> str:
        own = next((one for one in self._rights if one.is_asker), None)
        if asker is None or own is None:
            return "The connection that asks has no group at this router."
        may = "may" if own.may_send else "may not"
        same = own.may_send == own.may_receive
        receive = f"{'and' if same else 'but'} {'may' if own.may_receive else 'may not'} receive from it"
        return f"You are {asker.user} in group {own.group} of vhost {own.vhost}, and {may} send here, {receive}."

    # --- places

    def _at_place(self) -> Explanation | None:
        """Return what becomes of a message whose address names a place; None for all other addresses."""
        word, _, rest = self._address.partition("/")
        if self._address != "$management" and (word not in ("_local", "_topo", "_edge") or not rest):
            return None
        self._steps.append(Step("Treatment", "The address names a place, so no section address counts."))
        if self._address == "$management":
            return self._ended("routed", f"It goes to the management of router {self._router}.", "closest")
        if word == "_local":
            return self._inside(rest)
        if word == "_topo":
            rest = rest.partition("/")[2]
        router, _, text = rest.partition("/")
        if word == "_topo" and router == "all":
            return self._ended("routed", "Every router of the network gets a copy.", "multicast")
        if router == self._router:
            return self._inside(text)
        return self._at_edge(router) if word == "_edge" else self._at_router(router)

    def _inside(self, text: str) -> Explanation:
        if _consumers(self._entries.get(f"L{text}")):
            return self._ended("routed", f"It goes to {text} at router {self._router}.", "closest")
        return self._ended("nowhere", f"It goes nowhere: router {self._router} has no {text}.", "closest")

    def _at_router(self, router: str) -> Explanation:
        if self._is_edge:
            return self._to_uplink()
        if _is_reached(self._nodes.get(router)):
            candidate = self._router_candidate(router, "0", 0)
            return self._ended("routed", f"It goes to router {router}, {candidate.words}.", "closest", [candidate])
        sentence = f"It goes nowhere: router {self._router} cannot reach router {router}."
        return self._ended("nowhere", sentence, "closest")

    def _at_edge(self, router: str) -> Explanation:
        if self._is_edge:
            return self._to_uplink()
        entry = self._entries.get(f"H{router}", {})
        if _number(entry, "subscriberCount"):
            return self._ended("routed", f"It goes to edge router {router}, which is connected here.", "closest")
        routers = [str(one) for one in entry.get("remoteHostRouters") or ()]
        if routers:
            found = [self._router_candidate(one, "0", 0) for one in routers]
            sentence = f"It goes to router {' or '.join(routers)}, to which edge router {router} is connected."
            return self._ended("routed", sentence, "closest", found)
        sentence = f"It goes nowhere: edge router {router} is connected to no router that {self._router} reaches."
        return self._ended("nowhere", sentence, "closest")

    def _to_uplink(self) -> Explanation:
        if self._uplink is None:
            return self._ended("nowhere", f"It goes nowhere: {self._no_uplink()}", "closest")
        return self._ended("routed", f"It goes to interior router {self._uplink}, which knows the place.", "closest")

    def _no_uplink(self) -> str:
        return f"edge router {self._router} is connected to no interior router. Look at its connector."

    # --- link routes

    def _with_its_link(self) -> Explanation | None:
        """Return what becomes of a link that is routed as a whole; None if messages are routed one by one."""
        configured = [(pattern_of(one), one) for one in self._known.link_routes if one.get("direction") == "in"]
        told = [(_pattern_of_key(key), one) for key, one in self._entries.items() if key[:1] in ("C", "E")]
        found = best_match([*configured, *told], self._address)
        if not found:
            beyond = " Its interior router may have some." if self._uplink else ""
            text = f"No link route for senders matches, so messages are routed one by one.{beyond}"
            self._steps.append(Step("Link routes", text))
            return None
        routes = [one for one in found if "key" not in one]
        holders = [one for one in found if "key" in one]
        what = f"link route {_label(routes[0])}" if routes else f"a link route ({_pattern_of_key(holders[0]['key'])})"
        text = f"{what[0].upper()}{what[1:]} takes precedence over the treatment of the address."
        self._steps.append(Step("Link routes", text))
        active = [one for one in routes if one.get("operStatus") == "active"]
        if active or any(_number(one, "containerCount") for one in holders):
            places = list(dict.fromkeys(_place(one) for one in active)) or ["a container"]
            candidates = [Candidate(name=one, state=TAKES, words="takes links", cost=0) for one in places]
            return self._routed_link(any_of(places), candidates)
        routers = sorted({str(router) for one in holders for router in one.get("remoteHostRouters") or ()})
        if routers:
            ways = [self._router_candidate(one, "0", None) for one in routers]
            return self._routed_link(f"router {any_of(routers)}, which has a container for it", ways)
        if self._uplink is not None:
            return self._routed_link(f"interior router {self._uplink}, if that has a container for it", ())
        lack = f"Connect {_place(routes[0])}." if routes else "Connect one."
        reason = f"no container is connected for {what}. {lack}"
        sentence = f"The link of a sender is refused with qd:no-route-to-dest: {reason}"
        return self._ended("refused", sentence, "linkBalanced")

    def _routed_link(self, where: str, candidates: Iterable[Candidate]) -> Explanation:
        sentence = f"The link of a sender is routed as a whole to {where}; its messages go there."
        return self._ended("link", sentence, "linkBalanced", candidates)

    # --- messages one by one

    def _one_by_one(self) -> Explanation:
        distribution = self._distribution()
        self._steps.append(Step("Treatment", self._treatment_text()))
        if distribution == "unavailable":
            sentence = "Nobody can use this address: its links are refused with amqp:not-found."
            return self._ended("refused", sentence, distribution)
        self._steps += [*self._exchange_steps(), *self._auto_link_steps(), *self._consumer_steps()]
        candidates = [one for phase in PHASES for one in (*self._here(phase), *self._elsewhere(phase))]
        verdict, sentence = self._outcome(distribution, candidates)
        return self._ended(verdict, sentence, distribution, candidates)

    def _outcome(self, distribution: str, candidates: Sequence[Candidate]) -> tuple[str, str]:
        """Return the verdict and its sentence."""
        taking = [one for one in candidates if one.phase == self._phase]
        if any(self._hops()):
            return self._by_exchange(taking)
        if taking:
            return choice(distribution, taking)
        if self._uplink is not None and f"M{self._phase}{self._address}" not in self._entries:
            # An edge router hears of consumers elsewhere once it has a producer.
            why = f"interior router {self._uplink} decides, as edge router {self._router} has no link of this address"
            return "routed", f"It goes where {why}. Explain it from there."
        fallback = [one.name for one in candidates if one.phase == "F"]
        if fallback and self._has_fallback():
            return "routed", f"There is no consumer, so it goes to the fallback destination: {any_of(fallback)}."
        beyond = f", here or beyond interior router {self._uplink}" if self._uplink else ""
        why = f"there is no consumer{beyond}, so that a sender gets no credit"
        return "nowhere", f"It goes nowhere: {why}. {self._lack()}"

    def _distribution(self) -> str:
        return "multicast" if any(self._hops()) else self._configured_distribution()

    def _configured_distribution(self) -> str:
        if self._treatment is not None:
            # Management has no word for unavailable.
            distribution = str(self._treatment.get("distribution") or "unavailable")
        else:
            distribution = str(self._entry(self._phase).get("distribution") or self._known.default_distribution)
        is_needed = distribution == "unavailable" and self._address.startswith("_")
        return "balanced" if is_needed else distribution

    def _has_fallback(self) -> bool:
        # The live view calls it otherwise than the section does.
        treatment = self._treatment or {}
        return bool(treatment.get("fallback") or treatment.get("enableFallback"))

    def _treatment_text(self) -> str:
        treatment = self._treatment
        if any(self._hops()):
            which = "No section address matches" if treatment is None else f"{_label(treatment)} matches best"
            return f"{which}. The exchange at the address makes it multicast."
        distribution = self._configured_distribution()
        if treatment is None:
            is_default = distribution == self._known.default_distribution
            whose = "the default of the router" if is_default else "as other routers treat the address"
            if self._known.default_distribution == "unavailable" and self._address.startswith("_"):
                whose = "as such an address is never unavailable"
            return f"No section address matches, so the distribution is {distribution}, {whose}."
        text = f"{_label(treatment)} matches best, so the distribution is {distribution}."
        egress = _number(treatment, "egressPhase")
        if treatment.get("waypoint") or self._phase != "0" or egress:
            text += f" Messages come in at phase {self._phase}, and consumers take those of phase {egress}."
        if self._has_fallback():
            text += " A fallback destination gets what has no consumer."
        if treatment.get("resendReleased"):
            text += " A message that a consumer releases goes to another one."
        return text

    # --- exchanges

    def _hops(self) -> Iterator[tuple[str, str, str]]:
        """Yield key, address and phase of all next hops; the alternate address comes last and has no key."""
        for one in self._bindings:
            key = str(one.get("bindingKey") or "#")
            yield key, str(one.get("nextHopAddress")), str(_number(one, "nextHopPhase"))
        exchange = self._exchange or {}
        if exchange.get("alternateAddress"):
            yield "", str(exchange["alternateAddress"]), str(_number(exchange, "alternatePhase"))

    def _next_hops(self) -> list[str]:
        """Return the next hops with a consumer."""
        found = (hop for _, hop, phase in self._hops() if _consumers(self._entries.get(f"M{phase}{canonical(hop)}")))
        return list(dict.fromkeys(found))

    def _exchange_steps(self) -> Iterator[Step]:
        if self._exchange is None:
            return
        reached = self._next_hops()
        parts = []
        for key, hop, _phase in self._hops():
            has_nobody = "" if hop in reached else ", which has no consumer"
            parts.append(f"{f'subjects {key}' if key else 'all others'} to {hop}{has_nobody}")
        text = f"Exchange {self._exchange.get('name')} sends messages on by their subjects: {'; '.join(parts)}."
        if not parts:
            text = f"Exchange {self._exchange.get('name')} has no binding: the address is like any other."
        yield Step("Exchange", text)

    def _by_exchange(self, taking: Sequence[Candidate]) -> tuple[str, str]:
        name = (self._exchange or {}).get("name")
        reached = self._next_hops()
        if not reached and not taking:
            hops = list(dict.fromkeys(hop for _, hop, _ in self._hops()))
            lack = f"Attach a consumer to {any_of(hops)}."
            return "nowhere", f"It goes nowhere: exchange {name} releases it, as no next hop has a consumer. {lack}"
        by_subject = f" by its subject to {any_of(reached)}" if reached else " to nobody"
        also = f" Copies go to {counted(len(taking), 'consumer')} of the exchange's own address." if taking else ""
        return "routed", f"Exchange {name} takes it and sends it on{by_subject}.{also}"

    # --- auto-links

    def _auto_link_steps(self) -> Iterator[Step]:
        for one in self._auto_links:
            way = "sends messages to" if one.get("direction") == "out" else "brings messages from"
            role = "as the fallback destination" if one.get("fallback") else f"in phase {_number(one, 'phase')}"
            error = f" ({one['lastError']})" if one.get("lastError") else ""
            text = f"{one.get('name')} {way} {_place(one)} {role}; it is {one.get('operStatus')}{error}."
            yield Step("Auto-link", text)

    # --- consumers

    def _consumer_steps(self) -> Iterator[Step]:
        brought = {str(_number(one, "phase")) for one in self._auto_links if one.get("direction") == "in"}
        for phase in PHASES:
            entry = self._entry(phase)
            if phase == "F":
                if entry or self._has_fallback():
                    yield Step("Fallback destination", _count_text(entry) or "There is none.")
            elif phase == self._phase or entry or phase in brought:
                at = f" of phase {phase}" if phase != self._phase else ""
                lack = f"Router {self._router} knows no consumer{at or ' of this address'}, here or elsewhere."
                yield Step(f"Consumers{at}", _count_text(entry) or lack)

    def _here(self, phase: str) -> Iterator[Candidate]:
        key = f"M{phase}{self._address}"
        connections = {one.get("identity"): one for one in self._known.connections}
        for link in self._known.links:
            if link.get("linkType") == "endpoint" and link.get("linkDir") == "out" and link.get("owningAddr") == key:
                connection = connections.get(link.get("connectionId"), {})
                who = str(connection.get("container") or f"connection {link.get('connectionId')}")
                kind = {"edge": "edge router ", "route-container": "container "}.get(str(connection.get("role")), "")
                credit = _number(link, "creditAvailable")
                yield Candidate(
                    name=kind + who,
                    state=TAKES if credit else WAITS,
                    words="takes messages" if credit else f"no credit for {_number(link, 'zeroCreditSeconds')} s",
                    phase=phase,
                    cost=0,
                    outstanding=_number(link, "unsettledCount") + _number(link, "undeliveredCount"),
                    credit=credit,
                )

    def _elsewhere(self, phase: str) -> list[Candidate]:
        entry = self._entry(phase)
        routers = [str(one) for one in entry.get("remoteHostRouters") or ()]
        outstanding = sum(int(one) for one in entry.get("transitOutstanding") or ())
        # Management has a number for each neighbour, but does not name the neighbours.
        is_known = not outstanding or len({self._way(one) for one in routers}) == 1
        return [self._router_candidate(one, phase, outstanding if is_known else None) for one in routers]

    def _way(self, router: str) -> str:
        return str(self._nodes.get(router, {}).get("nextHop") or router)

    def _router_candidate(self, router: str, phase: str, outstanding: int | None) -> Candidate:
        node, way = self._nodes.get(router, {}), self._way(router)
        words = "by the uplink" if self._is_edge else "over a trunk" if way == router else f"by way of {way}"
        return Candidate(
            name=f"{'interior router' if self._is_edge else 'router'} {router}",
            state=NEXT,
            words=words,
            phase=phase,
            cost=node.get("cost"),
            outstanding=outstanding,
            way=way,
        )

    def _lack(self) -> str:
        """Return what is missing where there is nobody, and what to do."""
        idle = [one for one in self._auto_links if one.get("direction") == "out" and one.get("operStatus") != "active"]
        if idle:
            error = f": {idle[0]['lastError']}" if idle[0].get("lastError") else ""
            return f"Auto-link {idle[0].get('name')} is {idle[0].get('operStatus')}{error}. Connect {_place(idle[0])}."
        others = [one for one in PHASES[:-1] if one != self._phase and _consumers(self._entry(one))]
        if others:
            phases = ", ".join(others)
            lack = f"an auto-link has to take messages in phase {self._phase}"
            return f"There are consumers in phase {phases} only: {lack}."
        if self._is_edge and self._uplink is None:
            text = self._no_uplink()
            return text[0].upper() + text[1:]
        similar = self._similar()
        if similar:
            return f"There are consumers of {any_of(similar)}: addresses are the same only if every character is."
        lost = sorted(str(one.get("id")) for one in self._known.nodes if not _is_reached(one))
        beyond = f" Consumers at router {any_of(lost)}, which cannot be reached now, do not count." if lost else ""
        fallback = " A fallback destination would get it, if there was one." if self._has_fallback() else ""
        return f"Attach a consumer to the address at any router.{fallback}{beyond}"

    def _similar(self) -> list[str]:
        wanted = _folded(self._address)
        return [
            key[2:]
            for key, entry in self._entries.items()
            if key[:2] == "M0" and key[2:] != self._address and _folded(key[2:]) == wanted and _consumers(entry)
        ]


# --- words and numbers


def _number(entity: Entity | None, attribute: str) -> int:
    return int(entity.get(attribute) or 0) if entity is not None else 0


def _consumers(entry: Entity | None) -> int:
    return sum(_number(entry, one) for one in ("subscriberCount", "remoteCount", "inProcess"))


def _count_text(entry: Entity) -> str:
    """Return the number of consumers in words; nothing if there is none."""
    if not _consumers(entry):
        return ""
    others = _number(entry, "remoteCount")
    parts = [
        f"{_number(entry, 'subscriberCount')} at this router",
        f"{others} other {'router has' if others == 1 else 'routers have'} some",
    ]
    if entry.get("inProcess"):
        parts.append(f"{entry['inProcess']} inside the router")
    return f"{', '.join(parts)}."


def _is_reached(node: Entity | None) -> bool:
    return node is not None and (node.get("cost") is not None or node.get("nextHop") == "(self)")


def _label(entity: Entity) -> str:
    return f"{entity.get('name')} ({pattern_of(entity)})"


def _place(use: Entity) -> str:
    """Return the container that a link route or an auto-link means."""
    if use.get("containerId"):
        return f"container {use['containerId']}"
    return f"the container at {use['connection']}" if use.get("connection") else "a container"


def _pattern_of_key(key: Any) -> str:
    return f"{key[1:]}/#" if key[:1] == "C" else str(key[1:])


def _folded(address: str) -> str:
    return address.replace("/", ".").strip(".").lower()
