"""The subscribers of a topic at this router: who is attached, what each was given, and what each has decided.

A subscriber is a bit of the masks of records. `given` has the bits of the sessions to which a delivery was sent, or
which had it in their maps. `decided` has the bits of those for which it is final.
"""

from collections import deque
from collections.abc import Iterator, Mapping

from routerd.topics.directory import Directory, KnownPublisher
from routerd.topics.effects import Deliver, Outcome, Rejection, Settle
from routerd.topics.names import ClientName
from routerd.topics.port import Port
from routerd.topics.publications import Publication
from routerd.topics.records import Record
from routerd.topics.settings import RELEASES_MAX
from routerd.topics.tags import is_delivery_tag, key_of

_ACCEPTED = Outcome.ACCEPTED
_RELEASED = Outcome.RELEASED
_TOO_OFTEN = Rejection("amqp:illegal-state", f"released {RELEASES_MAX} times")


class Placeholder:
    """A delivery in a subscriber's map that nobody here has a record of."""

    __slots__ = ("outcome", "question", "since")

    def __init__(self, since: float, question: int, outcome: Outcome | None) -> None:
        self.since = since
        self.question = question
        self.outcome = outcome


class Session:
    """An attached subscriber."""

    __slots__ = (
        *("again", "behind", "bit", "credit", "delivered", "is_served", "link", "name", "placeholders"),
        *("progress", "skipped"),
    )

    def __init__(self, link: int, name: ClientName, bit: int, credit: int) -> None:
        self.link = link
        self.name = name
        self.bit = bit
        self.credit = credit
        self.is_served = False
        """Its attach was answered."""
        self.placeholders: dict[bytes, Placeholder] = {}
        self.again: deque[bytes] = deque()
        # By publisher: the number up to which nothing is sent any more, since it was given or is too old.
        self.progress: dict[bytes, int] = {}
        # Publishers with deliveries that could not be sent yet.
        self.behind: dict[bytes, None] = {}
        # Deliveries that came before something that it has, so that they must not come after it.
        self.skipped: dict[bytes, set[bytes]] = {}
        self.delivered = 0


