"""An exchange: its bindings and next hops, the match of a subject, and the counters."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from routerd.core.inside.binding_tree import BindingTree
from routerd.core.settings import BindingSettings, ExchangeSettings

if TYPE_CHECKING:
    from collections import deque

    from routerd.wire.sender import Sender

SUBJECT_MAX = 1024
"""Characters of the longest subject that is matched; a longer one has no match."""
KNOWN_MAX = 4096
"""Limit of the subjects that are remembered."""
KNOWN_LENGTH_MAX = 256
"""Characters of the longest subject that is remembered."""

_SUBJECT_MAX = SUBJECT_MAX
_KNOWN_MAX = KNOWN_MAX
_KNOWN_LENGTH_MAX = KNOWN_LENGTH_MAX

KeyOf = Callable[[str, int], str]
"""Returns the key of an address and a phase."""


class NextHop:
    """An address that messages are sent on to, and the link for them."""

    link: "Sender | None"
    waiting: "deque[Any] | None"

    def __init__(self, key: str, address: str, phase: int) -> None:
        self.key = key
        self.address = address
        self.phase = phase
        # The number of bindings with it.
        self.uses = 0
        self.link = None
        # Copies that wait for credit or for room.
        self.waiting = None
        # Frames whose window stays closed until the queue of this link has left.
        self.held = 0

    def can_send(self) -> bool:
        """Whether a copy can leave now."""
        link = self.link
        if link is None or link.credit <= 0 or link.current is not None or not link.is_attached:
            return False
        session = link.session
        return not session.has_backlog and session.remote_incoming_window > 0

    def is_idle(self) -> bool:
        """Whether no copy is under way to it."""
        link = self.link
        return not self.waiting and (link is None or (link.unsettled_count == 0 and link.current is None))


class Binding:
    """A key, and the next hop of messages that match it."""

    def __init__(self, settings: BindingSettings, hop: NextHop) -> None:
        self.settings = settings
        self.hop = hop
        self.matched = 0


class Match:
    """The bindings that match the subject of a message, and their next hops, each once."""

    def __init__(self, bindings: tuple[Binding, ...], hops: tuple[NextHop, ...]) -> None:
        self.bindings = bindings
        self.hops = hops


_NO_MATCH = Match((), ())


class Exchange:
    """One exchange."""

    alternate: NextHop | None

    def __init__(self, settings: ExchangeSettings, key_of: KeyOf) -> None:
        self.settings = settings
        self.key = key_of(settings.address, settings.phase)
        self.bindings: dict[str, Binding] = {}
        self.hops: dict[str, NextHop] = {}
        self.alternate = None
        if settings.alternate is not None:
            key = key_of(settings.alternate, settings.alternate_phase)
            self.alternate = NextHop(key, settings.alternate, settings.alternate_phase)
        self.received = 0
        self.dropped = 0
        self.forwarded = 0
        self.diverted = 0
        self._key_of = key_of
        self._tree = BindingTree(settings.method)
        self._known: dict[str, Match] = {}

    @property
    def has_ways(self) -> bool:
        """Whether messages have any destination."""
        return bool(self.bindings) or self.alternate is not None

    def bind(self, settings: BindingSettings) -> NextHop:
        """Add a binding; return its next hop."""
        key = self._key_of(settings.next_hop, settings.phase)
        hop = self.hops.get(key)
        if hop is None:
            hop = self.hops[key] = NextHop(key, settings.next_hop, settings.phase)
        hop.uses += 1
        binding = self.bindings[settings.name] = Binding(settings, hop)
        self._tree.add(settings.key, binding)
        self._known.clear()
        return hop

    def unbind(self, name: str) -> NextHop | None:
        """Remove a binding; return its next hop if no other binding has it."""
        binding = self.bindings.pop(name)
        self._tree.remove(binding.settings.key, binding)
        self._known.clear()
        hop = binding.hop
        hop.uses -= 1
        if hop.uses:
            return None
        del self.hops[hop.key]
        return hop

    def match(self, subject: str) -> Match:
        """Return the match of a subject; count it at the bindings."""
        match = self._known.get(subject)
        if match is None:
            match = self._found(subject)
        for binding in match.bindings:
            binding.matched += 1
        return match

    def _found(self, subject: str) -> Match:
        if len(subject) > _SUBJECT_MAX:
            return _NO_MATCH
        bindings = self._tree.match(subject)
        hops: dict[NextHop, None] = {}
        for binding in bindings:
            hops[binding.hop] = None
        match = Match(tuple(bindings), tuple(hops))
        if len(subject) <= _KNOWN_LENGTH_MAX:
            if len(self._known) >= _KNOWN_MAX:
                self._known.clear()
            self._known[subject] = match
        return match
