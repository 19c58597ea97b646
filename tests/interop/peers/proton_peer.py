"""An AMQP peer built on python-qpid-proton, for interop tests: `proton_peer.py client|server SCENARIO [OPTIONS]`.

OPTIONS is a JSON object; see DEFAULTS and tests/interop/README.md, which also names the facts. A server takes one
connection. Each line of output is a JSON object, `fact` naming what was observed; the last is the summary.
"""

import contextlib
import json
import select
import socket
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from proton import Collector, Condition, Connection, Endpoint, Event, Handler, Link, ProtonException, Transport
from proton_links import RCV_SETTLE_MODES, SND_SETTLE_MODES, Receiving, Sending, error_fact
from proton_users import CONFIG_NAME, write_users

UNLIMITED = 0xFFFFFFFF
SCENARIOS = ("send", "receive", "echo", "open")

DEFAULTS: dict[str, Any] = {
    **{"port": 0, "deadline_s": 120, "address": "examples"},
    **{"sessions": 1, "links": 1, "messages": 1, "size": 100, "credit": 100, "drain": False, "values": []},
    **{"snd_settle_mode": "unsettled", "rcv_settle_mode": "first", "outcomes": ["accepted"]},
    **{"hold_after": 0, "abort": False, "suspend": False, "refuse_error": None},
    **{"max_frame_size": None, "idle_timeout_ms": None, "hold_ms": 0, "silent": False},
    **{"mechanism": None, "user": None, "password": None, "mechanisms": [], "users": {}},
    **{"detach_error": None, "end_error": None, "close_error": None},
}


def report(fact: str, **about: Any) -> None:
    print(json.dumps({"fact": fact, **about}), flush=True)


def condition(error: dict[str, Any] | None) -> Condition | None:
    return Condition(error["condition"], error.get("description"), error.get("info")) if error else None


