"""An AMQP peer built on our engine: `python -m tests.interop.engine.peer client|server SCENARIO [OPTIONS]`.

It takes the options, and prints the facts, of ../peers/proton_peer.py; see ../README.md.
"""

import json
import socket
import sys
import time
from collections import Counter
from typing import Any

from routerd.wire import (
    Attach,
    Begin,
    Connection,
    ConnectionConfig,
    ConnectionState,
    Delivery,
    Error,
    Handler,
    Link,
    Open,
    Receiver,
    RemoteError,
    Session,
    Source,
    Target,
)
from tests.interop.engine.credentials import HOST, client_side, server_side
from tests.interop.engine.links import Receiving, Sending, error_fact, error_of
from tests.interop.engine.recovery import ResumedReceiving, ResumedSending
from tests.interop.engine.shell import DeadlineMissed, Shell

SCENARIOS = ("send", "receive", "echo", "open")

DEFAULTS: dict[str, Any] = {
    **{"port": 0, "deadline_s": 120, "address": "examples"},
    **{"sessions": 1, "links": 1, "messages": 1, "size": 100, "credit": 100, "drain": False, "values": []},
    **{"snd_settle_mode": "unsettled", "rcv_settle_mode": "first", "outcomes": ["accepted"]},
    **{"hold_after": 0, "abort": False, "suspend": False, "remembered": {}, "refuse_error": None},
    **{"max_frame_size": None, "idle_timeout_ms": None, "hold_ms": 0, "silent": False},
    **{"mechanism": None, "user": None, "password": None, "mechanisms": [], "users": {}},
    **{"proof_in_outcome": True, "impostor": False},
    **{"detach_error": None, "end_error": None, "close_error": None},
}

SND_SETTLE_MODES = {"unsettled": 0, "settled": 1, "mixed": 2}
RCV_SETTLE_MODES = {"first": 0, "second": 1}
ENDS = {
    **{(True, False): Sending, (False, False): Receiving},
    **{(True, True): ResumedSending, (False, True): ResumedReceiving},
}
"""By whether the link sends, and whether it was there before."""

UNLIMITED = 0xFFFFFFFF
NEVER = float("inf")

UNAUTHORIZED = {"condition": "amqp:unauthorized-access", "description": "not authenticated", "info": {}}
DISCONNECTED = {"condition": "amqp:connection:framing-error", "description": "disconnected", "info": {}}


def report(fact: str, **about: Any) -> None:
    print(json.dumps({"fact": fact, **about}), flush=True)


