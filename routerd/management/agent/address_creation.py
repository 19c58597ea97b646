"""New entities of type `router.config.address` (3.5, CREATE of the core)."""

from collections.abc import Mapping
from typing import Any

from routerd.config import ConfiguredEntity, Problem
from routerd.config.kinds import ADDRESS, pattern_of
from routerd.core import PHASE_MAX
from routerd.management.agent.call import Call
from routerd.management.agent.config_columns import phases_of
from routerd.management.agent.entity_index import UNIQUE, EntityIndex, Key
from routerd.management.agent.numbered_creation import create_numbered
from routerd.management.agent.problems import checked_for_creation, sentence
from routerd.management.agent.refusals import BadRequest
from routerd.management.backing import Backing

_FALLBACK, _FALLBACK_HERE = ("enableFallback", "fallback")
"""The name in the schema, and the one that clients get and give (4.2)."""
_PHASES = ("ingressPhase", "egressPhase")
_SENTENCES = {
    **dict.fromkeys(_PHASES, f"Phase values must be between 0 and {PHASE_MAX}"),
    "priority": "Priority value, if present, must be between 0 and QDR_MAX_PRIORITY",
}
_FALLBACK_ALONE = "Fallback cannot be specified with waypoint or non-zero ingress and egress phases"


async def create_address(call: Call, backing: Backing, index: EntityIndex) -> ConfiguredEntity:
    """Have the router take a new entity, and return it."""
    return await create_numbered(call, ADDRESS, backing, index, _values)


def _values(body: dict[Any, Any], index: EntityIndex) -> dict[str, Any]:
    if _FALLBACK_HERE in body:
        if _FALLBACK in body:
            both = f"'{_FALLBACK_HERE}' and '{_FALLBACK}'"
            raise BadRequest(f"Both {both} cannot be specified for entity '{ADDRESS.full_name}'")
        body[_FALLBACK] = body.pop(_FALLBACK_HERE)
    checked = checked_for_creation(ADDRESS, body)
    problems = {problem.attribute: problem for problem in reversed(checked.problems)}
    values = checked.values
    for attribute in ("prefix", "pattern"):
        if attribute in problems:
            raise BadRequest(sentence(ADDRESS, problems[attribute]))
    _check_pattern(values, index)
    if any(attribute in problems for attribute in _PHASES) or (values[_PHASES[0]] is None) != (
        values[_PHASES[1]] is None
    ):
        raise BadRequest(_SENTENCES[_PHASES[0]])
    for problem in checked.problems:
        raise BadRequest(_sentence(problem))
    if values[_FALLBACK] and (values["waypoint"] or phases_of(values) != (0, 0)):
        raise BadRequest(_FALLBACK_ALONE)
    return values


def _check_pattern(values: Mapping[str, Any], index: EntityIndex) -> None:
    prefix, pattern = values["prefix"], values["pattern"]
    if prefix is None and pattern is None:
        raise BadRequest("Either a 'prefix' or 'pattern' attribute must be provided")
    if prefix is not None and pattern is not None:
        raise BadRequest("Cannot specify both a 'prefix' and a 'pattern' attribute")
    words = pattern_of(values)
    if not words:
        raise BadRequest(f"{'Prefix' if pattern is None else 'Pattern'} invalid - no tokens")
    key: Key = (UNIQUE, ADDRESS.name, words)
    if index.is_taken(key):
        raise BadRequest("Already exists")


def _sentence(problem: Problem) -> str:
    return _SENTENCES.get(problem.attribute or "") or sentence(ADDRESS, problem)
