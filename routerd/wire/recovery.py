"""Recovery of deliveries when a link is attached again (2.6.13).

Both attaches carry an unsettled map, with the state of each delivery that the end knows. A comparison tells the sender
which deliveries to resend, continue or confirm. It tells either end which ones the other has settled meanwhile.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from routerd.wire.outcomes import is_outcome

if TYPE_CHECKING:
    from routerd.wire.delivery import Delivery
    from routerd.wire.link import Link


class Recovery(Enum):
    """The action for one delivery."""

    RESEND = "the peer knows nothing of it: send it again, as a new delivery"
    RESUME = "the peer has a part of it or all: resume it, from the point that its state names"
    CONFIRM = "an outcome is reached: resume it without octets, to convey the state and settle"
    FORGET = "the peer has settled it: settle without a word"
    AWAIT = "the sender is to resume it"
    UNKNOWN = "the peer's map is incomplete: it may or may not know of it"


@dataclass(frozen=True, slots=True)
class RecoveredDelivery:
    """A delivery of an earlier attachment, with the peer's state and the action for it."""

    delivery: "Delivery"
    recovery: Recovery
    remote_state: Any


def plan_recovery(
    link: "Link", unsettled: Mapping[Any, Any] | None, *, is_incomplete: bool = False
) -> list[RecoveredDelivery]:
    """Compare the deliveries that a link took over with the unsettled map of the peer's attach."""
    remote = unsettled or {}
    local = link.unsettled_map()
    return [
        RecoveredDelivery(
            delivery,
            _recovery(link.is_sender, local[tag], tag in remote, remote.get(tag), is_incomplete),
            remote.get(tag),
        )
        for tag, delivery in (link.suspended or {}).items()
    ]


def _recovery(is_sender: bool, local: Any, is_known: bool, remote: Any, is_incomplete: bool) -> Recovery:
    if not is_known:
        if is_incomplete:
            return Recovery.UNKNOWN
        # A delivery that the receiver does not know, without outcome: it never came, or its settlement was lost.
        return Recovery.RESEND if is_sender and not is_outcome(local) else Recovery.FORGET
    if not is_sender:
        return Recovery.AWAIT
    return Recovery.CONFIRM if is_outcome(local) or is_outcome(remote) else Recovery.RESUME
