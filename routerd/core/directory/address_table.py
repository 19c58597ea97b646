"""The authority of one router on which of its workers wants which address.

Workers join with all that they have and then send what changes. Each change has a version: the table's epoch, which a
restarted table begins anew, and a count. A member is told of the others' changes by deltas, one at a time, each with
whatever changed since the one before; what changed twice meanwhile is told once. A member's own interests are not told
to it. Once every member knows a version, the changes up to it hold in the whole router: an attach that waited for them
may be answered.

What a delta has to tell is read from a list of the latest change of each worker's key, oldest first, which ends where
the member's knowledge begins. The list forgets what all members know. A member that falls far behind it gets
everything by a full delta in its place, so that one that hangs cannot make the list grow.

A table that replaces another tells nobody anything until all workers have joined it, or had the time to: the first
delta is full, and members cut their connections to a worker that it lacks.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable

from routerd.core.directory.membership import Changes, Delta, Interest, Sibling
from routerd.core.errors import ChangesMissed, StaleMember, UnknownMember

Version = tuple[int, int]

CHANGES_KEPT = 10_000
"""Changes that are kept for members that do not know them, or twice as many as there are interests."""
_INCARNATIONS_KEPT = 8
"""The last incarnations of a worker are remembered: no call of an earlier one is still under way."""
_NOTHING = -1


class _Member:
    """A worker that has joined, and what it knows."""

    __slots__ = ("in_flight", "interests", "is_full_due", "known", "needed", "sequence", "sibling")

    def __init__(self, sibling: Sibling) -> None:
        self.sibling = sibling
        self.sequence = 0
        self.interests: dict[str, Interest] = {}
        self.known = _NOTHING
        """The count up to which it knows the changes of others."""
        self.needed = _NOTHING
        """The count of the last change that it has to be told of."""
        self.in_flight: int | None = None
        """The count of the delta that it has not acknowledged."""
        self.is_full_due = True
        """Whether its next delta must be full."""

    @property
    def is_up_to_date(self) -> bool:
        return self.known >= self.needed

    def enter(self, interest: Interest) -> bool:
        """Take over an interest and return whether it was another one before."""
        if not interest.consumers:
            return self.interests.pop(interest.key, None) is not None
        known = self.interests.get(interest.key)
        self.interests[interest.key] = interest
        return known is None or known.consumers != interest.consumers


class AddressTable:
    """The interests of all workers.

    `epoch` is higher than that of any earlier table of this router, and `awaited` are the workers that may have been
    members of the one before. Calls of a worker that must join first raise JoinRequired, those of an incarnation that
    has been replaced StaleMember.
    """

    def __init__(self, epoch: int, changes_kept: int = CHANGES_KEPT, awaited: Iterable[int] = ()) -> None:
        self._epoch = epoch
        self._changes_kept = changes_kept
        self._awaited = set(awaited)
        self._count = 0
        self._members: dict[int, _Member] = {}
        self._members_changed = 0
        self._changes: OrderedDict[tuple[int, str], int] = OrderedDict()
        self._incarnations: dict[int, deque[int]] = {}
        self._interest_count = 0
        # Keys whose consumers have changed since `take_totals`. Where nobody asks for totals they would stay for good.
        self._retold: dict[str, None] | None = None

    @property
    def version(self) -> Version:
        """The version of the last change."""
        return self._epoch, self._count

    @property
    def awaited(self) -> frozenset[int]:
        """The workers that have not joined, and that members do not cut their connections to yet."""
        return frozenset(self._awaited)

    @property
    def siblings(self) -> tuple[Sibling, ...]:
        """All members."""
        return tuple(member.sibling for member in self._members.values())

    @property
    def change_count(self) -> int:
        """Changes that are kept for members that do not know them yet."""
        return len(self._changes)

    def consumers(self, key: str) -> dict[int, int]:
        """Return how many consumers of an address each worker has, of those that have any."""
        found = ((worker, member.interests.get(key)) for worker, member in self._members.items())
        return {worker: interest.consumers for worker, interest in found if interest is not None}

    def totals(self) -> tuple[Interest, ...]:
        """Return how many consumers each address has over all workers; whoever keeps them goes on by `take_totals`."""
        self._retold = {}
        keys = {key for member in self._members.values() for key in member.interests}
        return tuple(Interest(key, sum(self.consumers(key).values())) for key in keys)

    def take_totals(self) -> tuple[Interest, ...]:
        """Return the same of those addresses that have changed since; of none, where nobody has asked for all."""
        if self._retold is None:
            return ()
        retold, self._retold = self._retold, {}
        return tuple(Interest(key, sum(self.consumers(key).values())) for key in retold)

    def snapshot(self) -> Delta:
        """Return all that the table has."""
        return self._full(reader=None)

    def join(self, sibling: Sibling, everything: Changes) -> Version:
        """Make a worker a member, with all of its interests; one that is a member already may join again.

        The table is told as of the sequence number of `everything`. The worker's changes up to there hold everywhere
        once all members know the version that is returned, as after an update.
        """
        before = self._rejoining(sibling)
        self._awaited.discard(sibling.worker)
        member = _Member(sibling)
        member.sequence = everything.sequence
        for interest in everything.interests:
            member.enter(interest)
        changed = [key for key in {**before, **member.interests} if before.get(key) != member.interests.get(key)]
        self._interest_count += len(member.interests) - len(before)
        self._members[sibling.worker] = member
        self._record(sibling.worker, changed)
        self._members_changed = member.needed = self._count
        self._forget()
        return self.version

    def leave(self, worker: int, incarnation: int) -> Version:
        """End a membership, with all interests of the worker; the same incarnation may join again."""
        keys = self._member(worker, incarnation).interests
        self._remove(worker)
        # Should it join again before a member is told, the list of members will not show that it had left.
        self._record(worker, keys)
        self._members_changed = self._count
        self._forget()
        return self.version

    def update(self, worker: int, incarnation: int, changes: Changes) -> Version:
        """Take over changes of a member; they hold in the whole router once all know the version that is returned."""
        member = self._member(worker, incarnation)
        if changes.sequence <= member.sequence:
            return self.version
        if changes.sequence > member.sequence + 1:
            raise ChangesMissed(worker, incarnation)
        member.sequence = changes.sequence
        before = len(member.interests)
        changed = {interest.key: None for interest in changes.interests if member.enter(interest)}
        self._interest_count += len(member.interests) - before
        if changed:
            self._record(worker, changed)
            self._forget()
        return self.version

    def delta_for(self, worker: int) -> Delta | None:
        """Return what to send to a worker now.

        Nothing, while it has not acknowledged the last delta, when it knows all, when it is no member, or while workers
        are awaited.
        """
        member = self._members.get(worker)
        if self._awaited or member is None or member.in_flight is not None or member.is_up_to_date:
            return None
        delta = self._full(member) if member.is_full_due else self._since(member)
        member.is_full_due = False
        member.in_flight = self._count
        return delta

    def await_no_more(self) -> None:
        """Go on without the workers that have not joined in time."""
        self._awaited.clear()

    def acknowledge(self, worker: int, incarnation: int, version: Version) -> None:
        """Note that a member has applied a delta; one that is not in flight is of no account."""
        member = self._member(worker, incarnation)
        if not self._is_in_flight(member, version):
            return
        member.known = version[1]
        member.in_flight = None
        if member.is_up_to_date:
            member.is_full_due = False
        self._forget()

    def undelivered(self, worker: int, incarnation: int, version: Version) -> None:
        """Note that nobody knows whether the delta of this version arrived: the next one will be full."""
        member = self._member(worker, incarnation)
        if self._is_in_flight(member, version):
            member.in_flight = None
            member.is_full_due = True

    def known_by_all(self) -> Version:
        """Return the version up to which every member knows all changes."""
        return self._epoch, min(map(self._known_by, self._members.values()), default=self._count)

    def _rejoining(self, sibling: Sibling) -> dict[str, Interest]:
        """Return the interests that an incarnation has already, and end the membership of the one that it replaces."""
        worker, incarnation = sibling.worker, sibling.incarnation
        if self._is_stale(worker, incarnation):
            raise StaleMember(worker, incarnation)
        member = self._members.get(worker)
        if member is not None and member.sibling.incarnation == incarnation:
            return member.interests
        if member is not None:
            self._remove(worker)
        joined = self._incarnations.setdefault(worker, deque(maxlen=_INCARNATIONS_KEPT))
        if incarnation not in joined:
            joined.append(incarnation)
        return {}

    def _is_stale(self, worker: int, incarnation: int) -> bool:
        joined = self._incarnations.get(worker)
        return joined is not None and incarnation in joined and incarnation != joined[-1]

    def _member(self, worker: int, incarnation: int) -> _Member:
        member = self._members.get(worker)
        if member is not None and member.sibling.incarnation == incarnation:
            return member
        raise (StaleMember if self._is_stale(worker, incarnation) else UnknownMember)(worker, incarnation)

    def _is_in_flight(self, member: _Member, version: Version) -> bool:
        return member.in_flight is not None and version == (self._epoch, member.in_flight)

    def _known_by(self, member: _Member) -> int:
        return self._count if member.is_up_to_date else member.known

    def _remove(self, worker: int) -> None:
        # What the list of changes has of it stays there until it is forgotten: it is told by the list of members.
        interests = self._members.pop(worker).interests
        self._interest_count -= len(interests)
        self._retell(interests)

    def _record(self, author: int, keys: Iterable[str]) -> None:
        """Count one more change, of these keys of the author, which all others have to be told of."""
        for worker, member in self._members.items():
            if worker != author:
                member.known = self._known_by(member)
                member.needed = self._count + 1
        self._count += 1
        for key in keys:
            self._changes[author, key] = self._count
            self._changes.move_to_end((author, key))
        self._retell(keys)

    def _retell(self, keys: Iterable[str]) -> None:
        if self._retold is not None:
            self._retold.update(dict.fromkeys(keys))

    def _forget(self) -> None:
        """Drop the changes that will be in no delta any more, and those that are too many to keep."""
        self._drop_known()
        if len(self._changes) > max(self._changes_kept, 2 * self._interest_count):
            slowest = min(self._members.values(), key=self._told_up_to)
            slowest.is_full_due = True
            self._forget()

    def _drop_known(self) -> None:
        told = min(map(self._told_up_to, self._members.values()), default=self._count)
        changes = self._changes
        while changes and next(iter(changes.values())) <= told:
            changes.popitem(last=False)

    def _told_up_to(self, member: _Member) -> int:
        """Return the count up to which a member needs no change of the list."""
        if member.is_full_due:
            return self._count
        return self._known_by(member) if member.in_flight is None else member.in_flight

    def _full(self, reader: _Member | None) -> Delta:
        others = [member for member in self._members.values() if member is not reader]
        interests = tuple((each.sibling.worker, one) for each in others for one in each.interests.values())
        return Delta(self.version, True, self.siblings, interests)

    def _since(self, reader: _Member) -> Delta:
        """Return what others changed since the reader's knowledge ends."""
        interests = []
        for (worker, key), count in reversed(self._changes.items()):
            if count <= reader.known:
                break
            author = self._members.get(worker)
            if author is not None and author is not reader:
                interests.append((worker, author.interests.get(key) or Interest(key, 0)))
        siblings = self.siblings if self._members_changed > reader.known else None
        return Delta(self.version, False, siblings, tuple(reversed(interests)))
