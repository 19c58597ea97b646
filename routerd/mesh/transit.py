"""What keeps messages to all routers from going round in circles.

A message is not sent to routers that its trace names (2.3). In a mesh with many rings it would still come by every path
there is. So each router remembers for a moment by which trunks a message came and went, and sends it to none of these
again. There is one exception. Existing routers drop messages whose path is longer than their radius. If the first copy
had such a path, a copy with a shorter path is sent as well.
"""

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from math import inf

from routerd.mesh.messages import ControlMessage
from routerd.mesh.settings import FLOOD_MEMORY_S, FLOODS_REMEMBERED

_SEQUENCES = ("instance", "ls_seq", "mobile_seq")
_INSTANCE = 2
"""Its place in what a flood is known by, behind its origin and what it is."""


class _Flood:
    """One message to all routers."""

    __slots__ = ("length", "since", "times", "trunks")

    def __init__(self, length: int, since: float) -> None:
        self.length = length
        self.since = since
        self.times = 1
        self.trunks: set[int] = set()


class FloodMemory:
    """The messages to all routers that came lately."""

    def __init__(self) -> None:
        self._floods: OrderedDict[tuple[Hashable, ...], _Flood] = OrderedDict()
        self._forget_at = inf

    def trunks_that_know(self, message: ControlMessage, ingress: str, radius: int, now: float) -> tuple[set[int], bool]:
        """Return the trunks that a message has come by or gone to, for the caller to add to, and whether it is new."""
        floods = self._floods
        if now >= self._forget_at or len(floods) > FLOODS_REMEMBERED:
            self._forget_old(now)
        length = len(message.trace)
        identity = (ingress, message.opcode, *_sequences(message.body))
        flood = floods.get(identity)
        if flood is None:
            flood = floods[identity] = _Flood(length, now)
            self._forget_at = min(self._forget_at, now + FLOOD_MEMORY_S)
            return flood.trunks, True
        if flood.times == 1 and length < flood.length and flood.length > radius:
            flood.times = 2
            flood.trunks = set()
        return flood.trunks, False

    def _forget_old(self, now: float) -> None:
        floods = self._floods
        self._forget_at = inf
        while floods:
            key, oldest = next(iter(floods.items()))
            if now < oldest.since + FLOOD_MEMORY_S and len(floods) <= FLOODS_REMEMBERED:
                self._forget_at = oldest.since + FLOOD_MEMORY_S
                break
            del floods[key]

    def forget(self, ingress: str) -> None:
        """Take what a router tells as new that does not name its instance: it counts from the beginning now.

        What names it stays known. Otherwise messages of both instances that meet under way would go round for ever,
        each making the other ones new again.
        """
        for identity in [one for one in self._floods if one[0] == ingress and one[_INSTANCE] is None]:
            del self._floods[identity]


def _sequences(body: object) -> list[int | None]:
    values = [body.get(name) if isinstance(body, Mapping) else None for name in _SEQUENCES]
    return [value if isinstance(value, int) else None for value in values]
