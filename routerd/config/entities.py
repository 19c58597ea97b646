"""The sections of a file, held against the schema: what each says, and everything that is wrong with them."""

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from routerd.config.catalogue import SECTIONS, find_entity_type
from routerd.config.entity import Entity, Findings
from routerd.config.errors import ConfigError
from routerd.config.schema.model import PREFIX, EntityType, Purpose
from routerd.config.schema.values import closest
from routerd.config.sections import Section, Sections
from routerd.config.validation import Problem, check_entity

_OTHER_PROTOCOL = "it routes AMQP, and no other protocol"

OUTSIDE: Mapping[str, str] = MappingProxyType(
    {
        "console": "a listener with `http: yes` has a console",
        "tcpListener": _OTHER_PROTOCOL,
        "tcpConnector": _OTHER_PROTOCOL,
        "httpListener": _OTHER_PROTOCOL,
        "httpConnector": _OTHER_PROTOCOL,
    }
)
"""Sections of other routers of this kind for what this one does not do, by name, with what there is instead."""


def entities_of(sections: Sections, findings: Findings) -> list[Entity]:
    """Return the entities of the sections, in the order of the file."""
    findings.notices.extend(sections.notices)
    entities = []
    counts: Counter[str] = Counter()
    for section in sections.all:
        if section.name.removeprefix(PREFIX) in OUTSIDE:
            _pass_over(section, findings)
            continue
        entity_type = _type_of(section, findings)
        if entity_type is not None:
            label = f"{entity_type.section}/{counts[entity_type.name]}"
            counts[entity_type.name] += 1
            entities.append(_entity(section, entity_type, findings, label))
    return entities


def _pass_over(section: Section, findings: Findings) -> None:
    """Do without a section; strictly seen that is an error."""
    reason = f"this router has no '{section.name}': {OUTSIDE[section.name.removeprefix(PREFIX)]}"
    if findings.is_strict:
        findings.errors.append(ConfigError(findings.file, section.line, section.name, None, None, reason))
    else:
        findings.notices.append((section.line, f"{section.name}: the section is skipped: {reason}"))


def _type_of(section: Section, findings: Findings) -> EntityType | None:
    entity_type = find_entity_type(section.name)
    if entity_type is not None and entity_type.section and entity_type.is_configurable:
        return entity_type
    if entity_type is None or entity_type.purpose is Purpose.BASE:
        reason = f"No such entity type '{PREFIX}{section.name.removeprefix(PREFIX)}'"
    elif entity_type.purpose is Purpose.OPERATIONAL:
        reason = f"'{section.name}' can be watched, and not configured"
    else:
        reason = f"'{section.name}' has no section of its own"
    allowed = tuple(name for name, one in SECTIONS.items() if one.is_configurable and name not in OUTSIDE)
    meant = closest(section.name.removeprefix(PREFIX), allowed)
    findings.errors.append(ConfigError(findings.file, section.line, section.name, None, None, reason, allowed, meant))
    return None


def _entity(section: Section, entity_type: EntityType, findings: Findings, label: str) -> Entity:
    checked = check_entity(entity_type, {name: given.value for name, given in section.attributes.items()})
    for problem in checked.problems:
        findings.errors.append(_error(problem, section, entity_type, findings.file))
    for name, text in checked.notices:
        findings.notices.append((section.attributes[name].line, text))
    given = {name: (given_name, section.attributes[given_name]) for name, given_name in checked.given_as.items()}
    return Entity(entity_type, section.line, checked.values, given, findings, label)


def _error(problem: Problem, section: Section, entity_type: EntityType, file: str) -> ConfigError:
    given = section.attributes.get(problem.attribute or "")
    return ConfigError(
        file,
        given.line if given else section.line,
        entity_type.section,
        problem.attribute,
        problem.value,
        problem.reason,
        problem.allowed,
        problem.meant,
        entity_type.full_name,
    )
