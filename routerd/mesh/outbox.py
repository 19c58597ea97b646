"""The commands of an engine, and the trunks for its messages (2.3, 3.1)."""

from collections.abc import Container, Hashable
from typing import Any, Literal

from routerd.mesh.commands import Command, Remark, SendControl
from routerd.mesh.hello import Neighbours
from routerd.mesh.messages import AREA, TO_NEIGHBOURS, Control, ControlMessage, Hello
from routerd.mesh.remarks import Remarks
from routerd.mesh.topology import Topology
from routerd.mesh.transit import FloodMemory


class Outbox:
    """The commands so far, in order."""

    def __init__(
        self, own_id: str, neighbours: Neighbours, topology: Topology, known: Container[str] = frozenset()
    ) -> None:
        """`known` are the routers that have been heard of."""
        self._mark = f"{AREA}/{own_id}"
        self._neighbours = neighbours
        self._topology = topology
        self._known = known
        self._remarks = Remarks()
        self._floods = FloodMemory()
        self._commands: list[Command] = []
        self._detours = 0

    def take(self) -> list[Command]:
        """Return the commands since the last call."""
        commands, self._commands = self._commands, []
        return commands

    def put(self, command: Command) -> None:
        """Add a command."""
        self._commands.append(command)

    def remark(self, level: Literal["warning", "info", "debug"], text: str, *cause: Hashable) -> None:
        """Log a sentence, once for each cause if there is one."""
        remark = Remark(level, text)
        self._commands += self._remarks.once(remark, *cause) if cause else [remark]

    def greet(self, trunk: int, hello: Hello) -> None:
        """Send a greeting on a trunk."""
        self._send(trunk, self._own(TO_NEIGHBOURS, hello))

    def can_reach(self, router: str) -> bool:
        """Return whether a message to a router can leave now."""
        route = self._topology.routes.nodes.get(router)
        return route is not None and self._neighbours.is_open(route.trunk)

    def send(self, router: str, endpoint: str, opcode: str, body: dict[str, Any]) -> None:
        """Send to a reachable router."""
        to = f"amqp:/_topo/{AREA}/{router}/{endpoint}"
        trunk = self._topology.routes.nodes[router].trunk
        self._send(trunk, ControlMessage(to, opcode, body, self._mark, (self._mark,)))

    def answer(self, trunk: int, router: str, endpoint: str, opcode: str, body: dict[str, Any]) -> None:
        """Answer a router, by the trunk of its question if there is no path to it yet."""
        if self.can_reach(router):
            self.send(router, endpoint, opcode, body)
        else:
            to = f"amqp:/_topo/{AREA}/{router}/{endpoint}"
            self._send(trunk, ControlMessage(to, opcode, body, self._mark, (self._mark,)))

    def flood(self, to: str, control: Control, except_by: Container[str] = frozenset()) -> None:
        """Send to all routers, except by way of some neighbours."""
        message = self._own(to, control)
        for mark, trunk in self._topology.ways:
            if self._neighbours.is_open(trunk) and mark.removeprefix(f"{AREA}/") not in except_by:
                self._send(trunk, message)

    def pass_on(self, message: ControlMessage, router: str) -> None:
        """Send another router's message on towards its destination."""
        if not self._is_passable(message):
            return
        route = self._topology.routes.nodes.get(router)
        trunk: int | None = None
        if route is not None and self._neighbours.is_open(route.trunk) and not _has_passed(message, route.next_hop):
            trunk = route.trunk
        elif router in self._known and not _has_passed(message, router):
            trunk = self._detour(message)
        if trunk is not None:
            self._send(trunk, self._passed(message))

    def _detour(self, message: ControlMessage) -> int | None:
        """Return another trunk for a message whose way is not known yet, or leads back to where it came from.

        The routers there and here disagree, and such messages bring them to agreement. It would take long if each
        waited for the others. A message that is sent again takes another path. None goes further than twice across the
        mesh.
        """
        if len(message.trace) > 2 * self._topology.routes.radius:
            return None
        ways = [way for mark, way in self._topology.ways if mark not in message.trace and self._neighbours.is_open(way)]
        self._detours += 1
        return ways[self._detours % len(ways)] if ways else None

    def forget_floods(self, router: str) -> None:
        """Take the next messages of a router to all others as new."""
        self._floods.forget(f"{AREA}/{router}")

    def pass_on_to_all(self, trunk: int, message: ControlMessage, now: float) -> bool:
        """Send another router's message on to routers that may not have it; return whether it is new here."""
        if not self._is_passable(message):
            return True
        radius = self._topology.routes.radius
        knowing, is_new = self._floods.trunks_that_know(message, message.ingress or self._mark, radius, now)
        knowing.add(trunk)
        passed: ControlMessage | None = None
        for mark, way in self._topology.ways:
            if way in knowing or not self._neighbours.is_open(way):
                continue
            knowing.add(way)
            # A router that passed it on has it, although another copy has come.
            if mark not in message.trace:
                passed = passed or self._passed(message)
                self._send(way, passed)
        return is_new

    def is_own(self, message: ControlMessage) -> bool:
        """Return whether a message has been here before."""
        return message.ingress == self._mark or self._mark in message.trace

    def _is_passable(self, message: ControlMessage) -> bool:
        # The radius bounds no way: it counts the hops of the cheapest paths from here, and other ways have more. None
        # has more hops than there are routers, and whoever finds itself in the trace stops the message.
        return len(message.trace) <= len(self._topology.routes.nodes) + 1

    def _passed(self, message: ControlMessage) -> ControlMessage:
        trace = (*message.trace, self._mark)
        return ControlMessage(message.to, message.opcode, message.body, message.ingress or self._mark, trace)

    def _own(self, to: str, control: Control) -> ControlMessage:
        return ControlMessage(to, control.OPCODE, control.to_body(), self._mark, (self._mark,))

    def _send(self, trunk: int, message: ControlMessage) -> None:
        self._commands.append(SendControl(trunk, message))


def _has_passed(message: ControlMessage, router: str) -> bool:
    return f"{AREA}/{router}" in message.trace
