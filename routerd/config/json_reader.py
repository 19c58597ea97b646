"""JSON, read with the places where things stand, so that whatever is wrong later can be told by its line."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator

DEPTH_MAX = 64
"""Maps and lists inside one another; people write two or three, and each costs a call."""

_BLANKS = re.compile(r"[ \t\r\n]*+")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][-+]?[0-9]++)?")
_WORDS = {"true": True, "false": False, "null": None}
_NO_KEY = "Expecting property name enclosed in double quotes"
_WORD = re.compile(r"[a-z]*+")


class SyntaxFault(ValueError):
    """Text that can't be read any further."""

    def __init__(self, reason: str, line: int | None, hint: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.hint = hint
        """What would be right."""


class Text:
    """A text and its lines; comments, lines whose first character that is no blank is `#`, are blanked out."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.all = "\n".join(" " * len(one) if one.lstrip().startswith("#") else one for one in self.lines)
        self.starts = [0]
        for one in self.lines:
            self.starts.append(self.starts[-1] + len(one) + 1)

    def line_of(self, position: int) -> int:
        """Return the number of the line, from 1, that a character stands in."""
        return min(bisect_right(self.starts, position), len(self.lines))

    def fault(self, reason: str, position: int) -> SyntaxFault:
        """Return the fault at a place, told as Python's json does, on which scripts rely."""
        line = self.line_of(position)
        column = position - self.starts[line - 1] + 1
        return SyntaxFault(f"{reason}: line {line} column {column} (char {position})", line)


def string_of(quoted: str, *, is_strict: bool = False) -> str:
    """Return what a quoted string says; ValueError if it says nothing."""
    value: str = json.loads(quoted, strict=is_strict)
    # Half a surrogate pair can be written as an escape, and never be sent or printed.
    value.encode()
    return value


class JsonReader:
    """Reads values one after the other from a place in a text."""

    def __init__(self, text: Text, position: int = 0, *, is_lenient: bool = False) -> None:
        self._text = text
        self._all = text.all
        self._is_lenient = is_lenient
        self.position = position

    def peek(self) -> str:
        """Return the next character that is no blank, or nothing at the end."""
        blanks = _BLANKS.match(self._all, self.position)
        assert blanks is not None
        self.position = blanks.end()
        return self._all[self.position : self.position + 1]

    @property
    def line(self) -> int:
        """The line of the present place."""
        return self._text.line_of(self.position)

    def fault(self, reason: str) -> SyntaxFault:
        """Return the fault at the present place."""
        return self._text.fault(reason, self.position)

    def take(self, character: str, otherwise: str) -> None:
        """Go past a character."""
        if self.peek() != character:
            raise self.fault(otherwise)
        self.position += 1

    def items(self, closing: str) -> Iterator[None]:
        """Stop before each item of a list or map, after its opening bracket; the caller reads it."""
        is_first = True
        while (found := self.peek()) != closing:
            if not is_first:
                if found != ",":
                    raise self.fault("Expecting ',' delimiter")
                self.position += 1
                if self.peek() == closing:
                    if self._is_lenient:
                        break
                    raise self.fault("Expecting value" if closing == "]" else _NO_KEY)
            is_first = False
            yield
        self.position += 1

    def members(self, depth: int = 0) -> Iterator[tuple[str, object, int]]:
        """Yield key, value and line of each member of a map, after its opening brace."""
        for _ in self.items("}"):
            line = self.line
            if self.peek() != '"':
                raise self.fault(_NO_KEY)
            key = self.string()
            self.take(":", "Expecting ':' delimiter")
            yield key, self.value(depth + 1), line

    def string(self) -> str:
        """Return the string that begins here."""
        found = _STRING.match(self._all, self.position)
        if found is None:
            raise self.fault("Unterminated string starting at")
        try:
            value = string_of(found[0], is_strict=not self._is_lenient)
        except ValueError:
            raise self.fault("Invalid control character or \\escape in") from None
        self.position = found.end()
        return value

    def value(self, depth: int = 0) -> object:
        """Return the value that comes next."""
        if depth > DEPTH_MAX:
            raise self.fault(f"More than {DEPTH_MAX} maps and lists inside one another")
        found = self.peek()
        if found == '"':
            return self.string()
        if found == "{":
            self.position += 1
            return {key: value for key, value, _ in self.members(depth)}
        if found == "[":
            self.position += 1
            return [self.value(depth + 1) for _ in self.items("]")]
        return self._number_or_word()

    def _number_or_word(self) -> object:
        number = _NUMBER.match(self._all, self.position)
        if number is not None:
            try:
                value = float(number[0]) if number[1] or number[2] else int(number[0])
            except ValueError:
                raise self.fault("Too many digits") from None
            self.position = number.end()
            return value
        word = _WORD.match(self._all, self.position)
        if word is None or word[0] not in _WORDS:
            raise self.fault("Expecting value")
        self.position = word.end()
        return _WORDS[word[0]]
