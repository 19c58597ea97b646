"""Publishing with a store that outlives failures."""

import asyncio

from mobula_client.aio.face import LinkFace
from mobula_client.aio.sender import resolve
from mobula_client.exactly_once import PublishingLink, Refusal, Store
from mobula_client.messages import Content, encoded, message_of


class Publisher(LinkFace[PublishingLink]):
    """Publishes messages: each is kept in the store until it is accepted, over lost connections and restarts."""

    def __init__(self, link: PublishingLink) -> None:
        super().__init__(link)
        self._batch: list[tuple[bytes, asyncio.Future[None]]] = []

    @property
    def store(self) -> Store:
        """Where messages are kept. `with publisher.store.transaction()` puts several, and other work, together."""
        return self.link.store

    async def publish(self, content: Content) -> None:
        """Publish a message and wait until all subscribers have it. Raises MessageNotAccepted, or LinkEnded.

        After any other error, or if it is cancelled, the message stays in the store and is published all the same.
        """
        octets = encoded(message_of(content))
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[None] = loop.create_future()
        # All that is published in one turn of the loop is kept in one transaction.
        if not self._batch:
            loop.call_soon(self._keep_batch)
        self._batch.append((octets, outcome))
        await outcome

    def put(self, content: Content) -> None:
        """Keep a message, to be published as soon as possible; inside a transaction, once that is kept.

        Nobody waits for its outcome. If it is not accepted, it is one of the `refusals`. With a durable store, it may
        be put while the publisher is closed: the next one of the same name publishes it.
        """
        if self.link.end is not None and not self.store.is_durable:
            raise self.link.end
        self.link.put([encoded(message_of(content))])

    async def flush(self) -> None:
        """Wait until every message in the store is decided. Raises the reason if the link ends."""
        await self.watch.until(lambda: self.link.is_idle or self.link.end is not None)
        if self.link.end is not None:
            raise self.link.end

    @property
    def unsettled(self) -> int:
        """How many messages the link has taken up that are not decided, a window at most."""
        return len(self.link.loaded)

    def refusals(self) -> list[Refusal]:
        """Return messages that were put and not accepted."""
        return self.store.refusals(self.name)

    def forget_refusals(self, refusals: list[Refusal]) -> None:
        """Forget refusals that were seen to."""
        self.store.forget_refusals(self.name, [refusal.number for refusal in refusals])

    def _keep_batch(self) -> None:
        batch, self._batch = self._batch, []
        if self.link.end is not None:
            for _, outcome in batch:
                resolve(outcome, self.link.end)
            return
        try:
            self.link.put(
                [octets for octets, _ in batch],
                [lambda error, outcome=outcome: resolve(outcome, error) for _, outcome in batch],  # type: ignore[misc]
            )
        except Exception as error:
            for _, outcome in batch:
                if not outcome.done():
                    outcome.set_exception(error)
