"""The ingress: publishers attach here.

It says `accepted` when all subscriptions have decided, and `done` when all routers know that it is settled.
"""

from collections.abc import Mapping

from routerd.topics import messages as told
from routerd.topics.claims import Claim
from routerd.topics.copying import Copies
from routerd.topics.directory import Directory
from routerd.topics.effects import (
    RESOURCE_DELETED,
    STOLEN,
    TRANSFER_LIMIT_EXCEEDED,
    AnswerPublisher,
    Decide,
    Grant,
    Outcome,
    Rejection,
)
from routerd.topics.errors import Refused
from routerd.topics.host import Host
from routerd.topics.names import ClientName, Place
from routerd.topics.port import Port
from routerd.topics.progress import Progress
from routerd.topics.publisher_credit import PublisherCredit
from routerd.topics.publishers import Publisher
from routerd.topics.ranges import Ranges
from routerd.topics.records import Entry, new_entry
from routerd.topics.subscribers import Subscribers
from routerd.topics.tags import delivery_tag, publisher_key
from routerd.topics.telling import Telling

OLD_PART = 0.6
"""The part of a publisher's time-out after which its deliveries count as old; hosts wait for all of it."""
LINE_PART = 0.3
"""How much of the time-out a host adds to the time up to which it has dropped, for clocks and delays."""


