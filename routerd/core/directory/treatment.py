"""The treatment of an address: the settings of its best matching pattern, or the default settings."""

from dataclasses import dataclass, replace

from routerd.core.directory.addresses import AddressClass, canonical, parts_of
from routerd.core.directory.pattern_tree import PatternTree
from routerd.core.settings import AddressSettings, Distribution, RouterSettings


@dataclass(frozen=True, slots=True)
class Treatment:
    """The treatment of the messages of an address."""

    distribution: Distribution
    ingress_phase: int = 0
    egress_phase: int = 0
    priority: int | None = None
    has_fallback: bool = False
    """Whether a fallback destination gets what nobody else can."""
    resends: bool = False
    """Whether a message that a consumer releases goes to another one."""


_ONE_PLACE = Treatment(Distribution.CLOSEST)
_EDGE = Treatment(Distribution.BALANCED)
_EVERYWHERE = Treatment(Distribution.MULTICAST)
_BY_HINT = {0: _EVERYWHERE, 1: _EVERYWHERE, 2: Treatment(Distribution.CLOSEST), 3: Treatment(Distribution.BALANCED)}
HINTS = {Distribution.MULTICAST: 1, Distribution.CLOSEST: 2, Distribution.BALANCED: 3, Distribution.UNAVAILABLE: 5}
"""The treatment as routers tell it to each other."""
_BY_CLASS = {AddressClass.TOPOLOGICAL: _EVERYWHERE, AddressClass.EDGE: _EDGE}


class Treatments:
    """The treatments of one router's addresses."""

    def __init__(self, settings: RouterSettings) -> None:
        self._default = Treatment(settings.default_distribution)
        self._by_pattern: PatternTree[Treatment] = PatternTree()
        self.exchanges: set[str] = set()
        """The keys of exchanges: each of their consumers gets every message."""
        for address in settings.addresses:
            self.add(address)

    def add(self, settings: AddressSettings) -> None:
        """Treat the addresses of a pattern by these settings; raises InvalidPattern or DuplicatePattern."""
        self._by_pattern.add(settings.pattern, _configured(settings))

    def remove(self, pattern: str) -> None:
        """Remove the settings of a pattern; raises UnknownPattern."""
        self._by_pattern.remove(pattern)

    def of(self, address: str) -> Treatment:
        """Return the treatment of an address, in any form that peers write.

        Addresses of places (`_local/`, `_topo/`, `_edge/`) are not configurable. Addresses that begin with an
        underscore are never unavailable, because routers and reply addresses depend on them.
        """
        text = canonical(address)
        if text == "$management":
            return _ONE_PLACE
        if not text.startswith("_"):
            return self._by_pattern.match(text) or self._default
        word, slash, rest = text.partition("/")
        if slash and word == "_topo":
            return _EVERYWHERE if rest.split("/", 2)[1:2] == ["all"] else _ONE_PLACE
        if slash and word == "_local":
            return _ONE_PLACE
        if slash and word == "_edge":
            return _EDGE
        return _never_unavailable(self._by_pattern.match(text) or self._default)

    def of_container(self, address: str) -> Treatment:
        """Return the treatment of an address that an auto-link is for: it is never unavailable."""
        return _never_unavailable(self.of(address))

    def of_key(self, key: str, hint: int | None = None) -> Treatment:
        """Return the treatment of an address by its key; raises InvalidKey.

        Without configured settings, the hint of a router that has the address prevails over our default.
        """
        parts = parts_of(key)
        if parts.address_class is AddressClass.MOBILE:
            hinted = None if hint is None else _BY_HINT.get(hint)
            if hinted is not None and self._by_pattern.match(canonical(parts.text)) is None:
                return hinted
            return self.of(parts.text)
        return _BY_CLASS.get(parts.address_class, _ONE_PLACE)


def _never_unavailable(treatment: Treatment) -> Treatment:
    if treatment.distribution is not Distribution.UNAVAILABLE:
        return treatment
    return replace(treatment, distribution=Distribution.BALANCED)


def _configured(settings: AddressSettings) -> Treatment:
    return Treatment(
        settings.distribution,
        settings.ingress_phase,
        settings.egress_phase,
        settings.priority,
        settings.has_fallback,
        settings.resends_released,
    )