class Subscribers:
    """The sessions and members of one topic here."""

    def __init__(self, port: Port, directory: Directory) -> None:
        self.mask = 0
        """The bits of all members, attached or not."""
        self.sessions: dict[ClientName, Session] = {}
        self.publications: dict[bytes, Publication] = {}
        self._port = port
        self._directory = directory
        self._bits: dict[ClientName, int] = {}
        self._skipped: list[Record] = []
        self._news: list[Publication] = []

    # --- members

    def __contains__(self, name: ClientName) -> bool:
        return name in self._bits

    def add(self, name: ClientName) -> None:
        """Have records wait for a member, which may be one already."""
        if name not in self._bits:
            bit = 1
            while self.mask & bit:
                bit <<= 1
            self._bits[name] = bit
            self.mask |= bit
        for record in self.records():
            # A subscriber's map says what it has; without maps, what it has decided here needs not come again.
            if self._port.settings.is_exactly_once or not record.decided & self._bits[name]:
                self._forget_outcome(record, self._bits[name])

    def remove(self, name: ClientName) -> None:
        """Have records wait for a member no longer."""
        self.sessions.pop(name, None)
        bit = self._bits.pop(name)
        self.mask &= ~bit
        for record in self.records():
            self._forget_outcome(record, bit)

    @staticmethod
    def _forget_outcome(record: Record, bit: int) -> None:
        record.given &= ~bit
        record.decided &= ~bit
        if record.releases:
            record.releases.pop(bit, None)

    def clear(self) -> None:
        """Forget all records."""
        self.publications.clear()
        self._news.clear()
        self._skipped.clear()

    def attach(self, name: ClientName, link: int, credit: int) -> Session:
        """Begin a session of a member."""
        session = self.sessions[name] = Session(link, name, self._bits[name], credit)
        return session

    def records(self) -> Iterator[Record]:
        """Return all records."""
        for publication in self.publications.values():
            yield from publication.records.values()

    def record(self, tag: bytes) -> Record | None:
        """Return the record of a delivery."""
        publication = self.publications.get(key_of(tag))
        return publication.records.get(tag) if publication is not None else None

    def publication(self, key: bytes) -> Publication:
        """Return where the records of a publisher are."""
        made = self.publications.get(key)
        if made is None:
            made = self.publications[key] = Publication(key)
        return made

    def undecided(self, record: Record) -> list[ClientName]:
        """Return the members that a record waits for."""
        return [name for name, bit in self._bits.items() if not record.decided & bit]

    def have_all_decided(self, record: Record) -> bool:
        """Return whether no member is waited for."""
        return record.decided & self.mask == self.mask

    # --- what a subscriber has

    def match(self, session: Session, unsettled: Mapping[bytes, Outcome | None], question: Iterator[int]) -> None:
        """Compare a subscriber's map with the records, as a whole, before it is sent anything."""
        for tag, outcome in unsettled.items():
            record = self.record(tag)
            if outcome is _RELEASED or not is_delivery_tag(tag):
                self._port.emit(Settle(session.link, [tag]))
            elif record is None:
                session.placeholders[tag] = Placeholder(self._port.now, next(question), outcome)
            else:
                self._hold(session, record, outcome)
        for publication in self.publications.values():
            self._skip_before_map(session, publication)
            newest = None
            for record in publication.after(0):
                if record.given & session.bit:
                    newest = record
            if newest is not None:
                self.place(session, publication, newest)
        session.is_served = True

    def _hold(self, session: Session, record: Record, outcome: Outcome | None) -> None:
        """A subscriber has a delivery in its map, with or without an outcome."""
        record.given |= session.bit
        if outcome is not None:
            record.decided |= session.bit
            if outcome is not _ACCEPTED and record.rejection is None:
                record.rejection = Rejection()

    def holds(self, session: Session, tag: bytes) -> bool:
        """Return whether a subscriber has a delivery."""
        record = self.record(tag)
        return tag in session.placeholders or (record is not None and bool(record.given & session.bit))

    def take_map(self, publication: Publication) -> None:
        """A publisher has attached anew: see what each subscriber may not get behind what it has."""
        for session in self.sessions.values():
            session.progress.pop(publication.key, None)
            session.skipped.pop(publication.key, None)
            self._skip_before_map(session, publication)

    def _skip_before_map(self, session: Session, publication: Publication) -> None:
        order = publication.map_order
        last = max((at for at, tag in enumerate(order) if self.holds(session, tag)), default=0)
        if skipped := {tag for tag in order[:last] if not self.holds(session, tag)}:
            session.skipped[publication.key] = skipped

    def number(self, publication: Publication, record: Record) -> None:
        """A record has a number in the present stream: see who has it. The others get it when the turn ends."""
        for session in self.sessions.values():
            if session.placeholders and (placeholder := session.placeholders.pop(record.tag, None)) is not None:
                self._hold(session, record, placeholder.outcome)
            if record.given & session.bit:
                if publication.has_news and publication.key not in session.behind:
                    self.show(session, publication)
                self.place(session, publication, record)
            elif session.skipped and record.tag in session.skipped.get(publication.key, ()):
                self._skip(session, record)
        if not publication.has_news:
            publication.has_news = True
            self._news.append(publication)

    def place(self, session: Session, publication: Publication, record: Record) -> None:
        """Have a subscriber that has a delivery get no older one of the publisher any more."""
        before = session.progress.get(publication.key, 0)
        if record.number <= before:
            return
        session.progress[publication.key] = record.number
        for older in publication.after(before):
            if older.number >= record.number:
                break
            if not older.given & session.bit:
                self._skip(session, older)

    def _skip(self, session: Session, record: Record) -> None:
        """Have a subscriber not get a delivery any more, nor be waited for."""
        record.given |= session.bit
        record.decided |= session.bit
        self._skipped.append(record)

    def take_skipped(self) -> list[Record]:
        """Return the records that somebody is waited for no longer since the last call."""
        skipped = self._skipped
        if skipped:
            self._skipped = []
        return skipped

    # --- giving

    def may_show(self, publisher: KnownPublisher | None) -> bool:
        """Return whether what is held of a publisher may be given to subscribers: it is not known to be elsewhere."""
        return (
            publisher is not None
            and publisher.is_attached
            and self._port.routers.is_alive(publisher.ingress, self._port.now)
        )

    def show(self, session: Session, publication: Publication) -> None:
        """Send a subscriber what it was not given of a publisher."""
        key = publication.key
        publisher = self._directory.publishers.get(key)
        if not session.is_served:
            return
        if publisher is None or not self.may_show(publisher):
            session.behind[key] = None
            return
        session.behind.pop(key, None)
        bit, credit, progress = session.bit, session.credit, session.progress.get(key, 0)
        given = []
        for record in publication.after(progress):
            if record.is_settled or record.given & bit:
                continue
            if not credit:
                session.behind[key] = None
                break
            credit -= 1
            progress = record.number
            record.given |= bit
            given.append(record)
        if given:
            session.progress[key] = progress
            self._deliver(session, publisher, given)

    def catch_up(self, session: Session) -> None:
        """Send a subscriber what could not be sent before."""
        for _ in range(len(session.again)):
            tag = session.again.popleft()
            record = self.record(tag)
            if record is None or record.is_settled or record.decided & session.bit:
                continue
            publisher = self._directory.publishers.get(key_of(tag))
            if publisher is None or not session.credit or not self.may_show(publisher):
                session.again.append(tag)
            else:
                self._deliver(session, publisher, [record])
        for key in list(session.behind):
            self.show(session, self.publication(key))

    def show_news(self) -> None:
        """Send every subscriber what has come in this turn."""
        if not self._news:
            return
        news, self._news = self._news, []
        for publication in news:
            publication.has_news = False
            for session in self.sessions.values():
                if publication.key not in session.behind:
                    self.show(session, publication)

    def catch_up_all(self) -> None:
        """Send every subscriber what has come, and what could not be sent before."""
        self.show_news()
        for session in self.sessions.values():
            if session.behind or session.again:
                self.catch_up(session)

    def show_all(self, session: Session) -> None:
        """Send a subscriber everything that it was not given."""
        for publication in list(self.publications.values()):
            self.show(session, publication)

    def _deliver(self, session: Session, publisher: KnownPublisher, records: list[Record]) -> None:
        session.credit -= len(records)
        session.delivered += len(records)
        self._port.emit(Deliver(session.link, publisher.name, records))

    # --- outcomes

    def decide(self, session: Session, tag: bytes, outcome: Outcome, rejection: Rejection | None) -> Record | None:
        """Take a subscriber's outcome; return the record if the outcome is final."""
        record = self.record(tag)
        if (placeholder := session.placeholders.get(tag)) is not None and outcome is not _RELEASED:
            placeholder.outcome = outcome
        if record is None or not record.given & session.bit or record.decided & session.bit:
            return None
        if outcome is _RELEASED:
            self._port.emit(Settle(session.link, [tag]))
            if not self._is_released_too_often(record, session.bit):
                session.again.append(tag)
                self.catch_up(session)
                return None
            outcome, rejection = Outcome.REJECTED, _TOO_OFTEN
        elif not self._port.settings.is_exactly_once:
            self._port.emit(Settle(session.link, [tag]))
        record.decided |= session.bit
        if outcome is not _ACCEPTED and record.rejection is None:
            record.rejection = rejection or Rejection()
        return record

    def accept(self, session: Session, records: list[Record]) -> list[Record]:
        """Take that a subscriber has accepted deliveries as they were given to it; return those for which it counts."""
        bit = session.bit
        final, tags = [], []
        for record in records:
            if record.ingress is None or session.placeholders:
                # It was dropped, and there may be another record of the same delivery.
                current = self.decide(session, record.tag, _ACCEPTED, None)
                if current is not None:
                    final.append(current)
            elif record.given & bit and not record.decided & bit:
                record.decided |= bit
                final.append(record)
                tags.append(record.tag)
        if tags and not self._port.settings.is_exactly_once:
            self._port.emit(Settle(session.link, tags))
        return final

    @staticmethod
    def _is_released_too_often(record: Record, bit: int) -> bool:
        if record.releases is None:
            record.releases = {}
        record.releases[bit] = record.releases.get(bit, 0) + 1
        return record.releases[bit] >= RELEASES_MAX

    def settle(self, records: list[Record]) -> None:
        """Settle deliveries with all that have them."""
        is_exactly_once = self._port.settings.is_exactly_once
        for session in self.sessions.values():
            bit = session.bit
            tags = []
            for record in records:
                # Without maps, what a subscriber has decided is settled already.
                if record.given & bit and (is_exactly_once or not record.decided & bit):
                    tags.append(record.tag)
            if tags:
                self._port.emit(Settle(session.link, tags))

    def resolve(self, session: Session, tag: bytes) -> None:
        """Settle a delivery of a subscriber's map that is settled everywhere."""
        del session.placeholders[tag]
        self._port.emit(Settle(session.link, [tag]))
