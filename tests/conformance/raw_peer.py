"""A peer made of octets: frames that a test writes go into the engine, and what the engine sends is taken apart."""

from typing import Any, NamedTuple

from routerd.wire.amqp_error import Error
from routerd.wire.composite import decode_composite, encode_composite
from routerd.wire.connection import Connection
from routerd.wire.connection_config import ConnectionConfig
from routerd.wire.decoder import Decoder
from routerd.wire.delivery import Delivery
from routerd.wire.handler import Handler
from routerd.wire.link import Link
from routerd.wire.performatives import Attach, Begin, Close, Flow, Open, Transfer
from routerd.wire.receiver import Receiver
from routerd.wire.sender import Sender
from routerd.wire.session import Session
from routerd.wire.terminus import Source, Target

AMQP_HEADER = bytes.fromhex("414d5150 00 010000")
SASL_HEADER = bytes.fromhex("414d5150 03 010000")
EMPTY_FRAME = bytes.fromhex("00000008 02 00 0000")
OPEN = Open(container_id="peer")
SOURCE, TARGET = Source(address="here"), Target(address="there")


class Frame(NamedTuple):
    """A frame that the engine sent."""

    performative: Any
    channel: int = 0
    payload: bytes = b""


def octets(text: str) -> bytes:
    """The octets that the hexadecimal digits stand for."""
    return bytes.fromhex(text)


def body(performative: object) -> bytes:
    """The octets of a performative."""
    out = bytearray()
    encode_composite(out, performative)
    return bytes(out)


def framed(content: object, payload: bytes = b"", *, channel: int = 0, kind: int = 0) -> bytes:
    """A frame around a performative, or around octets."""
    inside = (content if isinstance(content, bytes) else body(content)) + payload
    return (len(inside) + 8).to_bytes(4, "big") + bytes([2, kind]) + channel.to_bytes(2, "big") + inside


def split(data: bytes | bytearray) -> list[bytes]:
    """The frames of a stream, each as its octets."""
    found = []
    while data:
        size = int.from_bytes(data[:4], "big")
        assert 8 <= size <= len(data)
        found.append(bytes(data[:size]))
        data = data[size:]
    return found


def parsed(frame: bytes) -> Frame:
    """A frame's performative, channel and payload."""
    channel = int.from_bytes(frame[6:8], "big")
    start = 4 * frame[4]
    if start == len(frame):
        return Frame(None, channel)
    decoder = Decoder(frame, start, len(frame))
    performative = decode_composite(decoder)
    return Frame(performative, channel, frame[decoder.pos :])


class Arrival(NamedTuple):
    """What one `on_transfer` said, as it was at that moment."""

    tag: bytes
    octets: bytes
    is_partial: bool
    is_aborted: bool
    remote_settled: bool


