"""New exchanges and bindings, and what is said of those that cannot be (3.5, CREATE of the core)."""

from collections.abc import Mapping
from typing import Any

from routerd.config import ConfiguredEntity, configurable
from routerd.config.kinds import (
    BINDING,
    EXCHANGE,
    LEADS_BACK,
    add_ways,
    alternates_of,
    fault_of_key,
    is_for_exchange,
    next_hop_of,
    spot_of,
    ways_of,
)
from routerd.config.schema import EntityType
from routerd.core import canonical
from routerd.management.agent.call import Call
from routerd.management.agent.entity_index import LIVE_NAME, UNIQUE, EntityIndex
from routerd.management.agent.numbered_creation import create_numbered
from routerd.management.agent.problems import checked_for_creation, name_and_body, sentence
from routerd.management.agent.refusals import BadRequest
from routerd.management.backing import Backing


async def create_exchange(call: Call, backing: Backing, index: EntityIndex) -> ConfiguredEntity:
    """Have the router take a new exchange, and return it."""
    name, _ = name_and_body(call, may_lack_body=False)

    def read(body: dict[Any, Any], index: EntityIndex) -> dict[str, Any]:
        return _exchange(name, body, backing, index)

    return await create_numbered(call, EXCHANGE, backing, index, read, has_own_names=False)


async def create_binding(call: Call, backing: Backing, index: EntityIndex) -> ConfiguredEntity:
    """Have the router take a new binding, and return it."""
    name, _ = name_and_body(call, may_lack_body=False)

    def read(body: dict[Any, Any], index: EntityIndex) -> dict[str, Any]:
        return _binding(name, body, backing, index)

    return await create_numbered(call, BINDING, backing, index, read, has_own_names=False)


def _exchange(name: str | None, body: dict[Any, Any], backing: Backing, index: EntityIndex) -> dict[str, Any]:
    values = _checked(EXCHANGE, body, ("address", "matchMethod", "phase", "alternatePhase"), name)
    if not is_for_exchange(values["address"]):
        raise BadRequest("exchange address is mandatory" if not canonical(values["address"]) else _PLACE)
    if index.is_taken((LIVE_NAME, EXCHANGE.name, name or "")):
        raise BadRequest("duplicate exchange name")
    if index.is_taken((UNIQUE, EXCHANGE.name, _unique(EXCHANGE, values))):
        raise BadRequest("duplicate exchange address")
    if values["alternateAddress"] is not None and not canonical(values["alternateAddress"]):
        raise BadRequest("alternateAddress: names no address")
    exchanges, bindings = _values_of(EXCHANGE, backing), _values_of(BINDING, backing)
    if not add_ways(ways_of(exchanges, bindings), spot_of(values), alternates_of(values)):
        raise BadRequest(f"alternateAddress: {LEADS_BACK}")
    return values


def _binding(name: str | None, body: dict[Any, Any], backing: Backing, index: EntityIndex) -> dict[str, Any]:
    values = _checked(BINDING, body, ("exchangeName",), None)
    exchanges = _values_of(EXCHANGE, backing)
    exchange = next((one for one in exchanges if one["name"] == values["exchangeName"]), None)
    if exchange is None:
        raise BadRequest("Named exchange does not exist")
    values = _checked(BINDING, body, ("nextHopAddress", "nextHopPhase"), None)
    if not canonical(values["nextHopAddress"]):
        raise BadRequest("No next hop specified")
    if fault_of_key(values, exchange["matchMethod"]) is not None:
        raise BadRequest("The binding key pattern is invalid")
    if name is not None and _has_name(name, values["exchangeName"], backing, index):
        raise BadRequest("Duplicate next hop name")
    if index.is_taken((UNIQUE, BINDING.name, _unique(BINDING, values))):
        raise BadRequest("Next hop for key already exists")
    ways = ways_of(exchanges, _values_of(BINDING, backing))
    if not add_ways(ways, spot_of(exchange), (next_hop_of(values),)):
        raise BadRequest(f"nextHopAddress: {LEADS_BACK}")
    return values


_PLACE = "address: is the address of a place; allowed: an address that can be anywhere"


def _checked(entity_type: EntityType, body: dict[Any, Any], first: tuple[str, ...], name: str | None) -> dict[str, Any]:
    """Return the values of all attributes; of several that are wrong, that is told which comes first."""
    checked = checked_for_creation(entity_type, body)
    if entity_type is EXCHANGE and not name:
        raise BadRequest("exchange requires a unique name")
    names = entity_type.old_names
    problems = {names.get(str(one.attribute), str(one.attribute)): one for one in reversed(checked.problems)}
    for attribute in first:
        if attribute in problems:
            raise BadRequest(sentence(entity_type, problems[attribute]))
    if "exchangeName" not in first:
        for problem in checked.problems:
            raise BadRequest(sentence(entity_type, problem))
    return checked.values


def _has_name(name: str, exchange: str, backing: Backing, index: EntityIndex) -> bool:
    """Whether a binding of an exchange has a name, or a new one may be about to have it."""
    return index.is_under_change((LIVE_NAME, BINDING.name, name)) or any(
        one.type is BINDING and one.values["exchangeName"] == exchange and (one.name or one.label) == name
        for one in backing.entities
    )


def _values_of(entity_type: EntityType, backing: Backing) -> list[Mapping[str, Any]]:
    return [{**one.values, "name": one.name} for one in backing.entities if one.type is entity_type]


def _unique(entity_type: EntityType, values: Mapping[str, Any]) -> str:
    kind = configurable(entity_type)
    assert kind is not None, "it can be configured"
    return kind.unique_text(values) or ""
