"""Whether attributes, as given, make an entity of a type: the rules that hold for a file and for a request alike."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from routerd.config.catalogue import SECTIONS
from routerd.config.schema.model import Attribute, EntityType, Scalar
from routerd.config.schema.values import ValueRefused, closest, convert, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with an entity."""

    reason: str
    attribute: str | None = None
    """As it was given, if it is about one attribute."""
    value: object = None
    allowed: tuple[str, ...] = ()
    meant: str | None = None
    """Which of these was probably meant."""


@dataclass(slots=True)
class Checked:
    """What became of the attributes."""

    values: dict[str, Any] = field(default_factory=dict)
    """By today's names, with the defaults of those that were not given; None for what has none."""
    given_as: dict[str, str] = field(default_factory=dict)
    """The names under which attributes were given."""
    problems: list[Problem] = field(default_factory=list)
    notices: list[tuple[str, str]] = field(default_factory=list)
    """What should be changed, yet does no harm: the attribute as given, and why."""


def check_entity(entity_type: EntityType, given: Mapping[str, object]) -> Checked:
    """Check attributes against the schema; None as a value is as if not given."""
    checked = Checked()
    for name, value in given.items():
        if value is not None:
            _take(entity_type, name, value, checked)
    for name, attribute in entity_type.attributes.items():
        if name not in checked.given_as:
            checked.values[name] = attribute.default
            if attribute.is_required and attribute.default is None:
                reason = f"Missing required attribute '{name}'"
                checked.problems.append(Problem(reason=reason, attribute=name, allowed=attribute.allowed))
    if not entity_type.is_supported:
        checked.problems.append(_not_supported(entity_type.section or entity_type.name, _supported_sections()))
    return checked


def _take(entity_type: EntityType, given_name: str, value: object, checked: Checked) -> None:
    name = entity_type.old_names.get(given_name, given_name)
    attribute = entity_type.attributes.get(name)
    if attribute is None:
        known = tuple(one.name for one in entity_type.attributes.values() if one.is_settable)
        reason = f"Unknown attribute '{given_name}' for '{entity_type.full_name}'"
        checked.problems.append(
            Problem(reason=reason, attribute=given_name, allowed=known, meant=closest(given_name, known))
        )
        return
    if name in checked.given_as:
        old, new = sorted((given_name, checked.given_as[name]), key=lambda one: one == name)
        reason = f"Both '{old}' and '{new}' cannot be specified for entity '{entity_type.full_name}'"
        checked.problems.append(Problem(reason=reason, attribute=given_name, allowed=(f"'{new}' alone",)))
        return
    checked.given_as[name] = given_name
    try:
        checked.values[name] = convert(attribute, value)
    except ValueRefused as refused:
        checked.values[name] = attribute.default
        checked.problems.append(
            Problem(
                reason=str(refused),
                attribute=given_name,
                value=None if attribute.is_hidden else value,
                allowed=attribute.allowed,
                meant=closest(value, attribute.allowed) if attribute.tags and isinstance(value, str) else None,
            )
        )
        return
    for problem in _beyond_support(entity_type, attribute, checked.values[name]):
        checked.problems.append(replace(problem, attribute=given_name, value=value))
    checked.notices.extend(_notices(entity_type, attribute, given_name))


def _beyond_support(entity_type: EntityType, attribute: Attribute, value: object) -> list[Problem]:
    if attribute.name == "type" and value not in (entity_type.full_name, entity_type.name, entity_type.section):
        reason = f"{shown(value)} is not the type of this entity"
        return [Problem(reason=reason, allowed=(entity_type.full_name,))]
    if not entity_type.is_supported:
        return []
    if not attribute.is_supported and value != attribute.default:
        allowed = "leave it out" if attribute.default is None else f"leave it out, or {_spelled(attribute.default)}"
        return [_not_supported(attribute.name, (allowed,))]
    if value in attribute.unsupported_tags:
        return [_not_supported(str(value), attribute.allowed)]
    return []


def _spelled(value: Scalar) -> str:
    return str(value) if not isinstance(value, bool) else "yes" if value else "no"


def _not_supported(what: str, allowed: tuple[str, ...]) -> Problem:
    return Problem(reason=f"'{what}' is not supported yet", allowed=allowed)


def _supported_sections() -> tuple[str, ...]:
    return tuple(name for name, one in SECTIONS.items() if one.is_supported)


def _notices(entity_type: EntityType, attribute: Attribute, given_name: str) -> list[tuple[str, str]]:
    start = f"Attribute '{given_name}' of entity '{entity_type.section or entity_type.name}'"
    if given_name != attribute.name:
        return [(given_name, f"{start} has been deprecated. Use '{attribute.name}' instead")]
    if attribute.is_deprecated:
        return [(given_name, f"{start} has been deprecated")]
    if not attribute.is_settable:
        return [(given_name, f"{start} is set by the router. What is given has no effect")]
    return []
