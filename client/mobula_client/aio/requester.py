"""Requests and their replies."""

import asyncio
from dataclasses import replace
from itertools import count
from typing import Any, Self

from mobula_client.aio.receiver import Delivery
from mobula_client.aio.sender import Sender, resolve
from mobula_client.aio.watch import Watch
from mobula_client.engine import Message, Properties
from mobula_client.errors import ClientError, NoReply, OutcomeUnknown, UsageError
from mobula_client.links import Incoming, Outgoing, ReceivingLink
from mobula_client.messages import Content, encoded, message_of


class Requester:
    """Sends requests to an address. Replies come to a private address, which the router names."""

    def __init__(self, sender: Sender, replies: ReceivingLink) -> None:
        self._sender = sender
        self._replies = replies
        self._watch = Watch(replies)
        replies.on_change = self._changed
        replies.on_message = self._arrived
        self._reply_to: str | None = None
        self._numbers = count(1)
        self._pending: dict[str, asyncio.Future[Delivery]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def request(self, content: Content, *, within_s: float = 30.0) -> Delivery:
        """Send a request and return the reply.

        Raises NoReply if none comes in time. Raises MessageNotAccepted if nobody took the request, or if the connection
        was lost: the request may have been carried out then.
        """
        try:
            async with asyncio.timeout(within_s):
                return await self._request(content)
        except TimeoutError:
            raise NoReply(str(self._sender.address), within_s) from None

    async def wait_ready(self) -> None:
        """Wait until requests can be sent."""
        await self._sender.wait_ready()
        await self._watch.until(lambda: self._reply_to is not None or self._replies.end is not None)
        if self._replies.end is not None:
            raise self._replies.end

    async def close(self) -> None:
        """Detach; whoever still waits for a reply is told so."""
        self._replies.close()
        await self._sender.close()
        await self._watch.until(lambda: self._replies.end is not None)

    async def _request(self, content: Content) -> Delivery:
        # After a lost connection, the router names another address for replies.
        await self._watch.until(lambda: self._replies.is_ready or self._replies.end is not None)
        if self._replies.end is not None:
            raise self._replies.end
        number = str(next(self._numbers))
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[Delivery] = loop.create_future()
        self._pending[number] = reply
        accepted: asyncio.Future[None] = loop.create_future()
        message = _asking(message_of(content), number, str(self._reply_to))
        outgoing = Outgoing(encoded(message), self._sender.link.new_tag(), lambda error: resolve(accepted, error))
        self._sender.link.submit(outgoing)
        try:
            either: set[asyncio.Future[Any]] = {reply, accepted}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not reply.done():
                await accepted
            return await reply
        finally:
            self._sender.link.withdraw(outgoing)
            del self._pending[number]
            for future in (accepted, reply):
                _silence(future)

    def _arrived(self, incoming: Incoming) -> None:
        self._replies.taken(incoming)
        delivery = Delivery(incoming)
        properties = delivery.message.properties
        future = self._pending.get(str(properties.correlation_id)) if properties is not None else None
        if future is not None and not future.done():
            future.set_result(delivery)

    def _changed(self) -> None:
        source = self._replies.remote_source
        address = None if source is None or source.address is None else str(source.address)
        if self._replies.end is not None:
            self._fail_pending(self._replies.end)
        elif address is not None and address != self._reply_to:
            self._fail_pending(OutcomeUnknown("the connection was lost while the reply was awaited"))
            self._reply_to = address
        self._watch.wake()

    def _fail_pending(self, error: ClientError) -> None:
        for future in self._pending.values():
            if not future.done():
                future.set_exception(error)


def _asking(message: Message, number: str, reply_to: str) -> Message:
    properties = replace(message.properties or Properties(), message_id=number, reply_to=reply_to)
    return replace(message, properties=properties)


def _silence(future: "asyncio.Future[Delivery] | asyncio.Future[None]") -> None:
    # Nobody waits any more; asyncio would complain of an error that nobody has asked for.
    if future.done() and not future.cancelled():
        future.exception()
    else:
        future.cancel()


def reply_to(request: Message, content: Content) -> Message:
    """Return the message that answers a request: addressed to its reply-to, with its id. Send it without address."""
    asked = request.properties
    if asked is None or asked.reply_to is None:
        raise UsageError("the request has no reply-to: its sender expects no reply")
    answer = message_of(content)
    correlation = asked.message_id if asked.correlation_id is None else asked.correlation_id
    properties = replace(answer.properties or Properties(), to=asked.reply_to, correlation_id=correlation)
    return replace(answer, properties=properties)
