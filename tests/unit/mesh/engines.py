"""Engines for tests: one that is fed by hand, and several that are joined by trunks of one millisecond."""

import heapq
from collections.abc import Iterable
from itertools import count

from routerd.mesh import (
    Command,
    ControlMessage,
    Hello,
    LinkStateUpdate,
    MeshConfig,
    RouterAdvertisement,
    RoutingEngine,
    SendControl,
)

TO = {
    "HELLO": "amqp:/_local/qdhello",
    "RA": "amqp:/_topo/0/all/qdrouter",
    "LSR": "amqp:/_topo/0/A/qdrouter",
    "LSU": "amqp:/_topo/0/A/qdrouter",
    "MAR": "amqp:/_topo/0/A/qdrouter.ma",
    "MAU": "_topo/0/all/qdrouter.ma",
}
"""Where messages to router A, or to all routers, are addressed to."""
DELAY_S = 0.001


def message_of(control, to=None, trace=None):
    """Return the message by which a router tells something."""
    mark = f"0/{control.id}"
    body = control.to_body()
    return ControlMessage(to or TO[control.OPCODE], control.OPCODE, body, mark, (mark,) if trace is None else trace)


def sent(commands: Iterable[Command], opcode=None):
    """Return the messages that commands send, with their trunks; of one opcode, if it is given."""
    found = [command for command in commands if isinstance(command, SendControl)]
    return [(one.trunk, one.message) for one in found if opcode in (None, one.message.opcode)]


def of_kind(commands, kind):
    """Return the commands of a kind."""
    return [command for command in commands if isinstance(command, kind)]


class Fed:
    """An engine, router A, whose neighbours are played by hand."""

    def __init__(self, resumed=None, now=0.0, **config):
        self.now = now
        self.engine = RoutingEngine(MeshConfig(router_id="A", **config), 11, now, resumed)

    def take(self):
        return self.engine.take_commands()

    def tell(self, trunk, *controls, to=None, trace=None):
        """Have the engine receive; return what it does."""
        for control in controls:
            self.engine.receive(trunk, message_of(control, to, trace), self.now)
        return self.take()

    def open(self, trunk, cost=1):
        self.engine.trunk_opened(trunk, cost, self.now)
        return self.take()

    def close(self, trunk):
        self.engine.trunk_closed(trunk, self.now)
        return self.take()

    def until(self, now):
        """Let time pass, and return what the engine does meanwhile."""
        while self.engine.next_deadline() <= now:
            self.now = max(self.now, self.engine.next_deadline())
            self.engine.tick(self.now)
        self.now = now
        return self.take()

    def adjoin(self, trunk, router, cost=1, instance=20):
        """Make a router a neighbour, and let the engine announce that."""
        self.open(trunk, cost)
        commands = self.tell(trunk, Hello(router, instance, ("A",)))
        return commands + self.until(self.now + 0.3)

    def learn(self, trunk, router, peers, ls_seq=1, mobile_seq=0, instance=20):
        """Have the engine learn the links of a router."""
        commands = self.tell(trunk, RouterAdvertisement(router, instance, ls_seq, mobile_seq))
        return commands + self.tell(trunk, LinkStateUpdate(router, instance, ls_seq, peers))

    def greet(self, until, *trunks, every=1.0):
        """Let time pass while neighbours (trunk, router) greet; return what the engine does meanwhile."""
        commands = []
        while self.now + every <= until:
            commands += self.until(self.now + every)
            for trunk, router in trunks:
                commands += self.tell(trunk, Hello(router, 20, ("A",)))
        return commands + self.until(until)


class Joined:
    """Engines, and trunks between them."""

    def __init__(self, ids: str, **config):
        self.now = 0.0
        self.config = config
        self.engines = {}
        self.commands = {id: [] for id in ids}
        self._ends = {}
        self._queue = []
        self._count = count()
        self._numbers = count(1)
        for id in ids:
            self.start(id)

    def start(self, id, resumed=None, instance=1):
        self.engines[id] = RoutingEngine(MeshConfig(router_id=id, **self.config), instance, self.now, resumed)

    def join(self, pairs, cost=1):
        """Open a trunk for each pair of letters; return their numbers at the ends."""
        numbers = []
        for one, other in pairs.split():
            here, there = next(self._numbers), next(self._numbers)
            self._ends[one, here], self._ends[other, there] = (other, there), (one, here)
            numbers.append((here, there))
            for id, number in ((one, here), (other, there)):
                self.engines[id].trunk_opened(number, cost, self.now)
                self._collect(id)
        return numbers

    def cut(self, id, number):
        """Lose a trunk at both ends."""
        other, there = self._ends.pop((id, number))
        del self._ends[other, there]
        for end, trunk in ((id, number), (other, there)):
            self.engines[end].trunk_closed(trunk, self.now)
            self._collect(end)

    def run(self, seconds):
        """Let time pass."""
        end = self.now + seconds
        while True:
            at, id = min((engine.next_deadline(), id) for id, engine in self.engines.items())
            if self._queue and self._queue[0][0] <= min(at, end):
                self.now, _, id, number, message = heapq.heappop(self._queue)
                if (id, number) in self._ends and id in self.engines:
                    self.engines[id].receive(number, message, self.now)
                    self._collect(id)
            elif at <= end:
                self.now = max(self.now, at)
                self.engines[id].tick(self.now)
                self._collect(id)
            else:
                break
        self.now = end

    def take(self, id):
        """Return what a router did since the last call."""
        commands, self.commands[id] = self.commands[id], []
        return commands

    def _collect(self, id):
        for command in self.engines[id].take_commands():
            self.commands[id].append(command)
            if isinstance(command, SendControl) and (id, command.trunk) in self._ends:
                other, there = self._ends[id, command.trunk]
                heapq.heappush(self._queue, (self.now + DELAY_S, next(self._count), other, there, command.message))
