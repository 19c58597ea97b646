"""A section of a file, or an entity of a request, held against the schema; and what there is to say about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from routerd.config.errors import ConfigError, in_one_line
from routerd.config.schema.model import EntityType
from routerd.config.sections import Given


@dataclass(slots=True)
class Findings:
    """The errors and notices of a file."""

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
    label: str = ""
    """What it is called where it has no name."""

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
