"""A section of a file, or an entity of a request, held against the schema; and what there is to say about it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from routerd.config.errors import ConfigError, in_one_line
from routerd.config.schema.model import EntityType
from routerd.config.sections import Given


@dataclass(slots=True)
class Findings:
    """The errors and notices of a file."""

    file: str
    is_strict: bool = False
    """Whether what qdrouterd lets pass is an error."""
    errors: list[ConfigError] = field(default_factory=list)
    notices: list[tuple[int, str]] = field(default_factory=list)
    """Line and text."""
    tolerated: set[tuple[int, str]] = field(default_factory=set)
    """Those of the notices without whose cause something would work."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notices, one line each."""
        return self._lines(self.notices)

    @property
    def faults(self) -> tuple[str, ...]:
        """What was tolerated, as among the warnings."""
        return self._lines(self.tolerated)

    def _lines(self, notices: Iterable[tuple[int, str]]) -> tuple[str, ...]:
        return tuple(in_one_line(f"{self.file}: line {line}: {text}") for line, text in sorted(notices))


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

    def tolerate(self, attribute: str, reason: str, *allowed: str, meant: str | None = None) -> None:
        """Note what qdrouterd starts with although it is wrong: an error for who is strict, else a fault."""
        if self.findings.is_strict:
            self.refuse(attribute, reason, *allowed, meant=meant)
            return
        name, line = (self.given[attribute][0], self.given[attribute][1].line) if attribute in self.given else ("", 0)
        place = f"{self.type.section}.{name}" if name else str(self.type.section)
        notice = (line or self.line or 0, f"{place}: {reason}")
        self.findings.notices.append(notice)
        self.findings.tolerated.add(notice)

    def warn(self, attribute: str, text: str) -> None:
        """Note something about an attribute that does no harm; only a file has a place to tell it."""
        if attribute not in self.given:
            return
        name, given = self.given[attribute]
        self.findings.notices.append((given.line, f"{self.type.section}.{name}: {text}"))
