"""What an ingress tells other routers: what its publishers have, how far its stream is, and again what was missed."""

from routerd.topics import messages as told
from routerd.topics.copying import Copies
from routerd.topics.names import Place
from routerd.topics.port import Port
from routerd.topics.progress import Progress
from routerd.topics.publisher_credit import PublisherCredit
from routerd.topics.publishers import Publisher
from routerd.topics.ranges import Ranges
from routerd.topics.records import Entry


class Telling:
    """The words of one ingress."""

    def __init__(
        self,
        port: Port,
        publishers: dict[bytes, Publisher],
        progress: Progress,
        credit: PublisherCredit,
        copies: Copies,
    ) -> None:
        self._port = port
        self._publishers = publishers
        self._progress = progress
        self._stream = progress.stream
        self._credit = credit
        self._copies = copies
        self._told_at = told.StreamAt(0, 0, 0)

    def set_of(self, publisher: Publisher) -> told.PublisherSet:
        """Return what a publisher has unsettled, and has settled lately."""
        return told.PublisherSet(
            publisher.name,
            publisher.claim,
            publisher.is_present,
            publisher.may_return,
            publisher.notice,
            self._stream.next,
            [(entry.tag, entry.number) for entry in publisher.entries.values()],
            list(publisher.settling.items()),
        )

    def cast_set(self, publisher: Publisher) -> None:
        """Tell all routers what a publisher has."""
        self._port.cast(self.set_of(publisher))

    def cast_numbered(self, publisher: Publisher, entry: Entry) -> None:
        """Tell all routers the number of a delivery that they may hold under another one."""
        self._port.cast(self._numbered(publisher, entry))

    def _numbered(self, publisher: Publisher, entry: Entry) -> told.Numbered:
        return told.Numbered(publisher.claim, entry.tag, entry.number, self._copies.age_ms(entry))

    def repeat(self, router: str, numbers: Ranges) -> None:
        """Send again what a host has missed; tell what is not sent any more."""
        void = Ranges()
        found: dict[bytes, list[Entry]] = {}
        for number in numbers.numbers():
            entry = self._stream.entries.get(number)
            if entry is None or number in self._progress.settling:
                if number < self._stream.next:
                    void.add(number)
            else:
                found.setdefault(entry.publisher, []).append(entry)
        for key, entries in found.items():
            publisher = self._publishers[key]
            self._copies.repeat(router, publisher.name, publisher.claim, entries)
        if void:
            self._port.send(router, told.Void(void))

    def cast_settled(self) -> None:
        """Tell all routers what was settled and done in this turn."""
        if self._progress.settled_due:
            self._port.cast(told.Settled(self._progress.settled_due.take()))
        if self._progress.done_due:
            self._port.cast(told.Done(self._progress.done_due.take()))

    def cast_stream(self) -> None:
        """Tell all routers how far the stream is, and how much is under way, if that has changed."""
        at = self._at()
        if at != self._told_at:
            self._told_at = at
            self._port.cast(at)

    def _at(self) -> told.StreamAt:
        return told.StreamAt(self._stream.base, self._stream.next, self._credit.used)

    def sync(self, router: str) -> None:
        """Tell a router everything that it may have missed."""
        for publisher in self._publishers.values():
            self._port.send(router, self.set_of(publisher))
        for entry in self._stream.entries.values():
            publisher = self._publishers[entry.publisher]
            if entry.is_from_map and entry.own_tag in publisher.entries:
                self._port.send(router, self._numbered(publisher, entry))
        self._port.send(router, self._at())

    def forget_places(self, router: str, but: Place | None) -> None:
        """A router has begun another life, or is no more."""
        self._progress.forget_places(router, but)
        self._credit.forget_places(router, but)
