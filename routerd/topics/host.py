"""A host: it holds what subscribers here get, and tells each ingress what they have and what it knows to be settled."""

from collections.abc import Iterable

from routerd.topics.claims import Claim
from routerd.topics.directory import Directory, KnownPublisher
from routerd.topics.messages import Acknowledged, DropLine, Knows, Missing, PublisherSet
from routerd.topics.names import Place
from routerd.topics.port import Port
from routerd.topics.ranges import Ranges
from routerd.topics.records import Copy, Record, new_record
from routerd.topics.subscribers import Subscribers
from routerd.topics.tags import key_of
from routerd.topics.upstream import Upstream


class Host:
    """The records of one topic here."""

    def __init__(self, port: Port, directory: Directory, subscribers: Subscribers) -> None:
        self.version = 0
        """Of the list of subscribers here."""
        self.is_hosting = False
        self.held = 0
        self._port = port
        self._directory = directory
        self._publishers = directory.publishers
        self._lines = directory.drop_lines()
        self._subscribers = subscribers
        self._upstreams: dict[Place, Upstream] = {}

    # --- hosting at all

    def host(self) -> None:
        """Hold records from now on: there is a subscriber."""
        if not self.is_hosting:
            self.is_hosting = True
            for each in self._upstreams.values():
                each.stream.begin_anew()

    def unhost(self) -> None:
        """Drop all records: there is no subscriber any more."""
        self.is_hosting = False
        self.held = 0
        self._subscribers.clear()
        for each in self._upstreams.values():
            each.numbered.clear()
            each.acknowledge.take()
            each.stream.begin_anew()

    def upstream(self, place: Place) -> Upstream:
        """Return what is here of an ingress."""
        made = self._upstreams.get(place)
        if made is None:
            made = self._upstreams[place] = Upstream(place)
        return made

    def forget_places(self, router: str, but: Place | None) -> None:
        """A router has begun another life, or is no more: its streams of before end."""
        for place in [each for each in self._upstreams if each.router == router and each != but]:
            upstream = self._upstreams[place]
            if upstream.numbered:
                upstream.begin_anew()
            else:
                del self._upstreams[place]

    # --- copies

    def offer(self, place: Place, copy: Copy) -> None:
        """Take a copy, or the name of a delivery, that `drain` makes a record of."""
        if self.is_hosting:
            self.upstream(place).stream.offer(copy)

    def take_copies(
        self,
        place: Place,
        claim: Claim,
        numbers: list[int],
        tags: list[bytes],
        ages_ms: list[int],
        payloads: list[object],
        sizes: list[int],
    ) -> None:
        """Make records of messages, or keep them until those before them have come."""
        if not self.is_hosting:
            return
        upstream = self.upstream(place)
        stream = upstream.stream
        now, most = self._port.now, self._port.settings.records_max
        for at in range(len(numbers)):
            number, tag = numbers[at], tags[at]
            sent_at = now - ages_ms[at] / 1000
            if self.held < most and stream.pass_by(number):
                self.take(upstream, key_of(tag), claim, number, tag, sent_at, payloads[at], sizes[at])
            else:
                copy = Copy(number, claim, tag, sent_at)
                copy.put(payloads[at], sizes[at])
                stream.offer(copy)
        self.drain(place)

    def drain(self, place: Place) -> None:
        """Make records of all copies that are next."""
        if not self.is_hosting:
            return
        upstream = self.upstream(place)
        stream = upstream.stream
        while (copy := stream.first()) is not None and self.held < self._port.settings.records_max:
            if not copy.has_payload and not self._holds(copy.tag):
                break
            stream.step()
            key = key_of(copy.tag)
            self.take(upstream, key, copy.claim, copy.number, copy.tag, copy.sent_at, copy.payload, copy.size)

    def _holds(self, tag: bytes) -> bool:
        return self._subscribers.record(tag) is not None

    def take(
        self,
        upstream: Upstream,
        key: bytes,
        claim: Claim,
        number: int,
        tag: bytes,
        sent_at: float,
        payload: object,
        size: int,
    ) -> None:
        """Make a record of what is next in a stream."""
        publisher = self._publishers.get(key)
        if publisher is None or self._is_fenced(claim, publisher):
            return
        if self._lines and sent_at < self._directory.drop_line(key):
            self._tell_line(upstream.place, key)
            return
        publication = self._subscribers.publication(key)
        record = publication.records.get(tag)
        if record is None:
            record = new_record(publication.key, tag, payload, size)
            self.held += 1
        else:
            self._unnumber(record)
        record.claim, record.ingress, record.number = claim, upstream, number
        record.is_settled = False
        upstream.numbered[number] = record
        publication.append(record)
        self._subscribers.number(publication, record)
        for each in self._subscribers.take_skipped():
            self.note(each)
        self.note(record)

    def _tell_line(self, place: Place, key: bytes) -> None:
        """Tell the ingress of a publisher what was dropped here."""
        if place != self._port.me:
            age_ms = int((self._port.now - self._directory.drop_line(key)) * 1000)
            self._port.send(place.router, DropLine(key, max(0, age_ms)))

    def _is_fenced(self, claim: Claim, publisher: KnownPublisher) -> bool:
        """Return whether a copy is of an attach of the publisher that is not its latest."""
        return claim is not publisher.claim and claim != publisher.claim

    def _unnumber(self, record: Record) -> None:
        upstream = record.ingress
        if upstream is not None:
            upstream.numbered.pop(record.number, None)

    # --- acknowledging

    def note(self, record: Record) -> None:
        """Acknowledge a record if all subscribers here have decided."""
        upstream = record.ingress
        if upstream is None or not self._subscribers.have_all_decided(record):
            return
        publisher = self._publishers.get(record.key)
        if publisher is None or (record.claim is not publisher.claim and record.claim != publisher.claim):
            return
        upstream.acknowledge.add(record.number)

    def note_all(self, place: Place | None = None) -> None:
        """Acknowledge all records again: the list has changed, or an ingress may have missed it."""
        for record in self._subscribers.records():
            if place is None or (record.ingress is not None and record.ingress.place == place):
                self.note(record)

    def acknowledgements(self) -> list[tuple[Place, Acknowledged]]:
        """Return what is to be acknowledged to whom, once."""
        told = []
        for place, upstream in self._upstreams.items():
            if not upstream.acknowledge:
                continue
            numbers = Ranges()
            rejections: list[tuple[int, str, str]] = []
            for number in upstream.acknowledge.take().numbers():
                record = upstream.numbered.get(number)
                if record is None or not self._subscribers.have_all_decided(record):
                    continue
                numbers.add(number)
                if record.rejection is not None:
                    rejections.append((number, record.rejection.condition, record.rejection.description))
            if numbers:
                told.append((place, Acknowledged(self.version, numbers, rejections)))
        return told

    # --- settling

    def settle(self, place: Place, numbers: Ranges) -> None:
        """The publishers have settled these: no subscriber may get them as new any more."""
        upstream = self.upstream(place)
        is_mine = place == self._port.me
        for number in numbers.numbers():
            record = upstream.numbered.get(number)
            if record is not None:
                record.is_settled = True
        if not is_mine:
            self._cancel(upstream, numbers)
            upstream.knows.update(numbers)

    def settle_unnumbered(self, place: Place, claim: Claim, tag: bytes, number: int) -> None:
        """The publisher has settled what its ingress has not numbered; the number is that of the notice."""
        record = self._subscribers.record(tag)
        if record is not None and record.claim is not None and record.claim < claim:
            self._unnumber(record)
            upstream = self.upstream(place)
            record.ingress, record.number = upstream, number
            record.is_settled = True
            upstream.numbered[number] = record

    def _cancel(self, upstream: Upstream, numbers: Ranges) -> None:
        """Have copies that have not been taken become no records."""
        for copy in upstream.stream.cancel(numbers):
            if (record := self._older(copy)) is not None:
                record.is_settled = True

    def finish(self, place: Place, numbers: Ranges) -> None:
        """All routers know that these are settled: settle them with the subscribers."""
        upstream = self.upstream(place)
        is_mine = place == self._port.me
        gone = []
        missed = Ranges()
        for number in numbers.numbers():
            record = upstream.numbered.get(number)
            if record is not None:
                self._remove(record)
                gone.append(record)
            elif not is_mine:
                missed.add(number)
        for copy in upstream.stream.cancel(missed):
            self._finish_copy(copy)
        self._subscribers.settle(gone)

    def learn(self, place: Place, base: int, next: int) -> None:
        """Take over how far a stream is. What is left behind was done, or its publisher has gone elsewhere."""
        if next == 1 and place not in self._upstreams:
            # Nothing has a number yet: most routers have no publishers of a topic.
            return
        for copy in self.upstream(place).stream.learn(base, next):
            publisher = self._publishers.get(key_of(copy.tag))
            if publisher is None or not self._is_fenced(copy.claim, publisher):
                self._finish_copy(copy)
        self.drain(place)

    def _finish_copy(self, copy: Copy) -> None:
        if (record := self._older(copy)) is not None:
            self.drop(record)

    def void(self, place: Place, numbers: Ranges) -> None:
        """These will not come: they were settled, or have other numbers now."""
        self.upstream(place).stream.cancel(numbers)
        self.drain(place)

    def _older(self, copy: Copy) -> Record | None:
        """Return the record that a copy would have renumbered."""
        record = self._subscribers.record(copy.tag)
        return record if record is not None and record.claim is not None and record.claim <= copy.claim else None

    def drop(self, record: Record) -> None:
        """Forget a record, and settle it with those that have it."""
        self._remove(record)
        self._subscribers.settle([record])

    def _remove(self, record: Record) -> None:
        self._unnumber(record)
        self._subscribers.publication(record.key).remove(record)
        self.held -= 1

    def drop_all_of(self, key: bytes, claim: Claim) -> None:
        """Forget all records of a publisher that has ended, or can't be waited for any more."""
        publication = self._subscribers.publications.get(key)
        gone = [
            record
            for record in (publication.records.values() if publication is not None else ())
            if record.claim is None or record.claim <= claim
        ]
        for record in gone:
            self._remove(record)
        self._subscribers.settle(gone)

    # --- what a publisher has

    def begin_anew(self, key: bytes, map_order: list[bytes]) -> None:
        """A publisher is attached elsewhere: what is held waits for numbers there."""
        if self.is_hosting:
            publication = self._subscribers.publication(key)
            publication.begin_anew(map_order)
            self._subscribers.take_map(publication)

    def set_map_order(self, key: bytes, order: list[bytes]) -> None:
        """The ingress has told what the publisher has in its map."""
        publication = self._subscribers.publication(key)
        publication.map_order = order
        self._subscribers.take_map(publication)

    def take_set(self, place: Place, key: bytes, told: PublisherSet) -> None:
        """Compare the records of a publisher with what its ingress says: what that does not have, is settled."""
        unsettled, settled = dict(told.unsettled), dict(told.settled)
        publication = self._subscribers.publications.get(key)
        for record in list(publication.records.values()) if publication else ():
            self._compare(place, record, told, unsettled, settled)
        if place != self._port.me:
            self._cancel_copies(place, key, told, unsettled)
            notices = Ranges([told.notice] if told.notice else [])
            for number in settled.values():
                if number:
                    notices.add(number)
            if notices:
                self.settle(place, notices)

    def _compare(
        self,
        place: Place,
        record: Record,
        told: PublisherSet,
        unsettled: dict[bytes, int],
        settled: dict[bytes, int],
    ) -> None:
        is_older = record.claim is not None and record.claim < told.claim
        if not is_older and (record.claim != told.claim or record.number >= told.next):
            return
        if record.tag in unsettled:
            if is_older or unsettled[record.tag] == record.number:
                return
        elif record.tag in settled:
            if is_older:
                self.settle_unnumbered(place, told.claim, record.tag, settled[record.tag])
                return
            if settled[record.tag] == record.number:
                record.is_settled = True
                return
        elif is_older and told.notice:
            record.is_settled = True
            return
        self.drop(record)

    def _cancel_copies(self, place: Place, key: bytes, told: PublisherSet, unsettled: dict[bytes, int]) -> None:
        upstream = self.upstream(place)
        waiting = [
            number
            for number, copy in upstream.stream.waiting.items()
            if key_of(copy.tag) == key and self._is_void(copy, told, unsettled)
        ]
        self._cancel(upstream, Ranges(sorted(waiting)))

    @staticmethod
    def _is_void(copy: Copy, told: PublisherSet, unsettled: dict[bytes, int]) -> bool:
        if copy.claim != told.claim:
            return copy.claim < told.claim
        return copy.number < told.next and unsettled.get(copy.tag) != copy.number

    # --- the end of a turn

    def reports(self) -> list[tuple[Place, Knows]]:
        """Return to whom to tell what is known to be settled, once."""
        return [(place, Knows(each.knows.take())) for place, each in self._upstreams.items() if each.knows]

    def ask_for_missing(self, places: Iterable[Place], now: float, again_after_s: float) -> None:
        """Ask the ingresses in reach for what has not come."""
        if not self.is_hosting:
            return
        for place in places:
            upstream = self._upstreams.get(place)
            if upstream is None or now - upstream.asked_at < again_after_s:
                continue
            if missing := upstream.stream.missing(self._holds):
                upstream.asked_at = now
                self._port.send(place.router, Missing(missing))
