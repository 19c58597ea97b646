"""Subscriptions that outlive connections and restarts."""

from mobula_client.aio.receiver import Receiver
from mobula_client.exactly_once import LastingLink, Store


class Subscriber(Receiver):
    """Receives what is published to an address, from the first attach on.

    With exactly-once, decide inside `with subscriber.store.transaction()`: the work on a message and its outcome are
    kept together there.
    """

    def __init__(self, link: LastingLink, store: Store | None) -> None:
        super().__init__(link)
        self._lasting = link
        self.store = store
        """Where outcomes are kept until the sender has settled; None with at-least-once, which needs no store."""

    async def unsubscribe(self) -> None:
        """End the subscription; the router keeps nothing for it any more."""
        self._lasting.is_unsubscribing = True
        await self.close()

    async def close(self) -> None:
        """Detach; the subscription stays, and what was not decided comes again."""
        await self.detach()
