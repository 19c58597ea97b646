"""What a host has of one life of an ingress: its stream, the records by its numbers, and what is to be told to it."""

from routerd.topics.names import Place
from routerd.topics.ranges import Ranges
from routerd.topics.records import Record
from routerd.topics.streams import ReceiveStream

_NEVER = float("-inf")


class Upstream:
    """All of that."""

    __slots__ = ("acknowledge", "asked_at", "knows", "numbered", "place", "stream")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.stream = ReceiveStream()
        self.numbered: dict[int, Record] = {}
        self.acknowledge = Ranges()
        """What has been decided since it was told last."""
        self.knows = Ranges()
        """What this router has heard to be settled, and has not said so."""
        self.asked_at = _NEVER
        """When it was asked for what is missing."""

    def begin_anew(self) -> None:
        """The ingress has died, or is out of reach for long; records of it may be left."""
        self.stream = ReceiveStream()
        self.acknowledge = Ranges()
        self.asked_at = _NEVER
