"""What an authentication service said that a peer may do, beside what policy allows (9.6)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from routerd.core.policy.address_rules import NameRules
from routerd.wire import Source, Target

if TYPE_CHECKING:
    from routerd.wire import Attach, Link

SEND, RECEIVE = "send", "recv"


class ServiceRules:
    """The addresses of one peer; as in policy, a name that ends in `*` is the beginning of many."""

    def __init__(self, grants: Mapping[str, tuple[str, ...]]) -> None:
        self._targets = NameRules([address for address, rights in grants.items() if SEND in rights])
        self._sources = NameRules([address for address, rights in grants.items() if RECEIVE in rights])

    def allow(self, link: "Link", performative: "Attach", user: str) -> bool:
        """Return whether a link may be attached; one for any address needs the right to all of them."""
        terminus: Any = performative.source if link.is_sender else performative.target
        if not isinstance(terminus, Source | Target):
            return True
        if link.is_sender and terminus.dynamic:
            return True
        rules = self._sources if link.is_sender else self._targets
        if terminus.dynamic or not terminus.address:
            return rules.allow_anything
        return rules.allow(str(terminus.address), user)
