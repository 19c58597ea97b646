"""What sending and receiving links share: attach, detach, and the way back after a failure.

The engine's `Link` lives as long as one attachment. A `RecoverableLink` has one after another of them. `attach_at` says
when a link without attachment wants the next one; infinity is never.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from mobula_client.engine import Attach, Error, FrameTooLarge, Link, LocalError, Session
from mobula_client.errors import (
    ClientClosed,
    ClientError,
    LinkEnded,
    LinkStolen,
    UnsettledMapTooLarge,
)
from mobula_client.links.deadlines import NEVER
from mobula_client.links.events import LinkEvents

# A peer that ends a link for one of these takes it again later, or its neighbour does.
_PASSING = frozenset(
    {"amqp:link:detach-forced", "amqp:connection:forced", "amqp:resource-limit-exceeded", "qd:routed-link-lost"}
)
# A router says this of an address that it does not know, and of one whose container is not there for a moment.
_NO_ROUTE = "qd:no-route-to-dest"
_WITHOUT_REASON = "amqp:link:detach-forced"


class RecoverableLink(LinkEvents, ABC):
    """A link by its name, over all connections that carry it."""

    def __init__(self, name: str, wait_s: Callable[[int], float]) -> None:
        """`wait_s` returns the seconds to wait after a number of failures in a row."""
        self.name = name
        self.wait_s = wait_s
        self.engine: Link | None = None
        """The engine's link of the present attachment."""
        self.is_ready = False
        """Whether both ends have attached."""
        self.is_closing = False
        self.was_ready = False
        """Whether it was ready at any time, perhaps in an earlier process."""
        self.end: ClientError | None = None
        """Why the link is over for good."""
        self.attach_at = 0.0
        self.failures = 0
        self.on_change: Callable[[], None] = lambda: None
        """Called after the link became ready or idle, or is over."""
        self.ask_turn: Callable[[], None] = lambda: None
        """Asks the endpoint for a call of `finish_turn` before it writes, and to look at `deadline` again."""
        self.run: Callable[[Callable[[], None]], None] = lambda action: action()
        """Runs what follows a transaction; a program of several threads has it run where the link lives."""

    # --- for the application

    def close(self) -> None:
        """Detach and close, and have nothing more to do with the link."""
        if self.end is not None or self.is_closing:
            return
        self.is_closing = True
        if self.engine is not None and not self.engine.is_over:
            self._detach(closed=self.is_ended_by_close)
        if self.engine is None or self.engine.is_over:
            self.finish(ClientClosed(f"link {self.name!r} was closed"))

    @property
    def is_ended_by_close(self) -> bool:
        """Whether `close` ends the link's terminus as well, or leaves it for a later attach."""
        return True

    # --- for the endpoint

    def attach(self, session: Session) -> None:
        """Attach over a new session, or a while after a failure."""
        self.attach_at = NEVER
        engine = self.new_engine(session)
        engine.context = self
        self.engine = engine
        try:
            self.send_attach(engine)
        except FrameTooLarge as error:
            self.finish(LinkEnded(self.name, "amqp:frame-size-too-small", str(error)))
        except ClientError as error:
            self.finish(error)
        except LocalError as error:
            self.finish(LinkEnded(self.name, "amqp:resource-limit-exceeded", str(error)))

    def attached(self, performative: Attach) -> None:
        """Go on where the attachment before stopped; a refusal follows where the peer has no terminus."""
        engine = self.engine
        assert engine is not None, "it was attached"
        if (performative.target if engine.is_sender else performative.source) is None:
            return
        self.failures = 0
        self.is_ready = self.was_ready = True
        self.recover(performative)
        self.on_change()

    def detached(self, closed: bool, error: Error | None, now: float) -> None:
        """Attach again later if the cause may pass, else be over."""
        self.lose()
        if self.end is not None:
            return
        if self.is_closing:
            self.finish(ClientClosed(f"link {self.name!r} was closed"))
            return
        condition = _WITHOUT_REASON if error is None else str(error.condition)
        description = None if error is None else error.description
        if condition in _PASSING or (condition == _NO_ROUTE and self.was_ready):
            self.failures += 1
            self.attach_at = now + self.wait_s(self.failures)
        elif condition == "amqp:link:stolen":
            self.finish(LinkStolen(self.name, condition, description))
        else:
            self.finish(self.final_error(condition, description))

    def lost(self) -> None:
        """The connection is lost: attach as soon as there is another one."""
        if self.end is not None:
            return
        self.lose()
        self.attach_at = 0.0
        if self.is_closing:
            self.finish(ClientClosed(f"link {self.name!r} was closed"))

    def finish(self, error: ClientError) -> None:
        """Be over for good, for this reason."""
        if self.end is not None:
            return
        self.end = error
        self.attach_at = NEVER
        engine = self.engine
        if engine is not None and not engine.is_over:
            self._detach(closed=False)
        self.lose()
        self.ended(error)
        self.on_change()

    def lose(self) -> None:
        """Forget the present attachment."""
        if self.engine is not None:
            self.engine = None
            self.is_ready = False
            self.detach_from_engine()

    @property
    def deadline(self) -> float:
        """When `tick` is due."""
        return self.attach_at if self.engine is None else NEVER

    # --- for subclasses

    @abstractmethod
    def new_engine(self, session: Session) -> Link:
        """Return an endpoint of the engine."""

    @abstractmethod
    def send_attach(self, engine: Any) -> None:
        """Send the attach."""

    @abstractmethod
    def recover(self, performative: Attach) -> None:
        """Continue after the peer's attach."""

    @abstractmethod
    def detach_from_engine(self) -> None:
        """Take deliveries back from an attachment that is over."""

    @abstractmethod
    def ended(self, error: ClientError) -> None:
        """Tell everybody who waits."""

    def final_error(self, condition: str, description: str | None) -> ClientError:
        """Return the error for a condition that does not pass."""
        return LinkEnded(self.name, condition, description)

    def refuse_incomplete_map(self, engine: Link) -> None:
        """End the link if either unsettled map had to be cut, because nothing can be sent then (2.7.3)."""
        if engine.is_incomplete:
            raise UnsettledMapTooLarge(self.name, "amqp:frame-size-too-small", "an unsettled map was incomplete")

    def _detach(self, *, closed: bool) -> None:
        engine = self.engine
        if engine is None or not engine.session.is_open:
            return
        try:
            engine.detach(closed=closed)
        except LocalError:
            # It was detached meanwhile, by the peer or by us.
            return