class Peer(Handler):
    """One connection and what is done on it; the events of the engine come in as on_... calls."""

    def __init__(self, role: str, scenario: str, options: dict[str, Any]) -> None:
        self.is_client, self.scenario, self.options = role == "client", scenario, options
        self.ends: dict[str, Sending | Receiving] = {}
        self.suspended: dict[str, Link] = {}
        self.gone: set[str] = set()
        self.totals: Counter[str] = Counter()
        self.sessions: list[Session] = []
        self.is_open = self.is_frozen = self.has_failed = self.is_over = False
        self.closed_with: dict[str, Any] | None = None
        self.close_at = NEVER
        self.connection = Connection(
            self.config(),
            self,
            is_client=self.is_client,
            sasl=client_side(options) if self.is_client else server_side(options),
        )
        if self.is_client:
            self.connection.open()

    def config(self) -> ConnectionConfig:
        limit = {"max_frame_size": self.options["max_frame_size"]} if self.options["max_frame_size"] else {}
        return ConnectionConfig(
            container_id="engine-peer",
            hostname=HOST if self.is_client else None,
            idle_timeout_s=(self.options["idle_timeout_ms"] or 0) / 1000,
            **limit,
        )

    def on_opened(self, connection: Connection, performative: Open) -> None:
        sasl = connection.sasl
        self.is_open = True
        report(
            "opened",
            container=performative.container_id,
            max_frame_size=size if (size := performative.max_frame_size) != UNLIMITED else None,
            idle_timeout_ms=performative.idle_time_out or 0,
            mechanism=sasl.mechanism if sasl else None,
            user=self.options["user"] if self.is_client else sasl and sasl.identity,
        )
        if not self.is_client:
            connection.open()
        if self.options["silent"]:
            self.freeze()
        elif self.options["close_error"] and not self.is_client:
            self.close()
        elif self.is_client and self.scenario == "open":
            self.close_at = time.monotonic() + self.options["hold_ms"] / 1000
        elif self.is_client:
            self.attach_all()

    def attach_all(self) -> None:
        for number in range(self.options["sessions"]):
            session = self.connection.session()
            session.begin()
            self.sessions.append(session)
            for one in range(self.options["links"]):
                if self.scenario != "receive":
                    self.attach(session.sender(f"send-{number}-{one}"))
                if self.scenario != "send":
                    self.attach(session.receiver(f"receive-{number}-{one}"))

    def attach(self, link: Link) -> None:
        self.play(link)
        address = self.options["address"].replace("{}", link.name.partition("-")[2])
        link.attach(
            source=Source() if link.is_sender else Source(address=address),
            target=Target(address=address) if link.is_sender else Target(),
            snd_settle_mode=SND_SETTLE_MODES[self.options["snd_settle_mode"]],
            rcv_settle_mode=RCV_SETTLE_MODES[self.options["rcv_settle_mode"]],
        )

    def play(self, link: Link) -> None:
        """Put one of our ends on a link."""
        earlier = self.suspended.pop(link.name, None)
        if earlier:
            link.take_over(earlier)
        ours = ENDS[link.is_sender, earlier is not None]
        options = {**self.options, "suspend": self.options["suspend"] and not earlier}
        link.context = self.ends[link.name] = end = ours(link, options, report, self.totals)
        if isinstance(end, Sending):
            end.freeze = self.freeze
        if earlier and isinstance(end, ResumedSending):
            end.lost = earlier.context.lost
        elif isinstance(end, ResumedReceiving):
            end.remember(self.options["remembered"])
        if self.scenario == "echo":
            self.prepare_echo(end)

    def prepare_echo(self, end: Sending | Receiving) -> None:
        values = self.options["values"] if self.is_client else []
        if isinstance(end, Sending):
            end.left = 0
            for value in values:
                end.queue(value)
        else:
            end.left = len(values) if self.is_client else sys.maxsize
            end.on_value = (lambda value: None) if self.is_client else self.send_back

    def send_back(self, value: list[Any]) -> None:
        sender = next(end for end in self.ends.values() if isinstance(end, Sending))
        sender.queue(value)
        sender.on_credit()

    def on_session_begun(self, session: Session, performative: Begin) -> None:
        if not self.is_client:
            self.sessions.append(session)
            session.begin()

    def on_link_attached(self, link: Link, performative: Attach) -> None:
        refusal = error_of(self.options["refuse_error"])
        if refusal and not self.is_client:
            link.refuse(refusal)
            return
        if not self.is_client:
            self.play(link)
            link.attach(source=performative.source, target=performative.target)
        self.totals["links"] += 1
        report("attached", link=link.name, role="sender" if link.is_sender else "receiver")
        link.context.on_open(performative)

    def on_link_flow(self, link: Link) -> None:
        link.context.on_credit()

    def on_transfer(
        self, receiver: Receiver, delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        receiver.context.on_transfer(delivery, bytes(data[start:end]))

    def on_disposition(self, delivery: Delivery) -> None:
        delivery.link.context.on_disposition(delivery)

    def attend(self, now: float, is_flushed: bool) -> float:
        """End what is done; keep silent, and close, when it is time for it."""
        if self.is_frozen and is_flushed:
            # Nothing is read, written or ticked until the test closes our standard input.
            sys.stdin.read()
            self.thaw()
        if now >= self.close_at:
            self.close_at = NEVER
            self.close()
        if not self.is_over and self.connection.state is ConnectionState.OPENED:
            self.move_on()
        return self.close_at

    def freeze(self) -> None:
        self.is_frozen = True

    def thaw(self) -> None:
        """Go on after silence: with the message that was held, or by closing."""
        self.is_frozen = False
        held = [end for end in self.ends.values() if isinstance(end, Sending) and end.held]
        for end in held:
            end.go_on()
        if not held:
            self.close()

    def move_on(self) -> None:
        """End what is done: its links, or its sessions with an error."""
        error, end_error = error_of(self.options["detach_error"]), error_of(self.options["end_error"])
        if not (self.is_client or error or end_error) or not self.ends:
            return
        if not all(end.is_done and end.link.is_attached for end in self.ends.values()):
            return
        self.is_over = True
        if end_error:
            for session in self.sessions:
                session.end(end_error)
        else:
            for end in self.ends.values():
                end.link.detach(error=error)

    def on_link_detached(self, link: Link, closed: bool, error: Error | None) -> None:
        if not link.session.is_open:
            return
        if not closed:
            self.suspend(link)
            return
        report("detached", link=link.name, error=error_fact(error))
        self.gone.add(link.name)
        if self.is_client and len(self.gone) == len(self.ends):
            self.close()

    def suspend(self, link: Link) -> None:
        """Keep what is unsettled for the next attachment, which is the client's to make."""
        report("suspended", link=link.name)
        self.suspended[link.name] = link
        if self.is_client:
            session = link.session
            self.attach(session.sender(link.name) if link.is_sender else session.receiver(link.name))

    def on_session_ended(self, session: Session, error: Error | None) -> None:
        if self.connection.state is not ConnectionState.OPENED:
            return
        report("ended", error=error_fact(error))
        if self.is_client:
            self.close()

    def close(self) -> None:
        self.connection.close(error_of(self.options["close_error"]))

    def on_closed(self, connection: Connection, error: Error | None) -> None:
        if not self.has_failed:
            self.closed_with = error_fact(error)
            report("closed", error=self.closed_with)

    def on_violation(self, connection: Connection, error: RemoteError) -> None:
        self.fail({"condition": error.condition, "description": error.description, "info": {}})

    def on_authentication_failed(self, connection: Connection) -> None:
        self.fail(UNAUTHORIZED)

    def on_transport_lost(self) -> None:
        self.fail(DISCONNECTED)

    def fail(self, error: dict[str, Any]) -> None:
        if not self.has_failed:
            self.has_failed = True
            report("failed" if self.is_open else "refused", error=error)

    def summary(self) -> None:
        report("summary", opened=self.is_open, error=self.closed_with, **{"links": 0, **self.totals})


def connected(role: str, options: dict[str, Any]) -> socket.socket:
    """Return a connected socket; a server says its port first."""
    if role == "client":
        return socket.create_connection(("127.0.0.1", options["port"]), timeout=options["deadline_s"])
    with socket.create_server(("127.0.0.1", options["port"])) as listener:
        report("listening", port=listener.getsockname()[1])
        listener.settimeout(options["deadline_s"])
        return listener.accept()[0]


def main(role: str, scenario: str, text: str = "{}") -> None:
    if role not in ("client", "server") or scenario not in SCENARIOS:
        sys.exit(f"usage: python -m tests.interop.engine.peer client|server {'|'.join(SCENARIOS)} [JSON]")
    options = {**DEFAULTS, **json.loads(text)}
    deadline = time.monotonic() + options["deadline_s"]
    peer = Peer(role, scenario, options)
    with connected(role, options) as sock:
        try:
            Shell(peer.connection, peer, sock).run(deadline)
        except DeadlineMissed:
            report("deadline")
            sys.exit(3)
    peer.summary()


if __name__ == "__main__":
    main(*sys.argv[1:])
