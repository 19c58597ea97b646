"""Questions about deliveries that only a subscriber's map has: is it settled, or is it still to come?

The publisher's map decides. Its ingress has it; but the publisher may have left for another router, so the ingress
asks it first. After a publisher has closed, everything of it is settled, unless a router knows of a later attach.
An answer counts for the question that was asked, so it is newer than the subscriber's map.
"""

from collections.abc import Callable
from itertools import count

from routerd.topics import messages as told
from routerd.topics.claims import Claim
from routerd.topics.directory import Directory
from routerd.topics.effects import AskEcho
from routerd.topics.ingress import Ingress
from routerd.topics.names import Place
from routerd.topics.port import Port
from routerd.topics.settings import QUESTIONS_PER_TICK
from routerd.topics.subscribers import Session, Subscribers
from routerd.topics.tags import key_of


class Questions:
    """What is asked here, and what is asked of the publishers here."""

    def __init__(self, port: Port, directory: Directory, subscribers: Subscribers, ingress: Ingress) -> None:
        self.numbers = count(1)
        self.resolved = 0
        self._port = port
        self._directory = directory
        self._subscribers = subscribers
        self._ingress = ingress
        # Of a closed publisher: its claim, and who has no record.
        self._polls: dict[int, tuple[Claim, dict[Place, None]]] = {}
        self._open: dict[int, tuple[Session, bytes]] = {}
        self._tokens = count(1)
        self._echoes: dict[int, tuple[str, int, bytes]] = {}

    # --- asking

    def ask_of(self, session: Session) -> None:
        """Ask about all placeholders of a subscriber."""
        for tag, placeholder in list(session.placeholders.items())[:QUESTIONS_PER_TICK]:
            if tag in session.placeholders:
                self._open[placeholder.question] = (session, tag)
                self._ask(tag, placeholder.question)

    def ask_all(self) -> None:
        """Ask again about everything that is still open."""
        self._echoes = {}
        self._open = {question: each for question, each in self._open.items() if self._is_open(question)}
        self._polls = {question: poll for question, poll in self._polls.items() if question in self._open}
        for session in list(self._subscribers.sessions.values()):
            self.ask_of(session)

    def _ask(self, tag: bytes, question: int) -> None:
        publisher = self._directory.publishers.get(key_of(tag))
        if publisher is None:
            return
        if publisher.is_closed:
            poll = self._polls.get(question)
            if poll is None or poll[0] != publisher.claim:
                self._polls[question] = (publisher.claim, {})
            self._port.cast(told.RecordAsked(question, tag, publisher.claim))
            self._check_poll(question, tag)
        elif publisher.ingress == self._port.me:
            self.answer(self._port.me.router, question, tag)
        elif self._port.routers.is_up(publisher.ingress):
            self._port.send(publisher.ingress.router, told.SettledAsked(question, tag))

    def _is_open(self, question: int) -> bool:
        """Return whether the subscriber that a question is of still waits for the answer."""
        session, tag = self._open.get(question, (None, b""))
        return (
            session is not None
            and self._subscribers.sessions.get(session.name) is session
            and tag in session.placeholders
            and session.placeholders[tag].question == question
        )

    def settled(self, question: int) -> None:
        """The answer to a question is that the delivery is settled."""
        if self._is_open(question) and self._subscribers.record(self._open[question][1]) is None:
            self._resolve(*self._open.pop(question))

    def _resolve(self, session: Session, tag: bytes) -> None:
        self.resolved += 1
        self._subscribers.resolve(session, tag)

    # --- answering as ingress

    def answer(self, router: str, question: int, tag: bytes) -> None:
        """Answer whether a delivery of a publisher here is settled; if it seems so, after its echo."""
        publisher = self._ingress.publishers.get(key_of(tag))
        if publisher is None or not publisher.is_present or self._state(tag) != "none":
            return
        if publisher.link is None:
            self._tell_settled(router, question)
            return
        token = next(self._tokens)
        self._echoes[token] = (router, question, tag)
        self._port.emit(AskEcho(publisher.link, token))

    def _state(self, tag: bytes) -> str:
        publisher = self._ingress.publishers.get(key_of(tag))
        return "unknown" if publisher is None else publisher.state_of(tag)

    def echoed(self, key: bytes, token: int) -> None:
        """The publisher is still here, and has sent nothing else."""
        router, question, tag = self._echoes.pop(token, ("", 0, b""))
        if key_of(tag) != key or self._state(tag) != "none":
            return
        self._tell_settled(router, question)

    def _tell_settled(self, router: str, question: int) -> None:
        if router == self._port.me.router:
            self.settled(question)
        else:
            self._port.send(router, told.IsSettled(question))

    # --- closed publishers

    def answer_poll(self, router: str, poll: told.RecordAsked) -> None:
        """Say whether a delivery of a closed publisher is held here, or the publisher is not closed."""
        known = self._directory.publishers.get(key_of(poll.tag))
        is_held = self._subscribers.record(poll.tag) is not None or (known is not None and known.claim > poll.claim)
        self._port.send(router, told.RecordAnswered(poll.question, is_held))

    def take_poll(self, place: Place, answer: told.RecordAnswered) -> None:
        """Note what a router has said."""
        poll = self._polls.get(answer.question)
        if poll is None or not self._is_open(answer.question):
            return
        if answer.is_held:
            del self._polls[answer.question]
            return
        poll[1][place] = None
        self._check_poll(answer.question, self._open[answer.question][1])

    def _check_poll(self, question: int, tag: bytes) -> None:
        claim, said_no = self._polls[question]
        publisher = self._directory.publishers.get(key_of(tag))
        if publisher is None or not publisher.is_closed or publisher.claim != claim:
            return
        is_complete = all(each.is_up and each.place in said_no for each in self._port.routers.known.values())
        if is_complete and self._subscribers.record(tag) is None:
            del self._polls[question]
            self._resolve(*self._open.pop(question))

    # --- time

    def give_up_old(self, raise_line: Callable[[bytes, float], None]) -> None:
        """Settle what no publisher has come back for within its time-out."""
        timeout_s = self._port.settings.publisher_timeout_s
        now = self._port.now
        for session in self._subscribers.sessions.values():
            for tag, placeholder in list(session.placeholders.items()):
                publisher = self._directory.publishers.get(key_of(tag))
                heard_at = placeholder.since if publisher is None else max(placeholder.since, publisher.heard_at)
                if now - heard_at > timeout_s:
                    raise_line(key_of(tag), placeholder.since)
                    self._resolve(session, tag)
