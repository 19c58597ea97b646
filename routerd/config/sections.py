"""A configuration file as it is written: sections of attributes, each with its line."""

import re
from dataclasses import dataclass, field

_KEBAB = re.compile(r"-(\w)")


@dataclass(frozen=True, slots=True)
class Given:
    """A value as it stands in the file."""

    value: object
    line: int


@dataclass(slots=True)
class Section:
    """One section."""

    name: str
    line: int
    attributes: dict[str, Given] = field(default_factory=dict)


@dataclass(slots=True)
class Sections:
    """All sections of a file."""

    all: list[Section] = field(default_factory=list)
    notices: list[tuple[int, str]] = field(default_factory=list)
    """What is odd, by line."""

    def open(self, name: str, line: int) -> Section:
        """Add a section."""
        self.all.append(Section(camel_case(name), line))
        return self.all[-1]

    def give(self, section: Section, name: str, value: object, line: int) -> None:
        """Give an attribute to a section; of two with one name the later counts (1.2)."""
        name = camel_case(name)
        if name in section.attributes:
            earlier = section.attributes[name].line
            self.notices.append((line, f"Attribute '{name}' was given in line {earlier} already. This one counts"))
        section.attributes[name] = Given(value, line)


def camel_case(name: str) -> str:
    """Return a name that may be written like-this as it is called, likeThis (1.3)."""
    return _KEBAB.sub(lambda found: found[1].upper(), name) if "-" in name else name