class Peer(Handler):
    """One connection and what is done on it; the events of proton come in as on_... calls."""

    def __init__(self, role: str, scenario: str, options: dict[str, Any]) -> None:
        self.is_client, self.scenario, self.options = role == "client", scenario, options
        self.connection = Connection()
        self.links: dict[str, Sending | Receiving] = {}
        self.suspended: set[str] = set()
        self.detaching: list[Link] = []
        self.gone: set[str] = set()
        self.totals: Counter[str] = Counter()
        self.sessions: list[Any] = []
        self.is_open = self.is_frozen = self.has_failed = False
        self.closed_with: dict[str, Any] | None = None
        self.close_at: float | None = None

    def thaw(self) -> None:
        """Go on after silence: with the message that was held, or by closing."""
        self.is_frozen = False
        held = [end for end in self.links.values() if isinstance(end, Sending) and end.held]
        for end in held:
            end.go_on()
        if not held:
            self.close_at = time.monotonic()

    def freeze(self) -> None:
        self.is_frozen = True

    def open(self) -> None:
        self.connection.container = "proton-peer"
        self.connection.hostname = "localhost"
        self.connection.open()

    def on_connection_remote_open(self, event: Event) -> None:
        transport, sasl = event.transport, event.transport.sasl() if self.has_sasl else None
        self.is_open = True
        report(
            "opened",
            container=event.connection.remote_container,
            max_frame_size=size if (size := transport.remote_max_frame_size) != UNLIMITED else None,
            idle_timeout_ms=round(transport.remote_idle_timeout * 1000),
            mechanism=sasl.mech if sasl else None,
            user=transport.user if sasl else None,
        )
        if not self.is_client:
            self.open()
        if self.options["silent"]:
            self.is_frozen = True
        elif self.options["close_error"] and not self.is_client:
            self.close()
        elif self.is_client and self.scenario == "open":
            self.close_at = time.monotonic() + self.options["hold_ms"] / 1000
        elif self.is_client:
            self.attach_all()

    @property
    def has_sasl(self) -> bool:
        return bool(self.options["mechanism"] or self.options["mechanisms"])

    def attach_all(self) -> None:
        for number in range(self.options["sessions"]):
            session = self.connection.session()
            session.open()
            self.sessions.append(session)
            for one in range(self.options["links"]):
                if self.scenario != "receive":
                    self.attach(session.sender(f"send-{number}-{one}"))
                if self.scenario != "send":
                    self.attach(session.receiver(f"receive-{number}-{one}"))

    def attach(self, link: Link) -> None:
        address = self.options["address"].replace("{}", link.name.partition("-")[2])
        (link.target if link.is_sender else link.source).address = address
        link.snd_settle_mode = SND_SETTLE_MODES[self.options["snd_settle_mode"]]
        link.rcv_settle_mode = RCV_SETTLE_MODES[self.options["rcv_settle_mode"]]
        self.play(link)
        link.open()

    def play(self, link: Link) -> None:
        """Put one of our ends on a link."""
        ours = Sending if link.is_sender else Receiving
        options = {**self.options, "suspend": self.options["suspend"] and link.name not in self.suspended}
        self.links[link.name] = end = ours(link, options, report, self.totals)
        if isinstance(end, Sending):
            end.freeze = self.freeze
        if self.scenario == "echo":
            values = self.options["values"] if self.is_client else []
            end.left = len(values)
            if isinstance(end, Sending):
                for value in values:
                    end.queue(value)
                end.left = len(values)
            else:
                end.on_value = (lambda value: None) if self.is_client else self.send_back

    def send_back(self, value: list[Any]) -> None:
        sender = next(end for end in self.links.values() if isinstance(end, Sending))
        sender.queue(value)
        sender.on_credit()

    def on_session_remote_open(self, event: Event) -> None:
        if not self.is_client:
            self.sessions.append(event.session)
            event.session.open()

    def on_link_remote_open(self, event: Event) -> None:
        link = event.link
        if self.options["refuse_error"] and not self.is_client:
            link.open()
            link.condition = condition(self.options["refuse_error"])
            link.close()
            return
        if not self.is_client:
            link.source.copy(link.remote_source)
            link.target.copy(link.remote_target)
            link.snd_settle_mode, link.rcv_settle_mode = link.remote_snd_settle_mode, link.remote_rcv_settle_mode
            self.play(link)
            link.open()
        self.totals["links"] += 1
        report("attached", link=link.name, role="sender" if link.is_sender else "receiver")
        end = self.links[link.name]
        if isinstance(end, Receiving):
            if self.scenario == "echo" and not self.is_client:
                end.left = sys.maxsize
            end.on_open()
        self.move_on()

    def on_link_flow(self, event: Event) -> None:
        if event.link.name in self.links:
            self.links[event.link.name].on_credit()
            self.move_on()

    def on_delivery(self, event: Event) -> None:
        self.links[event.link.name].on_delivery(event.delivery)
        self.move_on()

    def move_on(self) -> None:
        """End what is done: its links; and, as client, the connection once all links are gone."""
        error, end_error = condition(self.options["detach_error"]), condition(self.options["end_error"])
        if not (self.is_client or error or end_error):
            return
        if not all(end.is_done and end.link.state & Endpoint.REMOTE_ACTIVE for end in self.links.values()):
            return
        for end in self.links.values():
            if end.link.state & Endpoint.LOCAL_ACTIVE and not end_error:
                end.link.condition = error
                end.link.close()
        for session in self.sessions:
            if end_error and session.state & Endpoint.LOCAL_ACTIVE:
                session.condition = end_error
                session.close()

    def on_link_remote_close(self, event: Event) -> None:
        report("detached", link=event.link.name, error=error_fact(event.link.remote_condition))
        event.link.close()
        self.gone.add(event.link.name)
        if self.is_client and len(self.gone) == len(self.links):
            self.close()

    def on_link_remote_detach(self, event: Event) -> None:
        """Keep the link for its next attachment; proton keeps nothing of what was unsettled."""
        link = event.link
        report("suspended", link=link.name)
        self.suspended.add(link.name)
        link.detach()
        if self.is_client:
            self.detaching.append(link)
        link.free()

    def attach_again(self) -> None:
        """Attach what was suspended, now that the detach has left: proton would write the attach before it."""
        links, self.detaching = self.detaching, []
        for link in links:
            self.attach(link.session.sender(link.name) if link.is_sender else link.session.receiver(link.name))

    def on_session_remote_close(self, event: Event) -> None:
        report("ended", error=error_fact(event.session.remote_condition))
        event.session.close()
        if self.is_client:
            self.close()

    def close(self) -> None:
        self.connection.condition = condition(self.options["close_error"])
        self.connection.close()

    def on_connection_remote_close(self, event: Event) -> None:
        self.closed_with = error_fact(event.connection.remote_condition)
        report("closed", error=self.closed_with)
        event.connection.close()

    def on_transport_error(self, event: Event) -> None:
        if not self.has_failed:
            self.has_failed = True
            report("failed" if self.is_open else "refused", error=error_fact(event.transport.condition))

    def summary(self) -> None:
        report("summary", opened=self.is_open, error=self.closed_with, **{"links": 0, **self.totals})


