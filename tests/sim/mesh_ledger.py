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
        super().__init__(simulation)  # type: ignore[arg-type]
        self._mesh = simulation
        self._passed: dict[int, list[str]] = {}
        self.hops: Counter[int] = Counter()
        """How many messages of one consumer came to so many routers."""

    def send(self, producer: "Producer", address: str, is_settled: bool, **details: Any) -> Sent:
        """Enter a message; only consumers that its router must know of by now are sure of a copy."""
        sent = super().send(producer, address, is_settled, **details)
        self._passed[sent.number] = [f"R{producer.client.worker}"]
        sent.audience = [each for each in sent.audience if self._mesh.is_known_to(producer.client, each)]
        return sent

    # --- at routers

    def passed(self, router: str, octets: bytes, is_partial: bool, *, is_from_client: bool) -> None:
        """A message, or the beginning of one, has come to a router; it does not count if it lacks its number yet."""
        number = number_in(octets)
        if number is None or is_from_client:
            return
        sent = self.sent[number]
        before = self._passed[number]
        trace = before if is_partial else trace_of(octets)
        if trace[:1] != before[:1] or router in trace or len(set(trace)) < len(trace):
            raise Broken(f"{sent} entered at {before[0]}, and comes to {router} with the trace {trace}")
        if sent.is_multicast:
            if router in before and not self._mesh.had_trouble_since(sent):
                raise Broken(f"{sent} comes to {router} by two ways; it has passed {before}, this time {trace}")
        elif router in before or before != [one for one in trace if one in before]:
            raise Broken(f"{sent} comes to {router} and has passed {before}; its trace is {trace}")
        before.append(router)

    # --- at consumers

    def started(self, consumer: "Consumer", number: int) -> Receipt:
        """A consumer gets a message; messages may overtake each other where there are two ways, or new ones."""
        sent = self.sent[number]
        if sent.address.startswith("closest") or self._mesh.had_trouble_since(sent):
            consumer.latest.pop(sent.producer, None)
        if sent.is_multicast and self._mesh.had_trouble_since(sent) and self._has_it(sent, consumer):
            # While routers are of two minds about the paths, a copy may come by either.
            self.count("duplicates")
            return Receipt(sent, consumer)
        receipt = super().started(consumer, number)
        if not sent.is_multicast:
            self.hops[len(self._passed.get(number, ()))] += 1
        return receipt

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
