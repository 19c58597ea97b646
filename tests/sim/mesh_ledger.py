"""The ledger of a mesh: also which way each message took, and who must have got a copy in a network at rest."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from routerd.wire import Message
from tests.sim.ledger import Ledger, Receipt, Sent, number_in
from tests.sim.world import Broken

if TYPE_CHECKING:
    from tests.sim.links import Consumer, Producer
    from tests.sim.mesh_simulation import MeshSimulation

TRACE = "x-opt-qd.trace"


class MeshLedger(Ledger):
    """All messages of a run, with the routers that they came to."""

    def __init__(self, simulation: "MeshSimulation") -> None:
        super().__init__(simulation)
        self._mesh = simulation
        self._entered: dict[int, list[str]] = {}
        """By message the interior routers by which it entered the network, if it said there which it is.

        These are several if one of them releases it for its end, and its edge router finds another.
        """
        self._passed: dict[int, list[str]] = {}
        self._paths: set[tuple[int, str, tuple[str, ...]]] = set()
        """Of messages that go elsewhere when they are released: each takes a path once."""
        self.hops: Counter[int] = Counter()
        """How many messages of one consumer came to so many routers."""

    def send(self, producer: "Producer", address: str, is_settled: bool, **details: Any) -> Sent:
        """Enter a message; only consumers that its router must know of by now are sure of a copy."""
        sent = super().send(producer, address, is_settled, **details)
        self._passed[sent.number] = []
        entry = self._mesh.interior_of(producer.client.worker)
        if entry is not None:
            self._enter(sent.number, entry)
        sent.audience = [each for each in sent.audience if self._mesh.is_known_to(producer.client, each)]
        return sent

    # --- at routers; a message does not count before enough of it is there to tell which it is

    def came_up(self, router: str, octets: bytes) -> None:
        """A message of an edge router enters the network at its interior router."""
        number = number_in(octets)
        if number is not None:
            sent, before = self.sent[number], self._passed[number]
            if before and (not _goes_elsewhere(sent) or router in self._entered.get(number, ())):
                raise Broken(f"{sent} enters at {router}, and has passed {before}")
            self._enter(number, router)

    def _enter(self, number: int, router: str) -> None:
        self._entered.setdefault(number, []).append(router)
        self._passed[number].append(router)

    def passed(self, router: str, octets: bytes, is_partial: bool) -> None:
        """A message has come to a router from another one."""
        number = number_in(octets)
        if number is None:
            return
        sent, before = self.sent[number], self._passed[number]
        if not is_partial:
            self._check_trace(sent, router, trace_of(octets))
        if _goes_elsewhere(sent):
            before.append(router)
            return
        if router in before and not (sent.is_multicast and self._mesh.had_trouble_since(sent)):
            raise Broken(f"{sent} comes to {router} again: it has passed {before}")
        before.append(router)

    def _check_trace(self, sent: Sent, router: str, trace: list[str]) -> None:
        before, entered = self._passed[sent.number], self._entered.get(sent.number)
        entry = entered[-1] if entered else None
        if not trace or entry not in (None, trace[0]) or router in trace or len(set(trace)) < len(trace):
            raise Broken(f"{sent} entered at {entry}, and comes to {router} with the trace {trace}")
        if _goes_elsewhere(sent):
            path = sent.number, router, tuple(trace)
            if path in self._paths:
                raise Broken(f"{sent} comes to {router} again, with the same trace {trace}")
            self._paths.add(path)
        elif not sent.is_multicast and before != [one for one in trace if one in before]:
            raise Broken(f"{sent} comes to {router} and has passed {before}; its trace is {trace}")

    # --- at consumers

    def may_be_sent_back(self, sent: Sent, consumer: "Consumer") -> bool:
        """Whether it may: once, where an edge router asked its interior router for others, and that has none.

        It may as well where a router has lost a trunk: it sends on by other ways, which may lead to the same router.
        """
        if self._mesh.had_trouble_since(sent):
            return True
        start, end = sent.producer.client.worker, consumer.client.worker
        before = sum(each.consumer is consumer for each in sent.receipts)
        return start == end and self._mesh.interior_of(start) is None and before == 1

    def started(self, consumer: "Consumer", number: int) -> Receipt:
        """A consumer gets a message; messages may overtake each other where there are two ways, or new ones."""
        sent = self.sent[number]
        if self._has_two_ways(sent, consumer) or self._mesh.had_trouble_since(sent):
            consumer.latest.pop(sent.producer, None)
        if sent.is_multicast and self._mesh.had_trouble_since(sent) and self._has_it(sent, consumer):
            # While routers are of two minds about the paths, a copy may come by either.
            self.count("duplicates")
            sent.receipts.append(Receipt(sent, consumer))
            return sent.receipts[-1]
        receipt = super().started(consumer, number)
        if not sent.is_multicast:
            self.hops[len(self._passed.get(number, ()))] += 1
        return receipt

    def _has_two_ways(self, sent: Sent, consumer: "Consumer") -> bool:
        # Of an edge router's consumers its interior router knows, too, and may send back what came from there.
        start, end = sent.producer.client.worker, consumer.client.worker
        return sent.address.startswith("closest") or (start == end and self._mesh.interior_of(start) is None)

    @staticmethod
    def _has_it(sent: Sent, consumer: "Consumer") -> bool:
        return any(each.consumer is consumer for each in sent.receipts)

    # --- when all is quiet

    def progress(self) -> tuple[int, int]:
        """Return how far all messages have come, to be compared with the same of later."""
        return self.counts.get("received", 0), sum(each.is_told for each in self.sent)

    def check_all_have_arrived(self) -> None:
        """Check, for a run without any trouble, that no more settled messages are missing than routers say."""
        missing = [sent for sent in self.sent if self._is_missing(sent)]
        dropped = sum(map(dropped_by, self._mesh.alive()))
        if len(missing) > dropped:
            raise Broken(f"{len(missing)} settled messages have not arrived, {dropped} were dropped; {missing[:5]}")

    @staticmethod
    def _is_missing(sent: Sent) -> bool:
        is_due = sent.is_settled and sent.is_complete and not sent.is_multicast
        return is_due and not any(each.is_whole for each in sent.receipts)


def trace_of(octets: bytes) -> list[str]:
    """Return the routers that a message says that it has passed."""
    annotations = Message.decode(octets).message_annotations or {}
    steps = {str(key): value for key, value in annotations.items()}.get(TRACE, [])
    return [step.removeprefix("0/") for step in steps]


def dropped_by(host: Any) -> int:
    """Return how many settled messages a router says that it has dropped."""
    router = host.router
    totals = router.totals
    over = sum(sums["dropped_presettled"] for sums in (totals.ingress, totals.trunk_in, totals.inner_in))
    return int(over + sum(inlet.dropped_presettled for peer in router.peers.values() for inlet in peer.inlets))


def _goes_elsewhere(sent: Sent) -> bool:
    """Whether a router sends a message to other destinations when it is released."""
    return sent.address.startswith("again") and not sent.is_settled
