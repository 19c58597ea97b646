"""The line oriented form of a configuration file (1.2 to 1.4)."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from routerd.config.json_reader import DEPTH_MAX, JsonReader, SyntaxFault, Text, string_of
from routerd.config.schema.values import SHOWN_MAX, shown
from routerd.config.sections import Sections

_SECTION = re.compile(r"([\w-]+)\s*\{$")
_MAP = re.compile(r"(\$?[\w-]+)\s*:\s*\{$")
_ATTRIBUTE = re.compile(r"([\w-]+)\s*:\s*([^{\s].*)$")
_EMPTY = re.compile(r"([\w-]+)\s*:$")
_FIRST_WORD = re.compile(r"(pattern|bindingKey|hostname)\s*:\s*(\S+)")
_JSON_MAP = re.compile(r"\s*(groups|openProperties)\s*:\s*\{")
_TRAILING_COMMA = re.compile(r",\s*(?=[\]}])")
_AFTER_JSON = re.compile(r"[ \t\r]*,?[ \t\r]*(?:#.*)?$")

_RIGHT = "`section {`, `attribute: value` or `}`, each in a line of its own"


@dataclass(frozen=True, slots=True)
class _Open:
    """A section or map whose `}` is still to come."""

    what: str
    line: int
    give: Callable[[str, object, int], None]


class _ConfReader:
    def __init__(self, source: str) -> None:
        self._text = Text(source)
        self._next = 0
        self._open: list[_Open] = []
        self.sections = Sections()

    def read(self) -> None:
        """Read everything."""
        lines = self._text.lines
        while self._next < len(lines):
            self._next += 1
            line = lines[self._next - 1].strip()
            if line and line[0] != "#":
                self._read_line(line)
        if self._open:
            last = self._open[-1]
            raise SyntaxFault(f"{last.what} is not closed", last.line, "`}` in a line of its own at its end")

    def _read_line(self, line: str) -> None:
        # In the first two forms a `#` is an ordinary character.
        if self._open and (found := _FIRST_WORD.match(line)):
            self._give(found[1], found[2])
        elif self._open and _JSON_MAP.match(line):
            self._read_json_map()
        else:
            self._read_plain_line(line.partition("#")[0].rstrip())

    def _read_plain_line(self, line: str) -> None:
        if line == "}":
            self._close()
        elif not self._open:
            self._open_section(line)
        elif found := _MAP.match(line):
            self._open_map(found[1])
        elif found := _ATTRIBUTE.match(line):
            self._give(found[1], found[2])
        elif found := _EMPTY.match(line):
            raise self._fault(line, f"a value for '{found[1]}', or no such line")
        elif _SECTION.match(line):
            last = self._open[-1]
            raise self._fault(line, f"`}}` before it: {last.what} of line {last.line} is still open")
        else:
            raise self._fault(line, _RIGHT)

    def _fault(self, line: str, right: str) -> SyntaxFault:
        text = line if len(line) <= SHOWN_MAX else f"{line[:SHOWN_MAX]}... ({len(line) - SHOWN_MAX} more)"
        return SyntaxFault(f"Invalid config file syntax (line {self._next}): {text}", self._next, right)

    def _open_section(self, line: str) -> None:
        found = _SECTION.match(line)
        if found is None:
            raise self._fault(line, "`section {` at the end of a line, and then its attributes")
        section = self.sections.open(found[1], self._next)

        def give(name: str, value: object, line_number: int) -> None:
            self.sections.give(section, name, value, line_number)

        self._open.append(_Open(f"Section '{found[1]}'", self._next, give))

    def _open_map(self, name: str) -> None:
        if len(self._open) > DEPTH_MAX:
            raise self._fault(name, f"at most {DEPTH_MAX} maps inside one another")
        members: dict[str, object] = {}

        def give(key: str, value: object, _line_number: int) -> None:
            members[key] = value

        self._open[-1].give(name, members, self._next)
        self._open.append(_Open(f"Map '{name}'", self._next, give))

    def _close(self) -> None:
        if not self._open:
            raise self._fault("}", "no `}`, for nothing is open")
        self._open.pop()

    def _give(self, name: str, text: str) -> None:
        kept = _TRAILING_COMMA.sub("", text)
        if kept != text:
            self.sections.notices.append((self._next, f"The comma before a closing bracket is left out: {shown(kept)}"))
        try:
            value = string_of(f'"{kept}"')
        except ValueError:
            right = "a value without quotes, in which a backslash is written as two"
            raise self._fault(f"{name}: {text}", right) from None
        self._open[-1].give(name, value, self._next)

    def _read_json_map(self) -> None:
        """Read a map that is JSON, in any layout; groups may be lines like those of a section instead."""
        first = self._next
        found = _JSON_MAP.match(self._text.lines[first - 1])
        assert found is not None
        rest = self._text.lines[first - 1][found.end() :].strip()
        is_on_next_line = not rest or rest[0] == "#"
        start = self._text.starts[first] if is_on_next_line else self._text.starts[first - 1] + found.end()
        reader = JsonReader(self._text, start, is_lenient=True)
        if found[1] == "groups" and is_on_next_line and reader.peek() not in ('"', "}", ""):
            self._open_map(found[1])
            return
        value = {key: member for key, member, _ in reader.members()}
        self._next = self._text.line_of(reader.position - 1)
        if not _AFTER_JSON.match(self._text.all[reader.position : self._text.starts[self._next] - 1]):
            raise reader.fault("Extra data")
        self._open[-1].give(found[1], value, first)


def read_conf_form(source: str) -> Sections:
    """Return the sections of a text in line oriented form; raises SyntaxFault."""
    reader = _ConfReader(source)
    reader.read()
    return reader.sections
