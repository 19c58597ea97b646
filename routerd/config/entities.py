"""The sections of a file, held against the schema: what each says, and everything that is wrong with them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from routerd.config.catalogue import SECTIONS, find_entity_type
from routerd.config.errors import ConfigError, in_one_line
from routerd.config.schema.model import PREFIX, EntityType, Kind
from routerd.config.schema.values import closest
from routerd.config.sections import Given, Section, Sections
from routerd.config.validation import Problem, check_entity


@dataclass(slots=True)
class Findings:
    """What there is to say about a file."""

    file: str
    errors: list[ConfigError] = field(default_factory=list)
    notices: list[tuple[int, str]] = field(default_factory=list)
    """Line and text."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notices, one line each."""
        return tuple(in_one_line(f"{self.file}: line {line}: {text}") for line, text in sorted(self.notices))


@dataclass(frozen=True, slots=True)
class Entity:
    """A section whose attributes fit the schema, apart from those that an error is about; these have their defaults."""

    type: EntityType
    line: int | None
    """None for a section that is not in the file."""
    values: Mapping[str, Any]
    given: Mapping[str, tuple[str, Given]]
    """Name and value as they stand in the file, of those that do."""
    findings: Findings

    def refuse(self, attribute: str, reason: str, *allowed: str, meant: str | None = None) -> None:
        """Note that an attribute, or what it has to do with others, is wrong."""
        name, given = self.given.get(attribute, (attribute, None))
        line, value = (given.line, given.value) if given else (self.line, None)
        known = self.type.attributes.get(attribute)
        if known is not None and known.is_hidden:
            value = None
        section = self.type.section
        self.findings.errors.append(ConfigError(self.findings.file, line, section, name, value, reason, allowed, meant))

    def warn(self, attribute: str, text: str) -> None:
        """Note something about an attribute that does no harm; only a file has a place to tell it."""
        if attribute not in self.given:
            return
        name, given = self.given[attribute]
        self.findings.notices.append((given.line, f"{self.type.section}.{name}: {text}"))


def entities_of(sections: Sections, findings: Findings) -> list[Entity]:
    """Return the entities of the sections, in the order of the file."""
    findings.notices.extend(sections.notices)
    entities = []
    for section in sections.all:
        entity_type = _type_of(section, findings)
        if entity_type is not None:
            entities.append(_entity(section, entity_type, findings))
    return entities


def _type_of(section: Section, findings: Findings) -> EntityType | None:
    entity_type = find_entity_type(section.name)
    if entity_type is not None and entity_type.section and entity_type.is_configurable:
        return entity_type
    if entity_type is None or entity_type.kind is Kind.BASE:
        reason = f"No such entity type '{PREFIX}{section.name.removeprefix(PREFIX)}'"
    elif entity_type.kind is Kind.OPERATIONAL:
        reason = f"'{section.name}' can be watched, and not configured"
    else:
        reason = f"'{section.name}' has no section of its own"
    allowed = tuple(name for name, one in SECTIONS.items() if one.is_configurable)
    meant = closest(section.name.removeprefix(PREFIX), allowed)
    findings.errors.append(ConfigError(findings.file, section.line, section.name, None, None, reason, allowed, meant))
    return None


def _entity(section: Section, entity_type: EntityType, findings: Findings) -> Entity:
    checked = check_entity(entity_type, {name: given.value for name, given in section.attributes.items()})
    for problem in checked.problems:
        findings.errors.append(_error(problem, section, entity_type, findings.file))
    for name, text in checked.notices:
        findings.notices.append((section.attributes[name].line, text))
    given = {name: (given_name, section.attributes[given_name]) for name, given_name in checked.given_as.items()}
    return Entity(entity_type, section.line, checked.values, given, findings)


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
    )
