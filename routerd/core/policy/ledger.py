"""The ledger: the count of connections against limits, over all workers of a router (10.1, 10.2).

One ledger counts the connections of each vhost, and of each user and host in it. If a limit could forbid a connection,
the worker asks the ledger before it answers the open. Otherwise it admits the connection and reports it afterwards.
Accepted sockets need no question each: a worker has an allowance, and asks for more before it needs them. When the
limit is used up, the ledger recalls allowances that are not used. So exactly the configured number of sockets can be
open.

The ledger is beside the address table and can be lost with it. Workers then report all their connections to the next
ledger, which decides nothing before all have reported.
"""

from dataclasses import dataclass, field

from routerd.core.errors import StaleMember, UnknownMember

TOO_MANY = "Connection denied by application connection limit"
TOO_MANY_OF_USER = "Connection denied by application per user limit"
TOO_MANY_OF_HOST = "Connection denied by application per host limit"

CHUNK_MAX = 64
"""Sockets that a worker is allowed ahead of its need."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A connection that was admitted, or asks for admission."""

    connection: int
    vhost: str
    user: str
    host: str


@dataclass(frozen=True, slots=True)
class SeatLimits:
    """Limits of the connections, including the one that asks."""

    total: int
    per_user: int
    per_host: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A worker's report to the ledger, with its questions."""

    is_full: bool
    """Whether `seats` are all connections of the worker."""
    seats: tuple[Seat, ...] = ()
    """Connections that it has admitted."""
    gone: tuple[int, ...] = ()
    """Connections that are over."""
    asked: tuple[tuple[Seat, SeatLimits], ...] = ()
    """Connections that wait for admission."""
    sockets: int = 0
    """Sockets that are accepted, or wait for an answer."""
    allowance: int = 0
    """The sockets that it may accept."""
    recalls: int = 0
    """How often its sockets were recalled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The ledger's answer."""

    refused: dict[int, str] = field(default_factory=dict)
    """The reasons of refused connections; the others in `asked` are admitted."""
    allowance: int = 0
    recalls: int = 0
    """As in the report: a later recall invalidates the allowance."""


class _Account:
    """The ledger's entry for one worker."""

    def __init__(self, incarnation: int) -> None:
        self.incarnation = incarnation
        self.seats: dict[int, Seat] = {}
        self.sockets = 0
        self.allowance = 0
        # Its sockets were recalled, so it reports each one that closes.
        self.is_tight = False


class Ledger:
    """Counts connections, and admits no more than the limits."""

    def __init__(self, max_connections: int) -> None:
        self.max_connections = max_connections
        self._accounts: dict[int, _Account] = {}
        self._counts: dict[tuple[str, ...], int] = {}
        """The keys are (vhost), (vhost, user) and (vhost, "", host)."""

    def admit(self, worker: int, seat: Seat, limits: SeatLimits) -> str | None:
        """Admit a connection, or return the reason of its refusal."""
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
        """Count an existing connection."""
        account = self._accounts.setdefault(worker, _Account(0))
        self.leave(worker, seat.connection)
        account.seats[seat.connection] = seat
        for key in _keys(seat):
            self._counts[key] = self._counts.get(key, 0) + 1

    def leave(self, worker: int, connection: int) -> None:
        """Remove a connection if it exists."""
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
        """Return the number of connections by vhost, vhost and user, or vhost, "" and host."""
        return self._counts.get(key, 0)

    # --- several workers

    @property
    def workers(self) -> frozenset[int]:
        """The workers that have reported."""
        return frozenset(self._accounts)

    def take(self, worker: int, incarnation: int, report: Report) -> None:
        """Apply a worker's report, without its questions; raises UnknownMember if a full report is needed.

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
        """Whether a worker needs more sockets than are free, while others may have unused ones."""
        account = self._accounts.get(worker)
        lacking = 0 if account is None else account.sockets - account.allowance
        return lacking > self._free() and bool(self.lenders(worker))

    def lenders(self, worker: int) -> list[tuple[int, int]]:
        """Return the workers that may have an unused allowance, with their incarnations."""
        return [
            (other, account.incarnation)
            for other, account in self._accounts.items()
            if other != worker
            and account.allowance > (account.sockets if account.is_tight else 0)
        ]

    def recalled(self, worker: int, incarnation: int, allowance: int) -> None:
        """Note the allowance that a worker has kept after a recall."""
        account = self._accounts.get(worker)
        if account is not None and account.incarnation == incarnation:
            account.allowance = min(account.allowance, allowance)
            account.sockets = max(account.sockets, account.allowance)
            account.is_tight = True

    def decide(self, worker: int, incarnation: int, report: Report) -> Verdict:
        """Answer the questions of a report; only once all present workers have reported.

        Raises UnknownMember if the worker has left meanwhile.
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
        """Remove a worker and its connections."""
        account = self._accounts.get(worker)
        if account is not None:
            for connection in list(account.seats):
                self.leave(worker, connection)
            del self._accounts[worker]

    def _free(self) -> int:
        return max(0, self.max_connections - sum(account.allowance for account in self._accounts.values()))


def _keys(seat: Seat) -> tuple[tuple[str, ...], ...]:
    return (seat.vhost,), (seat.vhost, seat.user), (seat.vhost, "", seat.host)
