"""The two ends of a link that is attached again with deliveries unsettled from before (2.6.13)."""

from collections.abc import Mapping
from typing import Any

from routerd.wire import ACCEPTED, Attach, Delivery, RecoveredDelivery, Recovery, plan_recovery
from tests.interop.engine.links import OUTCOME_NAMES, Receiving, Sending
from tests.interop.engine.values import body_of, data_message
from tests.interop.scenarios import content


def states_fact(unsettled: Mapping[Any, Any] | None) -> dict[str, str | None]:
    """Return what a fact says of the peer's unsettled map."""
    return {bytes(tag).decode(): OUTCOME_NAMES.get(type(state)) for tag, state in (unsettled or {}).items()}


class ResumedSending(Sending):
    """Sends again what the receiver has lost, resumes what it has a part of, and settles what it has decided."""

    def on_open(self, performative: Attach) -> None:
        self.report("unsettled", link=self.link.name, states=states_fact(performative.unsettled))
        self.plan = plan_recovery(
            self.link, performative.unsettled, is_incomplete=performative.incomplete_unsettled
        )
        self.left = len(self.plan) + len(self.lost)

    def on_credit(self) -> None:
        while self.link.credit > 0 and self.left:
            self.left -= 1
            if self.plan:
                self.recover(self.plan.pop(0))
            else:
                self.send_again(self.lost.pop(0))

    def recover(self, recovered: RecoveredDelivery) -> None:
        delivery = recovered.delivery
        if recovered.recovery is Recovery.RESEND:
            delivery.settle()
            self.send_again(int(delivery.tag))
            return
        self.unsettled += 1
        if recovered.recovery is Recovery.CONFIRM:
            self.link.resume(delivery, state=recovered.remote_state, settled=True)
            self.report_outcome(delivery, recovered.remote_state)
        else:
            assert recovered.recovery is Recovery.RESUME, recovered
            self.link.resume(delivery, data_message(content(int(delivery.tag), self.size)))

    def send_again(self, number: int) -> None:
        self.unsettled += 1
        self.link.send(data_message(content(number, self.size)), str(number).encode())


class ResumedReceiving(Receiving):
    """Tells what it remembers, and takes the rest of it."""

    def remember(self, states: dict[str, str | None]) -> None:
        """Keep the deliveries of these numbers, in these states; forget the others."""
        for tag, delivery in list((self.link.suspended or {}).items()):
            if tag.decode() not in states:
                delivery.settle()
            elif states[tag.decode()]:
                delivery.update(ACCEPTED, False)

    def on_open(self, performative: Attach) -> None:
        self.report("unsettled", link=self.link.name, states=states_fact(performative.unsettled))
        for recovered in plan_recovery(self.link, performative.unsettled):
            if recovered.recovery is Recovery.FORGET:
                recovered.delivery.settle()
        self.top_up()

    def on_message(self, delivery: Delivery) -> None:
        self.received = int(delivery.tag)
        super().on_message(delivery)

    def report_message(self, message: bytes, delivery: Delivery) -> None:
        if not delivery.is_resumed:
            super().report_message(message, delivery)
            return
        octets = len(body_of(message)[1]) // 2 if message else 0
        about = {"link": self.link.name, "number": self.received}
        self.report("resumed", **about, octets=octets, settled=delivery.remote_settled)
