"""The subscriptions of one topic, wherever in the network they are, and what hosts tell of their lists of subscribers.

Every router knows all of them. So they are rows of octets in one table for each topic, which is in the order of their
names. Most are on the list of the host where their latest claim says they are. So a row also has what that list says;
what other lists say is kept beside.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from struct import Struct
from typing import NamedTuple

from routerd.topics.claims import Claim
from routerd.topics.names import ClientName, Place

_UNLISTED = -1
_ROW = Struct("<IQQQQQQqfB")
"""The number of the home, those of the epoch and of the claim, `since`, `timeout_s`, and flags."""
_IS_READY, _IS_DURABLE, _IS_ATTACHED, _HAS_MAP = 1, 2, 4, 8


@dataclass(slots=True)
class Subscription:
    """What a row says. Changes of it do not change the row."""

    name: ClientName
    epoch: Claim
    """The claim that it began with. A later subscription of the same name is another one."""
    claim: Claim
    host: Place
    is_ready: bool
    """Its first attach was answered. Ingresses wait for it in either case."""
    timeout_s: float
    is_durable: bool
    has_map: bool
    since: int = _UNLISTED
    """The version of its host's list with which it came there, once the host has told so."""
    is_attached: bool = False
    """As its host's list says."""

    @property
    def order(self) -> tuple[Claim, Claim]:
        """What is compared to find out who knows more."""
        return (self.epoch, self.claim)

    @property
    def is_listed(self) -> bool:
        """Whether its host's list has it, with its latest claim."""
        return self.since != _UNLISTED


class Member(NamedTuple):
    """What a host's list has about one of its subscribers."""

    claim: Claim
    since: int
    is_attached: bool


class Home(NamedTuple):
    """What many subscriptions have in common: their host, and the routers that have made their epochs and claims."""

    host: Place
    epoch_of: str
    claim_of: str


class Homes:
    """The homes that rows of all topics have, by number."""

    def __init__(self) -> None:
        self._homes: dict[int, Home] = {}
        self._numbers: dict[Home, int] = {}
        self._rows: dict[int, int] = {}
        """How many rows have each."""
        self._last = 0

    def __len__(self) -> int:
        return len(self._homes)

    def __getitem__(self, number: int) -> Home:
        return self._homes[number]

    def take(self, home: Home) -> int:
        """Return the number of a home for one row more."""
        number = self._numbers.get(home)
        if number is None:
            self._last += 1
            number = self._numbers[home] = self._last
            self._homes[number] = home
        self._rows[number] = self._rows.get(number, 0) + 1
        return number

    def release(self, number: int) -> None:
        """A row has it no longer."""
        self._rows[number] -= 1
        if not self._rows[number]:
            del self._rows[number], self._numbers[self._homes.pop(number)]


