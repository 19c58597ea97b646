"""The connections that count against limits, over all workers of a router (10.1, 10.2).

One ledger holds them all: how many each vhost has, of each user, from each host. A worker asks it before it answers an
open that a limit could forbid; where none could, it takes the connection and tells the ledger afterwards. Sockets that
are accepted cost no question each: a worker is allowed so many, and asks for more before it needs them. When nothing is
left, what others do not use is called in, so that exactly as many as are configured can be there.

The ledger lives where the address table does. It can be lost: workers then report all that they have to the next one,
which decides nothing before all have done so.
"""

from dataclasses import dataclass, field

from routerd.core.errors import StaleMember, UnknownMember

TOO_MANY = "Connection denied by application connection limit"
TOO_MANY_OF_USER = "Connection denied by application per user limit"
TOO_MANY_OF_HOST = "Connection denied by application per host limit"

CHUNK_MAX = 64
"""Sockets that a worker is allowed ahead of what it needs."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A connection that was let in, or wants to be."""

    connection: int
    vhost: str
    user: str
    host: str


@dataclass(frozen=True, slots=True)
class SeatLimits:
    """How many connections there may be with the one that asks."""

    total: int
    per_user: int
    per_host: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a worker tells the ledger, and asks of it."""

    is_full: bool
    """`seats` are all that it has."""
    seats: tuple[Seat, ...] = ()
    """Connections that it has let in."""
    gone: tuple[int, ...] = ()
    """Connections that are over."""
    asked: tuple[tuple[Seat, SeatLimits], ...] = ()
    """Connections that wait to be let in."""
    sockets: int = 0
    """Those that it has accepted and that wait for that."""
    allowance: int = 0
    """How many it may have accepted."""
    recalls: int = 0
    """How often sockets were called in from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the ledger answers."""

    refused: dict[int, str] = field(default_factory=dict)
    """Why connections that asked are not let in; the others are."""
    allowance: int = 0
    recalls: int = 0
    """As in the report: what was allowed before sockets were called in holds no more."""


class _Account:
    """What the ledger knows of one worker."""

    def __init__(self, incarnation: int) -> None:
        self.incarnation = incarnation
        self.seats: dict[int, Seat] = {}
        self.sockets = 0
        self.allowance = 0
        # Its sockets are called in, and it reports each that closes.
        self.is_tight = False


class Ledger:
    """Counts connections, and lets in no more than there may be."""

    def __init__(self, max_connections: int) -> None:
        self.max_connections = max_connections
        self._accounts: dict[int, _Account] = {}
        self._counts: dict[tuple[str, ...], int] = {}
        """By vhost; by vhost, user; by vhost, nothing and host."""

    def admit(self, worker: int, seat: Seat, limits: SeatLimits) -> str | None:
        """Let a connection in, or say why not."""
        reason = None
        if self.count(seat.vhost) >= limits.total:
            reason = TOO_MANY
        elif self.count(seat.vhost, seat.user) >= limits.per_user:
            reason = TOO_MANY_OF_USER
        elif self.count(seat.vhost, "", seat.host) >= limits.per_host:
            reason = TOO_MANY_OF_HOST
        else:
            self.seat(worker, seat)
        return reason

    def seat(self, worker: int, seat: Seat) -> None:
        """Count a connection that is there."""
        account = self._accounts.setdefault(worker, _Account(0))
        self.leave(worker, seat.connection)
        account.seats[seat.connection] = seat
        for key in _keys(seat):
            self._counts[key] = self._counts.get(key, 0) + 1

    def leave(self, worker: int, connection: int) -> None:
        """Do without a connection, if it is there."""
        account = self._accounts.get(worker)
        seat = None if account is None else account.seats.pop(connection, None)
        if seat is None:
            return
        for key in _keys(seat):
            left = self._counts[key] - 1
            if left:
                self._counts[key] = left
            else:
                del self._counts[key]

    def count(self, *key: str) -> int:
        """Return how many connections a vhost has, a user there, or "" and a host there."""
        return self._counts.get(key, 0)

    # --- several workers

    @property
    def workers(self) -> frozenset[int]:
        """Those that have reported."""
        return frozenset(self._accounts)

    def take(self, worker: int, incarnation: int, report: Report) -> None:
        """Note what a worker reports, all but what it asks; raises UnknownMember where all that it has is needed.

        Raises StaleMember for an earlier incarnation of a worker.
        """
        account = self._accounts.get(worker)
        if account is not None and incarnation < account.incarnation:
            raise StaleMember(worker, incarnation)
        if report.is_full:
            self.forget(worker)
            account = self._accounts[worker] = _Account(incarnation)
            account.allowance = report.allowance
        elif account is None or account.incarnation != incarnation:
            raise UnknownMember(worker, incarnation)
        account.sockets = report.sockets
        account.allowance = min(account.allowance, report.allowance)
        for connection in report.gone:
            self.leave(worker, connection)
        for seat in report.seats:
            self.seat(worker, seat)

    def lacks_sockets(self, worker: int) -> bool:
        """Whether a worker needs more than is left, while others may not use what they have."""
        account = self._accounts.get(worker)
        lacking = 0 if account is None else account.sockets - account.allowance
        return lacking > self._free() and bool(self.lenders(worker))

    def lenders(self, worker: int) -> list[tuple[int, int]]:
        """Return the workers, and their incarnations, that may not use all they are allowed."""
        return [
            (other, account.incarnation)
            for other, account in self._accounts.items()
            if other != worker
            and account.allowance > (account.sockets if account.is_tight else 0)
        ]

    def recalled(self, worker: int, incarnation: int, allowance: int) -> None:
        """Note what a worker has kept of its allowance, having been asked."""
        account = self._accounts.get(worker)
        if account is not None and account.incarnation == incarnation:
            account.allowance = min(account.allowance, allowance)
            account.sockets = max(account.sockets, account.allowance)
            account.is_tight = True

    def decide(self, worker: int, incarnation: int, report: Report) -> Verdict:
        """Answer what a report asks; all workers that there are have reported.

        Raises UnknownMember where the worker has gone meanwhile.
        """
        account = self._accounts.get(worker)
        if account is None or account.incarnation != incarnation:
            raise UnknownMember(worker, incarnation)
        lacking = max(0, account.sockets - account.allowance)
        ahead = self._free() // (4 * len(self._accounts))
        account.allowance += min(self._free(), lacking + min(CHUNK_MAX, ahead))
        account.is_tight = account.is_tight and account.allowance <= account.sockets
        refused = {}
        for seat, limits in report.asked:
            reason = self.admit(worker, seat, limits)
            if reason is not None:
                refused[seat.connection] = reason
        return Verdict(refused=refused, allowance=account.allowance, recalls=report.recalls)

    def forget(self, worker: int) -> None:
        """Do without a worker and its connections."""
        account = self._accounts.get(worker)
        if account is not None:
            for connection in list(account.seats):
                self.leave(worker, connection)
            del self._accounts[worker]

    def _free(self) -> int:
        return max(0, self.max_connections - sum(account.allowance for account in self._accounts.values()))


def _keys(seat: Seat) -> tuple[tuple[str, ...], ...]:
    return (seat.vhost,), (seat.vhost, seat.user), (seat.vhost, "", seat.host)
