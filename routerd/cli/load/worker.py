"""One process of a run: connects, attaches, sends and receives as the conductor commands."""

import contextlib
import os
import resource
import signal
import socket
import time
from multiprocessing.connection import Connection as Pipe
from typing import Any, cast

from routerd.cli.load.line import Line
from routerd.cli.load.listener import Listener
from routerd.cli.load.loop import Loop
from routerd.cli.load.messages import Answer, Ask, Broken, Command, Connect, Go, Listening, Ready, Sample
from routerd.cli.load.meter import NEVER_NS, Meter
from routerd.cli.load.plan import Mode, Part, Side
from routerd.cli.load.roles import Consuming, Producing, Requesting, Responding, Role, Standing
from routerd.cli.load.welcome import Welcome
from routerd.wire import ConnectionConfig
from routerd.wire.sasl import AnonymousClient, SaslClient

OPENING_MAX = 128
"""Connections that are being opened at a time: more would overrun the queue of a listener."""
CONNECT_WITHIN_S = 5.0
CLOSE_WITHIN_S = 1.0
_TURN_S = 0.5
_NS_PER_S = 1_000_000_000


class CannotRun(Exception):
    """This process cannot do its part; the message says why."""


class Worker:
    """Does one part of a plan."""

    def __init__(self, part: Part, pipe: "Pipe[Answer, Command]") -> None:
        self._part = part
        self._plan = part.plan
        self._pipe = pipe
        self._meter = Meter()
        if not self._plan.sending and self._plan.warmup_s == 0:
            # Nobody says when the messages of others begin to count.
            self._meter.measure_from_ns = 0
        self._loop = Loop(self._meter)
        self._loop.is_attach_held = self._plan.mode is Mode.ATTACH
        self._is_sending = Side.SENDING in part.sides
        self._listener: Listener | None = None
        self._producers: list[Producing] = []
        self._to_open: list[tuple[tuple[str, int], list[Role]]] = []
        self._lines: list[Line] = []
        self._attaches_wanted = 0
        self._tls: Any = None
        self._is_connecting = False
        self._is_gone = False
        self._is_done = False
        self._is_stopped = False

    def run(self) -> None:
        """Turn until the conductor says stop, or is gone."""
        self._loop.watch(self._pipe.fileno(), self._obey)
        try:
            if Side.RECEIVING in self._part.sides and (self._plan.is_direct or self._plan.is_listening):
                self._listen()
            while not self._is_stopped:
                self._loop.turn(_TURN_S)
                if self._to_open:
                    self._open_more()
                if self._is_connecting and self._loop.is_changed:
                    self._loop.is_changed = False
                    self._see_whether_ready()
                if self._is_gone and not self._is_done:
                    self._see_whether_done()
            self._close()
            self._tell(Sample(self._meter.tally(), self._is_done))
        except CannotRun as error:
            self._tell(Broken(str(error)))

    # Commands

    def _tell(self, answer: Answer) -> None:
        # A conductor that is gone wants no answer.
        with contextlib.suppress(ConnectionError):
            self._pipe.send(answer)

    def _obey(self) -> None:
        try:
            command = self._pipe.recv()
        except (EOFError, ConnectionError):
            self._is_stopped = True
            return
        if isinstance(command, Connect):
            self._connect(command)
        elif isinstance(command, Go):
            self._go(command)
        elif isinstance(command, Ask):
            self._tell(Sample(self._meter.tally(), self._is_done))
        else:
            self._is_stopped = True

    def _listen(self) -> None:
        plan = self._plan
        welcome = Welcome(
            self._meter, is_responding=plan.responders > 0, is_settled=plan.is_settled, credit=plan.credit
        )
        host, port = (plan.host, plan.port) if plan.is_listening else ("127.0.0.1", 0)
        try:
            self._listener = Listener(self._loop, host, port, self._config("listener"), welcome)
        except OSError as error:
            raise CannotRun(f"can't listen on {host}:{port}: {_reason(error)}") from error
        self._tell(Listening(self._listener.host, self._listener.port))
        if not self._is_sending:
            self._tell(Ready())

    def _connect(self, command: Connect) -> None:
        self._is_connecting = True
        receiving = self._grouped(self._receiving_roles())
        sending = self._grouped(self._sending_roles())
        if self._plan.mode is not Mode.TRAFFIC:
            sending = [self._standing_roles(number) for number in self._part.standing]
        self._to_open = [(command.sending, roles) for roles in reversed(sending)]
        self._to_open += [(command.receiving, roles) for roles in reversed(receiving)]
        self._attaches_wanted = sum(len(roles) for _, roles in self._to_open)
        self._open_more()

    def _go(self, command: Go) -> None:
        meter, plan = self._meter, self._plan
        self._is_gone = True
        if plan.sending or plan.warmup_s:
            meter.measure_from_ns = command.measure_from_ns
        meter.until_ns = command.until_ns
        meter.quota = self._part.quota or NEVER_NS
        meter.is_sending = self._is_sending
        if self._producers and plan.rate:
            self._loop.is_timed = True
            now_ns = time.monotonic_ns()
            for number, producer in enumerate(self._producers, self._part.sending.start):
                # Senders take turns, so that together they are as even as one.
                producer.schedule(now_ns + int(number / plan.rate * _NS_PER_S))
        for line in self._lines:
            if plan.mode is Mode.ATTACH:
                line.start_roles()
            line.wake()

    # Links

    def _grouped(self, roles: list[Role]) -> list[list[Role]]:
        count = min(self._plan.connections, len(roles)) or len(roles)
        return [roles[number::count] for number in range(count)]

    def _sending_roles(self) -> list[Role]:
        plan, meter = self._plan, self._meter
        if plan.requesters:
            return [
                Requesting(
                    meter,
                    f"requester-{number}",
                    plan.address_of(number),
                    plan.size,
                    plan.is_settled,
                    plan.in_flight,
                    plan.credit,
                )
                for number in self._part.sending
            ]
        interval_ns = int(plan.sending / plan.rate * _NS_PER_S) if plan.rate else 0
        self._producers = [
            Producing(meter, f"sender-{number}", plan.address_of(number), plan.size, plan.is_settled, interval_ns)
            for number in self._part.sending
        ]
        return [*self._producers]

    def _receiving_roles(self) -> list[Role]:
        plan, meter = self._plan, self._meter
        if self._listener is not None:
            return []
        if plan.responders:
            return [
                Responding(meter, f"responder-{number}", plan.address_of(number), plan.is_settled, plan.credit)
                for number in self._part.receiving
            ]
        return [
            Consuming(meter, f"receiver-{number}", plan.address_of(number), plan.credit)
            for number in self._part.receiving
        ]

    def _standing_roles(self, connection: int) -> list[Role]:
        plan = self._plan
        numbers = range(connection * plan.links, (connection + 1) * plan.links)
        return [Standing(self._meter, f"receiver-{number}", plan.address_of(number)) for number in numbers]

    # Connections

    def _open_more(self) -> None:
        while self._to_open and len(self._lines) - self._loop.open_count < OPENING_MAX:
            place, roles = self._to_open.pop()
            try:
                sock = self._connected(place)
            except OSError as error:
                raise CannotRun(f"can't connect to {place[0]}:{place[1]}: {_reason(error)}") from error
            line = Line(
                self._loop,
                sock,
                self._config(f"{os.getpid()}-{len(self._lines)}"),
                self._meter,
                roles,
                is_client=True,
                sasl=SaslClient([AnonymousClient()], hostname=self._plan.hostname) if self._plan.is_sasl else None,
            )
            self._lines.append(line)
            self._loop.add(line)

    def _connected(self, place: tuple[str, int]) -> socket.socket:
        sock = socket.create_connection(place, CONNECT_WITHIN_S)
        # Most runs are without these, and need not wait for their imports. To a line, each of them is a socket.
        if self._plan.is_tls:
            from routerd.cli.load.tls import TlsSocket, context_of

            if self._tls is None:
                self._tls = context_of(self._plan.ca_file)
            sock = cast(socket.socket, TlsSocket(sock, self._tls, place[0]))
        if self._plan.is_websocket:
            from routerd.cli.load.websocket import WebSocketSocket

            sock = cast(socket.socket, WebSocketSocket(sock, f"{place[0]}:{place[1]}"))
        return sock

    def _config(self, name: str) -> ConnectionConfig:
        return ConnectionConfig(container_id=f"routerbench-{name}", hostname=self._plan.hostname)

    def _see_whether_ready(self) -> None:
        if self._meter.failures:
            raise CannotRun(self._meter.failures[0])
        if self._to_open or self._loop.open_count < len(self._lines):
            return
        if self._loop.is_attach_held or all(role.is_ready for line in self._lines for role in line.roles):
            self._is_connecting = False
            self._tell(Ready())

    def _see_whether_done(self) -> None:
        meter = self._meter
        if self._plan.mode is Mode.ATTACH:
            self._is_done = meter.attached >= self._attaches_wanted
        elif self._plan.mode is Mode.IDLE:
            self._is_done = time.monotonic_ns() >= meter.until_ns
        elif self._is_sending:
            if meter.is_sending and time.monotonic_ns() >= meter.until_ns:
                meter.is_sending = False
            is_sent = not meter.is_sending and meter.outstanding == 0
            is_lost = all(line.is_over for line in self._lines)
            self._is_done = is_lost or (is_sent and not any(line.is_blocked or line.is_awake for line in self._lines))
        if self._is_done:
            self._tell(Sample(meter.tally(), True))

    def _close(self) -> None:
        if self._listener is not None:
            self._listener.close()
        for line in list(self._loop.lines.values()):
            line.close()
        give_up_at = time.monotonic() + CLOSE_WITHIN_S
        while self._loop.lines and time.monotonic() < give_up_at:
            self._loop.turn(0.1)


def _reason(error: OSError) -> str:
    # The text of an error of socket's own functions may say more than what is wrong.
    return os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or str(error)


def main(part: Part, pipe: "Pipe[Answer, Command]", ends_of_conductor: "list[Pipe[Command, Answer]]") -> None:
    """Run a worker; signals to end are for the conductor alone, which says stop, or is gone."""
    for end in ends_of_conductor:
        # The copies that a fork makes would hide that the conductor is gone.
        end.close()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    Worker(part, pipe).run()
