"""What is wrong with the attributes of a request, in the sentences that clients know (3.5)."""

from collections.abc import Mapping
from typing import Any

from routerd.config import Checked, Problem, check_entity
from routerd.config.kinds import AUTO_LINK, BINDING, EXCHANGE, LINK_ROUTE
from routerd.config.schema import (
    CONNECTION_LINK_ROUTE,
    SHOWN_MAX,
    Attribute,
    EntityType,
    Rights,
    closest,
    shown,
)
from routerd.management.agent.call import Call
from routerd.management.agent.refusals import BadRequest

NO_MAP = "Body of request must be a map"
ANOTHERS = "A link route of a connection is made by a request over it, to '$management' of the router that it leads to"

_DIRECTION = {
    "direction": ("No 'direction' attribute provided - it is mandatory", "Invalid value for 'direction'"),
}
_FIELDS = "address and direction fields are mandatory"
_PHASE = "phase must be in the range 0-9"
_SENTENCES: Mapping[str, Mapping[str, tuple[str | None, str | None]]] = {
    LINK_ROUTE.name: {**_DIRECTION, "distribution": (None, "Invalid value for 'distribution'")},
    CONNECTION_LINK_ROUTE.name: {"pattern": ("Pattern field is required", None), **_DIRECTION},
    AUTO_LINK.name: {
        "address": (_FIELDS, None),
        "direction": (_FIELDS, "Invalid value for 'direction'"),
        "phase": (None, "autoLink phase must be between 0 and 9"),
    },
    EXCHANGE.name: {
        "address": ("exchange address is mandatory", None),
        "matchMethod": (None, "Exchange matchMethod must be either 'amqp' or 'mqtt'"),
        "phase": (None, _PHASE),
        "alternatePhase": (None, _PHASE),
    },
    BINDING.name: {
        "exchangeName": ("Binding configuration requires an exchange", None),
        "nextHopAddress": ("No next hop specified", None),
        "nextHopPhase": (None, _PHASE),
    },
}
"""By type and attribute: what is said if it is missing, and if its value is wrong."""


def name_and_body(call: Call, *, may_lack_body: bool) -> tuple[str | None, dict[Any, Any]]:
    """Return the name that an entity is to have and the attributes beside; BadRequest if these are no map."""
    if call.body is None and may_lack_body:
        return call.name, {}
    if not isinstance(call.body, Mapping):
        raise BadRequest(NO_MAP)
    body = dict(call.body)
    name = body.pop("name", None)
    if name is None or name == "":
        return call.name, body
    if call.name is not None and name != call.name:
        raise BadRequest("Conflicting values for 'name'")
    return str(name), body


def checked_for_creation(entity_type: EntityType, given: Mapping[Any, Any]) -> Checked:
    """Check the attributes of a new entity; BadRequest if there is no such attribute, or the router sets it itself."""
    # An attribute without a value is not given, even one that nobody knows: qdmanage makes such of surplus blanks.
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        check_attribute_is_known(entity_type, name)
        attribute = attribute_named(entity_type, name)
        if attribute is not None and Rights.CREATE not in attribute.rights:
            raise BadRequest(f"Cannot set attribute '{name}' in CREATE")
    return check_entity(entity_type, given)


def check_attribute_is_known(entity_type: EntityType, name: object) -> None:
    """Refuse an attribute that the type has not."""
    if attribute_named(entity_type, name) is None:
        known = tuple(one.name for one in entity_type.attributes.values() if one.is_settable)
        meant = closest(name, known) if isinstance(name, str) and len(name) <= SHOWN_MAX else None
        raise BadRequest(f"Unknown attribute {shown(name)} for '{entity_type.full_name}'{_did_you_mean(meant)}")


def attribute_named(entity_type: EntityType, name: object) -> Attribute | None:
    """Return the attribute with this name of today or of old, if there is one."""
    return entity_type.attributes.get(entity_type.old_names.get(name, name)) if isinstance(name, str) else None


def check_unsupported(call: Call, entity_type: EntityType) -> None:
    """Refuse a new entity of a type that this router has not yet: first for what is wrong with it."""
    _, body = name_and_body(call, may_lack_body=False)
    problems = checked_for_creation(entity_type, body).problems
    if entity_type is CONNECTION_LINK_ROUTE and len(problems) == 1:
        # The worker of the connection would have answered.
        raise BadRequest(ANOTHERS)
    raise BadRequest(sentence(entity_type, problems[0]))


def sentence(entity_type: EntityType, problem: Problem) -> str:
    """Return the text of a problem for a client."""
    name = problem.attribute
    attribute = attribute_named(entity_type, name)
    if attribute is None or problem.reason.endswith("is not supported yet"):
        return problem.reason + _instead(problem)
    is_missing = problem.reason.startswith("Missing required attribute")
    missing, wrong = _SENTENCES.get(entity_type.name, {}).get(attribute.name, (None, None))
    known = missing if is_missing else wrong
    if known is not None:
        return known
    told = _did_you_mean(problem.meant) if attribute.tags else "" if is_missing else _instead(problem)
    return f"{entity_type.full_name}: {problem.reason}{told}"


def _did_you_mean(meant: str | None) -> str:
    return "" if meant is None else f"; did you mean '{meant}'?"


def _instead(problem: Problem) -> str:
    return f"; allowed: {', '.join(problem.allowed)}" if problem.allowed else ""
