"""Messages that are ahead of the news: they come from another router for an address that nobody is known to have yet.

Routers learn of a consumer, a router or a trunk one after the other, and the first that knows may send to one that does
not. Such a message waits a moment for the news. One whose consumer has just left is behind the news: it is not kept.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from routerd.core.directory.addresses import UPLINK

if TYPE_CHECKING:
    from routerd.core.directory.network import RouteTo
    from routerd.core.links.address import Address

WAIT_S = 1.0
"""How long a message may be ahead: news takes milliseconds, but not on a processor that is busy."""
GONE_S = 10.0
"""How long messages may come for a consumer that has left."""
EXPECTED_MAX = 1000
"""Addresses that are waited for at a time."""
GONE_MAX = 10_000


class Expectations:
    """Which addresses are waited for, and which are known to have nobody any more."""

    def __init__(self) -> None:
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
        """Note whether the paths have got better, so that others may count on more of them than are known here."""
        if any(router not in after or after[router].cost > route.cost for router, route in before.items()):
            self._grown_at = -WAIT_S
        elif len(after) > len(before) or any(after[router].cost < route.cost for router, route in before.items()):
            self._grown_at = now

    def may_come(self, key: str, now: float) -> bool:
        """Whether news of an address that is not known here may be on its way."""
        if len(self._expected) >= EXPECTED_MAX or key == UPLINK or key[:1] == "L":
            return False
        if key[:1] == "M" and now - self._gone.get(key, -GONE_S) >= GONE_S:
            return True
        return now - self._grown_at < WAIT_S

    def wait_for(self, address: "Address", now: float) -> bool:
        """Keep messages of an address that none can leave from, if there may be news."""
        if address.expected_until <= now:
            # One whose routes all lead back is known; that is a matter of paths, not of news.
            if address.routes or not self.may_come(address.key, now):
                return False
            address.expected_until = now + WAIT_S
            self._expected[address] = None
        return True

    def overdue(self, now: float) -> "list[Address]":
        """Return the addresses that have been waited for long enough."""
        late = [address for address in self._expected if address.expected_until <= now]
        for address in late:
            del self._expected[address]
        return late
