"""The clients of a simulated router or mesh, and what is asked about them and their messages."""

from itertools import count

from routerd.core import AddressSettings, Distribution, RouterSettings
from routerd.wire import Connection, ConnectionConfig
from tests.sim.client import Client
from tests.sim.host import Host
from tests.sim.ledger import Sent
from tests.sim.links import Consumer
from tests.sim.network import Line
from tests.sim.world import Broken, World

SETTINGS = RouterSettings(
    id="R",
    addresses=(
        AddressSettings(pattern="multicast/#", distribution=Distribution.MULTICAST),
        AddressSettings(pattern="closest/#", distribution=Distribution.CLOSEST),
        AddressSettings(pattern="again/#", resends_released=True),
    ),
)


class Clientele:
    """Clients that come and go, and the hosts that they come to."""

    trouble_s: float
    """How long what went wrong may still cost messages."""

    def __init__(self, seed: int, *, is_calm: bool) -> None:
        self.world = World(seed)
        self.is_calm = is_calm
        """Whether nothing goes wrong, and no consumer leaves."""
        self.settings = SETTINGS
        self.capacities: tuple[int, ...] = ()
        self.epoch = 0
        """How often something went wrong, for which messages may have to be given up."""
        self.is_finishing = False
        self.clients: list[Client] = []
        self.absent: list[Client] = []
        self.lines: list[Line] = []
        self.settling_addresses: set[str] = set()
        self._losses: dict[str, float] = {}
        self._names = count(1)
        self._tokens = count(1)

    def host_of(self, index: int) -> Host:
        """Return whom a client comes to."""
        raise NotImplementedError

    def token(self) -> str:
        """What dynamic addresses and names of links are made of."""
        return f"t{next(self._tokens)}"

    def note(self, text: str) -> None:
        """Record what happens."""
        self.world.note(text)

    # --- clients

    def new_client(self) -> Client:
        """Have one more client."""
        client = Client(self, f"client{next(self._names)}")
        client.is_stripped = self.world.chance(0.8)
        self.clients.append(client)
        self.absent.append(client)
        return client

    def connect(self, client: Client, connection: Connection, worker: int) -> Line:
        """Make a transport for a client."""
        host = self.host_of(worker)
        random = self.world.random
        config = ConnectionConfig(
            container_id=host.router.router_id,
            incoming_window=random.choice((4, 30, 512)),
            max_frame_size=random.choice((512, 4096, 65_536)),
        )
        server = host.accept(
            config,
            capacity=random.choice(self.capacities),
            strips_in=client.is_stripped,
            strips_out=True,
            **client.options,
        )
        line = Line(self.world, connection, client, server, host, random.choice((0.0, 0.001, 0.01)))
        self.lines = [each for each in self.lines if not each.is_over]
        self.lines.append(line)
        host.joined_by(line, line.far)
        return line

    def client_opened(self, client: Client) -> None:
        """A client is there."""

    def client_lost(self, client: Client) -> None:
        """A client has lost its connection, or closed it."""
        self.note(f"{client.name} is off")
        self.absent.append(client)

    def consumer_came(self, consumer: Consumer) -> None:
        """A consumer attaches, and its attach is answered."""
        if consumer.wants_settled:
            self.settling_addresses.add(consumer.address)

    def consumer_went(self, consumer: Consumer) -> None:
        """A consumer's link is over."""
        self._losses[consumer.address] = self.world.now

    # --- their messages

    def had_trouble_since(self, sent: Sent) -> bool:
        """Whether a message may have had to be given up."""
        return sent.epoch != self.epoch or sent.began_in_trouble

    def lost_consumer_since(self, sent: Sent) -> bool:
        """Whether a consumer of its address has gone since a message was sent, or was just not known to have gone."""
        return self._losses.get(sent.address, 0.0) > sent.sent_at - self.trouble_s

    def has_settling_consumer(self, address: str) -> bool:
        """Whether there ever was one that wants all settled: what went to it is accepted once it has left."""
        return address in self.settling_addresses

    def consumers_of(self, address: str) -> list[Consumer]:
        """The consumers of an address that attach or are attached."""
        return [each for client in self.clients for each in client.consumers if each.address == address]

    def check_settlements(self) -> None:
        """Check, when all is quiet, that what is unsettled with its producer is so with a consumer.

        Routers settle after the last octets only, so messages that are under way still, or were aborted, do not count.
        """
        for client in self.clients:
            for producer in client.producers:
                for delivery in producer.unsettled if producer.is_attached else ():
                    sent: Sent = delivery.context
                    waits = any(each.is_waiting and each.consumer.is_attached for each in sent.receipts)
                    if sent.is_complete and not waits:
                        raise Broken(f"all is quiet, no consumer waits, and nobody has settled {sent}")

    def check_nobody_waits(self) -> None:
        """Check, when all messages have come to an end, that no client has an unsettled one."""
        for client in self.clients:
            for end in (*client.producers, *client.consumers):
                if end.is_attached and end.link.unsettled_count:
                    raise Broken(f"all has come to an end, and {end} has {end.link.unsettled_count} unsettled")

    def finish_some(self) -> bool:
        """Have consumers decide and grant, and streams go on; whether there was anything to do."""
        has_more = False
        for client in self.clients:
            for consumer in client.consumers:
                if consumer.is_attached and consumer.undecided:
                    has_more = True
                    for delivery in list(consumer.undecided):
                        consumer.decide(delivery)
                if consumer.is_attached and consumer.link.credit == 0:
                    has_more = True
                    consumer.top_up()
            for producer in client.producers:
                if producer.is_attached and producer.stream is not None:
                    has_more = True
                    producer.go_on()
                if producer.is_attached and producer.unsettled:
                    has_more = True
                    for delivery in list(producer.unsettled):
                        producer.settle(delivery)
        return has_more
