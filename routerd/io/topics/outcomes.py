"""Outcomes, as AMQP writes them and as topics have them."""

from typing import Any

from routerd.topics import Outcome, Rejection
from routerd.wire import ACCEPTED, RELEASED, Accepted, Error, Modified, Rejected


def outcome_of(state: Any) -> tuple[Outcome, Rejection | None]:
    """Return what a subscriber has decided. One that settles without a word does not want the message again."""
    if state is None or isinstance(state, Accepted):
        return Outcome.ACCEPTED, None
    if isinstance(state, Rejected):
        error = state.error
        condition = "" if error is None else str(error.condition)
        return Outcome.REJECTED, Rejection(condition, "" if error is None else error.description or "")
    if isinstance(state, Modified) and state.undeliverable_here:
        return Outcome.UNDELIVERABLE, None
    return Outcome.RELEASED, None


def state_of(outcome: Outcome, rejection: Rejection | None) -> Any:
    """Return what a publisher is told."""
    if outcome is Outcome.ACCEPTED:
        return ACCEPTED
    if outcome is Outcome.REJECTED:
        if rejection is None or not rejection.condition:
            return Rejected()
        return Rejected(error=Error(condition=rejection.condition, description=rejection.description or None))
    return RELEASED if outcome is Outcome.RELEASED else Modified(undeliverable_here=True)
