"""When a router that lacks actors says so, and when it ends: a rule over what its launcher sees, and the time.

Forwarding needs no head of Ray, so a launcher goes on without one for as long as all actors live. An actor that dies
needs it to come back, and a router that waits in vain would look healthy to whoever supervises it.
"""

from collections.abc import Collection

from actors.errors import RouterLost
from actors.plan import is_connection
from routerd.io import module_log

HEADLESS_S = 60.0
"""How long an actor may be away while Ray has no head to start it again."""
DEAF_S = 120.0
"""How long all connection actors may be away."""
LATE_S = 30.0
"""How long an actor may be away before the log says that the router is not ready."""
REMIND_S = 60.0
"""How often the log says so."""
STEADY_S = 5.0
"""A head that has been there for so long is back; one that dies at each start never is."""

_log = module_log("ROUTER")


class Outage:
    """The head and the actors that are away, as the launcher sees them. Times are of its clock, in seconds."""

    def __init__(self, roles: Collection[str]) -> None:
        self._connections = frozenset(filter(is_connection, roles))
        self.has_head = True
        """Whether an actor that ends now is started again."""
        self._headless_at: float | None = None
        """Since when there is no head, or none that stays."""
        self._back_at: float | None = None
        """Since when the head is there again."""
        self._away_at: dict[str, float] = {}
        """Since when each actor is away."""
        self._said_at: float | None = None
        """When the log said last that the router is not ready."""

    def see(self, away: Collection[str], *, has_head: bool, now: float, shortage: str | None = None) -> None:
        """Take what is seen now; `shortage` is what actors lack to start. Raises RouterLost when waiting is in vain."""
        self._see_head(has_head, now)
        self._away_at = {role: self._away_at.get(role, now) for role in away}
        self._end_when_in_vain(now)
        self._say(shortage, now)

    def _see_head(self, has_head: bool, now: float) -> None:
        self.has_head = has_head
        if not has_head:
            self._back_at = None
            if self._headless_at is None:
                self._headless_at = now
                _log.warning("Ray's head is gone: forwarding goes on, but no actor is started again before it is back")
        elif self._headless_at is not None:
            if self._back_at is None:
                self._back_at = now
            if now - self._back_at >= STEADY_S:
                self._headless_at = None
                _log.notice("Ray's head is back")

    def _end_when_in_vain(self, now: float) -> None:
        if self._headless_at is not None and not self.has_head and self._away_at:
            since = max(self._headless_at, min(self._away_at.values()))
            if now - since >= HEADLESS_S:
                them = self._them()
                raise RouterLost(
                    f"{self._names()} ended, and for {HEADLESS_S:g} s Ray has had no head that could start {them} again"
                )
        if self._connections and self._connections <= self._away_at.keys():
            since = max(self._away_at[role] for role in self._connections)
            if now - since >= DEAF_S:
                raise RouterLost(f"no connection actor has come back within {DEAF_S:g} s, so nobody can connect")

    def _say(self, shortage: str | None, now: float) -> None:
        """Say that the router is not ready when that is more than the start of a process, and when it is over."""
        if not self._away_at:
            if self._said_at is not None:
                self._said_at = None
                _log.notice("Ready again: all actors are there")
            return
        them = self._them()
        if not self.has_head:
            why = f"has no head to start {them} again"
        elif shortage is not None:
            why = f"cannot start {them} again: {shortage}"
        elif any(now - since >= LATE_S for since in self._away_at.values()):
            why = f"has not started {them} again yet"
        else:
            return
        if self._said_at is None or now - self._said_at >= REMIND_S:
            self._said_at = now
            _log.error("Not ready: %s ended, and Ray %s", self._names(), why)

    def _names(self) -> str:
        """Return the actors that are away, with a verb."""
        names = sorted(self._away_at)
        return f"actor {names[0]} has" if len(names) == 1 else f"actors {', '.join(names)} have"

    def _them(self) -> str:
        return "it" if len(self._away_at) == 1 else "them"
