"""Sending messages."""

import asyncio
from dataclasses import replace

from mobula_client.aio.face import LinkFace
from mobula_client.engine import Message, Properties
from mobula_client.errors import ClientError, UsageError
from mobula_client.links import Outgoing, SendingLink
from mobula_client.messages import Content, encoded, message_of


class Sender(LinkFace[SendingLink]):
    """Sends messages to an address; `send` returns once the receiver has accepted."""

    async def send(self, content: Content, *, to: str | None = None, settled: bool = False) -> None:
        """Send a message, or a body, and wait for the outcome. Raises MessageNotAccepted, or LinkEnded.

        `settled` sends without asking for an outcome: the message may be lost. `to` is for a sender without address.
        """
        message = message_of(content)
        if to is not None:
            message = addressed(message, to)
        elif self.link.target.address is None and (message.properties is None or message.properties.to is None):
            raise UsageError("the sender has no address: say where the message goes, as in send(..., to='orders')")
        outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        outgoing = Outgoing(encoded(message), self.link.new_tag(), lambda error: resolve(outcome, error), settled)
        self.link.submit(outgoing)
        try:
            await outcome
        except asyncio.CancelledError:
            self.link.withdraw(outgoing)
            raise

    @property
    def address(self) -> str | None:
        """The address of the target; the router names it where it was dynamic."""
        target = self.link.remote_target or self.link.target
        return None if target.address is None else str(target.address)

    async def close(self) -> None:
        """Wait for the outcomes of what was sent, then detach."""
        await self.watch.until(lambda: self.link.is_idle or self.link.end is not None)
        await self.detach()


def addressed(message: Message, to: str) -> Message:
    """Return the message with an address in its properties."""
    return replace(message, properties=replace(message.properties or Properties(), to=to))


def resolve(future: "asyncio.Future[None]", error: ClientError | None) -> None:
    """Hand an outcome to whoever waits for it, unless nobody does any more."""
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
