"""The columns of what is configured for addresses, as it runs now (4.2)."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from routerd.config import ALL_TYPES, ConfiguredEntity
from routerd.config.kinds import ADDRESS, AUTO_LINK, BINDING, EXCHANGE, LINK_ROUTE, auto_link_phase, key_of
from routerd.config.schema import CONNECTION_LINK_ROUTE, EntityType
from routerd.management.agent.columns import Always, Columns, Getter, Steps
from routerd.management.agent.naming import shown_name
from routerd.management.agent.numbers import as_general, whole

_SEPARATORS = "./"
_NO_PRIORITY = -1


def phases_of(values: Mapping[str, Any]) -> tuple[int, int]:
    """Return the phases of an address, where producers send and where consumers receive."""
    ingress, egress = values["ingressPhase"], values["egressPhase"]
    if ingress is None and egress is None:
        return 0, 1 if values["waypoint"] else 0
    return ingress or 0, egress or 0


def _words(attribute: str) -> Any:
    def read(entity: ConfiguredEntity) -> str | None:
        text: str | None = entity.values[attribute]
        return None if text is None else text.strip(_SEPARATORS)

    return read


def _distribution(entity: ConfiguredEntity) -> str | None:
    distribution: str = entity.values["distribution"]
    return None if distribution == "unavailable" else distribution


def _priority(entity: ConfiguredEntity) -> int:
    priority = entity.values["priority"]
    return whole(_NO_PRIORITY if priority is None else priority)


def _whole_of_topic(attribute: str) -> Getter:
    return lambda entity: whole(entity.values[attribute])


CONFIG_ADDRESS_COLUMNS: Columns = {
    "name": shown_name,
    "identity": attrgetter("identity"),
    "type": Always(ADDRESS.full_name),
    "prefix": _words("prefix"),
    "distribution": _distribution,
    "waypoint": lambda entity: entity.values["waypoint"],
    "ingressPhase": lambda entity: whole(phases_of(entity.values)[0]),
    "egressPhase": lambda entity: whole(phases_of(entity.values)[1]),
    "pattern": _words("pattern"),
    "priority": _priority,
    "fallback": lambda entity: entity.values["enableFallback"],
    "resendReleased": lambda entity: entity.values["resendReleased"],
    "delivery": lambda entity: entity.values["delivery"],
    **{name: _whole_of_topic(name) for name in ("maxUnsettled", "maxUnsettledOctets", "subscriptionTimeout")},
}

def _configured(entity_type: EntityType, column: str) -> Getter:
    """Return what reads a column that is an attribute, by its name of today or of old; others are null."""
    match column:
        case "name":
            return shown_name
        case "identity":
            return attrgetter("identity")
        case "type":
            return Always(entity_type.full_name)
    attribute = entity_type.old_names.get(column, column)
    return lambda entity: as_general(entity.values.get(attribute))


_PATTERNS = frozenset({"prefix", "pattern"})
_FIXED = frozenset({"name", "identity", "type"})
_ENTITY = attrgetter("entity")

_KNOWN: Mapping[str, str] = {
    LINK_ROUTE.name: "name identity type prefix distribution connection containerId direction dir operStatus pattern"
    " addExternalPrefix delExternalPrefix",
    AUTO_LINK.name: "name identity type address addr direction dir phase connection containerId externalAddress"
    " externalAddr linkRef operStatus lastError fallback",
    EXCHANGE.name: "name identity address phase alternateAddress alternatePhase matchMethod bindingCount receivedCount"
    " droppedCount forwardedCount divertedCount",
    BINDING.name: "name identity exchangeName bindingKey nextHopAddress nextHopPhase matchedCount",
    CONNECTION_LINK_ROUTE.name: "name identity type pattern direction containerId",
}
"""By type, the columns that clients know, in their order; another type has all its attributes."""

_OTHERS = (ADDRESS, LINK_ROUTE, AUTO_LINK, EXCHANGE, BINDING)

OTHER_CONFIG_TYPES = tuple(
    one for one in ALL_TYPES if one not in _OTHERS and (one.name in _KNOWN or one.is_numbered)
)
"""The other types with such a view."""


def other_columns(entity_type: EntityType) -> Columns:
    """Return the columns of another type."""
    known = _KNOWN.get(entity_type.name)
    names = entity_type.attributes if known is None else known.split()
    return {name: _configured(entity_type, name) for name in names}


def _phase(attribute: str) -> Getter:
    return lambda row: whole(row.entity.values[attribute] or 0)


def _alternate_phase(row: Any) -> int | None:
    values = row.entity.values
    return None if values["alternateAddress"] is None else whole(values["alternatePhase"] or 0)


_READ_OF: Mapping[str, Columns] = {
    AUTO_LINK.name: {"phase": lambda row: whole(auto_link_phase(row.entity.values))},
    EXCHANGE.name: {"phase": _phase("phase"), "alternatePhase": _alternate_phase},
    BINDING.name: {"nextHopPhase": _phase("nextHopPhase"), "bindingKey": lambda row: key_of(row.entity.values)},
}
"""Columns with what holds when nothing is given."""


def use_columns(entity_type: EntityType) -> Columns:
    """Return the columns of types whose entities have a state or counters beside what is configured."""
    columns = {name: _of_use(entity_type, name) for name in _KNOWN[entity_type.name].split()}
    for name in _PATTERNS & columns.keys():
        columns[name] = Steps(_ENTITY, _words(name))
    columns |= _READ_OF.get(entity_type.name, {})
    return columns


def _of_use(entity_type: EntityType, column: str) -> Getter:
    attribute = entity_type.attributes.get(column)
    if attribute is not None and not attribute.is_settable and column not in _FIXED:
        return lambda row: row.live.get(column)
    return Steps(_ENTITY, _configured(entity_type, column))
