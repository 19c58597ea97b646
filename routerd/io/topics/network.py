"""What topics say to those of other routers, as settled messages: they may be lost, and the protocol counts on that."""

from collections.abc import Callable
from typing import Any

from routerd.core import TOPICS_ADDRESS, InnerProducer, LoopBack, QueueFull, Router
from routerd.io.topics.sizes import COPY_MAX
from routerd.wire import Data, DecodeError, Delivery, Message, Properties

CAPACITY = 1000
LINKS_MAX = 2048
"""Limit of the routers to which there is a link; further ones are not told anything."""


class TopicNetwork:
    """The way of one router's topics to those of others, and back."""

    def __init__(
        self,
        router: Router,
        now: float,
        *,
        on_frame: Callable[[str, bytes], None],
        on_copies: Callable[[bytes, list[bytes]], None],
    ) -> None:
        self.inside = LoopBack(router, now)
        self._id = router.settings.id
        self._links: dict[str, InnerProducer] = {}
        self._on_frame = on_frame
        self._on_copies = on_copies
        self.inside.consume(self._place(self._id), self._take, capacity=CAPACITY, message_size_max=COPY_MAX)

    def send_frame(self, router: str, data: bytes) -> None:
        """Send octets of the protocol to a router."""
        self._send(router, [self._id.encode(), data])

    def send_copies(self, routers: list[str], header: bytes, payloads: list[bytes]) -> None:
        """Send messages of a topic to routers."""
        for router in routers:
            self._send(router, [b"", header, *payloads])

    def forget(self, router: str) -> None:
        """Drop the link to a router that is gone."""
        link = self._links.pop(router, None)
        if link is not None:
            link.close()

    def abort(self) -> None:
        """End the connection inside the router."""
        self.inside.abort()

    def _send(self, router: str, parts: list[bytes]) -> None:
        link = self._links.get(router)
        if link is None:
            if len(self._links) >= LINKS_MAX:
                return
            link = self._links[router] = self.inside.produce(self._place(router), is_apart=True)
        message = Message(properties=Properties(to=self._place(router)), body=Data(parts))
        try:
            link.send(bytes(message.encode()), settled=True)
        except QueueFull:
            # It is repaired like a loss on the way.
            return

    def _take(self, octets: bytes, delivery: Delivery) -> None:
        if not delivery.settled:
            delivery.accept()
        try:
            body = Message.decode(octets).body
        except DecodeError:
            return
        parts: list[Any] = [bytes(part) for part in body.sections] if isinstance(body, Data) else []
        if len(parts) == 2:
            self._on_frame(parts[0].decode(errors="replace"), parts[1])
        elif len(parts) > 2:
            self._on_copies(parts[1], parts[2:])

    @staticmethod
    def _place(router: str) -> str:
        return f"_topo/0/{router}/{TOPICS_ADDRESS}"
