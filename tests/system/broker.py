"""A container as a client of python-qpid-proton: the far end of routed links, which does what brokers do."""

from typing import Any

from proton import Delivery, Endpoint, Event, Link, Message

from tests.system.proton_client import ProtonClient
from tests.system.proton_links import OUTCOMES, STATES

CREDIT = 100


class Broker(ProtonClient):
    """It answers links, takes what is sent to it, and sends each consumer as many messages as it has credit for."""

    def __init__(self, port: int, container_id: str, *, outcome: str = "accepted", has_messages: bool = True) -> None:
        self.names: list[str] = []
        """The links that the router has attached."""
        self.taken: list[Any] = []
        """The bodies of what was sent to it."""
        self.outcomes: list[str] = []
        """What consumers made of its messages."""
        self.outcome = outcome
        self.has_messages = has_messages
        super().__init__(port, container_id=container_id)

    def on_session_remote_open(self, event: Event) -> None:
        """Answer a session of the router."""
        if event.session.state & Endpoint.LOCAL_UNINIT:
            self.keep(event.session).open()

    def on_session_remote_close(self, event: Event) -> None:
        """Answer its end."""
        event.session.close()

    def on_link_remote_open(self, event: Event) -> None:
        """Answer a link of the router."""
        link: Link = event.link
        if link.state & Endpoint.LOCAL_UNINIT:
            self.names.append(link.name)
            link.source.address = link.remote_source.address
            link.target.address = link.remote_target.address
            self.keep(link)
            link.open()
            if link.is_receiver:
                link.flow(CREDIT)

    def on_link_remote_detach(self, event: Event) -> None:
        """Answer a detach that does not close."""
        event.link.detach()

    def on_link_flow(self, event: Event) -> None:
        """Send what there is credit for, and answer a drain."""
        link = event.link
        if link.is_sender and link.name in self.names:
            if self.has_messages:
                for number in range(link.credit):
                    self.keep(link.delivery(f"{link.name} {number}"))
                    link.send(Message(body=f"of the container {number}").encode())
                    link.advance()
            if link.drain_mode:
                link.drained()

    def on_delivery(self, event: Event) -> None:
        """Take a message, or the outcome of one."""
        delivery: Delivery = event.delivery
        if event.link.name not in self.names:
            super().on_delivery(event)
        elif event.link.is_receiver and delivery.readable and not delivery.partial:
            message = Message()
            message.decode(event.link.recv(delivery.pending))
            event.link.advance()
            body = message.body
            self.taken.append(bytes(body) if isinstance(body, memoryview) else body)
            delivery.update(OUTCOMES[self.outcome])
            delivery.settle()
            event.link.flow(1)
        elif event.link.is_sender and delivery.updated:
            self.outcomes.append(STATES[delivery.remote_state])
            delivery.settle()
