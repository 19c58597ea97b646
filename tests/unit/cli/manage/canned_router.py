"""A router's end of a connection that answers management requests with what a test gives it, and a stream to it."""

from collections.abc import Callable, Mapping
from typing import Any

from routerd.wire import (
    RELEASED,
    AmqpValue,
    Attach,
    Begin,
    Connection,
    ConnectionConfig,
    Delivery,
    Error,
    Handler,
    Link,
    Message,
    Open,
    Properties,
    Receiver,
    Sender,
    Session,
    SessionState,
    Source,
    Target,
)
from routerd.wire.sasl import SaslServer

REPLIES = "amqp:/_topo/0/QDR.A/temp.foBzYuWY0NwpsUL"

Properties_ = Mapping[str, Any]
Reply = tuple[int, str, Any]
AnswerRequest = Callable[[str, Properties_, Any], Reply | None]
"""Called with the address, the application-properties and the body; None is silence."""


class CannedRouter(Handler):
    """Opens, attaches, gives credit where it serves an address, and answers."""

    def __init__(
        self,
        answer: AnswerRequest,
        *,
        serves: Callable[[str], bool] = lambda address: True,
        sasl: SaslServer | None = None,
        refuses_attach: Error | None = None,
        refuses_replies: Error | None = None,
        releases: bool = False,
        is_settling: bool = True,
        max_frame_size: int = 65_536,
    ) -> None:
        self.connection = Connection(
            ConnectionConfig(container_id="QDR.A", max_frame_size=max_frame_size, send_frame_size=max_frame_size),
            self,
            is_client=False,
            sasl=sasl,
        )
        self.requests: list[tuple[str, dict[str, Any], Any]] = []
        self.opened: Open | None = None
        self.close_error: Error | None = None
        self.is_closed = False
        self._answer = answer
        self._serves = serves
        self._refuses_attach = refuses_attach
        self._refuses_replies = refuses_replies
        self._releases = releases
        self._is_settling = is_settling
        self._replies: Sender | None = None
        self._octets = bytearray()
        self.connection.start(0.0)

    def on_opened(self, connection: Connection, performative: Open) -> None:
        """Answer."""
        self.opened = performative
        connection.open()
        if self.close_error is not None:
            connection.close(self.close_error)

    def on_closed(self, connection: Connection, error: Error | None) -> None:
        """Remember it."""
        self.is_closed = True

    def on_session_begun(self, session: Session, performative: Begin) -> None:
        """Answer."""
        if session.state is SessionState.BEGIN_RCVD:
            session.begin()

    def on_link_attached(self, link: Link, performative: Attach) -> None:
        """Answer, or refuse."""
        if link.is_sender:
            if self._refuses_replies is not None:
                link.refuse(self._refuses_replies)
                return
            link.attach(source=Source(address=REPLIES, dynamic=True), target=performative.target)
            assert isinstance(link, Sender)
            self._replies = link
            return
        assert isinstance(link, Receiver)
        if self._refuses_attach is not None:
            link.refuse(self._refuses_attach)
            return
        assert isinstance(performative.target, Target)
        link.context = performative.target.address
        link.attach(source=performative.source, target=performative.target)
        if self._serves(link.context):
            link.grant(250)

    def on_transfer(
        self, receiver: Receiver, delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Answer a request."""
        self._octets += data[start:end]
        if delivery.is_partial:
            return
        message = Message.decode(bytes(self._octets))
        self._octets.clear()
        if self._releases:
            delivery.decide(RELEASED)
            return
        delivery.accept()
        assert isinstance(message.body, AmqpValue)
        assert message.properties is not None
        assert message.properties.reply_to == REPLIES
        properties = dict(message.application_properties or {})
        self.requests.append((receiver.context, properties, message.body.value))
        reply = self._answer(receiver.context, properties, message.body.value)
        if reply is not None:
            self.send(message.properties.correlation_id, reply)

    def send(self, correlation_id: Any, reply: Reply) -> None:
        """Send an answer."""
        status, description, body = reply
        assert self._replies is not None
        self._replies.send(
            Message(
                properties=Properties(to=REPLIES, correlation_id=correlation_id),
                application_properties={"statusCode": status, "statusDescription": description},
                body=AmqpValue(body),
            ).encode(),
            settled=self._is_settling,
        )


class MemoryStream:
    """A stream to a router in the same process: what it has to say is there at once, or never."""

    def __init__(self, router: CannedRouter) -> None:
        self.router = router
        self.is_closed = False
        self.now = 100.0

    def clock(self) -> float:
        """Return the time, which goes by while somebody waits in vain."""
        return self.now

    def send(self, data: bytearray) -> None:
        """Hand the octets to the router."""
        self.router.connection.receive_data(bytes(data), self.now)

    def receive(self, timeout_s: float) -> bytes:
        """Return what the router has to say."""
        data = bytes(self.router.connection.data_to_send(self.now))
        if data or self.router.connection.is_finished:
            return data
        self.now += timeout_s
        raise TimeoutError

    def fileno(self) -> int:
        """Nobody waits for this one."""
        return -1

    def close(self) -> None:
        """Remember it."""
        self.is_closed = True


class ScriptedStream(MemoryStream):
    """A stream to something that is no router: it says the given words, then hangs up, or keeps silent."""

    def __init__(self, *words: bytes | OSError, hangs_up: bool = True) -> None:
        super().__init__(CannedRouter(lambda *_: None))
        self._words = list(words)
        self._hangs_up = hangs_up
        self.said = bytearray()

    def send(self, data: bytearray) -> None:
        """Remember it."""
        self.said += data

    def receive(self, timeout_s: float) -> bytes:
        """Return the next word."""
        if self._words:
            word = self._words.pop(0)
            if isinstance(word, OSError):
                raise word
            return word
        if self._hangs_up:
            return b""
        self.now += timeout_s
        raise TimeoutError


def entities(*rows: Mapping[str, Any]) -> Reply:
    """Return the answer to a query with these entities, which have the same attributes."""
    names = list(rows[0]) if rows else []
    return 200, "OK", {"attributeNames": names, "results": [list(row.values()) for row in rows]}
