"""The checker: what publishers saw accepted, and what subscribers were given, in which order."""

from dataclasses import dataclass, field

from tests.sim.topics_clients import PublisherClient, SubscriberClient
from tests.sim.topics_network import Network


@dataclass
class History:
    """What the clients of a run write down."""

    network: Network
    publishers: list[PublisherClient] = field(default_factory=list)
    subscribers: list[SubscriberClient] = field(default_factory=list)
    entered: dict[tuple[str, int], list[tuple[SubscriberClient, int]]] = field(default_factory=dict)
    """Which subscriptions there were when a message came to a router first."""

    def enter(self, message: tuple[str, int], topic: str) -> None:
        """Note that a message has come to a router."""
        if message not in self.entered:
            self.entered[message] = [
                (each, len(each.epochs) - 1) for each in self.subscribers if each.epoch and each.topic == topic
            ]

    def violations(self) -> list[str]:
        """Return where P1, P2 and P3 do not hold."""
        found = [violation for each in self.subscribers for violation in each.violations]
        for publisher in self.publishers:
            found += self._lost(publisher)
        for subscriber in self.subscribers:
            found += self._twice_or_disordered(subscriber)
        return found

    def _lost(self, publisher: PublisherClient) -> list[str]:
        lost = []
        for sequence in publisher.accepted:
            message = (str(publisher), sequence)
            lost += self._wrongly_accepted(message)
            for subscriber, epoch in self.entered[message]:
                has_it = message in subscriber.got or message in subscriber.released
                if not has_it and not subscriber.epochs[epoch].has_ended:
                    lost.append(f"P1: {publisher} saw {sequence} accepted, and {subscriber} never got it")
        return lost

    def _wrongly_accepted(self, message: tuple[str, int]) -> list[str]:
        """Return who has rejected what was accepted. Without maps, a rejection may be lost."""
        if not self.network.settings.is_exactly_once:
            return []
        return [
            f"P1: {message} was accepted, and {each} had rejected it"
            for each, epoch in self.entered[message]
            if message in each.rejected and not each.epochs[epoch].has_ended
        ]

    def _twice_or_disordered(self, subscriber: SubscriberClient) -> list[str]:
        found = []
        seen: set[tuple[str, int]] = set()
        last: dict[str, int] = {}
        for at, message in enumerate(subscriber.got):
            if at in subscriber.closings:
                seen.clear()
                last.clear()
            publisher, sequence = message
            if message in seen:
                if self._comes_once(publisher):
                    found.append(f"P2: {subscriber} got {message} twice")
                continue
            seen.add(message)
            is_late = sequence < last.get(publisher, -1)
            if is_late and message not in subscriber.released and self._is_owed(message, subscriber):
                found.append(f"P3: {subscriber} got {message} after {last[publisher]}")
            last[publisher] = max(sequence, last.get(publisher, -1))
        return found

    def _is_owed(self, message: tuple[str, int], subscriber: SubscriberClient) -> bool:
        """Return whether the order holds for a message.

        Without maps, what all have accepted may be sent again. It is new to those that have subscribed since.
        """
        return self._comes_once(message[0]) or any(each is subscriber for each, _ in self.entered[message])

    def _comes_once(self, publisher: str) -> bool:
        is_plain = any(each.is_plain for each in self.publishers if str(each) == publisher)
        return self.network.settings.is_exactly_once and not is_plain

    def unfinished(self) -> str:
        """Return what has not come to an end although all parties are there, for P5."""
        for client in [*self.publishers, *self.subscribers]:
            if not client.is_gone and (client.map or not client.is_attached):
                return f"P5: {client} has {client.held()}, {'' if client.is_attached else 'not '}attached"
        for router in self.network.routers.values():
            for topic in router.node.topics.values():
                held = [record.tag for record in topic.subscribers.records()]
                unsettled = {str(each.name): each.held for each in topic.ingress.publishers.values() if each.held}
                notices = [str(each.name) for each in topic.ingress.publishers.values() if each.notice]
                if held or unsettled or notices:
                    return f"P5: router {router.id} holds {held}, as ingress {unsettled}, and has notices for {notices}"
        return ""
