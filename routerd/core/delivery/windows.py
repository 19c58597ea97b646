"""Which messages that wait in parts close the window of their session.

The links of a session share its window. If a message that waits closed it, nothing would come on the other links; and
if it waits for a message of one of these, neither would ever end. So where several producers share a session, their
messages leave the window open up to a limit. Beyond it they close the window, unless that stops a message that is being
sent; then they are given up.
"""

from typing import TYPE_CHECKING

from routerd.core.links.fan_out import FanOut
from routerd.core.links.inlet import Inlet
from routerd.core.links.parked import Parked

if TYPE_CHECKING:
    from routerd.core.links.outlet import Outlet
    from routerd.wire.delivery import Delivery

CLOSES, STAYS_OPEN, GIVES_UP = range(3)
"""What becomes of the window as more of a message comes that waits or is stuck, or of the message."""

_CLOSES = CLOSES
_STAYS_OPEN = STAYS_OPEN
_GIVES_UP = GIVES_UP


def effect_of(inlet: Inlet, size: int, unheld: int) -> int:
    """Return what becomes of the window as `size` more octets wait; `unheld` octets wait without closing it."""
    if not inlet.is_shared and (inlet.is_fabric or not _has_others(inlet, False)):
        return _CLOSES
    if unheld + size <= inlet.peer.unheld_max:
        return _STAYS_OPEN
    return _GIVES_UP if inlet.is_shared or _has_others(inlet, True) else _CLOSES


def effect_of_stuck(inlet: Inlet, outlet: "Outlet", size: int) -> int:
    """Return what becomes of the window as `size` more octets are stuck at the outlet of a message that is being sent.

    A sibling's consumer may wait for another message of the same session, as those do for which a message waits here.
    """
    if inlet.is_shared:
        return _CLOSES if outlet.is_choked(size) else _STAYS_OPEN
    peer = inlet.peer
    if outlet.main is None or not _has_others(inlet, False):
        return _CLOSES
    if peer.unheld_octets + size <= peer.unheld_max:
        outlet.keep_unheld(peer, size)
        return _STAYS_OPEN
    return _GIVES_UP if _has_others(inlet, True) else _CLOSES


def open_for(inlet: Inlet) -> None:
    """Open the window again where messages that wait have closed it for one that leaves in parts."""
    session = inlet.link.session
    if not session.withheld or inlet.is_fabric:
        return
    for link in session.links():
        context = link.context
        if not isinstance(context, Inlet) or context is inlet:
            continue
        other: Inlet = context
        waiting = None if other.current is None else other.current.context
        if isinstance(waiting, Parked):
            one: Parked = waiting
            if one.frames and not one.address.is_fair:
                session.give_back(one.frames)
                one.frames = 0
        elif isinstance(waiting, FanOut):
            fan: FanOut = waiting
            if fan.frames:
                session.give_back(fan.frames)
                fan.frames = 0


def _has_others(inlet: Inlet, is_sending: bool) -> bool:
    """Whether the session has links of other producers, or such as have a message that is being sent."""
    session = inlet.link.session
    links = session.links()
    # A peer may have many links: those of others have their turns meanwhile.
    session.connection.work += len(links) >> 3
    for link in links:
        context = link.context
        if not isinstance(context, Inlet) or context is inlet:
            continue
        other: Inlet = context
        if not is_sending or _is_sent(other.current):
            return True
    return False


def _is_sent(delivery: "Delivery | None") -> bool:
    if delivery is None:
        return False
    context = delivery.context
    if isinstance(context, FanOut):
        fan: FanOut = context
        return bool(fan.under_way)
    return context is not None and not isinstance(context, Parked)
