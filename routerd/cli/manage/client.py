"""Requests to the management nodes of a router and their answers, over one connection of the engine.

It sends at once all that needs no answer. Header, open, begin and the attach of the link for replies leave together. So
a tool needs three round trips. Time comes from a clock that is passed in.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from routerd.cli.manage.diagnosis import explain_login, explain_octets
from routerd.cli.manage.failures import BadAnswer, NoAnswer, ToolFailed, Unreachable
from routerd.cli.manage.stream import Stream
from routerd.wire import (
    Accepted,
    AmqpValue,
    CodecLimits,
    Connection,
    ConnectionConfig,
    DecodeError,
    Handler,
    Message,
    Properties,
    Rejected,
    Source,
    Target,
    is_outcome,
)

if TYPE_CHECKING:
    from routerd.wire import Attach, Delivery, Error, Link, Open, Receiver, RemoteError, Sender, Session
    from routerd.wire.sasl import SaslClient

REPLY_OCTETS_MAX = 1 << 28
"""The largest answer: some hundred thousand rows without paging."""
NODE, _LOCAL_NODE = ("$management", "_local/$management")
"""The management node of the router that is connected to, and its other name, which is the same for all tenants."""
_REPLY_LIMITS = CodecLimits(count=10_000_000)
_CREDIT = 100
_HEADER_SIZE = 8


@dataclass(frozen=True, slots=True)
class Response:
    """What a management node answers."""

    status: int
    description: str
    body: Any


class ManagementClient(Handler):
    """A connection to a router for as many requests as are wanted, one at a time."""

    def __init__(
        self,
        stream: Stream,
        where: str,
        *,
        hostname: str | None,
        container_id: str,
        sasl: "SaslClient | None" = None,
        timeout_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._stream = stream
        self._where = where
        self._sasl = sasl
        self._timeout_s = self._patience_s = timeout_s
        self._clock = clock
        self._name = container_id
        self._failure: ToolFailed | None = None
        self._first_octets = b""
        self._is_open = False
        self._reply_to: str | None = None
        self._reply = bytearray()
        self._replies: list[Message] = []
        self._refusals: dict[Link | None, Error | None] = {}
        self._undelivered: str | None = None
        self._senders: dict[str, Sender] = {}
        self._links = 0
        self._session: Session | None = None
        self._receiver: Receiver | None = None
        self._number = 0
        config = ConnectionConfig(container_id=container_id, hostname=hostname, limits=_REPLY_LIMITS)
        self._connection = Connection(config, self, is_client=True, sasl=sasl)
        self._begin()

    def _begin(self) -> None:
        self._connection.start(self._clock())
        self._connection.open()
        if self._sasl is None:
            self._attach_replies()

    def _attach_replies(self) -> None:
        session = self._session = self._connection.session()
        session.begin()
        receiver = self._receiver = session.receiver(f"{self._name}-replies")
        receiver.attach(source=Source(dynamic=True), target=Target(), max_message_size=REPLY_OCTETS_MAX)
        receiver.grant(_CREDIT)

    # --- for the tools

    @property
    def container_id(self) -> str:
        """What the router calls this connection's container."""
        return self._name

    @property
    def where(self) -> str:
        """The router, as it is to be shown."""
        return self._where

    def open(self) -> None:
        """Wait until the router has let us in."""
        self._wait(lambda: self._is_open, f"the router at {self._where} does not answer our open")

    def request(
        self, address: str, properties: Mapping[str, Any], body: Any = None, *, patience_s: float | None = None
    ) -> Response:
        """Send a request to a management node, and return its answer; ToolFailed says why there is none.

        With `patience_s` it is waited for no longer than that.
        """
        self._patience_s = min(self._timeout_s, patience_s or self._timeout_s)
        self._wait(lambda: self._reply_to is not None, f"the router at {self._where} gives us no address for replies")
        sender = self._sender(address)
        self._number += 1
        number = f"{self._name}-{self._number}"
        message = Message(
            properties=Properties(reply_to=self._reply_to, correlation_id=number),
            application_properties=properties,
            body=AmqpValue(body),
        )
        self._undelivered = None
        sender.send(message.encode())
        asked = properties.get("operation")
        self._wait(
            lambda: any(_answers(reply, number) for reply in self._replies) or self._undelivered is not None,
            f"{address} at {self._where} does not answer {asked}; -t SECS waits longer",
        )
        if self._undelivered is not None:
            raise NoAnswer(f"{address} at {self._where} {self._undelivered}")
        replies, self._replies = self._replies, []
        return _response(next(reply for reply in replies if _answers(reply, number)))

    def fileno(self) -> int:
        """Return what `select` can wait for while there is nothing to ask."""
        return self._stream.fileno()

    def next_deadline(self) -> float:
        """Return when `rest` is due at the latest."""
        return self._connection.next_deadline()

    def rest(self, *, is_readable: bool) -> None:
        """Take what came unasked, and keep the connection alive."""
        if is_readable:
            self._take(self._timeout_s)
        self._connection.tick(self._clock())
        self._flush()
        self._check()

    def close(self) -> None:
        """Take leave, without waiting for an answer to that."""
        if self._is_open and not self._connection.is_finished:
            try:
                self._connection.close()
                self._flush()
            except ToolFailed:
                # It is gone already.
                pass
        self._stream.close()

    # --- links

    def _sender(self, address: str) -> "Sender":
        sender = self._senders.get(address)
        if sender is None:
            sender = self._senders[address] = self._attach(address)
            if address == NODE:
                sender = self._senders[address] = self._with_credit(sender)
        self._wait(lambda: sender.credit > 0 or sender in self._refusals, self._no_credit(address))
        if sender in self._refusals:
            error = self._refusals[sender]
            reason = "" if error is None else f": {error.description or error.condition}"
            raise NoAnswer(f"{address} at {self._where} refuses requests{reason}")
        return sender

    def _attach(self, address: str) -> "Sender":
        session = cast("Session", self._session)
        self._links += 1
        sender = session.sender(f"{self._name}-{self._links}")
        sender.attach(source=Source(), target=Target(address=address))
        return sender

    def _with_credit(self, sender: "Sender") -> "Sender":
        """Return the link for requests that has credit: at a listener for tenants `$management` is one of theirs."""
        self._wait(lambda: sender.is_attached or sender in self._refusals, self._no_credit(NODE))
        if sender.credit > 0 or sender in self._refusals:
            return sender
        local = self._attach(_LOCAL_NODE)
        links = (sender, local)
        self._wait(
            lambda: any(one.credit > 0 for one in links) or all(one in self._refusals for one in links),
            self._no_credit(NODE),
        )
        return local if local.credit > 0 and sender.credit == 0 else sender

    def _no_credit(self, address: str) -> str:
        kind, _, rest = address.removeprefix("/").partition("/")
        # The address of another router is as in `_topo/0/QDR.B/$management`.
        router = rest.removeprefix("0/").partition("/")[0] if kind in ("_topo", "_edge") else ""
        if router:
            return f"there is no router {router!r} that {self._where} can reach; -n lists those that there are"
        return f"nobody at {self._where} takes requests for {address}; is it a router?"

    # --- octets

    def _wait(self, is_done: Callable[[], bool], reproach: str) -> None:
        until = self._clock() + self._patience_s
        self._flush()
        while not is_done():
            self._check()
            left = until - self._clock()
            if left <= 0:
                raise self._silence(reproach)
            self._take(left, reproach)
            self._flush()
        self._check()

    def _silence(self, reproach: str) -> ToolFailed:
        if not self._is_open:
            return Unreachable(
                self._where,
                f"no answer within {self._timeout_s:g} s",
                "is it a router, and one without TLS? amqps:// connects with it"
                if self._sasl is None
                else "-t SECS waits longer",
            )
        return NoAnswer(f"{reproach} (waited {self._patience_s:g} s)")

    def _take(self, timeout_s: float, reproach: str = "") -> None:
        try:
            data = self._stream.receive(timeout_s)
        except TimeoutError:
            raise self._silence(reproach) from None
        except OSError as error:
            data = b""
            self._fail(self._lost(error.strerror or str(error)))
        if len(self._first_octets) < _HEADER_SIZE:
            self._first_octets += data[: _HEADER_SIZE - len(self._first_octets)]
        if data:
            self._connection.receive_data(data, self._clock())
        elif not self._connection.is_finished:
            self._connection.transport_closed()
            self._fail(self._lost("it closed the connection"))

    def _flush(self) -> None:
        data = self._connection.data_to_send(self._clock())
        if not data:
            return
        try:
            self._stream.send(data)
        except OSError as error:
            # What the peer said before it hung up explains more.
            self._drain()
            self._fail(self._lost(error.strerror or str(error)))
            raise cast(ToolFailed, self._failure) from None

    def _drain(self) -> None:
        try:
            while data := self._stream.receive(self._timeout_s):
                self._first_octets += data[: _HEADER_SIZE - len(self._first_octets)]
                self._connection.receive_data(data, self._clock())
        except OSError:
            pass

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure
        # A link is over before its connection is, whose end is told after it and explains more.
        if self._receiver in self._refusals:
            error = self._refusals[self._receiver]
            reason = "no reason was given" if error is None else error.description or error.condition
            raise NoAnswer(f"the router at {self._where} gives us no address for replies: {reason}")

    def _fail(self, failure: ToolFailed) -> None:
        # The first failure is the cause of the others.
        if self._failure is None:
            self._failure = failure

    def _lost(self, reason: str) -> ToolFailed:
        if self._is_open:
            return Unreachable(self._where, f"the connection was lost: {reason}")
        return explain_octets(self._where, self._first_octets, reason, is_sasl=self._sasl is not None)

    # --- what the engine tells

    def on_opened(self, connection: Connection, performative: "Open") -> None:
        """Go on where SASL made us wait."""
        self._is_open = True
        if self._sasl is not None:
            self._attach_replies()

    def on_authentication_failed(self, connection: Connection) -> None:
        """Remember that we were not let in."""
        sasl = cast("SaslClient", self._sasl)
        self._fail(explain_login(self._where, sasl.mechanism, sasl.outcome))

    def on_violation(self, connection: Connection, error: "RemoteError") -> None:
        """Remember what is wrong with the peer, a first word that is none of AMQP above all."""
        if self._is_open:
            self._fail(BadAnswer(f"the peer at {self._where} broke the protocol: {error}"))
        else:
            self._fail(explain_octets(self._where, self._first_octets, str(error), is_sasl=self._sasl is not None))

    def on_closed(self, connection: Connection, error: "Error | None") -> None:
        """Remember why the router closed."""
        if error is not None:
            self._fail(Unreachable(self._where, f"it closed the connection ({error.description or error.condition})"))
        elif self._first_octets:
            self._fail(self._lost("it closed the connection"))

    def on_link_attached(self, link: "Link", performative: "Attach") -> None:
        """Learn the address for replies."""
        if not link.is_sender and isinstance(performative.source, Source):
            self._reply_to = performative.source.address

    def on_link_detached(self, link: "Link", closed: bool, error: "Error | None") -> None:
        """Remember a refusal."""
        self._refusals[link] = error

    def on_transfer(
        self, receiver: "Receiver", delivery: "Delivery", data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Put an answer together."""
        self._reply += data[start:end]
        if len(self._reply) > REPLY_OCTETS_MAX:
            self._fail(BadAnswer(f"an answer of more than {REPLY_OCTETS_MAX} octets"))
            self._reply.clear()
        if delivery.is_partial:
            return
        octets = bytes(self._reply)
        self._reply.clear()
        if delivery.is_aborted:
            return
        if not delivery.settled:
            delivery.accept()
        if receiver.credit <= _CREDIT // 2:
            receiver.grant(_CREDIT - receiver.credit)
        try:
            self._replies.append(Message.decode(octets, _REPLY_LIMITS))
        except DecodeError as error:
            self._fail(BadAnswer(f"the answer is not a message: {error}"))

    def on_disposition(self, delivery: "Delivery") -> None:
        """Remember what became of a request."""
        outcome = delivery.remote_state
        if not is_outcome(outcome) and not delivery.remote_settled:
            return
        if not delivery.settled and not delivery.remote_settled:
            delivery.settle()
        if isinstance(outcome, Rejected):
            error = outcome.error
            reason = "" if error is None else f": {error.description or error.condition}"
            self._undelivered = f"rejected the request{reason}"
        elif is_outcome(outcome) and not isinstance(outcome, Accepted):
            self._undelivered = "did not take the request; nobody serves it now"


def _answers(reply: Message, number: str) -> bool:
    return reply.properties is not None and reply.properties.correlation_id == number


def _response(reply: Message) -> Response:
    properties = reply.application_properties or {}
    status = properties.get("statusCode")
    if not isinstance(status, int) or not (reply.body is None or isinstance(reply.body, AmqpValue)):
        raise BadAnswer("an answer that is none of the management protocol")
    return Response(status, str(properties.get("statusDescription", "")), reply.body.value if reply.body else None)
