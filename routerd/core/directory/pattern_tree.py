"""A tree of address patterns that finds the best match of an address.

Patterns and addresses consist of tokens separated by `.` or `/`. The token `*` in a pattern stands for exactly one
token, and `#` for any number of tokens, including none. Inside a longer token both are ordinary characters. Patterns
are kept in their simplest form: `#.#` is `#`, and `#.*` is `*.#`.

Several patterns may match. The first position where their kinds of tokens differ decides. There, a literal goes before
`*`, `*` before the end of the pattern, and the end before `#`. Patterns with the same kinds everywhere can match the
same address only through `#`; their alphabetical order decides. So the order of definition never matters.

A match walks the tree once. It visits each node with the whole set of positions in the address that reach the node. So
no node is visited twice, for any patterns and any address.
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
    """Return the tokens of a pattern or an address; leading and trailing separators do not count."""
    text = text.replace("/", ".").strip(".")
    return text.split(".") if text else []


def simplest(tokens: list[str]) -> list[str]:
    """Return the tokens of a pattern in the form that is the same for all that say the same: no `#.#`, no `#.*`."""
    if tokens.count(_ANY_NUMBER) == 0:
        return tokens
    found: list[str] = []
    has_any_number = False
    for token in tokens:
        if token == _ANY_NUMBER:
            has_any_number = True
            continue
        if has_any_number and token != _ONE:
            found.append(_ANY_NUMBER)
            has_any_number = False
        found.append(token)
    return [*found, _ANY_NUMBER] if has_any_number else found


class _Entry(Generic[T]):
    """A pattern's value, and its rank among patterns that match the same address."""

    __slots__ = ("order", "value")

    def __init__(self, tokens: list[str], value: T) -> None:
        kinds = [_WILDCARD_KINDS.get(token, _LITERAL_KIND) for token in tokens]
        self.order = ([*kinds, _END_KIND], tokens)
        self.value = value


class _Node(Generic[T]):
    """A node of the tree: its tokens begin patterns, or are a whole pattern."""

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
        tokens = simplest(tokens_of(pattern))
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
        tokens = simplest(tokens_of(pattern))
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

    def find(self, pattern: str) -> T | None:
        """Return the value of a pattern, or None."""
        tokens = simplest(tokens_of(pattern))
        path = list(self._path(tokens))
        if len(path) <= len(tokens):
            return None
        entry = path[-1].entry
        return None if entry is None else entry.value

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
        """Yield the existing nodes along a pattern, from the root on."""
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
    """Yield the children reached from these positions, which ascend, and the positions in each child."""
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
        # A peer may write wildcards in an address; they are plain text there.
        if token not in _WILDCARD_KINDS:
            yield children[token], behind
