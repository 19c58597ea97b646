"""A member of the address table reduced to what it knows: a copy of the interests of all others, kept up by deltas."""

from typing import NamedTuple

from routerd.core import Delta, FullDeltaMissing, Interest, Sibling


class ConsumersChanged(NamedTuple):
    """A sibling has another number of consumers for an address."""

    key: str
    worker: int
    before: int
    after: int


class AddressView:
    """The interests of all workers but its own."""

    def __init__(self, worker: int) -> None:
        self._worker = worker
        self._consumers: dict[int, dict[str, int]] = {}
        self.siblings: dict[int, Sibling] = {}
        """The other workers."""
        self.version: tuple[int, int] | None = None
        """That of the last delta; nothing before the first."""

    def consumers(self, key: str) -> dict[int, int]:
        """Return how many consumers of an address each sibling has, of those that have any."""
        return {worker: keys[key] for worker, keys in self._consumers.items() if key in keys}

    def apply(self, delta: Delta) -> list[ConsumersChanged]:
        """Take over a delta and return what changed by it, in order; nothing by one that is no news.

        A sibling that was replaced by another incarnation first has no consumers any more, then those of the new one.
        Raises FullDeltaMissing when the delta continues what was never told: the worker must join again.
        """
        known = self.version
        if known is not None and delta.version <= known:
            return []
        if not delta.is_full and (known is None or known[0] != delta.version[0]):
            raise FullDeltaMissing(known, delta.version)
        self.version = delta.version
        changed = [] if delta.siblings is None else self._replace_siblings(delta.siblings)
        interests = delta.interests
        if delta.is_full:
            interests = (*self._unmentioned(interests), *interests)
        for worker, interest in interests:
            if worker != self._worker:
                self._enter(worker, interest, changed)
        return changed

    def _replace_siblings(self, members: tuple[Sibling, ...]) -> list[ConsumersChanged]:
        """Take over who is there, and return what the others no longer want."""
        siblings = {member.worker: member for member in members if member.worker != self._worker}
        lost = []
        for worker, sibling in self.siblings.items():
            if worker not in siblings or siblings[worker].incarnation != sibling.incarnation:
                keys = self._consumers.pop(worker)
                lost += [ConsumersChanged(key, worker, before, 0) for key, before in keys.items()]
        for worker in siblings:
            self._consumers.setdefault(worker, {})
        self.siblings = siblings
        return lost

    def _unmentioned(self, interests: tuple[tuple[int, Interest], ...]) -> list[tuple[int, Interest]]:
        """Return what is known and not in a full delta: nobody wants it any more."""
        mentioned = {(worker, interest.key) for worker, interest in interests}
        return [
            (worker, Interest(key, 0))
            for worker, keys in self._consumers.items()
            for key in keys
            if (worker, key) not in mentioned
        ]

    def _enter(self, worker: int, interest: Interest, changed: list[ConsumersChanged]) -> None:
        keys = self._consumers[worker]
        key, after = interest.key, interest.consumers
        before = keys.get(key, 0)
        if before == after:
            return
        if after:
            keys[key] = after
        else:
            del keys[key]
        changed.append(ConsumersChanged(key, worker, before, after))
