"""A client whose calls block."""

from collections.abc import Iterable
from typing import Self, Unpack

from mobula_client.aio.client import Client as AsyncClient
from mobula_client.blocking.links import Publisher, Receiver, Requester, Sender, Subscriber
from mobula_client.blocking.loop_thread import LoopThread
from mobula_client.connecting import settings_for
from mobula_client.options import (
    ConnectOptions,
    PublisherOptions,
    ReceiverOptions,
    SenderOptions,
    SubscriberOptions,
)
from mobula_client.settings import Settings


class Client:
    """Opens links, and keeps them over lost connections. `connect` makes one."""

    def __init__(self, settings: Settings) -> None:
        """Connect. Raises NoRouterReached or AuthenticationFailed."""
        self._thread = LoopThread()
        try:
            self._client = self._thread.run(self._started(settings))
        except BaseException:
            self._thread.close()
            raise

    async def _started(self, settings: Settings) -> AsyncClient:
        client = AsyncClient(settings, run=self._thread.post)
        await client.start()
        return client

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def router(self) -> str | None:
        """The router that we are connected to, or None."""
        return self._client.router

    @property
    def container_id(self) -> str:
        """Our name to the routers."""
        return self._client.container_id

    def close(self) -> None:
        """Close the connection, and end the thread."""
        if not self._thread.loop.is_closed():
            self._thread.run(self._client.close())
            self._thread.close()

    def open_sender(self, address: str | None = None, **options: Unpack[SenderOptions]) -> Sender:
        """Attach a sender; the options are those of the asyncio client."""
        return Sender(self._thread.run(self._client.open_sender(address, **options)), self._thread)

    def open_receiver(self, address: str | None, **options: Unpack[ReceiverOptions]) -> Receiver:
        """Attach a receiver."""
        return Receiver(self._thread.run(self._client.open_receiver(address, **options)), self._thread)

    def open_requester(self, address: str) -> Requester:
        """Attach what requests need."""
        return Requester(self._thread.run(self._client.open_requester(address)), self._thread)

    def open_publisher(self, address: str, **options: Unpack[PublisherOptions]) -> Publisher:
        """Attach a publisher."""
        return Publisher(self._thread.run(self._client.open_publisher(address, **options)), self._thread)

    def open_subscriber(self, address: str, **options: Unpack[SubscriberOptions]) -> Subscriber:
        """Attach a subscriber."""
        return Subscriber(self._thread.run(self._client.open_subscriber(address, **options)), self._thread)


def connect(urls: str | Iterable[str], **options: Unpack[ConnectOptions]) -> Client:
    """Connect to one of several routers: `with connect("amqp://a,amqp://b") as client`."""
    return Client(settings_for(urls, **options))
