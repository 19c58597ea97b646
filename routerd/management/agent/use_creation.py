"""New link routes and auto-links, and what is said of those that cannot be (3.5, CREATE of the core)."""

from collections.abc import Mapping
from typing import Any

from routerd.config import ConfiguredEntity, Problem
from routerd.config.kinds import AUTO_LINK, BOTH_PLACES, LINK_ROUTE, route_pattern_of
from routerd.config.schema import EntityType
from routerd.management.agent.call import Call
from routerd.management.agent.entity_index import EntityIndex
from routerd.management.agent.numbered_creation import create_numbered
from routerd.management.agent.problems import checked_for_creation, sentence
from routerd.management.agent.refusals import BadRequest
from routerd.management.backing import Backing

_PATTERNS = ("prefix", "pattern")


async def create_link_route(call: Call, backing: Backing, index: EntityIndex) -> ConfiguredEntity:
    """Have the router take a new link route, and return it."""
    return await create_numbered(call, LINK_ROUTE, backing, index, _link_route)


async def create_auto_link(call: Call, backing: Backing, index: EntityIndex) -> ConfiguredEntity:
    """Have the router take a new auto-link, and return it."""
    return await create_numbered(call, AUTO_LINK, backing, index, _auto_link)


def _link_route(body: dict[Any, Any], _index: EntityIndex) -> dict[str, Any]:
    checked = checked_for_creation(LINK_ROUTE, body)
    _check_place(checked.values)
    problems = _by_attribute(LINK_ROUTE, checked.problems)
    if "direction" not in checked.given_as:
        raise BadRequest(sentence(LINK_ROUTE, problems["direction"]))
    _check_pattern(body, checked.values)
    return _without(LINK_ROUTE, checked.problems, checked.values)


def _check_pattern(body: Mapping[Any, Any], values: Mapping[str, Any]) -> None:
    given = [name for name in _PATTERNS if body.get(name) is not None]
    if not given:
        raise BadRequest("Either a 'prefix' or 'pattern' attribute must be provided")
    if len(given) == len(_PATTERNS):
        raise BadRequest("Cannot specify both a 'prefix' and a 'pattern' attribute")
    [name] = given
    if not isinstance(body[name], str) or not body[name]:
        raise BadRequest(f"{name.capitalize()} must be a non-empty string type")
    if not route_pattern_of(values):
        raise BadRequest(f"{name.capitalize()} invalid - no tokens")


def _auto_link(body: dict[Any, Any], _index: EntityIndex) -> dict[str, Any]:
    checked = checked_for_creation(AUTO_LINK, body)
    _check_place(checked.values)
    problems = _by_attribute(AUTO_LINK, checked.problems)
    for name in ("address", "direction"):
        if name not in checked.given_as:
            raise BadRequest(sentence(AUTO_LINK, problems[name]))
    return _without(AUTO_LINK, checked.problems, checked.values)


def _check_place(values: Mapping[str, Any]) -> None:
    if values["connection"] is not None and values["containerId"] is not None:
        raise BadRequest(BOTH_PLACES)


def _by_attribute(entity_type: EntityType, problems: list[Problem]) -> dict[str, Problem]:
    names = entity_type.old_names
    return {names.get(str(one.attribute), str(one.attribute)): one for one in reversed(problems)}


def _without(entity_type: EntityType, problems: list[Problem], values: dict[str, Any]) -> dict[str, Any]:
    for problem in problems:
        raise BadRequest(sentence(entity_type, problem))
    return values
