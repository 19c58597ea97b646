"""Receiving messages."""

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Any, Self

from mobula_client.aio.face import LinkFace
from mobula_client.engine import ACCEPTED, RELEASED, Error, Message, Modified, Rejected, Symbol
from mobula_client.errors import ClientClosed
from mobula_client.links import Incoming, ReceivingLink
from mobula_client.messages import body_of


class Delivery:
    """A message that was received, and what becomes of it.

    The methods that decide return whether there was still somebody to be told. If not, the connection was lost in
    between. The message comes again then, here or elsewhere; a subscriber with exactly-once is not given it again.
    """

    def __init__(self, incoming: Incoming) -> None:
        self.incoming = incoming
        self._message: Message | None = None

    @property
    def message(self) -> Message:
        """The whole message."""
        if self._message is None:
            self._message = Message.decode(self.incoming.octets)
        return self._message

    @property
    def body(self) -> Any:
        """The body: octets, a value, or a list."""
        return body_of(self.message)

    @property
    def tag(self) -> bytes:
        """The delivery-tag."""
        return self.incoming.tag

    def accept(self) -> bool:
        """Tell that the message was processed."""
        return self.decide(ACCEPTED)

    def release(self) -> bool:
        """Give the message back: it was not processed, and may go to another receiver."""
        return self.decide(RELEASED)

    def reject(self, condition: str = "amqp:precondition-failed", description: str | None = None) -> bool:
        """Refuse the message as invalid."""
        return self.decide(Rejected(error=Error(condition=Symbol(condition), description=description)))

    def modify(
        self,
        *,
        delivery_failed: bool = False,
        undeliverable_here: bool = False,
        message_annotations: Mapping[Any, Any] | None = None,
    ) -> bool:
        """Give the message back with changes to its header and annotations."""
        return self.decide(
            Modified(
                delivery_failed=delivery_failed,
                undeliverable_here=undeliverable_here,
                message_annotations=message_annotations,
            )
        )

    def decide(self, outcome: Any) -> bool:
        """Tell an outcome."""
        return self.incoming.decide(outcome)


class Receiver(LinkFace[ReceivingLink]):
    """Receives messages from an address, by `receive` or `async for`."""

    def __init__(self, link: ReceivingLink) -> None:
        super().__init__(link)
        self._arrived: deque[Incoming] = deque()
        link.on_message = self._arrive

    @property
    def address(self) -> str | None:
        """The address of the source; the router names it where it was dynamic."""
        source = self.link.remote_source or self.link.source
        return None if source.address is None else str(source.address)

    async def receive(self, within_s: float | None = None) -> Delivery:
        """Return the next message. Raises TimeoutError, LinkEnded, or ClientClosed once the receiver is closed."""
        async with asyncio.timeout(within_s):
            while True:
                await self.watch.until(lambda: bool(self._arrived) or self.link.end is not None)
                if not self._arrived:
                    assert self.link.end is not None, "one of the two was waited for"
                    raise self.link.end
                incoming = self._arrived.popleft()
                if self.link.taken(incoming):
                    return Delivery(incoming)

    def grant(self, credit: int) -> None:
        """Let `credit` more messages come, where the credit is manual."""
        self.link.grant(credit)

    def drain(self) -> None:
        """Ask the sender for what it has now; unused credit is given back."""
        self.link.drain()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Delivery:
        try:
            return await self.receive()
        except ClientClosed:
            raise StopAsyncIteration from None

    async def close(self) -> None:
        """Release what was not taken, and detach."""
        while self._arrived:
            self._arrived.popleft().decide(RELEASED)
        await self.detach()

    def _arrive(self, incoming: Incoming) -> None:
        self._arrived.append(incoming)
        self.watch.wake()