class Events(Handler):
    """Keeps every event, in order, and what came with it."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.opens: list[Open] = []
        self.begins: list[Begin] = []
        self.attaches: list[Attach] = []
        self.violations: list[str] = []
        self.closed: list[Error | None] = []
        self.ended: list[Error | None] = []
        self.detached: list[tuple[str, bool, Error | None]] = []
        self.arrivals: list[Arrival] = []
        self.deliveries: list[Delivery] = []
        self.dispositions: list[Delivery] = []
        self.sessions: list[Session] = []
        self.links: list[Link] = []
        self.flows: list[Link] = []

    def on_authenticated(self, connection: Connection) -> None:
        self.names.append("authenticated")

    def on_authentication_failed(self, connection: Connection) -> None:
        self.names.append("authentication failed")

    def on_opened(self, connection: Connection, performative: Open) -> None:
        self.names.append("opened")
        self.opens.append(performative)

    def on_closed(self, connection: Connection, error: Error | None) -> None:
        self.names.append("closed")
        self.closed.append(error)

    def on_violation(self, connection: Connection, error: Any) -> None:
        self.names.append("violation")
        self.violations.append(error.condition)

    def on_session_begun(self, session: Session, performative: Begin) -> None:
        self.names.append("begun")
        self.sessions.append(session)
        self.begins.append(performative)

    def on_session_flow(self, session: Session) -> None:
        self.names.append("session flow")

    def on_session_ended(self, session: Session, error: Error | None) -> None:
        self.names.append("ended")
        self.ended.append(error)

    def on_link_attached(self, link: Link, performative: Attach) -> None:
        self.names.append("attached")
        self.links.append(link)
        self.attaches.append(performative)

    def on_link_flow(self, link: Link) -> None:
        self.names.append("link flow")
        self.flows.append(link)

    def on_link_detached(self, link: Link, closed: bool, error: Error | None) -> None:
        self.names.append("detached")
        self.detached.append((link.name, closed, error))

    def on_transfer(self, receiver: Receiver, delivery: Delivery, data: Any, start: int, end: int) -> None:
        self.names.append("transfer")
        self.deliveries.append(delivery)
        self.arrivals.append(
            Arrival(
                delivery.tag, bytes(data[start:end]), delivery.is_partial, delivery.is_aborted, delivery.remote_settled
            )
        )

    def on_disposition(self, delivery: Delivery) -> None:
        self.names.append("disposition")
        self.dispositions.append(delivery)


class Peer:
    """The engine under test, and our end of the transport to it."""

    def __init__(self, *, is_client: bool = False, sasl: Any = None, **config: Any) -> None:
        self.events = Events()
        self.now = 0.0
        self.engine = Connection(
            ConnectionConfig(container_id="engine", **config), self.events, is_client=is_client, sasl=sasl
        )
        self.engine.start(self.now)

    def send_octets(self, data: bytes) -> None:
        """Hand octets to the engine."""
        self.engine.receive_data(data, self.now)

    def send(self, *frames: object, channel: int = 0) -> None:
        """Hand frames to the engine: octets as they are, performatives in frames on the channel."""
        self.send_octets(
            b"".join(each if isinstance(each, bytes) else framed(each, channel=channel) for each in frames)
        )

    def octets_sent(self) -> bytes:
        """What the engine has to send."""
        return bytes(self.engine.data_to_send(self.now))

    def frames_sent(self) -> list[Frame]:
        """The frames that the engine has to send."""
        return [parsed(each) for each in split(self.octets_sent())]

    def sent(self) -> list[Any]:
        """The performatives of the frames that the engine has to send."""
        return [frame.performative for frame in self.frames_sent()]


def opened(peers_open: Open = OPEN, **config: Any) -> Peer:
    """A peer whose connection is open both ways."""
    peer = Peer(**config)
    peer.send(AMQP_HEADER, peers_open)
    peer.engine.open()
    peer.octets_sent()
    return peer


def check_closed_with(peer: Peer, condition: str) -> None:
    """All that the engine sends is a close with this condition."""
    (close,) = peer.sent()
    assert isinstance(close, Close)
    assert close.error is not None
    assert close.error.condition == condition
    assert peer.events.violations == [condition]


class SessionPeer(Peer):
    """A peer with a session of ours, answered by the engine; both use channel 0."""

    session: Session

    def __init__(self, *, begin: Begin | None = None, peers_open: Open | None = None, **config: Any) -> None:
        super().__init__(**config)
        self.send(AMQP_HEADER, peers_open or OPEN)
        self.engine.open()
        self.send(begin or Begin(next_outgoing_id=0, incoming_window=100, outgoing_window=100))
        self.session = self.events.sessions[-1]
        self.session.begin()
        self.octets_sent()

    def attached_sender(self, name: str = "out", *, credit: int = 0, handle: int = 0, **fields: Any) -> Sender:
        """A sender of the engine, attached by us, with credit."""
        self.send(Attach(name=name, handle=handle, role=True, source=SOURCE, target=TARGET, **fields))
        link = self.events.links[-1]
        assert isinstance(link, Sender)
        link.attach(source=SOURCE, target=TARGET, **_modes(fields))
        if credit:
            self.send(self.credit(credit, handle=handle))
        self.octets_sent()
        return link

    def attached_receiver(self, name: str = "in", *, credit: int = 0, handle: int = 0, **fields: Any) -> Receiver:
        """A receiver of the engine, attached by us, with credit granted."""
        fields.setdefault("initial_delivery_count", 0)
        own = {key: fields.pop(key) for key in ("max_message_size",) if key in fields}
        self.send(Attach(name=name, handle=handle, role=False, source=SOURCE, target=TARGET, **fields))
        link = self.events.links[-1]
        assert isinstance(link, Receiver)
        link.attach(source=SOURCE, target=TARGET, **_modes(fields), **own)
        if credit:
            link.grant(credit)
        self.octets_sent()
        return link

    def credit(self, credit: int, *, handle: int = 0, delivery_count: int | None = 0, **fields: Any) -> Flow:
        """A flow of ours that grants credit to a sender of the engine."""
        return Flow(
            next_incoming_id=0,
            incoming_window=100,
            next_outgoing_id=0,
            outgoing_window=100,
            handle=handle,
            delivery_count=delivery_count,
            link_credit=credit,
            **fields,
        )


def transfer(number: int, payload: bytes = b"m", *, handle: int = 0, channel: int = 0, **fields: Any) -> bytes:
    """The octets of a first or only transfer."""
    tag = fields.pop("delivery_tag", b"%d" % number)
    first = Transfer(handle=handle, delivery_id=number, delivery_tag=tag, message_format=0, **fields)
    return framed(first, payload, channel=channel)


def _modes(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: fields[key] for key in ("snd_settle_mode", "rcv_settle_mode") if key in fields}