class Ingress:
    """The publishers of one topic here."""

    def __init__(
        self, port: Port, directory: Directory, host: Host, subscribers: Subscribers, first_number: int
    ) -> None:
        self.publishers: dict[bytes, Publisher] = {}
        self.progress = Progress(port, directory, first_number)
        self.accepted = 0
        self.rejected = 0
        self.unknown = 0
        self.has_accepted = False
        """Something was accepted in this turn."""
        self._port = port
        self._turn = port.turn
        self._directory = directory
        self._host = host
        self._own = host.upstream(port.me)
        self._subscribers = subscribers
        self._copies = Copies(port, directory)
        self._stream = self.progress.stream
        self._is_changed = False
        self._is_credit_due = False
        self.credit = PublisherCredit(port, self.publishers, directory)
        self.telling = Telling(port, self.publishers, self.progress, self.credit, self._copies)

    # --- attaching

    def attach(
        self, name: ClientName, link: int, unsettled: Mapping[bytes, float], claim: Claim, may_return: bool
    ) -> None:
        """Take a publisher with its map: the ages of its deliveries by tag, in order."""
        key = publisher_key(name)
        before = self.publishers.get(key)
        publisher = Publisher(name, key, claim, link, self._port.now, may_return)
        self._enter_directory(publisher)
        self._take_map(publisher, before, unsettled)
        if before is not None:
            self._drop(before, "attached again")
        self.publishers[key] = publisher
        publisher.notice = self._notice(key, b"")
        self._compare_with_host(publisher)
        self.telling.cast_set(publisher)
        known = tuple(tag for tag, entry in publisher.entries.items() if entry.payload is not None)
        publisher.credit = len(unsettled) - len(known)
        self._port.emit(AnswerPublisher(link, known, self._port.stamp()))
        if publisher.credit:
            self._port.emit(Grant(link, publisher.credit))
        self._is_changed = self._is_credit_due = True
        if not self._end_if_too_old(publisher):
            self._number(publisher)

    def _enter_directory(self, publisher: Publisher) -> None:
        known = self._directory.publisher(publisher.name)
        known.claim, known.ingress, known.heard_at = publisher.claim, self._port.me, self._port.now
        known.is_attached, known.is_closed, known.may_return = True, False, publisher.may_return

    def _take_map(self, publisher: Publisher, before: Publisher | None, unsettled: Mapping[bytes, float]) -> None:
        for own_tag, age_s in unsettled.items():
            tag = delivery_tag(publisher.key, own_tag)
            entry = new_entry(publisher.key, own_tag, tag, self._port.now - age_s)
            entry.is_from_map = True
            known = before.entries.get(own_tag) if before is not None else None
            record = self._subscribers.record(tag)
            if known is not None and known.payload is not None:
                entry.payload, entry.size = known.payload, known.size
            elif record is not None and not record.is_settled:
                entry.payload, entry.size = record.payload, record.size
            publisher.add(entry)

    def _compare_with_host(self, publisher: Publisher) -> None:
        self._host.begin_anew(publisher.key, [entry.tag for entry in publisher.entries.values()])
        self._host.take_set(self._port.me, publisher.key, self.telling.set_of(publisher))

    # --- deliveries

    def publish(self, publisher: Publisher, own_tag: bytes, payload: object, size: int, age_s: float) -> None:
        """Take a delivery, or one of the map that is sent again."""
        publisher.credit -= 1
        entry = publisher.entries.get(own_tag)
        if entry is None:
            if publisher.credit < 0:
                raise Refused(TRANSFER_LIMIT_EXCEEDED, "a delivery without credit")
            tag = delivery_tag(publisher.key, own_tag)
            if tag in publisher.settling:
                raise Refused("amqp:not-allowed", "the delivery-tag was settled just now")
            entry = new_entry(publisher.key, own_tag, tag, self._turn.now - age_s)
            entry.payload, entry.size = payload, size
            publisher.add(entry)
        elif entry.payload is None:
            publisher.fill(entry, payload, size)
        elif not entry.is_from_map:
            raise Refused("amqp:not-allowed", "the delivery-tag is that of an unsettled delivery")
        self._is_changed = self._is_credit_due = True
        if publisher.unnumbered == 1 and not entry.number:
            self._send(publisher, entry)
        elif publisher.unnumbered:
            self._number(publisher)

    def _number(self, publisher: Publisher) -> None:
        """Give numbers to what has come, in the order of the map, and send it."""
        if not publisher.is_attached:
            return
        for entry in publisher.entries.values():
            if entry.payload is None:
                break
            if not entry.number:
                self._send(publisher, entry)

    def _send(self, publisher: Publisher, entry: Entry) -> None:
        is_held = entry.is_from_map and self._subscribers.record(entry.tag) is not None
        self.progress.number(entry)
        publisher.unnumbered -= 1
        if entry.is_from_map:
            self.telling.cast_numbered(publisher, entry)
        if not is_held:
            self._copies.send(publisher.name, publisher.claim, entry)
        self._enter(publisher, entry)

    def _enter(self, publisher: Publisher, entry: Entry) -> None:
        if self._host.is_hosting:
            key, claim, number, tag = publisher.key, publisher.claim, entry.number, entry.tag
            self._host.take(self._own, key, claim, number, tag, entry.sent_at, entry.payload, entry.size)

    def refill(self) -> None:
        """There is a subscriber here: hold what the publishers here have unsettled."""
        for entry in list(self._stream.entries.values()):
            publisher = self.publishers[entry.publisher]
            if entry.own_tag in publisher.entries:
                self._enter(publisher, entry)

    # --- accepting

    def acknowledge(self, place: Place, report: told.Acknowledged) -> None:
        """A host's subscribers have decided."""
        self.progress.acknowledge(place, report)
        for number, condition, description in report.rejections:
            entry = self._stream.entries.get(number)
            if entry is not None and entry.rejection is None:
                entry.rejection = Rejection(condition, description)
        self._is_changed = True

    def change(self) -> None:
        """Subscriptions or their places have changed: look again at what all have, and at who may have more credit."""
        self._is_changed = self._is_credit_due = True

    def evaluate(self) -> None:
        """Tell publishers what all subscriptions have decided."""
        if not self._is_changed:
            return
        self._is_changed = False
        progress = self.progress
        if not progress.untold or not self._port.routers.grace_is_over(self._port.now):
            return
        together: list[Entry] = []
        publisher: Publisher | None = None
        for number in progress.decided().numbers():
            entry = self._stream.entries[number]
            if publisher is None or entry.publisher != publisher.key or entry.rejection is not None:
                self._tell(publisher, together)
                together = []
                publisher = self.publishers[entry.publisher]
            if publisher.is_present:
                together.append(entry)
                if entry.rejection is not None:
                    self._tell(publisher, together)
                    together = []
        self._tell(publisher, together)

    def _tell(self, publisher: Publisher | None, entries: list[Entry]) -> None:
        """Tell a publisher that deliveries are accepted; or that one is rejected, which goes alone."""
        if publisher is None or not entries:
            return
        if publisher.link is None:
            self._settle_for(publisher, entries)
            return
        rejection = entries[0].rejection
        numbers = Ranges()
        for entry in entries:
            entry.is_told = True
            numbers.add(entry.number)
        self.progress.untold.subtract(numbers)
        self.has_accepted = True
        outcome = Outcome.ACCEPTED if rejection is None else Outcome.REJECTED
        if rejection is None:
            publisher.accepted += len(entries)
            self.accepted += len(entries)
        else:
            publisher.rejected += 1
            self.rejected += 1
        is_settled = not self._port.settings.is_exactly_once
        tags = [entry.own_tag for entry in entries]
        self._port.emit(Decide(publisher.link, tags, outcome, rejection, is_settled))
        if is_settled:
            self._settle(publisher, entries)

    def _settle_for(self, publisher: Publisher, entries: list[Entry]) -> None:
        """Settle what all have decided in place of a publisher that is gone and does not return."""
        self._settle(publisher, entries)
        publisher.is_ending = not publisher.entries

    # --- settling

    def settle(self, publisher: Publisher, own_tags: list[bytes]) -> None:
        """The publisher has settled deliveries; if it did so before the outcome, it gives them up."""
        entries = [entry for own_tag in own_tags if (entry := publisher.entries.get(own_tag)) is not None]
        self._settle(publisher, entries)

    def _settle(self, publisher: Publisher, entries: list[Entry]) -> None:
        # Settled deliveries are sent to nobody else. Those that came in this turn are sent first.
        self._subscribers.show_news()
        numbers = Ranges()
        for entry in entries:
            publisher.remove(entry)
            if not entry.number:
                # A router may hold it under a number of an earlier ingress.
                entry.number = self._stream.notice()
                self._port.cast(told.SettledUnnumbered(publisher.claim, entry.tag, entry.number))
                self._host.settle_unnumbered(self._port.me, publisher.claim, entry.tag, entry.number)
            publisher.settling[entry.tag] = entry.number
            self.progress.settle(entry)
            entry.payload = None
            numbers.add(entry.number)
        self.progress.untold.subtract(numbers)
        if self._port.settings.is_exactly_once:
            self.progress.settled_due.update(numbers)
        self._host.settle(self._port.me, numbers)

    def _notice(self, key: bytes, tag: bytes) -> int:
        """Return a number that all routers have to know."""
        notice = new_entry(key, b"", tag, self._port.now)
        notice.number = self._stream.notice()
        self.progress.settle(notice)
        return notice.number

    def finish(self) -> None:
        """Have everything done that all routers know."""
        if not self.progress.settling:
            return
        done = Ranges()
        publisher: Publisher | None = None
        may_finish = False
        for number in self.progress.known_everywhere().numbers():
            entry = self.progress.settling[number]
            if publisher is None or entry.publisher != publisher.key:
                publisher = self.publishers[entry.publisher]
                may_finish = self._may_finish(publisher)
            if not may_finish:
                continue
            if entry.tag:
                publisher.settling.pop(entry.tag, None)
                done.add(number)
            else:
                self._finish(done.take())
                self._finish_notice(publisher, number)
        self._finish(done)

    def _may_finish(self, publisher: Publisher) -> bool:
        """Return whether no router out of reach shows a subscriber what a publisher has settled."""
        if not self._port.settings.is_exactly_once:
            return True
        return self._port.routers.lease_has_run(publisher.attached_at, self._port.now)

    def _finish(self, done: Ranges) -> None:
        if done:
            self.progress.done_due.update(done)
            self._host.finish(self._port.me, done)
            self._forget(done)

    def _finish_notice(self, publisher: Publisher, number: int) -> None:
        """All routers know what the publisher had at its attach: what it had not, is done."""
        publisher.notice = 0
        self._forget(Ranges([number]))
        self._host.take_set(self._port.me, publisher.key, self.telling.set_of(publisher))
        self.telling.cast_set(publisher)

    def _forget(self, numbers: Ranges) -> None:
        self._is_credit_due = True
        self.progress.forget(numbers)

    # --- leaving

    def leave(self, publisher: Publisher) -> None:
        """The publisher's link is gone."""
        # What came before in this turn came while it was attached.
        self._subscribers.show_news()
        publisher.link = None
        publisher.credit = 0
        publisher.left_at = self._port.now
        if not publisher.may_return and publisher.entries:
            # All subscribers get what it has sent.
            return
        known = self._directory.publisher(publisher.name)
        if known.claim == publisher.claim:
            known.is_attached = False
        self._port.cast(told.PublisherSeen(publisher.key, publisher.claim, False))

    def end(self, publisher: Publisher) -> None:
        """The publisher gives up everything, or has lost it."""
        publisher.is_ending = True
        self._give_up(publisher)

    def _give_up(self, publisher: Publisher) -> None:
        """Settle what the publisher was told no outcome of."""
        for entry in publisher.entries.values():
            if not entry.is_told:
                publisher.unknown += 1
                self.unknown += 1
        self._settle(publisher, list(publisher.entries.values()))

    def lose(self, key: bytes) -> None:
        """Another router has a later claim."""
        publisher = self.publishers.pop(key, None)
        if publisher is not None:
            self._drop(publisher, "attached at another router")

    def _drop(self, publisher: Publisher, reason: str) -> None:
        """Forget what a publisher had at an attach that is not its latest."""
        if publisher.link is not None:
            self._port.detach(publisher.link, STOLEN, reason)
        numbers = [publisher.notice, *publisher.settling.values()]
        numbers += [entry.number for entry in publisher.entries.values()]
        self._forget(Ranges(sorted(number for number in numbers if number)))
        self._is_changed = True

    def ended(self) -> list[Publisher]:
        """Forget the publishers that have ended, now that all routers know; return them."""
        gone = [each for each in self.publishers.values() if each.is_ending and not each.held and not each.notice]
        for publisher in gone:
            del self.publishers[publisher.key]
        return gone

    # --- time

    def tick(self) -> None:
        """Look at who has been away, and at what is too old."""
        for publisher in list(self.publishers.values()):
            is_away = publisher.link is None and not publisher.is_ending
            if is_away and self._port.now - publisher.left_at > self._port.settings.publisher_timeout_s:
                self._port.note(f"publisher {publisher.name} was away too long")
                if publisher.entries:
                    self.drop_line(publisher.key, publisher.left_at)
                self.end(publisher)
            self._end_if_too_old(publisher)
        # The lease and the grace run without any other event.
        self._is_changed = self._is_credit_due = True

    def drop_line(self, key: bytes, line: float, but: str = "") -> None:
        """Have all routers know that deliveries that were sent before may have been dropped."""
        if self._directory.raise_drop_line(key, line):
            self._port.cast(told.DropLine(key, max(0, int((self._port.now - line) * 1000))), but)
            if (publisher := self.publishers.get(key)) is not None:
                self._end_if_too_old(publisher)

    def _end_if_too_old(self, publisher: Publisher) -> bool:
        """End the link of a publisher whose deliveries a host may have dropped: their outcome is unknown."""
        if publisher.link is None or not publisher.entries:
            return False
        oldest = min(entry.sent_at for entry in publisher.entries.values())
        old_s = OLD_PART * self._port.settings.publisher_timeout_s
        is_dropped = oldest < self._directory.drop_line(publisher.key)
        is_forsaken = self._port.now - oldest > old_s and self._port.routers.out_of_reach_longer_than(
            old_s, self._port.now
        )
        if not is_dropped and not is_forsaken:
            return False
        self._port.note(f"publisher {publisher.name} is ended: unsettled too long")
        self._port.detach(publisher.link, RESOURCE_DELETED, "unsettled too long: the outcomes are unknown")
        self.leave(publisher)
        newest = max(entry.sent_at for entry in publisher.entries.values())
        self.drop_line(publisher.key, newest + 0.001)
        self._give_up(publisher)
        return True

    # --- the end of a turn

    def flush(self) -> None:
        """Send copies; tell other routers what was settled and done, and publishers how much more they may send."""
        self._copies.flush()
        self.telling.cast_settled()
        if self._is_credit_due:
            self._is_credit_due = False
            self.credit.grant()

    def heed_credit(self) -> None:
        """Publishers here may get more credit."""
        self._is_credit_due = True
