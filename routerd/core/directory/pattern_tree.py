"""Patterns of addresses: which one of many matches an address, and matches best.

Patterns and addresses are tokens with `.` or `/` between them. In a pattern the token `*` stands for exactly one token,
`#` for any number of them, none included; inside a longer token both are ordinary characters.

Of the patterns that match, the first place where their kinds of tokens differ decides: a literal goes before `*`, that
before the end of a pattern, and that before `#`. Patterns of the same kinds throughout, which only a `#` lets match the
same address, go by the alphabet. So the order of definition never matters.

Patterns share a tree by their tokens. A match walks it with all the places in the address that a node can be reached
at, not with one of them at a time: no node is visited twice, whatever the patterns and the address are made of.
"""

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from routerd.core.errors import DuplicatePattern, InvalidPattern, UnknownPattern

T = TypeVar("T")

_ONE = "*"
_ANY_NUMBER = "#"
_LITERAL_KIND, _ONE_KIND, _END_KIND, _ANY_NUMBER_KIND = range(4)
_WILDCARD_KINDS = {_ONE: _ONE_KIND, _ANY_NUMBER: _ANY_NUMBER_KIND}


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a pattern or an address; separators before and behind it do not count."""
    text = text.replace("/", ".").strip(".")
    return text.split(".") if text else []


class _Entry(Generic[T]):
    """A pattern's value, and where it stands among patterns that match the same address."""

    __slots__ = ("order", "value")

    def __init__(self, tokens: list[str], value: T) -> None:
        kinds = [_WILDCARD_KINDS.get(token, _LITERAL_KIND) for token in tokens]
        self.order = ([*kinds, _END_KIND], tokens)
        self.value = value


class _Node(Generic[T]):
    """A place in the tree: the tokens up to it are the beginning of patterns, or all of one."""

    __slots__ = ("children", "entry")

    def __init__(self) -> None:
        self.entry: _Entry[T] | None = None
        self.children: dict[str, _Node[T]] = {}


class PatternTree(Generic[T]):
    """Values by pattern."""

    def __init__(self) -> None:
        self._root: _Node[T] = _Node()

    def add(self, pattern: str, value: T) -> None:
        """Add a pattern; raises InvalidPattern or DuplicatePattern."""
        tokens = tokens_of(pattern)
        if not tokens:
            raise InvalidPattern(pattern)
        node = self._root
        for token in tokens:
            node = node.children.setdefault(token, _Node())
        if node.entry is not None:
            raise DuplicatePattern(pattern)
        node.entry = _Entry(tokens, value)

    def remove(self, pattern: str) -> T:
        """Remove a pattern and return its value; raises UnknownPattern."""
        tokens = tokens_of(pattern)
        path = list(self._path(tokens))
        if len(path) <= len(tokens) or path[-1].entry is None:
            raise UnknownPattern(pattern)
        value = path[-1].entry.value
        path[-1].entry = None
        for token in reversed(tokens):
            node = path.pop()
            if node.entry is not None or node.children:
                break
            del path[-1].children[token]
        return value

    def match(self, address: str) -> T | None:
        """Return the value of the pattern that matches best, or None."""
        tokens = tokens_of(address)
        best: _Entry[T] | None = None
        reached: list[tuple[_Node[T], Sequence[int]]] = [(self._root, range(1))]
        while reached:
            node, places = reached.pop()
            entry = node.entry
            if entry is not None and places[-1] == len(tokens) and (best is None or entry.order < best.order):
                best = entry
            if node.children:
                reached += _steps(node.children, tokens, places)
        return best.value if best is not None else None

    def _path(self, tokens: list[str]) -> Iterator[_Node[T]]:
        """Yield the nodes along a pattern, beginning with the root, as far as there are any."""
        node: _Node[T] | None = self._root
        for token in tokens:
            if node is None:
                return
            yield node
            node = node.children.get(token)
        if node is not None:
            yield node


def _steps(
    children: dict[str, _Node[T]], tokens: list[str], places: Sequence[int]
) -> Iterator[tuple[_Node[T], Sequence[int]]]:
    """Yield which children are reached from these places, which ascend, and at which places of their own."""
    any_number = children.get(_ANY_NUMBER)
    if any_number is not None:
        yield any_number, range(places[0], len(tokens) + 1)
    if places[-1] == len(tokens):
        places = places[:-1]
    if not places:
        return
    one = children.get(_ONE)
    if one is not None:
        yield one, [place + 1 for place in places]
    literal: dict[str, list[int]] = {}
    for place in places:
        token = tokens[place]
        if token in children:
            literal.setdefault(token, []).append(place + 1)
    for token, behind in literal.items():
        # A peer may well write the characters of the wildcards; in an address they are text.
        if token not in _WILDCARD_KINDS:
            yield children[token], behind
