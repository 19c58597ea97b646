"""The application above an engine: it answers, grants, sends and settles as the choices of an input say.

It holds the engine to what it promises to applications: what it tells when and how often, and that a call is refused
only where it is against the state of things. By default it is as lively as a good application: every
link is answered, every delivery accepted, every credit used.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from routerd.wire.amqp_error import Error
from routerd.wire.connection import Connection
from routerd.wire.errors import EncodeError, FrameSizeTooSmall, StateError, ValueRangeError
from routerd.wire.handler import Handler
from routerd.wire.link import Link
from routerd.wire.outcomes import ACCEPTED, Modified, Received, Rejected, is_outcome
from routerd.wire.receiver import Receiver
from routerd.wire.recovery import plan_recovery
from routerd.wire.sender import Sender
from routerd.wire.session import Session
from routerd.wire.states import ConnectionState, LinkState, SessionState
from routerd.wire.terminus import Coordinator, Source, Target
from routerd.wire.types import Described, Symbol, ULong
from tests.fuzz.broken import Broken, check
from tests.fuzz.choices import Choices
from tests.fuzz.narration import narrate
from tests.fuzz.peer import NAMES

OPENABLE = (ConnectionState.START, ConnectionState.HDR_SENT, ConnectionState.HDR_EXCH, ConnectionState.OPEN_RCVD)
CLOSING = (
    *(ConnectionState.OC_PIPE, ConnectionState.CLOSE_PIPE, ConnectionState.CLOSE_SENT, ConnectionState.CLOSE_RCVD),
    *(ConnectionState.DISCARDING, ConnectionState.END),
)
MAY_SEND = (ConnectionState.OPEN_PIPE, ConnectionState.OPEN_SENT, ConnectionState.OPENED)
FAILED = Error(condition=Symbol("amqp:internal-error"), description="chosen")
ERRORS = (None, FAILED, Error(condition=Symbol("my:error"), info={Symbol("k"): [1, None, "v"]}))
STATES = (
    ACCEPTED,
    Received(section_number=1, section_offset=7),
    Rejected(error=FAILED),
    Modified(delivery_failed=True, message_annotations={Symbol("x"): 1}),
    Described(ULong(0x34), [b"tx", Described(ULong(0x24), [])]),
    Modified(message_annotations={Symbol("x"): "y" * 250}),
    None,
)
SOURCES = (Source(address="q"), Source(), Source(dynamic=True, filter={Symbol("f"): "x"}), None)
TARGETS = (Target(address="q"), Target(), Coordinator(), None)
BODIES = (b"hello", b"", b"m" * 90, b"n" * 1400)
PROPERTIES = {"product": "fuzz"}
MOST_CALLS = 60
MOST_SENDS = 40
MOST_SESSIONS = 6
MOST_LINKS = 12


class Application(Handler):
    """Reacts to one engine; `events` is what it was told."""

    connection: Connection

    def __init__(self, choices: Choices, *, errs: bool = True) -> None:
        self.errs = errs
        """Whether it also makes calls that are against the state of things."""
        self.events: list[tuple[Any, ...]] = []
        self.violations: list[Exception] = []
        self.sessions: list[Session] = []
        self.links: list[Link] = []
        self.incoming: list[Any] = []
        self.outgoing: list[Any] = []
        self.sent: dict[tuple[str, bytes], list[bytes]] = {}
        """What was sent whole, by names of links and tags."""
        self.received: dict[tuple[Any, bytes], bytes] = {}
        self.is_told_of_output = False
        self.is_passive = False
        self._choices = choices
        self._calls = 0
        self._sends = 0
        self._granted: Counter[Link] = Counter()
        self._begun: Counter[Link] = Counter()
        self._under_way: dict[Link, Any] = {}
        self._bodies: dict[Any, bytes] = {}
        self._begun_sessions: set[Session] = set()
        self._told: set[tuple[str, Any]] = set()
        self._is_closed = False
        self._actions: tuple[Callable[[Choices], None], ...] = (
            *(self._send, self._grant, self._decide, self._new_link, self._detach, self._new_session, self._write),
            *(self._settle, self._send, self._drain, self._end_session, self._open, self._close, self._answer_link),
            *(self._set_credit, self._flow, self._withhold, self._abort, self._answer_session, self._resume),
            *(self._take_over, self._attach_again, self._send_with_state, self._change_outgoing),
        )

    # What may be called at any time

    def act(self, choices: Choices) -> None:
        """Make one call of those that an application may make."""
        self._calls += 1
        if self._calls <= MOST_CALLS:
            choices.one_of(self._actions)(choices)

    def _try(self, what: str, is_legal: object, call: Callable[[], Any]) -> Any:
        """Make a call; it may be refused where it is not legal, and is never to fail in another way."""
        if not is_legal and not self.errs:
            return None
        narrate(f"   call {what}{'' if is_legal else ', which may be refused'}")
        try:
            result = call()
        except (StateError, EncodeError, ValueRangeError) as error:
            narrate(f"   refused: {error}")
            if is_legal:
                raise Broken(f"{what} was refused: {error}") from error
            return None
        except FrameSizeTooSmall as error:
            check(self.connection.send_frame_size < 4096, f"{what} did not fit: {error}")
            return None
        return result

    def _open(self, choices: Choices) -> None:
        self._try("open", self.connection.state in OPENABLE, self.connection.open)

    def _close(self, choices: Choices) -> None:
        if choices.octet() < 0xC0:
            return
        error = choices.one_of(ERRORS)
        self._try("close", self.connection.state in MAY_SEND, lambda: self.connection.close(error))

    def _new_session(self, choices: Choices) -> None:
        connection = self.connection
        taken = len(connection.sessions())
        if len(self.sessions) >= MOST_SESSIONS:
            return
        highest = 0 if connection.remote_open is None else connection.channel_max
        is_legal = taken <= highest and connection.state not in CLOSING
        session = self._try("session", is_legal, connection.session)
        if session is not None:
            self.sessions.append(session)
            self._begin(session, choices)

    def _begin(self, session: Session, choices: Choices) -> None:
        is_known = session in self.connection.sessions() and session not in self._begun_sessions
        is_legal = is_known and session.state in (SessionState.UNMAPPED, SessionState.BEGIN_RCVD)
        is_open = self.connection.state in (*MAY_SEND, ConnectionState.OPEN_RCVD)
        options = choices.octet()
        if is_legal and is_open:
            self._begun_sessions.add(session)
        self._try(
            "begin",
            is_legal and is_open,
            lambda: session.begin(
                next_outgoing_id=(0, 1, 0xFFFFFFFE, 0x7FFFFFFF)[options & 3],
                incoming_window=(None, 1, 2, 8)[options >> 2 & 3],
                handle_max=(None, None, 7, 1)[options >> 4 & 3],
                properties=PROPERTIES if options & 0x40 else None,
                offered_capabilities=("x",) if options & 0x80 else (),
            ),
        )

    def _answer_session(self, choices: Choices) -> None:
        if self.sessions:
            self._begin(choices.one_of(self.sessions), choices)

    def _end_session(self, choices: Choices) -> None:
        if self.sessions and choices.octet() >= 0xA0:
            session = choices.one_of(self.sessions)
            error = choices.one_of(ERRORS)
            is_legal = session.state is SessionState.MAPPED and self.connection.state in MAY_SEND
            self._try("end", is_legal, lambda: session.end(error))

    def _new_link(self, choices: Choices) -> None:
        if not self.sessions or len(self.links) >= MOST_LINKS:
            return
        session = choices.one_of(self.sessions)
        options = choices.octet()
        is_sender = options & 1 == 0
        name = NAMES[(options >> 1 & 7) % len(NAMES)]
        link = self._try("a new link", True, lambda: (session.sender if is_sender else session.receiver)(name))
        if link is not None:
            self.links.append(link)
            self._attach(link, choices)

    def _attach(self, link: Link, choices: Choices) -> None:
        options = choices.octet()
        session = link.session
        is_legal = not link.is_over and session.is_open and link.state in (LinkState.DETACHED, LinkState.ATTACH_RCVD)
        is_legal = is_legal and (link.handle >= 0 or len(session.links()) <= session.remote_handle_max)
        is_legal = is_legal and self.connection.links.find(link.name, link.is_sender) in (None, link)
        self._try(
            "attach",
            is_legal,
            lambda: link.attach(
                source=SOURCES[options & 3],
                target=TARGETS[options >> 2 & 3],
                snd_settle_mode=(None, 0, 1, 2)[options >> 4 & 3],
                rcv_settle_mode=(None, 1, 0, None)[options >> 6 & 3],
                initial_delivery_count=choices.one_of((0, 0xFFFFFFFE, 0x7FFFFFFF)),
                max_message_size=choices.one_of((0, 100, 0, 1000)),
                properties=choices.one_of((None, PROPERTIES)),
                desired_capabilities=choices.one_of(((), ("a",), ("a", "b"))),
            ),
        )

    def _answer_link(self, choices: Choices) -> None:
        if not self.links:
            return
        link = choices.one_of(self.links)
        if choices.octet() & 1:
            is_legal = link.state is LinkState.ATTACH_RCVD and link.session.is_open
            self._try("refuse", is_legal, lambda: link.refuse(FAILED))
        else:
            self._attach(link, choices)

    def _attach_again(self, choices: Choices) -> None:
        """Attach an endpoint that was detached: not every state allows it."""
        if self.links:
            link = choices.one_of(self.links)
            if link.state is LinkState.DETACHED:
                self._told.discard(("link detached", link))
                self._told.discard(("link attached", link))
                self._attach(link, choices)

    def _detach(self, choices: Choices) -> None:
        if not self.links:
            return
        link = choices.one_of(self.links)
        options = choices.octet()
        is_legal = link.state in (LinkState.ATTACHED, LinkState.ATTACH_SENT) and link.session.is_open
        error = ERRORS[(options >> 1) % len(ERRORS)]
        self._try("detach", is_legal, lambda: link.detach(closed=options & 1 == 0, error=error))

    def _take_over(self, choices: Choices) -> None:
        """Attach a new endpoint that takes up what an earlier one left, on any session."""
        if not self.links or not self.sessions or len(self.links) >= MOST_LINKS:
            return
        earlier = choices.one_of(self.links)
        session = choices.one_of(self.sessions)
        if earlier.state is not LinkState.DETACHED:
            return
        make = session.sender if earlier.is_sender else session.receiver
        link = self._try("a new link", True, lambda: make(earlier.name))
        if link is not None:
            self._try("take_over", True, lambda: link.take_over(earlier))
            self.links.append(link)
            self._attach(link, choices)

    def _sender(self, choices: Choices) -> Sender | None:
        senders = [link for link in self.links if link.is_sender]
        if not senders or self._sends >= MOST_SENDS:
            return None
        self._sends += 1
        return choices.one_of(senders)

    def _may_begin(self, link: Sender, settled: bool) -> bool:
        is_free = link.is_attached and link.credit > 0 and link not in self._under_way and not link.is_incomplete
        return is_free and link.snd_settle_mode != (0 if settled else 1)

    def _send(self, choices: Choices) -> None:
        link = self._sender(choices)
        if link is None:
            return
        options = choices.octet()
        body = BODIES[options & 3]
        # A settle mode that fits is the ordinary choice, the other a mistake of the caller.
        settled = (link.snd_settle_mode == 1) ^ (options & 0x0C == 0x0C)
        is_legal = self._may_begin(link, settled)
        if not is_legal or len(body) <= (link.remote_max_message_size or 9999):
            tag = (None, None, None, b"t%d" % self._sends)[options >> 4 & 3]
            self._send_body(link, body, tag, settled, is_legal)

    def _send_body(self, link: Sender, body: bytes, tag: bytes | None, settled: bool, is_legal: object) -> None:
        delivery = self._try("send", is_legal, lambda: link.send(body, tag, settled))
        if delivery is not None:
            self._keep(self.outgoing, delivery)
            self.sent.setdefault((link.name, delivery.tag), []).append(body)

    def _send_with_state(self, choices: Choices) -> None:
        link = self._sender(choices)
        if link is None:
            return
        settled = link.snd_settle_mode == 1
        state = choices.one_of(STATES)
        mode = choices.one_of((-1, 0, 1))
        delivery = self._try(
            "begin",
            self._may_begin(link, settled) and mode <= link.rcv_settle_mode,
            lambda: link.begin(None, settled, 3, state=state, rcv_settle_mode=mode, batchable=True),
        )
        if delivery is not None:
            self._under_way[link] = delivery
            self._keep(self.outgoing, delivery)
            self._write_on(link, choices)

    def _write(self, choices: Choices) -> None:
        """Begin a delivery or go on with one."""
        link = self._sender(choices)
        if link is None:
            return
        if link not in self._under_way:
            settled = link.snd_settle_mode == 1
            delivery = self._try("begin", self._may_begin(link, settled), lambda: link.begin(None, settled))
            if delivery is None:
                return
            self._under_way[link] = delivery
            self._keep(self.outgoing, delivery)
        self._write_on(link, choices)

    def _write_on(self, link: Sender, choices: Choices) -> None:
        delivery = self._under_way[link]
        options = choices.octet()
        body = BODIES[options & 3]
        more = options & 4 == 4
        if delivery.size + len(body) > (link.remote_max_message_size or 9999):
            return
        self._bodies[delivery] = self._bodies.get(delivery, b"") + body
        if not more:
            del self._under_way[link]
            self.sent.setdefault((link.name, delivery.tag), []).append(self._bodies.pop(delivery))
        self._try("write", link.is_attached, lambda: link.write(delivery, body, 0, len(body), more))

    def _abort(self, choices: Choices) -> None:
        link = self._sender(choices)
        if link is not None and link in self._under_way:
            delivery = self._under_way.pop(link)
            self._try("abort", link.is_attached, lambda: link.abort(delivery))

    def _resume(self, choices: Choices) -> None:
        link = self._sender(choices)
        if link is None or not link.suspended:
            return
        delivery = list(link.suspended.values())[choices.below(len(link.suspended))]
        options = choices.octet()
        is_legal = link.is_attached and link.credit > 0 and link not in self._under_way
        state = (None, delivery.state)[options & 1]
        body = BODIES[options >> 1 & 3]
        is_legal = is_legal and delivery.size + len(body) <= (link.remote_max_message_size or 9999)
        self._try(
            "resume",
            is_legal,
            lambda: link.resume(
                delivery, body, state=state, settled=options & 0x18 == 0x18, aborted=options & 0x60 == 0x60
            ),
        )

    def _drain(self, choices: Choices) -> None:
        """As a sender, give credit back."""
        link = self._sender(choices)
        if link is not None:
            self._try("drained", link.is_attached, link.drained)

    def _receiver(self, choices: Choices) -> Receiver | None:
        receivers = [link for link in self.links if not link.is_sender]
        return choices.one_of(receivers) if receivers else None

    def _grant(self, choices: Choices) -> None:
        link = self._receiver(choices)
        if link is not None:
            credit = choices.one_of((5, 1, 20))
            self._granted[link] += credit
            self._try("grant", link.credit + credit <= 0x7FFFFFFF, lambda: link.grant(credit))

    def _set_credit(self, choices: Choices) -> None:
        link = self._receiver(choices)
        if link is not None:
            credit = choices.one_of((3, 0, 1, 0x7FFFFFFF))
            drain = choices.octet() & 1 == 1
            self._granted[link] += credit
            self._try("set_credit", True, lambda: link.set_credit(credit, drain=drain))

    def _flow(self, choices: Choices) -> None:
        link = self._receiver(choices)
        if link is not None:
            options = choices.octet()
            properties = PROPERTIES if options & 2 else None
            is_legal = link.is_attached and link.session.is_open
            self._try("flow", is_legal, lambda: link.flow(echo=options & 1 == 1, properties=properties))

    def _withhold(self, choices: Choices) -> None:
        if self.sessions:
            session = choices.one_of(self.sessions)
            frames = choices.below(5)
            give = choices.octet() & 1
            self._try("withhold", True, lambda: (session.withhold if give else session.give_back)(frames))

    def _decide(self, choices: Choices) -> None:
        if self.incoming:
            self._settle_one(choices.one_of(self.incoming), choices)

    def _settle_one(self, delivery: Any, choices: Choices) -> None:
        option = choices.below(8)
        is_legal = not delivery.settled
        if option == 0:
            self._try("accept", is_legal, delivery.accept)
        elif option == 1:
            self._try("release", is_legal, delivery.release)
        elif option == 2:
            self._try("reject", is_legal, lambda: delivery.reject(FAILED))
        elif option == 3:
            annotations = {Symbol("x"): 1}
            self._try("modify", is_legal, lambda: delivery.modify(delivery_failed=True, message_annotations=annotations))
        elif option < 6:
            state = choices.one_of(STATES)
            self._try("update", is_legal, lambda: delivery.update(state, option == 4))
        elif option == 6:
            self._try("settle", is_legal, delivery.settle)

    def _settle(self, choices: Choices) -> None:
        """As a sender, settle a delivery or forget it."""
        if self.outgoing:
            delivery = choices.one_of(self.outgoing)
            self._try("settle", not delivery.settled and not delivery.is_partial, delivery.settle)

    def _change_outgoing(self, choices: Choices) -> None:
        if self.outgoing:
            delivery = choices.one_of(self.outgoing)
            state = choices.one_of(STATES)
            settled = choices.octet() & 1 == 1
            is_legal = not delivery.settled and not delivery.is_partial and not is_outcome(delivery.state)
            self._try("update", is_legal, lambda: delivery.update(state, settled))

    @staticmethod
    def _keep(kept: list[Any], delivery: Any) -> None:
        if delivery is not None:
            kept.append(delivery)
            del kept[:-24]

    # What is told

    def _tell(self, *event: Any) -> None:
        check(not self._is_closed, f"{event[0]} after the connection was reported closed")
        self.events.append(event)
        narrate(f"   told {event}")

    def _tell_once(self, what: str, subject: Any, *more: Any) -> None:
        key = (what, subject)
        check(key not in self._told, f"{what} is told twice of {more}")
        self._told.add(key)
        self._tell(what, *more)

    def _react(self, usual: Callable[[Choices], None], subject: Any = None) -> None:
        """Do the usual thing, or nothing, or something else."""
        if self.is_passive:
            return
        choice = self._choices.octet()
        if choice < 0xC0:
            usual(self._choices)
        elif choice >= 0xD0:
            self.act(self._choices)

    def on_authenticated(self, connection: Connection) -> None:
        self._tell_once("authenticated", connection)

    def on_authentication_failed(self, connection: Connection) -> None:
        self._tell_once("authentication failed", connection)

    def on_opened(self, connection: Connection, performative: Any) -> None:
        self._tell_once("opened", connection, performative)
        if connection.state is not ConnectionState.OPENED:
            self._react(self._open)

    def on_closed(self, connection: Connection, error: Any) -> None:
        self._tell_once("closed", connection, error)
        self._is_closed = True
        check(connection.sessions() == [], "a connection was reported closed before its sessions")

    def on_violation(self, connection: Connection, error: Any) -> None:
        self._tell("violation", type(error).__name__, error.condition, error.description)
        self.violations.append(error)

    def on_session_begun(self, session: Session, performative: Any) -> None:
        self._tell_once("session begun", session, session.channel, performative)
        if session.state is SessionState.BEGIN_RCVD:
            self.sessions.append(session)
            self._react(lambda choices: self._begin(session, choices))

    def on_session_flow(self, session: Session) -> None:
        self._tell("session flow", session.channel, session.flow_properties)
        check(session.state is SessionState.MAPPED or not session.is_open, f"a flow of a session {session.state}")

    def on_session_ended(self, session: Session, error: Any) -> None:
        self._tell_once("session ended", session, session.channel, error)
        told = {link for link in self.links if ("link detached", link) in self._told}
        attached = {link for link in self.links if ("link attached", link) in self._told and link.session is session}
        check(attached <= told, "a session was reported ended before its links")

    def on_link_attached(self, link: Link, performative: Any) -> None:
        self._tell_once("link attached", link, link.name, link.is_sender, performative)
        check(("link detached", link) not in self._told, "a link was attached after it was reported detached")
        plan_recovery(link, performative.unsettled, is_incomplete=performative.incomplete_unsettled)
        if link.state is LinkState.ATTACH_RCVD:
            self.links.append(link)
            self._react(lambda choices: self._usual_answer(link, choices))
        elif not link.is_sender:
            self._react(lambda choices: self._grant_to(link))

    def _usual_answer(self, link: Link, choices: Choices) -> None:
        if choices.octet() >= 0xF0:
            self._try("refuse", link.session.is_open, lambda: link.refuse(FAILED))
            return
        self._attach(link, choices)
        if not link.is_sender:
            self._grant_to(link)

    def _grant_to(self, link: Any) -> None:
        self._granted[link] += 5
        self._try("grant", link.credit + 5 <= 0x7FFFFFFF, lambda: link.grant(5))

    def on_link_flow(self, link: Link) -> None:
        state = (link.credit, link.drain, link.available, link.delivery_count)
        self._tell("link flow", link.name, link.is_sender, *state, link.flow_properties)
        check(link.credit >= 0, f"a credit of {link.credit}")
        if link.is_sender:
            self._react(lambda choices: self._use_credit(link, choices))

    def _use_credit(self, link: Any, choices: Choices) -> None:
        settled = link.snd_settle_mode == 1
        while self._sends < MOST_SENDS and self._may_begin(link, settled):
            self._sends += 1
            body = BODIES[choices.octet() & 3]
            if len(body) > (link.remote_max_message_size or 9999):
                break
            self._send_body(link, body, None, settled, True)
        if link.drain and link.is_attached and link.credit > 0 and link not in self._under_way:
            self._try("drained", True, link.drained)

    def on_link_detached(self, link: Link, closed: bool, error: Any) -> None:
        self._tell_once("link detached", link, link.name, link.is_sender, closed, error)
        self._under_way.pop(link, None)
        self._react(self._nothing)

    def _nothing(self, choices: Choices) -> None:
        pass

    def on_transfer(self, receiver: Receiver, delivery: Any, data: Any, start: int, end: int) -> None:
        octets = bytes(data[start:end])
        flags = (delivery.is_partial, delivery.is_aborted, delivery.is_resumed, delivery.remote_settled)
        self._tell("transfer", receiver.name, delivery.tag, delivery.id, octets, *flags, delivery.remote_state)
        check(0 <= start <= end <= len(data), f"octets {start} to {end} of {len(data)}")
        check(receiver.is_attached, "a transfer on a link that is not attached")
        check(("link detached", receiver) not in self._told, "a transfer on a link that was reported detached")
        check(not (delivery.is_aborted and octets), "an aborted delivery with octets")
        session = receiver.session
        check(session.incoming.count <= session.unsettled_max, f"{session.incoming.count} unsettled deliveries")
        check(delivery.size <= (receiver.max_message_size or 1 << 60), f"a delivery of {delivery.size} octets")
        key = (receiver, delivery.tag)
        if not delivery.is_resumed and (not self.incoming or delivery not in self.incoming):
            self._begun[receiver] += 1
            check(self._begun[receiver] <= self._granted[receiver], f"{self._begun[receiver]} deliveries")
            self.received[key] = b""
        self.received[key] = self.received.get(key, b"") + octets
        if delivery not in self.incoming:
            self._keep(self.incoming, delivery)
        if not (delivery.is_partial or delivery.is_aborted or delivery.is_resumed):
            self.on_message(receiver, delivery.tag, self.received.pop(key))
        if not delivery.is_partial and not delivery.settled:
            self._react(lambda choices: self._settle_one(delivery, choices))
            if receiver.credit <= 2:
                self._react(lambda choices: self._grant_to(receiver))

    def on_message(self, receiver: Receiver, tag: bytes, body: bytes) -> None:
        """Take a whole message; to be overridden by who knows what was sent."""

    def on_disposition(self, delivery: Any) -> None:
        self._tell("disposition", delivery.tag, delivery.id, delivery.remote_state, delivery.remote_settled)
        if (not delivery.is_incoming and not delivery.settled and is_outcome(delivery.remote_state)) or (delivery.is_incoming and delivery.remote_settled and not delivery.settled):
            self._react(lambda choices: self._try("settle", not delivery.settled, delivery.settle))

    def on_output(self, connection: Connection) -> None:
        check(not self.is_told_of_output, "output is told of twice")
        self.is_told_of_output = True