class Subscriptions:
    """All of one topic."""

    def __init__(self, most: int, homes: Homes) -> None:
        """`most` bounds what is kept of each list beside the rows."""
        self.away: dict[ClientName, float] = {}
        """Since when subscribers are not attached anywhere."""
        self._keys: list[str] = []
        self._rows = bytearray()
        self._homes = homes
        self._most = most
        self._strays: dict[Place, dict[ClientName, Member]] = {}
        """By host: members of its list that are not where it says, as far as we know."""
        self._is_changed = True
        self._versions: dict[Place, int] = {}
        self._required: dict[Place, int] | None = {}
        self._detached: list[int] = []
        self._maps = 0
        """How many subscriptions have subscribers with maps."""
        self._hosts: set[Place] = set()

    # --- rows

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[Subscription]:
        return map(self._read, range(len(self._keys)))

    def __contains__(self, name: ClientName) -> bool:
        return self._has(self._at(name), name)

    def get(self, name: ClientName) -> Subscription | None:
        """Return the subscription of a name."""
        at = self._at(name)
        return self._read(at) if self._has(at, name) else None

    def __getitem__(self, name: ClientName) -> Subscription:
        found = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def _at(self, name: ClientName) -> int:
        """Return where a name is, or would be."""
        return bisect_left(self._keys, _key(name))

    def _has(self, at: int, name: ClientName) -> bool:
        return at < len(self._keys) and self._keys[at] == _key(name)

    def _read(self, at: int) -> Subscription:
        number, *epoch_and_claim, since, timeout_s, flags = _ROW.unpack_from(self._rows, at * _ROW.size)
        home = self._homes[number]
        return Subscription(
            name=_name(self._keys[at]),
            epoch=_claim(epoch_and_claim[:3], home.epoch_of),
            claim=_claim(epoch_and_claim[3:], home.claim_of),
            host=home.host,
            is_ready=bool(flags & _IS_READY),
            timeout_s=timeout_s,
            is_durable=bool(flags & _IS_DURABLE),
            has_map=bool(flags & _HAS_MAP),
            since=since,
            is_attached=bool(flags & _IS_ATTACHED),
        )

    def _write(self, at: int, it: Subscription) -> None:
        self._is_changed = True
        number = self._homes.take(Home(it.host, it.epoch.router, it.claim.router))
        self._release(at)
        flags = _IS_READY * it.is_ready | _IS_DURABLE * it.is_durable | _IS_ATTACHED * it.is_attached
        flags |= _HAS_MAP * it.has_map
        self._maps += it.has_map - self._has_map(at)
        values = (number, *it.epoch[:3], *it.claim[:3], it.since, it.timeout_s, flags)
        _ROW.pack_into(self._rows, at * _ROW.size, *values)

    def _release(self, at: int) -> None:
        """A row has its home no longer; one that was not written yet has none."""
        if number := _ROW.unpack_from(self._rows, at * _ROW.size)[0]:
            self._homes.release(number)

    def _has_map(self, at: int) -> bool:
        return bool(self._rows[(at + 1) * _ROW.size - 1] & _HAS_MAP)

    def put(self, subscription: Subscription) -> None:
        """Take what is newer than what was known of the same name."""
        name, host = subscription.name, subscription.host
        at = self._at(name)
        if self._has(at, name):
            self._stray(at)
        else:
            self._keys.insert(at, _key(name))
            # A table that grows in place has room for an eighth more.
            self._rows = self._rows[: at * _ROW.size] + bytes(_ROW.size) + self._rows[at * _ROW.size :]
        member = self._strays.get(host, {}).get(name)
        if member is not None and member.claim == subscription.claim:
            del self._strays[host][name]
            subscription.since, subscription.is_attached = member.since, member.is_attached
        self._write(at, subscription)

    def _stray(self, at: int) -> None:
        """Keep what its host's list says of a subscription that is not there any more, as far as we know."""
        known = self._read(at)
        self.away.pop(known.name, None)
        if known.is_listed:
            self._keep(known.host, known.name, Member(known.claim, known.since, known.is_attached))

    def make_ready(self, name: ClientName) -> None:
        """The first attach of a subscription was answered."""
        at = self._at(name)
        known = self._read(at)
        known.is_ready = True
        self._write(at, known)

    def remove(self, name: ClientName) -> None:
        """Forget a subscription. Its host's list may still have it."""
        at = self._at(name)
        if self._has(at, name):
            self._stray(at)
            self._release(at)
            self._maps -= self._has_map(at)
            self._is_changed = True
            del self._keys[at], self._rows[at * _ROW.size : (at + 1) * _ROW.size]

    # --- the lists of hosts

    def begin_list(self, place: Place) -> None:
        """A host tells its list from the beginning."""
        self._is_changed = True
        self._strays.pop(place, None)
        for at in range(len(self._keys)):
            self._unlist(at, place)

    def _unlist(self, at: int, place: Place) -> None:
        known = self._read(at)
        if known.host == place:
            known.since, known.is_attached = _UNLISTED, False
            self._write(at, known)

    def enlist(self, place: Place, name: ClientName, member: Member) -> None:
        """A host has a subscriber."""
        self.strike(place, name)
        at = self._at(name)
        known = self._read(at) if self._has(at, name) else None
        if known is None or known.host != place or known.claim != member.claim:
            self._keep(place, name, member)
            return
        known.since, known.is_attached = member.since, member.is_attached
        self._write(at, known)

    def _keep(self, place: Place, name: ClientName, member: Member) -> None:
        self._is_changed = True
        strays = self._strays.setdefault(place, {})
        if name in strays or len(strays) < self._most:
            strays[name] = member

    def strike(self, place: Place, name: ClientName) -> None:
        """A host has a subscriber no longer."""
        self._is_changed = True
        self._strays.get(place, {}).pop(name, None)
        at = self._at(name)
        if self._has(at, name):
            self._unlist(at, place)

    def forget_places(self, router: str, but: Place | None) -> None:
        """A router has begun another life, or is no more: its lists of before end."""
        for place in [each for each in self.versions() if each.router == router and each != but]:
            self.begin_list(place)

    def members(self, place: Place) -> dict[ClientName, Member]:
        """Return the list of a host."""
        listed = (each for each in self if each.host == place and each.is_listed)
        members = {each.name: Member(each.claim, each.since, each.is_attached) for each in listed}
        return members | self._strays.get(place, {})

    def has_member(self, place: Place, name: ClientName) -> bool:
        """Return whether a host's list has a subscriber."""
        known = self.get(name)
        is_there = known is not None and known.host == place and known.is_listed
        return is_there or name in self._strays.get(place, {})

    # --- what follows from all of them

    def versions(self) -> dict[Place, int]:
        """Return by host, of those whose list has members, the last version with which one came."""
        self._look()
        return self._versions

    def required_versions(self) -> dict[Place, int] | None:
        """Return which version of each host's list has all its subscribers; None if a list is not that far."""
        self._look()
        return self._required

    @property
    def have_maps(self) -> bool:
        """Whether the subscriber of any keeps an unsettled map."""
        return self._maps > 0

    def absent(self, is_in_reach: Callable[[Place], bool]) -> list[Subscription]:
        """Return those that are not attached at a host in reach."""
        self._look()
        lost = {host for host in self._hosts if not is_in_reach(host)}
        if not lost:
            return [self._read(at) for at in self._detached]
        return [each for each in self if not each.is_attached or each.host in lost]

    def _look(self) -> None:
        """Look at all rows, if one has changed."""
        if not self._is_changed:
            return
        self._is_changed = False
        required: dict[Place, int] = {}
        self._detached = []
        self._hosts = set()
        is_complete = True
        for at, row in enumerate(_ROW.iter_unpack(self._rows)):
            host, since = self._homes[row[0]].host, row[-3]
            self._hosts.add(host)
            if since == _UNLISTED:
                is_complete = False
            else:
                required[host] = max(required.get(host, 0), since)
            if not row[-1] & _IS_ATTACHED:
                self._detached.append(at)
        self._required = required if is_complete else None
        self._versions = dict(required)
        for place, strays in self._strays.items():
            for member in strays.values():
                self._versions[place] = max(self._versions.get(place, 0), member.since)


def _claim(numbers: list[int], router: str) -> Claim:
    attaches, ms, counter = numbers
    return Claim(attaches, ms, counter, router)


def _key(name: ClientName) -> str:
    """Return a name as one text, which takes less than two, and is no other name's."""
    return f"{len(name.container)}:{name.container}{name.link}"


def _name(key: str) -> ClientName:
    length, _, names = key.partition(":")
    return ClientName(names[: int(length)], names[int(length) :])
