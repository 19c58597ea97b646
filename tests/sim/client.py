"""A client: it comes and goes, attaches and detaches, and tells the ledger what it sees."""

from collections.abc import Mapping
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any

from routerd.wire import Connection, ConnectionConfig, Handler, LinkState, Source, Target
from tests.sim.ledger import Ledger
from tests.sim.links import Consumer, Producer
from tests.sim.network import End, Line
from tests.sim.world import Broken

if TYPE_CHECKING:
    from tests.sim.clientele import Clientele

PARTING = frozenset({"amqp:connection:forced", None})
"""Why links end here: nobody does anything that is forbidden."""


class Draws:
    """The choices of a client."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.choice = random.choice
        self.randrange = random.randrange
        self.random = random.random

    def chance(self, probability: float) -> bool:
        """Return True that often."""
        return self._random.random() < probability


class Client(Handler):
    """One client, over one connection after the other."""

    options: Mapping[str, Any] = {}
    """What its connection is to the router beside that of a client."""

    def __init__(self, simulation: "Clientele", name: str) -> None:
        self.simulation = simulation
        self.name = name
        self.world = Draws(simulation.world.random)
        self.ledger: Ledger = simulation.ledger
        self.end: End | None = None
        self.line: Line | None = None
        self.connection: Connection | None = None
        self.worker = -1
        self.is_stripped = True
        self.is_open = False
        self.sessions: list[Any] = []
        self.shared: list[Any] = []
        """Those of the sessions on which links are attached at will."""
        self.producers: list[Producer] = []
        self.consumers: list[Consumer] = []
        self._names = count(1)
        self._is_flush_due = False
        self._replies: list[str] = []

    @property
    def is_finishing(self) -> bool:
        """Whether all is to come to an end: no more waiting."""
        return self.simulation.is_finishing

    @property
    def container_id(self) -> str:
        """What it calls itself to the router."""
        return self.name

    def later(self, seconds: float, call: Any, *arguments: Any) -> None:
        """Do something later."""
        self.simulation.world.later(seconds, call, *arguments)

    # --- coming and going

    def come(self, worker: int) -> None:
        """Connect."""
        config = ConnectionConfig(
            container_id=self.container_id,
            max_frame_size=self.world.choice((512, 700, 4096, 65_536)),
            incoming_window=self.world.choice((2, 5, 50, 2048)),
        )
        self.worker = worker
        self.connection = Connection(config, self, is_client=True)
        self.connection.open()
        self.line = self.simulation.connect(self, self.connection, worker)
        self.end = self.line.near
        self.connection.start(self.simulation.world.now)
        self.turn_ends()

    def leave(self) -> None:
        """Close the connection."""
        if self.is_open and self.connection is not None:
            self.is_open = False
            self.connection.close()
            self.turn_ends()

    def turn_ends(self) -> None:
        """Have what there is to say written soon."""
        if not self._is_flush_due:
            self._is_flush_due = True
            self.later(0.0, self._flush)

    def _flush(self) -> None:
        self._is_flush_due = False
        if self.end is not None:
            self.end.flush(self.simulation.world.now)

    # --- its end of the transport

    def received(self, end: End, octets: bytes) -> None:
        """Have the engine take octets."""
        end.connection.receive_data(octets, self.simulation.world.now)
        self.turn_ends()

    def lost(self, end: End) -> None:
        """The transport has ended."""
        self.is_open = False
        end.connection.transport_closed()
        self.end = self.line = self.connection = None
        self.sessions, self.shared, self.producers, self.consumers = [], [], [], []
        self.simulation.client_lost(self)

    def set_blocked(self, end: End, is_blocked: bool) -> None:
        """Write on when there is room again."""
        if not is_blocked:
            self.turn_ends()

    # --- links

    def begin(self) -> Any:
        """Begin a further session."""
        assert self.connection is not None
        session = self.connection.session()
        session.begin()
        self.sessions.append(session)
        self.turn_ends()
        return session

    def produce(self, address: str | None, *, target: Target | None = None) -> Producer:
        """Attach a link to send on; to anywhere when no address is given."""
        choice = self.world.choice
        # Messages of several frames that wait keep the window of their session closed to others (and might do so to
        # each other for ever), so who sends them has a session of its own.
        is_streaming = self.world.chance(0.3)
        link = (self.begin() if is_streaming else choice(self.shared)).sender(f"p{next(self._names)}")
        link.attach(
            source=Source(),
            target=target or Target(address=address),
            rcv_settle_mode=choice((0, 0, 0, 1)),
        )
        producer = Producer(
            self,
            link,
            address,
            is_settling=choice((0.0, 0.0, 0.3, 1.0)),
            is_streaming=is_streaming,
            leisure=choice((0.0, 0.0, 0.01, 0.3, 3.0, None)),
        )
        link.context = producer
        self.producers.append(producer)
        self.turn_ends()
        return producer

    def consume(self, address: str, *, source: Source | None = None, is_responder: bool = False) -> Consumer:
        """Attach a link to receive on."""
        choice = self.world.choice
        link = choice(self.shared).receiver(f"c{next(self._names)}")
        rcv_settle_mode = choice((0, 0, 0, 1))
        link.attach(
            source=source or Source(address=address),
            target=Target(),
            snd_settle_mode=choice((2, 2, 2, 2, 0, 1)),
            rcv_settle_mode=rcv_settle_mode,
            max_message_size=0 if self.simulation.is_calm else choice((0, 0, 0, 0, 400)),
        )
        consumer = Consumer(
            self,
            link,
            address,
            window=choice((0, 1, 2, 10, 100)),
            patience=choice((0.0, 0.01, 0.1, 5.0)),
            is_waiting=rcv_settle_mode == 1 or self.world.chance(0.3),
            is_responder=is_responder,
        )
        link.context = consumer
        self.consumers.append(consumer)
        self.simulation.consumer_came(consumer)
        if self.world.chance(0.3):
            link.set_credit(2, drain=self.world.chance(0.5))  # before the attach is answered
        self.turn_ends()
        return consumer

    def reply(self, address: str) -> None:
        """Answer a request, now or when there is credit."""
        self._replies.append(address)
        self.send_replies()

    def send_replies(self) -> None:
        """Send the answers for which there is credit."""
        for producer in self.producers:
            while producer.address is None and producer.can_send and self._replies:
                producer.send(self._replies.pop(0))

    # --- what the engine tells

    def on_opened(self, connection: Connection, performative: Any) -> None:
        """Begin sessions."""
        self.is_open = True
        for _ in range(self.world.choice((1, 1, 2))):
            self.shared.append(self.begin())
        self.simulation.client_opened(self)

    def on_closed(self, connection: Connection, error: Any) -> None:
        """All is over."""
        self.is_open = False
        if error is not None and error.condition not in PARTING:
            raise Broken(f"the connection of {self.name} is closed with {error!r}")

    def on_violation(self, connection: Connection, error: Any) -> None:
        """Nobody breaks the protocol here."""
        raise Broken(f"{self.name} finds that its worker broke the protocol: {error!r}")

    def on_link_attached(self, link: Any, performative: Any) -> None:
        """Begin to use a link."""
        if link.state is LinkState.ATTACHED and isinstance(link.context, Consumer):
            if performative.source is None:
                return  # it is being refused
            consumer = link.context
            if performative.source.dynamic:
                consumer.address = performative.source.address
            consumer.attached()

    def on_link_detached(self, link: Any, closed: bool, error: Any) -> None:
        """Forget a link."""
        if not link.is_sender:
            self.simulation.consumer_went(link.context)
        if error is not None and error.condition not in PARTING:
            raise Broken(f"link {link.name} of {self.name} is detached with {error!r}")
        self.producers = [each for each in self.producers if each.link is not link]
        self.consumers = [each for each in self.consumers if each.link is not link]

    def on_session_ended(self, session: Any, error: Any) -> None:
        """Forget a session."""
        self.sessions = [each for each in self.sessions if each is not session]
        self.shared = [each for each in self.shared if each is not session]

    def on_link_flow(self, link: Any) -> None:
        """Use new credit, and return what is drained."""
        if link.is_sender:
            self.send_replies()
            if self.is_finishing and link.context.stream is not None:
                link.context.go_on()
            if link.drain and link.credit > 0 and link.is_attached:
                link.drained()
        else:
            link.context.top_up()

    def on_transfer(self, receiver: Any, delivery: Any, data: bytes | bytearray, start: int, end: int) -> None:
        """Take a part of a message."""
        receiver.context.receive(delivery, bytes(data[start:end]))

    def on_disposition(self, delivery: Any) -> None:
        """Hear of a delivery."""
        if delivery.is_incoming:
            delivery.link.context.settled(delivery)
        else:
            delivery.link.context.told(delivery)

    def on_output(self, connection: Connection) -> None:
        """Write it soon."""
        self.turn_ends()
