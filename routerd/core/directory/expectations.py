"""Messages from other routers that arrive before the news about their consumers.

Routers learn of a new consumer, router or trunk at different times. One that knows may send to one that does not know
yet, so such a message waits briefly for the news. Workers of a router learn of each other's consumers at different
times, too, but they can ask. So a message whose last consumer has left waits for the answer at most.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from routerd.core.directory.addresses import UPLINK

if TYPE_CHECKING:
    from routerd.core.directory.network import RouteTo
    from routerd.core.links.address import Address

WAIT_S = 1.0
"""How long a message waits for news, which takes milliseconds, and longer on a busy processor."""
GONE_S = 10.0
"""How long messages may still arrive for a consumer that has left."""
EXPECTED_MAX = 1000
"""Limit of the addresses with messages that wait for news."""
GONE_MAX = 10_000
_OF_CONSUMERS = ("L", "M")
_TEMPORARY = "Ltemp."
"""Begins the address of a client for answers: nobody is told of it before its consumer is there."""


class Expectations:
    """The addresses with messages that wait for news, and those that lost their last consumer."""

    ask_siblings: "Callable[[Address], None]"
    """Asks for news of an address, after which `answered` is called. Set once by the builder of the parts."""

    def __init__(self, siblings: Mapping[int, object]) -> None:
        # Their consumers may be unknown here for a moment.
        self._siblings = siblings
        self._expected: dict[Address, None] = {}
        self._gone: dict[str, float] = {}
        self._grown_at = -WAIT_S

    def went(self, key: str, now: float) -> None:
        """Note that an address has lost its last consumer."""
        if len(self._gone) >= GONE_MAX:
            self._gone.clear()
        self._gone[key] = now

    def came(self, key: str) -> None:
        """Note that an address has a consumer."""
        self._gone.pop(key, None)

    def network_changed(self, before: Mapping[str, "RouteTo"], after: Mapping[str, "RouteTo"], now: float) -> None:
        """Note whether paths have improved: other routers may know more of them than this one."""
        if any(router not in after or after[router].cost > route.cost for router, route in before.items()):
            self._grown_at = -WAIT_S
        elif len(after) > len(before) or any(after[router].cost < route.cost for router, route in before.items()):
            self._grown_at = now

    def may_come(self, key: str, now: float) -> bool:
        """Whether news about an address that is unknown here may be under way."""
        if len(self._expected) >= EXPECTED_MAX or key == UPLINK:
            return False
        return self._may_come_from_afar(key, now) or self._may_come_from_siblings(key)

    def _may_come_from_afar(self, key: str, now: float) -> bool:
        if key[:1] == "L":
            return False
        is_new = key[:1] == "M" and now - self._gone.get(key, -GONE_S) >= GONE_S
        return is_new or now - self._grown_at < WAIT_S

    def _may_come_from_siblings(self, key: str) -> bool:
        return bool(self._siblings) and key[:1] in _OF_CONSUMERS and not key.startswith(_TEMPORARY)

    def wait_for(self, address: "Address", now: float) -> bool:
        """Whether messages of an address wait for news, as they cannot leave now."""
        if address.expected_until <= now:
            # An address with routes is known, even if all of them lead back. News would change nothing.
            if address.routes:
                return False
            if address in self._expected:
                # Those that waited before are released within a second, and this one with them.
                return True
            if not self.may_come(address.key, now):
                return False
            address.expected_until = now + WAIT_S
            self._expected[address] = None
            if not self._may_come_from_afar(address.key, now):
                self.ask_siblings(address)
        return True

    def answered(self, address: "Address") -> bool:
        """End the wait of an address, as siblings have said all that they know; return whether it still waited."""
        if address not in self._expected:
            return False
        del self._expected[address]
        address.expected_until = 0.0
        return True

    def overdue(self, now: float) -> "list[Address]":
        """Return the addresses whose wait for news is over."""
        late = [address for address in self._expected if address.expected_until <= now]
        for address in late:
            del self._expected[address]
        return late
