"""The application above an engine: it answers, grants, sends and settles as the choices of an input say.

It holds the engine to what it promises to applications: what it tells, when and how often. By default it is as lively
as a good application: every link is answered, every delivery accepted, every credit used.
"""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from routerd.wire.connection import Connection
from routerd.wire.handler import Handler
from routerd.wire.link import Link
from routerd.wire.outcomes import is_outcome
from routerd.wire.receiver import Receiver
from routerd.wire.recovery import Recovery, plan_recovery
from routerd.wire.session import Session
from routerd.wire.states import ConnectionState, LinkState, SessionState
from tests.fuzz.broken import check
from tests.fuzz.calls import BODIES, FAILED, MOST_SENDS, Calls
from tests.fuzz.choices import Choices
from tests.fuzz.narration import narrate


class Application(Handler, Calls):
    """Reacts to one engine; `events` is what it was told."""

    def __init__(self, choices: Choices, *, errs: bool = True) -> None:
        Calls.__init__(self, errs=errs)
        self.events: list[tuple[Any, ...]] = []
        self.violations: list[Exception] = []
        self.received: dict[tuple[Any, bytes], bytes] = {}
        self.is_told_of_output = False
        self.is_passive = False
        self._choices = choices
        habits = choices.octet()
        self._leaves_unsettled = habits & 3 == 3
        self.recovers = habits & 4 == 4
        self._to_resume: dict[Link, list[Any]] = {}
        self._begun: Counter[Link] = Counter()
        self._told: set[tuple[str, Any]] = set()
        self._is_closed = False

    @property
    def is_told_of_end(self) -> bool:
        """Whether the end of the connection was reported."""
        return self._is_closed

    def _tell(self, *event: Any) -> None:
        check(not self._is_closed, f"{event[0]} after the connection was reported closed")
        self.events.append(event)
        narrate("   told", event)

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
            self._react(self.open_connection)

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
            self._react(lambda choices: self.begin_session(session, choices))

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
        self._plan(link, performative)
        if link.state is LinkState.ATTACH_RCVD:
            self.links.append(link)
            self._react(lambda choices: self._usual_answer(link, performative, choices))
        elif not link.is_sender:
            self._react(lambda choices: self._grant_to(link))

    def _plan(self, link: Link, performative: Any) -> None:
        plan = plan_recovery(link, performative.unsettled, is_incomplete=performative.incomplete_unsettled)
        resumed = (Recovery.RESUME, Recovery.CONFIRM)
        self._to_resume[link] = [one.delivery for one in plan if one.recovery in resumed]

    def _usual_answer(self, link: Link, performative: Any, choices: Choices) -> None:
        if choices.octet() >= 0xF0:
            self.attempt("refuse", link.session.is_open, lambda: link.refuse(FAILED))
            return
        if self.recovers:
            self._take_over_for(link)
            self._plan(link, performative)
        self.attach(link, choices)
        if not link.is_sender:
            self._grant_to(link)

    def _take_over_for(self, link: Link) -> None:
        for earlier in self.links:
            is_same = earlier.name == link.name and earlier.is_sender == link.is_sender and earlier is not link
            if is_same and earlier.suspended:
                self.attempt("take_over", True, partial(link.take_over, earlier))
                return

    def _grant_to(self, link: Any) -> None:
        self.granted[link] += 5
        self.attempt("grant", link.credit + 5 <= 0x7FFFFFFF, lambda: link.grant(5))

    def on_link_flow(self, link: Link) -> None:
        state = (link.credit, link.drain, link.available, link.delivery_count)
        self._tell("link flow", link.name, link.is_sender, *state, link.flow_properties)
        check(link.credit >= 0, f"a credit of {link.credit}")
        if link.is_sender:
            self._react(lambda choices: self._use_credit(link, choices))

    def _use_credit(self, link: Any, choices: Choices) -> None:
        for delivery in self._to_resume.pop(link, []):
            if link.suspended and link.suspended.get(delivery.tag) is delivery:
                self.resume(link, delivery, choices)
        settled = link.snd_settle_mode == 1
        while self.sends < MOST_SENDS and self.may_begin(link, settled):
            self.sends += 1
            body = BODIES[choices.octet() & 3]
            if len(body) > (link.remote_max_message_size or 9999):
                break
            self.send_body(link, body, None, settled, True)
        if link.drain and link.is_attached and link.credit > 0 and link not in self.under_way:
            self.attempt("drained", True, link.drained)

    def on_link_detached(self, link: Link, closed: bool, error: Any) -> None:
        self._tell_once("link detached", link, link.name, link.is_sender, closed, error)
        self.under_way.pop(link, None)
        self._react(lambda choices: self._recover(link, choices))

    def _recover(self, link: Link, choices: Choices) -> None:
        if self.recovers and link.suspended and not link.session.is_over:
            self.take_up(link, link.session, choices)

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
            check(self._begun[receiver] <= self.granted[receiver], f"{self._begun[receiver]} deliveries")
            self.received[key] = b""
        self.received[key] = self.received.get(key, b"") + octets
        if delivery not in self.incoming:
            self.keep(self.incoming, delivery)
        if not (delivery.is_partial or delivery.is_aborted or delivery.is_resumed):
            self.on_message(receiver, delivery.tag, self.received.pop(key))
        if not delivery.is_partial and not delivery.settled and not self._leaves_unsettled:
            self._react(lambda choices: self.settle_one(delivery, choices))
            if receiver.credit <= 2:
                self._react(lambda choices: self._grant_to(receiver))

    def on_message(self, receiver: Receiver, tag: bytes, body: bytes) -> None:
        """Take a whole message; to be overridden by who knows what was sent."""

    def on_disposition(self, delivery: Any) -> None:
        self._tell("disposition", delivery.tag, delivery.id, delivery.remote_state, delivery.remote_settled)
        is_decided = delivery.remote_settled if delivery.is_incoming else is_outcome(delivery.remote_state)
        if is_decided and not delivery.settled:
            self._react(lambda choices: self.attempt("settle", not delivery.settled, delivery.settle))

    def on_output(self, connection: Connection) -> None:
        check(not self.is_told_of_output, "output is told of twice")
        self.is_told_of_output = True