def transport_for(peer: Peer, folder: Path) -> Transport:
    """Return the transport of the peer's side, set up from its options."""
    options = peer.options
    transport = Transport(Transport.CLIENT if peer.is_client else Transport.SERVER)
    if options["max_frame_size"]:
        transport.max_frame_size = options["max_frame_size"]
    if options["idle_timeout_ms"]:
        transport.idle_timeout = options["idle_timeout_ms"] / 1000
    if peer.has_sasl:
        sasl = transport.sasl()
        sasl.allow_insecure_mechs = True
        if peer.is_client:
            sasl.allowed_mechs(options["mechanism"])
            if options["mechanism"] != "ANONYMOUS":
                # With a user set, proton does not choose ANONYMOUS.
                peer.connection.user, peer.connection.password = options["user"], options["password"]
        else:
            write_users(folder, options["users"], options["mechanisms"])
            sasl.config_name(CONFIG_NAME)
            sasl.config_path(str(folder))
            sasl.allowed_mechs(" ".join(options["mechanisms"]))
            transport.require_auth("ANONYMOUS" not in options["mechanisms"])
    return transport


class Pump:
    """Moves octets between a socket and a transport, and events from the transport to the peer."""

    def __init__(self, peer: Peer, transport: Transport, sock: socket.socket) -> None:
        self.peer, self.transport, self.sock = peer, transport, sock
        self.collector = Collector()
        peer.connection.collect(self.collector)
        transport.bind(peer.connection)
        if peer.is_client:
            peer.open()

    def run(self, deadline: float) -> None:
        while True:
            self.dispatch()
            if self.peer.is_frozen and not self.transport.pending():
                # Nothing is read, written or ticked until the test closes our standard input.
                sys.stdin.read()
                self.peer.thaw()
            if self.peer.detaching and not self.transport.pending():
                self.peer.attach_again()
            if self.peer.close_at and time.monotonic() >= self.peer.close_at:
                self.peer.close_at = None
                self.peer.close()
            if time.monotonic() > deadline:
                report("deadline")
                sys.exit(3)
            wake_at = self.transport.tick(time.monotonic())
            capacity, pending = self.transport.capacity(), self.transport.pending()
            if pending < 0 and (capacity < 0 or self.transport.closed):
                return self.dispatch()
            if pending < 0:
                self.end_output()
            if capacity < 0 and not pending:
                # The other end has gone, so that nothing can be waited for.
                self.transport.close_head()
                continue
            times = [at for at in (wake_at, self.peer.close_at, deadline) if at]
            self.wait(capacity, pending, max(0.0, min(times) - time.monotonic()))

    def dispatch(self) -> None:
        while (event := self.collector.peek()) is not None:
            event.dispatch(self.peer)
            self.collector.pop()

    def end_output(self) -> None:
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_WR)

    def wait(self, capacity: int, pending: int, timeout: float) -> None:
        readers, writers = [self.sock] if capacity > 0 else [], [self.sock] if pending > 0 else []
        readable, writable, _ = select.select(readers, writers, [], timeout)
        try:
            if readable:
                octets = self.sock.recv(capacity)
                if octets:
                    self.transport.push(octets)
                else:
                    self.transport.close_tail()
            if writable:
                self.transport.pop(self.sock.send(self.transport.peek(pending)))
        except OSError:
            self.transport.close_tail()
            self.transport.close_head()
        except ProtonException:
            self.dispatch()


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
        sys.exit(f"usage: proton_peer.py client|server {'|'.join(SCENARIOS)} [JSON]")
    options = {**DEFAULTS, **json.loads(text)}
    deadline = time.monotonic() + options["deadline_s"]
    peer = Peer(role, scenario, options)
    with tempfile.TemporaryDirectory() as folder, connected(role, options) as sock:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        Pump(peer, transport_for(peer, Path(folder)), sock).run(deadline)
    peer.summary()


if __name__ == "__main__":
    main(*sys.argv[1:])
