"""How long a link has been without its router, over all processes of the program.

Routers forget a link that is away for its time-out, and settle its deliveries. A link that may be forgotten must not go
on with the state that it has kept. So it gives this state up earlier, by its own clock, before it attaches.
"""

from typing import Final

from mobula_client.engine import Link
from mobula_client.errors import ClientError
from mobula_client.exactly_once.store import Presence, Store
from mobula_client.links import Endpoint, RecoverableLink
from mobula_client.links.deadlines import NEVER

PUBLISHER_PART: Final = 0.6
SUBSCRIBER_PART: Final = 0.8
"""The parts of the time-out after which a publisher and a subscriber give up. The rest is for clocks and delays."""
_NOTES = 50
"""How often within the time-out an attached link notes that it is: its process may die without a word."""
_NOTE_S_MIN = 1.0


class Absence:
    """Keeps in the store when the router of one link was heard last."""

    def __init__(self, store: Store, link: str, part: float, timeout_s: float) -> None:
        """`timeout_s` is what the link asks for; routers say how much of it they grant."""
        self._store = store
        self._link = link
        self._part = part
        self._asked_s = timeout_s
        self._timeout_s = timeout_s
        self.due_at = NEVER
        """When `note` is due, while the link is attached."""

    def why_too_long(self) -> str | None:
        """Return what to say if routers may have forgotten the link; None if they have not."""
        presence = self._store.presence(self._link)
        if presence is None:
            return None
        # A clock that was set back by much says nothing of the time that has passed, so that counts as well.
        away_s = abs(self._store.time() - presence.heard_at)
        if away_s <= self._part * presence.timeout_s:
            return None
        return (
            f"it was without a router for {away_s:.0f} s, more than {self._part:g} of the {presence.timeout_s:g} s for "
            "which routers remember it"
        )

    def attached(self, engine: Link, granted_s: float) -> None:
        """The router has answered, and says how long it remembers the link. Raises StoreFailed."""
        self._timeout_s = granted_s or self._asked_s
        self.note(engine)

    def note(self, engine: Link) -> None:
        """Keep that the link is attached, and when its router was heard last. Raises StoreFailed."""
        self.due_at = _endpoint_of(engine).now + max(_NOTE_S_MIN, self._timeout_s / _NOTES)
        self._keep(engine, None)

    def left(self, engine: Link, sent_upto: int) -> None:
        """Keep when the attachment ended, and what was sent until then."""
        self.due_at = NEVER
        try:
            self._keep(engine, sent_upto)
        except ClientError:
            # The store still has the note from before. That one is true as well, and says less.
            return

    def _keep(self, engine: Link, sent_upto: int | None) -> None:
        heard_at = self._store.time() - _endpoint_of(engine).silent_s
        self._store.keep_presence(self._link, Presence(heard_at, self._timeout_s, sent_upto))


class AbsentLink(RecoverableLink):
    """A link that keeps when it was attached last, if it keeps an unsettled map."""

    absence: Absence
    sent_upto = 0
    """The number of the last message that may have been sent."""

    @property
    def deadline(self) -> float:
        """When the link wants to attach, or the store is to know of the router."""
        return min(super().deadline, self.absence.due_at)

    def tick(self, now: float) -> None:
        """Keep when the router was heard."""
        if self.engine is None or self.absence.due_at > now:
            return
        try:
            self.absence.note(self.engine)
        except ClientError as error:
            self.finish(error)

    def lose(self) -> None:
        """Keep when the attachment ended."""
        if self.engine is not None and self.absence.due_at != NEVER:
            self.absence.left(self.engine, self.sent_upto)
        super().lose()


def _endpoint_of(engine: Link) -> Endpoint:
    endpoint = engine.session.connection.context
    assert isinstance(endpoint, Endpoint), "it made the connection"
    return endpoint
