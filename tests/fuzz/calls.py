"""The calls of an application on its engine, made as choices say, and when the engine may refuse them.

Whether a call is legal is told by what the engine shows of itself. One that is legal must not be refused, and
one that is not is refused as a typed error or does no harm, which is for the witness and the other end to see.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from routerd.wire.amqp_error import Error
from routerd.wire.connection import Connection
from routerd.wire.errors import EncodeError, FrameSizeTooSmall, StateError, ValueRangeError
from routerd.wire.link import Link
from routerd.wire.outcomes import ACCEPTED, Modified, Received, Rejected, is_outcome
from routerd.wire.receiver import Receiver
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


class Calls:
    """Everything that an application may call, on one connection."""

    connection: Connection

    def __init__(self, *, errs: bool) -> None:
        self.errs = errs
        """Whether it also makes calls that are against the state of things."""
        self.sessions: list[Session] = []
        self.links: list[Link] = []
        self.incoming: list[Any] = []
        self.outgoing: list[Any] = []
        self.sent: dict[tuple[str, bytes], list[bytes]] = {}
        """What was sent whole, by names of links and tags."""
        self.granted: Counter[Link] = Counter()
        self.under_way: dict[Link, Any] = {}
        self.sends = 0
        self.recovers = False
        """Whether links are attached anew, with what was left unsettled, as soon as they are detached."""
        self._calls = 0
        self._bodies: dict[Any, bytes] = {}
        self._actions: tuple[Callable[[Choices], None], ...] = (
            *(self._send, self._grant, self._decide, self._new_link, self._detach, self._new_session, self._write),
            *(self._settle, self._send, self._drain, self._end_session, self.open_connection, self._close),
            *(self._answer_link, self._set_credit, self._flow, self._withhold, self._abort, self._answer_session),
            *(self._resume, self._take_over, self._attach_again, self._send_with_state, self._change_outgoing),
        )

    def act(self, choices: Choices) -> None:
        """Make one call of those that an application may make."""
        self._calls += 1
        if self._calls <= MOST_CALLS:
            choices.one_of(self._actions)(choices)

    def attempt(self, what: str, is_legal: object, call: Callable[[], Any]) -> Any:
        """Make a call; it may be refused where it is not legal, and is never to fail in another way."""
        if not is_legal and not self.errs:
            return None
        narrate("   call" if is_legal else "   call, which may be refused:", what)
        try:
            result = call()
        except (StateError, EncodeError, ValueRangeError) as error:
            narrate("   refused:", error)
            if is_legal:
                raise Broken(f"{what} was refused: {error}") from error
            return None
        except FrameSizeTooSmall as error:
            check(self.connection.send_frame_size < 4096, f"{what} did not fit: {error}")
            return None
        return result

    def open_connection(self, choices: Choices) -> None:
        self.attempt("open", self.connection.state in OPENABLE, self.connection.open)

    def _close(self, choices: Choices) -> None:
        if choices.octet() < 0xC0:
            return
        error = choices.one_of(ERRORS)
        self.attempt("close", self.connection.state in MAY_SEND, lambda: self.connection.close(error))

    def _new_session(self, choices: Choices) -> None:
        connection = self.connection
        taken = len(connection.sessions())
        if len(self.sessions) >= MOST_SESSIONS:
            return
        highest = 0 if connection.remote_open is None else connection.channel_max
        is_legal = taken <= highest and connection.state not in CLOSING
        session = self.attempt("session", is_legal, connection.session)
        if session is not None:
            self.sessions.append(session)
            self.begin_session(session, choices)

    def begin_session(self, session: Session, choices: Choices) -> None:
        is_legal = not session.is_over and session.state in (SessionState.UNMAPPED, SessionState.BEGIN_RCVD)
        is_open = self.connection.state in (*MAY_SEND, ConnectionState.OPEN_RCVD)
        options = choices.octet()
        self.attempt(
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
            self.begin_session(choices.one_of(self.sessions), choices)

    def _end_session(self, choices: Choices) -> None:
        if self.sessions and choices.octet() >= 0xA0:
            session = choices.one_of(self.sessions)
            error = choices.one_of(ERRORS)
            is_legal = session.state is SessionState.MAPPED and self.connection.state in MAY_SEND
            self.attempt("end", is_legal, lambda: session.end(error))

    def _new_link(self, choices: Choices) -> None:
        if not self.sessions or len(self.links) >= MOST_LINKS:
            return
        session = choices.one_of(self.sessions)
        options = choices.octet()
        is_sender = options & 1 == 0
        name = NAMES[(options >> 1 & 7) % len(NAMES)]
        link = self.attempt("a new link", True, lambda: (session.sender if is_sender else session.receiver)(name))
        if link is not None:
            self.links.append(link)
            self.attach(link, choices)

    def attach(self, link: Link, choices: Choices) -> None:
        options = choices.octet()
        session = link.session
        is_legal = not link.is_over and session.is_open and link.state in (LinkState.DETACHED, LinkState.ATTACH_RCVD)
        is_legal = is_legal and (link.handle >= 0 or len(session.links()) <= session.remote_handle_max)
        is_legal = is_legal and self.connection.links.find(link.name, link.is_sender) in (None, link)
        self.attempt(
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
            self.attempt("refuse", is_legal, lambda: link.refuse(FAILED))
        else:
            self.attach(link, choices)

    def _attach_again(self, choices: Choices) -> None:
        """Attach an endpoint that was detached: not every state allows it."""
        if self.links:
            link = choices.one_of(self.links)
            if link.state is LinkState.DETACHED:
                self.attach(link, choices)

    def _detach(self, choices: Choices) -> None:
        if not self.links:
            return
        link = choices.one_of(self.links)
        options = choices.octet()
        is_legal = link.state in (LinkState.ATTACHED, LinkState.ATTACH_SENT) and link.session.is_open
        error = ERRORS[(options >> 1) % len(ERRORS)]
        self.attempt("detach", is_legal, lambda: link.detach(closed=(options & 1 == 0) ^ self.recovers, error=error))

    def _take_over(self, choices: Choices) -> None:
        """Attach a new endpoint that takes up what an earlier one left, on any session."""
        if self.links and self.sessions:
            earlier = choices.one_of([link for link in self.links if link.suspended] or self.links)
            if earlier.state is LinkState.DETACHED:
                self.take_up(earlier, choices.one_of(self.sessions), choices)

    def take_up(self, earlier: Link, session: Session, choices: Choices) -> None:
        """Attach a new endpoint that takes up what an earlier one left."""
        if len(self.links) < MOST_LINKS:
            make = session.sender if earlier.is_sender else session.receiver
            link = self.attempt("a new link", True, lambda: make(earlier.name))
            self.attempt("take_over", True, lambda: link.take_over(earlier))
            self.links.append(link)
            self.attach(link, choices)

    def _sender(self, choices: Choices) -> Sender | None:
        senders = [link for link in self.links if link.is_sender]
        if not senders or self.sends >= MOST_SENDS:
            return None
        self.sends += 1
        return choices.one_of(senders)

    def may_begin(self, link: Sender, settled: bool) -> bool:
        is_free = link.is_attached and link.credit > 0 and link not in self.under_way and not link.is_incomplete
        return is_free and link.snd_settle_mode != (0 if settled else 1)

    def _send(self, choices: Choices) -> None:
        link = self._sender(choices)
        if link is None:
            return
        options = choices.octet()
        body = BODIES[options & 3]
        # A settle mode that fits is the ordinary choice, the other a mistake of the caller.
        settled = (link.snd_settle_mode == 1) ^ (options & 0x0C == 0x0C)
        is_legal = self.may_begin(link, settled)
        if not is_legal or len(body) <= (link.remote_max_message_size or 9999):
            tag = (None, None, None, b"t%d" % self.sends)[options >> 4 & 3]
            self.send_body(link, body, tag, settled, is_legal)

    def send_body(self, link: Sender, body: bytes, tag: bytes | None, settled: bool, is_legal: object) -> None:
        delivery = self.attempt("send", is_legal, lambda: link.send(body, tag, settled))
        if delivery is not None:
            self.keep(self.outgoing, delivery)
            self.sent.setdefault((link.name, delivery.tag), []).append(body)

    def _send_with_state(self, choices: Choices) -> None:
        link = self._sender(choices)
        if link is None:
            return
        settled = link.snd_settle_mode == 1
        state = choices.one_of(STATES)
        mode = choices.one_of((-1, 0, 1))
        delivery = self.attempt(
            "begin",
            self.may_begin(link, settled) and mode <= link.rcv_settle_mode,
            lambda: link.begin(None, settled, 3, state=state, rcv_settle_mode=mode, batchable=True),
        )
        if delivery is not None:
            self.under_way[link] = delivery
            self.keep(self.outgoing, delivery)
            self._write_on(link, choices)

    def _write(self, choices: Choices) -> None:
        """Begin a delivery or go on with one."""
        link = self._sender(choices)
        if link is None:
            return
        if link not in self.under_way:
            settled = link.snd_settle_mode == 1
            delivery = self.attempt("begin", self.may_begin(link, settled), lambda: link.begin(None, settled))
            if delivery is None:
                return
            self.under_way[link] = delivery
            self.keep(self.outgoing, delivery)
        self._write_on(link, choices)

    def _write_on(self, link: Sender, choices: Choices) -> None:
        delivery = self.under_way[link]
        options = choices.octet()
        body = BODIES[options & 3]
        more = options & 4 == 4
        if delivery.size + len(body) > (link.remote_max_message_size or 9999):
            return
        self._bodies[delivery] = self._bodies.get(delivery, b"") + body
        if not more:
            del self.under_way[link]
            self.sent.setdefault((link.name, delivery.tag), []).append(self._bodies.pop(delivery))
        self.attempt("write", link.is_attached, lambda: link.write(delivery, body, 0, len(body), more))

    def _abort(self, choices: Choices) -> None:
        link = self._sender(choices)
        if link is not None and link in self.under_way:
            delivery = self.under_way.pop(link)
            self.attempt("abort", link.is_attached, lambda: link.abort(delivery))

    def _resume(self, choices: Choices) -> None:
        link = self._sender(choices)
        if link is not None and link.suspended:
            self.resume(link, list(link.suspended.values())[choices.below(len(link.suspended))], choices)

    def resume(self, link: Sender, delivery: Any, choices: Choices) -> None:
        """Take up a delivery of an earlier attachment."""
        options = choices.octet()
        is_legal = link.is_attached and link.credit > 0 and link not in self.under_way
        state = (None, delivery.state)[options & 1]
        body = BODIES[options >> 1 & 3]
        is_legal = is_legal and delivery.size + len(body) <= (link.remote_max_message_size or 9999)
        is_aborted = options & 0x60 == 0x60
        if is_aborted:
            body = b""
        is_settled = options & 0x18 == 0x18
        self.attempt(
            "resume",
            is_legal,
            lambda: link.resume(delivery, body, state=state, settled=is_settled, aborted=is_aborted),
        )

    def _drain(self, choices: Choices) -> None:
        """As a sender, give credit back."""
        link = self._sender(choices)
        if link is not None:
            self.attempt("drained", link.is_attached, link.drained)

    def _receiver(self, choices: Choices) -> Receiver | None:
        receivers = [link for link in self.links if not link.is_sender]
        return choices.one_of(receivers) if receivers else None

    def _grant(self, choices: Choices) -> None:
        link = self._receiver(choices)
        if link is not None:
            credit = choices.one_of((5, 1, 20))
            self.granted[link] += credit
            self.attempt("grant", link.credit + credit <= 0x7FFFFFFF, lambda: link.grant(credit))

    def _set_credit(self, choices: Choices) -> None:
        link = self._receiver(choices)
        if link is not None:
            credit = choices.one_of((3, 0, 1, 0x7FFFFFFF))
            drain = choices.octet() & 1 == 1
            self.granted[link] += credit
            self.attempt("set_credit", True, lambda: link.set_credit(credit, drain=drain))

    def _flow(self, choices: Choices) -> None:
        link = self._receiver(choices)
        if link is not None:
            options = choices.octet()
            properties = PROPERTIES if options & 2 else None
            is_legal = link.is_attached and link.session.is_open
            self.attempt("flow", is_legal, lambda: link.flow(echo=options & 1 == 1, properties=properties))

    def _withhold(self, choices: Choices) -> None:
        if self.sessions:
            session = choices.one_of(self.sessions)
            frames = choices.below(5)
            give = choices.octet() & 1
            self.attempt("withhold", True, lambda: (session.withhold if give else session.give_back)(frames))

    def _decide(self, choices: Choices) -> None:
        if self.incoming:
            self.settle_one(choices.one_of(self.incoming), choices)

    def settle_one(self, delivery: Any, choices: Choices) -> None:
        option = choices.below(8)
        is_legal = not delivery.settled
        if option == 0:
            self.attempt("accept", is_legal, delivery.accept)
        elif option == 1:
            self.attempt("release", is_legal, delivery.release)
        elif option == 2:
            self.attempt("reject", is_legal, lambda: delivery.reject(FAILED))
        elif option == 3:
            annotations = {Symbol("x"): 1}
            self.attempt(
                "modify", is_legal, lambda: delivery.modify(delivery_failed=True, message_annotations=annotations)
            )
        elif option < 6:
            state = choices.one_of(STATES)
            self.attempt("update", is_legal, lambda: delivery.update(state, option == 4))
        elif option == 6:
            self.attempt("settle", is_legal, delivery.settle)

    def _settle(self, choices: Choices) -> None:
        """As a sender, settle a delivery or forget it."""
        if self.outgoing:
            delivery = choices.one_of(self.outgoing)
            self.attempt("settle", not delivery.settled and not delivery.is_partial, delivery.settle)

    def _change_outgoing(self, choices: Choices) -> None:
        if self.outgoing:
            delivery = choices.one_of(self.outgoing)
            state = choices.one_of(STATES)
            settled = choices.octet() & 1 == 1
            is_legal = not delivery.settled and not delivery.is_partial and not is_outcome(delivery.state)
            self.attempt("update", is_legal, lambda: delivery.update(state, settled))

    @staticmethod
    def keep(kept: list[Any], delivery: Any) -> None:
        if delivery is not None:
            kept.append(delivery)
            del kept[:-24]
