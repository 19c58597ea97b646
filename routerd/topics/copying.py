"""Messages on their way from an ingress to the routers that have subscribers: many in one, and only to these."""

from typing import Any

from routerd.topics.claims import NO_CLAIM, Claim
from routerd.topics.directory import Directory
from routerd.topics.effects import SendCopies
from routerd.topics.messages import CopyHead
from routerd.topics.names import ClientName
from routerd.topics.octets import encode_copies
from routerd.topics.port import Port
from routerd.topics.ranges import Ranges
from routerd.topics.records import Entry
from routerd.topics.settings import COPIES_OCTETS, COPIES_TOGETHER

_TOGETHER = COPIES_TOGETHER
_OCTETS = COPIES_OCTETS


class Copies:
    """What is to be sent of one topic when the turn ends."""

    def __init__(self, port: Port, directory: Directory) -> None:
        self._port = port
        self._directory = directory
        self._routers = port.routers.known
        self._name = ClientName("", "")
        self._claim = NO_CLAIM
        self._numbers = Ranges()
        self._tags: list[bytes] = []
        self._ages_ms: list[int] = []
        self._payloads: list[Any] = []
        self._octets = 0

    def send(self, name: ClientName, claim: Claim, entry: Entry) -> None:
        """Send a message of a publisher to all routers that have subscribers."""
        if self._routers:
            if claim is not self._claim:
                self.flush()
                self._name, self._claim = name, claim
            elif self._is_full():
                self.flush()
            self._add(entry)

    def flush(self) -> None:
        """End the turn."""
        if self._payloads:
            hosts = self._directory.subscriptions.versions()
            # One that has subscribers without our knowledge asks for what it misses.
            self._emit([place.router for place in self._port.routers.places() if place in hosts])

    def repeat(self, router: str, name: ClientName, claim: Claim, entries: list[Entry]) -> None:
        """Send messages of a publisher to a router once more."""
        self.flush()
        self._name, self._claim = name, claim
        for entry in entries:
            if self._is_full():
                self._emit([router])
            self._add(entry)
        self._emit([router])

    def age_ms(self, entry: Entry) -> int:
        """Return how long ago the publisher has sent a delivery first."""
        return max(0, int((self._port.now - entry.sent_at) * 1000))

    def _add(self, entry: Entry) -> None:
        self._numbers.add(entry.number)
        self._tags.append(entry.tag)
        self._ages_ms.append(self.age_ms(entry))
        self._payloads.append(entry.payload)
        self._octets += entry.size

    def _is_full(self) -> bool:
        return len(self._payloads) >= _TOGETHER or self._octets >= _OCTETS

    def _emit(self, routers: list[str]) -> None:
        numbers = self._numbers.take()
        tags, self._tags = self._tags, []
        ages_ms, self._ages_ms = self._ages_ms, []
        payloads, self._payloads = self._payloads, []
        self._octets = 0
        if payloads and routers:
            head = CopyHead(self._port.topic, self._port.me, self._name, self._claim, numbers, tags, ages_ms)
            self._port.emit(SendCopies(routers, encode_copies(head), payloads))
