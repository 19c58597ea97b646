"""How far the stream of an ingress is: what hosts have acknowledged, what is settled, and which routers know that."""

from routerd.topics.directory import Directory
from routerd.topics.messages import Acknowledged as Report
from routerd.topics.names import Place
from routerd.topics.port import Port
from routerd.topics.ranges import Acknowledged, Ranges
from routerd.topics.records import Entry
from routerd.topics.streams import SendStream


class Progress:
    """The numbers of one stream, by what is known of them."""

    def __init__(self, port: Port, directory: Directory, first_number: int) -> None:
        self.stream = SendStream(first_number)
        self.untold = Ranges()
        """Those of deliveries whose publishers were told no outcome."""
        self.settling: dict[int, Entry] = {}
        """What publishers have settled, and not all routers know; notices have no tag."""
        self.settling_numbers = Ranges()
        self.settled_due = Ranges()
        """What other routers are to be told at the end of the turn, as of `done_due`."""
        self.done_due = Ranges()
        self._port = port
        self._directory = directory
        self.acknowledged: dict[Place, Acknowledged] = {}
        """What each host has acknowledged of what is not done."""
        self._known: dict[Place, Ranges] = {}

    # --- numbers

    def number(self, entry: Entry) -> None:
        """Give a delivery the next number."""
        self.stream.number(entry)
        self.untold.add(entry.number)

    def settle(self, entry: Entry) -> None:
        """The publisher has settled a delivery, or has to hear that all routers know a notice."""
        self.settling[entry.number] = entry
        self.settling_numbers.add(entry.number)

    def forget(self, gone: Ranges) -> None:
        """Drop numbers that are done, or void."""
        for number in gone.numbers():
            self.settling.pop(number, None)
        self.stream.forget(gone)
        self.settling_numbers.subtract(gone)
        self.untold.subtract(gone)
        self.settled_due.subtract(gone)
        for acknowledged in self.acknowledged.values():
            acknowledged.forget(gone)
        for known in self._known.values():
            known.subtract(gone)

    # --- acknowledged

    def acknowledge(self, place: Place, report: Report) -> None:
        """A host's subscribers have decided."""
        mine = report.numbers.shared(self.stream.outstanding)
        if mine:
            acknowledged = self.acknowledged.get(place)
            if acknowledged is None:
                acknowledged = self.acknowledged[place] = Acknowledged()
            acknowledged.add(report.version, mine)

    def decided(self) -> Ranges:
        """Return what no subscription is waited for, and no publisher was told."""
        required = self._directory.subscriptions.required_versions()
        if required is None:
            return Ranges()
        decided = self.untold.copy()
        for place, version in required.items():
            acknowledged = self.acknowledged.get(place)
            decided = decided.shared(acknowledged.at_least(version)) if acknowledged is not None else Ranges()
        return decided

    def places_without(self, number: int) -> list[Place]:
        """Return the hosts of subscriptions that have not acknowledged a delivery for all that are there now."""
        waiting = []
        versions = self._directory.subscriptions.versions()
        for place in dict.fromkeys(each.host for each in self._directory.subscriptions):
            version = versions.get(place, 0)
            acknowledged = self.acknowledged.get(place)
            if acknowledged is None or number not in acknowledged.at_least(version):
                waiting.append(place)
        return waiting

    # --- known to be settled

    def know(self, place: Place, numbers: Ranges) -> None:
        """A router knows that these are settled."""
        if mine := numbers.shared(self.stream.outstanding):
            known = self._known.get(place)
            if known is None:
                self._known[place] = mine
            else:
                known.update(mine)

    def known_everywhere(self) -> Ranges:
        """Return what all routers in reach know to be settled."""
        known = self.settling_numbers
        if self._port.settings.is_exactly_once:
            for place in self._port.routers.places():
                known = known.shared(self._known.get(place, Ranges()))
        return known

    def forget_places(self, router: str, but: Place | None) -> None:
        """A router has begun another life, or is no more."""
        for place in [each for each in self._known if each.router == router and each != but]:
            del self._known[place]
        for place in [each for each in self.acknowledged if each.router == router and each != but]:
            del self.acknowledged[place]
