"""The addresses of this router and of others, and their announcements (3.9)."""

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any
from zlib import crc32

from routerd.mesh.errors import NotAdvertisable
from routerd.mesh.messages import MobileAddressUpdate
from routerd.mesh.pace import Pace
from routerd.mesh.settings import MAU_BURST, MAU_GAP_S, MAU_WAIT_S, MeshConfig

NO_HINT = -1
"""Stands for a treatment that a router did not report, or that does not exist."""
HINTS = range(6)

_PHASES = frozenset(f"M{phase}" for phase in "0123456789F")
_CLASSES = frozenset("CDEFH")
_POOL_SLACK = 1000
_CHECKSUMS = 2**64


def is_advertisable(key: str) -> bool:
    """Return whether routers tell each other of this class of keys."""
    return key[:2] in _PHASES or (key[:1] in _CLASSES and len(key) > 1)


def _weight(key: str) -> int:
    """Return the part of a key in a checksum. It is squared, as plain sums of similar keys' CRCs are often equal."""
    crc = crc32(key.encode())
    return crc * (crc + 1)


class OwnAddresses:
    """The addresses with consumers here, and the announced ones."""

    def __init__(self, router: str, mobile_seq: int, *, is_known: bool) -> None:
        self._router = router
        self._added: dict[str, None] = {}
        self._removed: dict[str, int] = {}
        self._wanted: dict[str, int] = {}
        self._absolute: dict[str, Any] | None = None
        self._pace = Pace(MAU_GAP_S, MAU_BURST)
        self.is_known = is_known
        """Whether we know them ourselves: one who is resumed has to be told first."""
        self.mobile_seq = mobile_seq
        self.due = inf
        """The time to announce changes."""

    @property
    def count(self) -> int:
        """The number of addresses."""
        return len(self._wanted)

    def want(self, key: str, hint: int, now: float) -> None:
        """Add an address, or note another treatment of one; raises NotAdvertisable."""
        if not is_advertisable(key):
            raise NotAdvertisable(key)
        is_new = key not in self._wanted
        self._wanted[key] = hint
        if is_new:
            if self._removed.pop(key, None) is None:
                self._added[key] = None
            self._schedule(now)

    def unwant(self, key: str, now: float) -> None:
        """Remove an address."""
        hint = self._wanted.pop(key, None)
        if hint is not None:
            if key in self._added:
                del self._added[key]
            else:
                self._removed[key] = hint
            self._schedule(now)

    def set(self, wanted: Mapping[str, int], now: float) -> bool:
        """Replace all addresses; return whether all routers have to ask for them."""
        for key in wanted:
            if not is_advertisable(key):
                raise NotAdvertisable(key)
        for key in [key for key in self._wanted if key not in wanted]:
            self.unwant(key, now)
        for key, hint in wanted.items():
            self.want(key, hint, now)
        if self.is_known:
            return False
        self.is_known = True
        self.mobile_seq += 1
        self._settle()
        return True

    def fold(self) -> None:
        """Count changes without announcing them: routers that ask get them, and nobody knows us yet."""
        if self._added or self._removed:
            self.mobile_seq += 1
            self._settle()

    def take_changes(self, now: float) -> MobileAddressUpdate:
        """Return the changes to announce to all routers now."""
        added = tuple(self._added)
        hints = tuple(self._wanted[key] for key in added)
        removed = tuple(self._removed)
        self.mobile_seq += 1
        self._settle()
        self._pace.use(now)
        return MobileAddressUpdate(self._router, self.mobile_seq, added, removed, hints=hints)

    def absolute(self) -> dict[str, Any]:
        """Return the body of the message that tells all addresses, as they were told so far.

        It lacks what was added or removed since then. Its receivers get the next changes as well.
        """
        if self._absolute is None:
            told = {key: hint for key, hint in self._wanted.items() if key not in self._added} | self._removed
            update = MobileAddressUpdate(self._router, self.mobile_seq, exist=tuple(told), hints=tuple(told.values()))
            self._absolute = update.to_body()
        return self._absolute

    def _settle(self) -> None:
        self._added.clear()
        self._removed.clear()
        self._absolute = None
        self.due = inf

    def _schedule(self, now: float) -> None:
        self._absolute = None
        if not self._added and not self._removed:
            self.due = inf
        elif self.due == inf:
            self.due = max(now + MAU_WAIT_S, self._pace.earliest())


class RemoteAddresses:
    """The addresses of all other routers.

    One key text serves all routers that have the address. The pool of texts is made anew when many are out of use,
    which is cheaper than to count who uses which.
    """

    def __init__(self, config: MeshConfig) -> None:
        self._config = config
        self._by_router: dict[str, dict[str, int]] = {}
        self._checksums: dict[str, int] = {}
        self._pool: dict[str, str] = {}
        self._removals = 0

    def of(self, router: str) -> Mapping[str, int]:
        """Return the addresses of a router and their treatments."""
        return self._by_router.get(router, {})

    def checksum(self, router: str) -> int:
        """Return a number that tells sets of addresses apart; 0 for none."""
        return self._checksums.get(router, 0)

    def change(
        self, router: str, add: Iterable[tuple[str, int]], delete: Iterable[str]
    ) -> tuple[dict[str, int], tuple[str, ...], int]:
        """Add and remove addresses of a router; return those added, those removed, and the number of refused ones."""
        known = self._by_router.setdefault(router, {})
        checksum = self.checksum(router)
        removed = tuple([key for key in delete if known.pop(key, None) is not None])
        for key in removed:
            checksum -= _weight(key)
        added: dict[str, int] = {}
        refused = 0
        for key, hint in add:
            if key in known:
                continue
            if len(known) >= self._config.addresses_per_router_max or not self._is_valid(key):
                refused += 1
                continue
            shared = self._pool.setdefault(key, key)
            known[shared] = added[shared] = hint if hint in HINTS else NO_HINT
            checksum += _weight(key)
        self._checksums[router] = checksum % _CHECKSUMS
        self._forget(router, len(removed))
        return added, removed, refused

    def replace(self, router: str, exist: Iterable[tuple[str, int]]) -> tuple[dict[str, int], tuple[str, ...], int]:
        """Replace all addresses of a router; return those added, those removed, and the number of refused ones."""
        wanted = dict(exist)
        return self.change(router, wanted.items(), [key for key in self.of(router) if key not in wanted])

    def forget(self, router: str) -> bool:
        """Forget all addresses of a router; return whether there were any."""
        known = self._by_router.pop(router, {})
        self._forget(router, len(known))
        return bool(known)

    def _is_valid(self, key: str) -> bool:
        return len(key) <= self._config.key_length_max and is_advertisable(key)

    def _forget(self, router: str, removals: int) -> None:
        if not self._by_router.get(router):
            self._by_router.pop(router, None)
            self._checksums.pop(router, None)
        self._removals += removals
        if self._removals > max(_POOL_SLACK, len(self._pool) // 2):
            self._removals = 0
            self._pool = {}
            for known in self._by_router.values():
                for key in known:
                    self._pool.setdefault(key, key)
