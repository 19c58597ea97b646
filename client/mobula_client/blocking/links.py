"""Links whose calls block. Each wraps an object of the asyncio face, which says what the calls do."""

from typing import Any, Generic, Self, TypeVar

from mobula_client.aio.face import LinkFace
from mobula_client.aio.publisher import Publisher as AsyncPublisher
from mobula_client.aio.receiver import Delivery as AsyncDelivery
from mobula_client.aio.receiver import Receiver as AsyncReceiver
from mobula_client.aio.requester import Requester as AsyncRequester
from mobula_client.aio.sender import Sender as AsyncSender
from mobula_client.aio.subscriber import Subscriber as AsyncSubscriber
from mobula_client.blocking.loop_thread import LoopThread
from mobula_client.errors import ClientClosed
from mobula_client.exactly_once import Refusal, Store, SubscribingLink
from mobula_client.links import Incoming
from mobula_client.messages import Content

F = TypeVar("F", bound=LinkFace[Any])
R = TypeVar("R", bound=AsyncReceiver)


class BlockingLink(Generic[F]):
    """What all links have in common."""

    def __init__(self, face: F, thread: LoopThread) -> None:
        self.face = face
        self.thread = thread

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def name(self) -> str:
        """The name of the link."""
        return self.face.name

    def close(self) -> None:
        """Detach, and wait for it."""
        self.thread.run(self.face.close())


class Sender(BlockingLink[AsyncSender]):
    """Sends messages to an address."""

    @property
    def address(self) -> str | None:
        """The address of the target."""
        return self.face.address

    def send(self, content: Content, *, to: str | None = None, settled: bool = False) -> None:
        """Send a message and wait for its outcome."""
        self.thread.run(self.face.send(content, to=to, settled=settled))


class Delivery(AsyncDelivery):
    """A message that was received. Decisions are told by the client's thread; no call waits for that."""

    def __init__(self, incoming: Incoming, thread: LoopThread) -> None:
        super().__init__(incoming)
        self._thread = thread

    def decide(self, outcome: Any) -> bool:
        """Tell an outcome, of exactly-once within the open transaction; return whether it is the first one."""
        if self.incoming.is_decided:
            return False
        if isinstance(self.incoming.link, SubscribingLink):
            # It is kept here, in the caller's thread and transaction, and told by the client's thread.
            return self.incoming.decide(outcome)
        self._thread.post(lambda: _told(self.incoming, outcome))
        return True


def _told(incoming: Incoming, outcome: Any) -> None:
    incoming.decide(outcome)


class _Receiving(BlockingLink[R]):
    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Delivery:
        try:
            return self.receive()
        except ClientClosed:
            raise StopIteration from None

    def receive(self, within_s: float | None = None) -> Delivery:
        """Return the next message. Raises TimeoutError, LinkEnded or ClientClosed."""
        return Delivery(self.thread.run(self.face.receive(within_s)).incoming, self.thread)


class Receiver(_Receiving[AsyncReceiver]):
    """Receives messages from an address."""

    @property
    def address(self) -> str | None:
        """The address of the source."""
        return self.face.address

    def grant(self, credit: int) -> None:
        """Let `credit` more messages come, where the credit is manual."""
        self.thread.post(lambda: self.face.grant(credit))


class Subscriber(_Receiving[AsyncSubscriber]):
    """Receives what is published to an address."""

    @property
    def store(self) -> Store | None:
        """Where outcomes are kept."""
        return self.face.store

    def unsubscribe(self) -> None:
        """End the subscription."""
        self.thread.run(self.face.unsubscribe())


class Publisher(BlockingLink[AsyncPublisher]):
    """Publishes messages, each kept until it is accepted."""

    @property
    def store(self) -> Store:
        """Where messages are kept."""
        return self.face.store

    def publish(self, content: Content) -> None:
        """Publish a message and wait until all subscribers have it."""
        self.thread.run(self.face.publish(content))

    def put(self, content: Content) -> None:
        """Keep a message, to be published as soon as possible, in the open transaction if there is one."""
        self.face.put(content)

    def flush(self) -> None:
        """Wait until every message in the store is decided."""
        self.thread.run(self.face.flush())

    def refusals(self) -> list[Refusal]:
        """Return messages that were put and not accepted."""
        return self.face.refusals()

    def forget_refusals(self, refusals: list[Refusal]) -> None:
        """Forget refusals that were seen to."""
        self.face.forget_refusals(refusals)


class Requester:
    """Sends requests to an address, and waits for replies."""

    def __init__(self, face: AsyncRequester, thread: LoopThread) -> None:
        self.face = face
        self.thread = thread

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def request(self, content: Content, *, within_s: float = 30.0) -> Delivery:
        """Send a request and return the reply."""
        return Delivery(self.thread.run(self.face.request(content, within_s=within_s)).incoming, self.thread)

    def close(self) -> None:
        """Detach."""
        self.thread.run(self.face.close())
