"""The table of one router: it knows which worker wants which address.

A worker joins with all its interests and then sends changes. Each change has a version: the epoch of the table and a
count. A restarted table has a new epoch. The table tells each member the changes of the others by deltas, one at a
time. A delta has every change since the one before it; an interest that changed twice is sent once. A member's own
interests are not sent to it. Once every member knows a version, its changes hold in the whole router, and an attach
that waited for them is answered.

Deltas are read from a list with the latest change of each worker and key, oldest first. The table drops changes from
the list once all members know them. A member that falls far behind gets a full delta instead, so a member that hangs
cannot make the list grow.

A new table sends no delta until all workers of the table before it have joined, or their time is over. Its first delta
is full, and members cut their connections to each worker that it does not list.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable

from routerd.core.directory.membership import Changes, Delta, Interest, Sibling
from routerd.core.errors import ChangesMissed, StaleMember, UnknownMember

Version = tuple[int, int]

CHANGES_KEPT = 10_000
"""Limit of the changes kept for members that do not know them; twice the number of interests, if that is more."""
_INCARNATIONS_KEPT = 8
"""Limit of the incarnations remembered for a worker. No call of an older incarnation is still under way."""
_NOTHING = -1


class _Member:
    """A worker that has joined, and the version it knows."""

    __slots__ = ("in_flight", "interests", "is_full_due", "known", "needed", "sequence", "sibling")

    def __init__(self, sibling: Sibling) -> None:
        self.sibling = sibling
        self.sequence = 0
        self.interests: dict[str, Interest] = {}
        self.known = _NOTHING
        """The count up to which it knows the changes of others."""
        self.needed = _NOTHING
        """The count of the last change that it needs."""
        self.in_flight: int | None = None
        """The count of the delta that it has not acknowledged."""
        self.is_full_due = True
        """Whether its next delta must be full."""

    @property
    def is_up_to_date(self) -> bool:
        return self.known >= self.needed

    def enter(self, interest: Interest) -> bool:
        """Take over an interest; return whether it differs from the one before."""
        if not interest.consumers:
            return self.interests.pop(interest.key, None) is not None
        known = self.interests.get(interest.key)
        self.interests[interest.key] = interest
        return known is None or known.consumers != interest.consumers


class AddressTable:
    """The interests of all workers.

    `epoch` is higher than that of any earlier table of this router. `awaited` are the workers that the table before it
    may have had as members. Calls raise JoinRequired if the worker must join first, and StaleMember if its incarnation
    has been replaced.
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
        # Keys whose consumers have changed since `take_totals`. None without a reader of totals, as keys would
        # accumulate.
        self._retold: dict[str, None] | None = None

    @property
    def version(self) -> Version:
        """The version of the last change."""
        return self._epoch, self._count

    @property
    def awaited(self) -> frozenset[int]:
        """The workers that have not joined yet. Members keep their connections to them."""
        return frozenset(self._awaited)

    @property
    def siblings(self) -> tuple[Sibling, ...]:
        """All members."""
        return tuple(member.sibling for member in self._members.values())

    @property
    def change_count(self) -> int:
        """The number of changes that are kept for members."""
        return len(self._changes)

    def consumers(self, key: str) -> dict[int, int]:
        """Return the number of consumers of an address by worker, without workers that have none."""
        found = ((worker, member.interests.get(key)) for worker, member in self._members.items())
        return {worker: interest.consumers for worker, interest in found if interest is not None}

    def totals(self) -> tuple[Interest, ...]:
        """Return the number of consumers of each address over all workers. `take_totals` then returns changes."""
        self._retold = {}
        keys = {key for member in self._members.values() for key in member.interests}
        return tuple(Interest(key, sum(self.consumers(key).values())) for key in keys)

    def take_totals(self) -> tuple[Interest, ...]:
        """Return the totals of addresses that changed since the last call; empty until `totals` was called."""
        if self._retold is None:
            return ()
        retold, self._retold = self._retold, {}
        return tuple(Interest(key, sum(self.consumers(key).values())) for key in retold)

    def snapshot(self) -> Delta:
        """Return the content of the table."""
        return self._full(reader=None)

    def join(self, sibling: Sibling, everything: Changes) -> Version:
        """Make a worker a member, with all its interests; a present member may join again.

        `everything` includes the changes up to its sequence number. They hold everywhere once all members know the
        returned version, as after an update.
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
        """End a membership and drop the worker's interests; the same incarnation may join again."""
        keys = self._member(worker, incarnation).interests
        self._remove(worker)
        # The worker may join again before a member is told. The list of members would not show then that it had left.
        self._record(worker, keys)
        self._members_changed = self._count
        self._forget()
        return self.version

    def update(self, worker: int, incarnation: int, changes: Changes) -> Version:
        """Apply changes of a member; they hold in the whole router once all members know the returned version."""
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
        """Return the delta to send to a worker now, or None.

        It is None for a worker that is not a member, that knows everything, or that has not acknowledged the last
        delta. It is None for all while workers are awaited.
        """
        member = self._members.get(worker)
        if self._awaited or member is None or member.in_flight is not None or member.is_up_to_date:
            return None
        delta = self._full(member) if member.is_full_due else self._since(member)
        member.is_full_due = False
        member.in_flight = self._count
        return delta

    def await_no_more(self) -> None:
        """Continue without the workers that have not joined in time."""
        self._awaited.clear()

    def acknowledge(self, worker: int, incarnation: int, version: Version) -> None:
        """Note that a member has applied a delta; ignore it if that delta is not in flight."""
        member = self._member(worker, incarnation)
        if not self._is_in_flight(member, version):
            return
        member.known = version[1]
        member.in_flight = None
        if member.is_up_to_date:
            member.is_full_due = False
        self._forget()

    def undelivered(self, worker: int, incarnation: int, version: Version) -> None:
        """Note that the delta of this version may be lost: the next one will be full."""
        member = self._member(worker, incarnation)
        if self._is_in_flight(member, version):
            member.in_flight = None
            member.is_full_due = True

    def known_by_all(self) -> Version:
        """Return the version up to which every member knows all changes."""
        return self._epoch, min(map(self._known_by, self._members.values()), default=self._count)

    def _rejoining(self, sibling: Sibling) -> dict[str, Interest]:
        """Return the present interests of an incarnation, and end the membership of the one that it replaces."""
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
        # Its changes stay in the list until the table drops them: the list of members already shows that it left.
        interests = self._members.pop(worker).interests
        self._interest_count -= len(interests)
        self._retell(interests)

    def _record(self, author: int, keys: Iterable[str]) -> None:
        """Count one more change, of these keys of the author, which all other members need."""
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
        """Drop the changes that no delta needs any more, and those beyond the limit."""
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
        """Return the changes of others that the reader does not know."""
        interests = []
        for (worker, key), count in reversed(self._changes.items()):
            if count <= reader.known:
                break
            author = self._members.get(worker)
            if author is not None and author is not reader:
                interests.append((worker, author.interests.get(key) or Interest(key, 0)))
        siblings = self.siblings if self._members_changed > reader.known else None
        return Delta(self.version, False, siblings, tuple(reversed(interests)))
