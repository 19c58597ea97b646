"""What can happen next: the clients' wishes, and the network's and the workers' misfortunes."""

from collections.abc import Callable
from typing import Any

from routerd.wire import SessionState, Source
from tests.sim.client import Client
from tests.sim.network import Line
from tests.sim.simulation import Simulation

ADDRESSES = ("orders", "offers", "closest/x", "multicast/x", "multicast/y", "_local/z", "again/x")
SERVICE = "service"
CLIENTS_MAX = 8
LINKS_MAX = 6
"""Of each kind, of one client."""

Choice = tuple[float, Callable[[], object]]
"""What can be done, behind how often it is."""


class Actions:
    """Chooses what happens, and has it happen."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._random = simulation.world.random
        misfortunes: list[Choice] = [
            (1, self.cut),
            (0.5, self.half_close),
            (5, self.stall),
            (0.5, self.kill_worker),
            (0.5, self.hang_worker),
            (0.3, self.drain_worker),
            (0.5, self.kill_table),
            (1, self.cut_fabric),
            (4, self.stall_fabric),
            (0.5, self.part_siblings),
            (0.5, self.give_up_worker),
            (2, self.doubt),
        ]
        luck = self._random.choice((0.1, 0.5, 2.0))
        choices = self.peaceful()
        if not simulation.is_calm:
            choices += self.fickle() + [(luck * weight, action) for weight, action in misfortunes]
        self._choose_from(choices)
        for action in (self.come, self.consume, self.produce) * 4:
            action()
            simulation.world.run_for(0.1)

    def peaceful(self) -> list[Choice]:
        """What clients do that want nothing but messages, and how often."""
        return [
            (10, self.come),
            (8, self.consume),
            (8, self.produce),
            (5, self.request),
            (2, self.respond),
            (60, self.send),
            (20, self.go_on),
            (10, self.grant),
        ]

    def fickle(self) -> list[Choice]:
        """What clients do that change their minds, and how often."""
        return [
            (3, self.detach_consumer),
            (3, self.change_consumer),
            (2, self.detach_producer),
            (3, self.abort),
            (1, self.forget),
            (2, self.drain),
            (2, self.take_back),
            (0.5, self.end_session),
            (1, self.leave),
        ]

    def _choose_from(self, choices: list[Choice]) -> None:
        self._choices = [action for _, action in choices]
        self._weights = [weight for weight, _ in choices]

    def step(self) -> None:
        """Do something, and let some time pass."""
        [action] = self._random.choices(self._choices, self._weights)
        action()
        simulation = self._simulation
        simulation.world.run_for(self._random.choice((0.0, 0.001, 0.005, 0.02, 0.1)))

    # --- clients

    def _open(self) -> Client | None:
        return self._one([each for each in self._simulation.clients if each.is_open and each.shared])

    def _one(self, options: Any) -> Any:
        return self._random.choice(options) if options else None

    def come(self) -> None:
        """A client connects, for the first time or again."""
        simulation = self._simulation
        hosts = [each.index for each in simulation.hosts.values() if not each.is_draining]
        if not simulation.absent and len(simulation.clients) < CLIENTS_MAX:
            simulation.new_client()
        if simulation.absent and hosts:
            client = simulation.absent.pop(0)
            worker = self._random.choice(hosts)
            simulation.note(f"{client.name} comes to worker {worker}")
            client.come(worker)

    def leave(self) -> None:
        """A client closes its connection."""
        client = self._open()
        if client:
            self._simulation.note(f"{client.name} leaves")
            client.leave()

    def consume(self) -> None:
        """A client wants messages."""
        client = self._open()
        if client and len(client.consumers) < LINKS_MAX:
            self._note_consumer(client.consume(self._random.choice(ADDRESSES)))

    def _note_consumer(self, consumer: Any) -> None:
        self._simulation.note(f"{consumer} of {consumer.address}, window {consumer.window}")

    def produce(self) -> None:
        """A client wants to send."""
        client = self._open()
        if client and len(client.producers) < LINKS_MAX:
            producer = client.produce(self._random.choice((*ADDRESSES, None)))
            self._simulation.note(f"{producer} to {producer.address}")

    def request(self) -> None:
        """A client asks for a service, and wants the answer at an address of its own, by way of the network."""
        client = self._open()
        if client is None:
            return
        replies = self._one([each for each in client.consumers if each.address.startswith("amqp:/")])
        service = self._one([each for each in client.producers if each.address == SERVICE])
        if replies is None and len(client.consumers) < LINKS_MAX:
            self._note_consumer(client.consume("dynamic", source=Source(dynamic=True)))
        elif service is None:
            client.produce(SERVICE)
        elif replies is not None and service.can_send:
            service.send(SERVICE, reply_to=replies.address)

    def respond(self) -> None:
        """A client offers a service."""
        client = self._open()
        if client and len(client.consumers) < LINKS_MAX:
            if not [each for each in client.producers if each.address is None]:
                client.produce(None)
            self._note_consumer(client.consume(SERVICE, is_responder=True))

    def _producer(self) -> Any:
        client = self._open()
        return client and self._one(client.producers)

    def _consumer(self) -> Any:
        client = self._open()
        return client and self._one(client.consumers)

    def send(self) -> None:
        """A producer sends as much as it may, or less."""
        producer = self._producer()
        if producer is None:
            return
        for _ in range(self._random.choice((1, 1, 3, 20))):
            address = producer.address or self._random.choice((*ADDRESSES, "nobody"))
            if producer.can_send and (producer.address or self._is_wanted(address)):
                producer.send(address)

    def _is_wanted(self, address: str) -> bool:
        return not self._simulation.is_calm or any(each.is_attached for each in self._simulation.consumers_of(address))

    def go_on(self) -> None:
        """A producer sends more of a message."""
        producer = self._streaming()
        if producer:
            producer.go_on()

    def _streaming(self) -> Any:
        return self._one([each for client in self._simulation.clients for each in client.producers if each.stream])

    def abort(self) -> None:
        """A producer gives up a message."""
        producer = self._streaming()
        if producer:
            self._simulation.note(f"{producer} aborts {producer.stream[0].context.number}")
            producer.abort()

    def forget(self) -> None:
        """A producer settles what it does not want to know of any more."""
        producer = self._producer()
        if producer and producer.is_attached:
            self._simulation.note(f"{producer} settles")
            producer.forget()

    def detach_producer(self) -> None:
        """A producer goes."""
        producer = self._producer()
        if producer and producer.is_attached:
            self._detach(producer)

    def detach_consumer(self) -> None:
        """A consumer goes."""
        consumer = self._consumer()
        if consumer and consumer.is_attached:
            self._detach(consumer)

    def _detach(self, end: Any) -> None:
        self._simulation.note(f"{end} detaches")
        end.link.detach(closed=self._random.random() < 0.5)
        end.client.turn_ends()

    def change_consumer(self) -> None:
        """A consumer goes, and another one comes for it."""
        consumer = self._consumer()
        if consumer and consumer.is_attached and consumer.address in ADDRESSES and consumer.client.shared:
            self._detach(consumer)
            client, address = consumer.client, consumer.address
            self._simulation.world.later(self._random.choice((0.0, 0.05, 0.3)), self._replace, client, address)

    def _replace(self, client: Client, address: str) -> None:
        if client.is_open and client.shared:
            self._note_consumer(client.consume(address))

    def end_session(self) -> None:
        """A client ends a session with all its links."""
        client = self._open()
        if client:
            session = self._random.choice(client.sessions)
            if session.state is SessionState.MAPPED:
                self._simulation.note(f"{client.name} ends session {session.channel}")
                session.end()
                client.sessions.remove(session)
                client.shared = [each for each in client.shared if each is not session]
                client.turn_ends()

    def grant(self) -> None:
        """A consumer gives credit."""
        consumer = self._consumer()
        if consumer and consumer.is_attached:
            consumer.link.grant(self._random.choice((1, 2, 10)))
            consumer.client.turn_ends()

    def drain(self) -> None:
        """A consumer wants what there is, and no more."""
        consumer = self._consumer()
        if consumer and consumer.is_attached:
            self._simulation.note(f"{consumer} drains")
            consumer.link.set_credit(max(1, consumer.link.credit), drain=True)
            consumer.client.turn_ends()

    def take_back(self) -> None:
        """A consumer takes its credit back."""
        consumer = self._consumer()
        if consumer and consumer.is_attached:
            self._simulation.note(f"{consumer} takes its credit back")
            consumer.link.set_credit(0)
            consumer.client.turn_ends()

    # --- the network

    def _line(self, *, is_fabric: bool) -> Line | None:
        lines = self._simulation.lines
        return self._one([each for each in lines if each.is_whole and isinstance(each.near.owner, Client) != is_fabric])

    def cut(self) -> None:
        """A client's transport breaks."""
        line = self._line(is_fabric=False)
        if line:
            self._simulation.note("a client's transport breaks")
            line.cut()

    def half_close(self) -> None:
        """A client's transport closes in one direction."""
        line = self._line(is_fabric=False)
        if line:
            self._simulation.note("a client's transport closes by half")
            line.half_close(self._random.choice(line.ends))

    def stall(self) -> None:
        """One end of a client's transport does not read for a while."""
        line = self._line(is_fabric=False)
        if line:
            line.stall(self._random.choice(line.ends), self._random.choice((0.01, 0.1, 1.0)))

    def stall_fabric(self) -> None:
        """A worker does not read from another for a while."""
        line = self._line(is_fabric=True)
        if line:
            line.stall(self._random.choice(line.ends), self._random.choice((0.01, 0.1, 1.0)))

    def cut_fabric(self) -> None:
        """A transport between two workers breaks."""
        line = self._line(is_fabric=True)
        if line:
            self._simulation.note("a transport between workers breaks")
            self._simulation.trouble()
            line.cut()

    def part_siblings(self) -> None:
        """For a while no connection between workers can be made."""
        self._simulation.note("workers cannot connect")
        self._simulation.unreachable_until = self._simulation.world.now + self._random.uniform(0.1, 0.5)

    # --- workers and the table

    def _host(self) -> Any:
        return self._one([each for each in self._simulation.hosts.values() if not each.is_hung])

    def kill_worker(self) -> None:
        """A worker dies."""
        host = self._host()
        if host:
            self._simulation.kill_worker(host)

    def hang_worker(self) -> None:
        """A worker hangs for a while, and may be taken for dead."""
        host = self._host()
        if host and not self._simulation.is_alone:
            seconds = self._random.uniform(0.05, 2.0)
            self._simulation.note(f"worker {host.index} hangs for {seconds:.2f} s")
            self._simulation.trouble()
            host.hang(seconds)
            if self._random.random() < 0.5:
                self._simulation.world.later(seconds / 2, self._simulation.give_up, host.sibling)

    def drain_worker(self) -> None:
        """A worker ends in order, and starts again."""
        host = self._host()
        if host and not host.is_draining:
            self._simulation.note(f"worker {host.index} drains")
            self._simulation.trouble()
            host.drain(self._random.choice((0.0, 0.1, 1.0)))

    def give_up_worker(self) -> None:
        """The table takes a worker for dead that is not."""
        host = self._host()
        if host and not self._simulation.is_alone:
            self._simulation.give_up(host.sibling)

    def doubt(self) -> None:
        """The table takes a delta for lost."""
        host = self._host()
        if host and not self._simulation.is_alone:
            self._simulation.table.doubt(host.sibling)

    def kill_table(self) -> None:
        """The table dies."""
        if self._simulation.table.is_alive and not self._simulation.is_alone:
            self._simulation.kill_table()
