"""Rules for the addresses of links: names and prefixes, or patterns of words, with the user's name in them (10.4).

Rules are compiled once for all users. A rule with `${user}` is stored as its text before and behind the user, and a
link's name is compared with the user's name first. So the number of rules does not slow an attach, and nothing is
stored for a user. A user name is always plain text: a user named `*` gets no wildcard.

A name is compared without scheme, host and leading slash, as the router routes it. So `amqp:/orders` is `orders`, and a
rule for `a*` does not match it.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from routerd.core.directory.pattern_tree import PatternTree, tokens_of
from routerd.core.errors import DuplicatePattern, InvalidPattern

USER = "${user}"
ANYTHING = "*"


class AddressRules(Protocol):
    """The rules of a group for sources, or for targets."""

    allow_anything: bool

    def allow(self, text: str, user: str) -> bool:
        """Whether a user may attach a link with this name."""


def routed(text: str) -> str:
    """Return a name without scheme, host and leading slash."""
    if text.startswith(("amqp:", "amqps:")):
        text = text.partition(":")[2]
    return text[2:].partition("/")[2] if text.startswith("//") else text.removeprefix("/")


class NameRules:
    """Names and prefixes of names."""

    def __init__(self, items: Iterable[str]) -> None:
        self.allow_anything = False
        self._names: set[str] = set()
        self._prefixes: dict[int, set[str]] = {}
        """By length."""
        self._user_names: dict[int, set[tuple[str, str]]] = {}
        """The text before and behind the user, by the length of the text before."""
        self._user_prefixes: dict[int, dict[int, set[tuple[str, str]]]] = {}
        """The same, by both lengths."""
        for item in items:
            self._add(item)

    def _add(self, item: str) -> None:
        if item == ANYTHING:
            self.allow_anything = True
            return
        is_prefix = item.endswith(ANYTHING)
        before, has_user, behind = routed(item[:-1] if is_prefix else item).partition(USER)
        if has_user and is_prefix:
            by_length = self._user_prefixes.setdefault(len(before), {})
            by_length.setdefault(len(behind), set()).add((before, behind))
        elif has_user:
            self._user_names.setdefault(len(before), set()).add((before, behind))
        elif is_prefix:
            self._prefixes.setdefault(len(before), set()).add(before)
        else:
            self._names.add(before)

    def allow(self, text: str, user: str) -> bool:
        """Whether a user may attach a link with this name."""
        if self.allow_anything:
            return True
        name = routed(text)
        if name in self._names:
            return True
        for length, prefixes in self._prefixes.items():
            if name[:length] in prefixes:
                return True
        return self._is_of_user(name, user)

    def _is_of_user(self, name: str, user: str) -> bool:
        for length, names in self._user_names.items():
            if name.startswith(user, length) and (name[:length], name[length + len(user) :]) in names:
                return True
        for length, by_length in self._user_prefixes.items():
            if name.startswith(user, length) and _has_prefix(by_length, name[:length], name[length + len(user) :]):
                return True
        return False


def _has_prefix(by_length: Mapping[int, set[tuple[str, str]]], before: str, rest: str) -> bool:
    return any((before, rest[:length]) in prefixes for length, prefixes in by_length.items())


class PatternRules:
    """Patterns of words. `${user}` may be the first or the last word, and stands for all words of the user's name."""

    def __init__(self, items: Iterable[str]) -> None:
        self.allow_anything = False
        self._tree: PatternTree[bool] = PatternTree()
        self._behind_user: PatternTree[bool] = PatternTree()
        self._before_user: PatternTree[bool] = PatternTree()
        self._has_user_alone = False
        for item in items:
            self._add(item)

    def _add(self, item: str) -> None:
        tokens = tokens_of(routed(item))
        if tokens == [USER]:
            self._has_user_alone = True
        elif tokens and tokens[0] == USER:
            _put(self._behind_user, tokens[1:])
        elif tokens and tokens[-1] == USER:
            _put(self._before_user, tokens[:-1])
        else:
            _put(self._tree, tokens)
        self.allow_anything = self.allow_anything or tokens == ["#"]

    def allow(self, text: str, user: str) -> bool:
        """Whether a user may attach a link with this name."""
        name = routed(text)
        if self.allow_anything or self._tree.match(name):
            return True
        tokens, own = tokens_of(name), tokens_of(user)
        if not own or len(tokens) < len(own):
            return False
        if tokens == own and self._has_user_alone:
            return True
        count = len(own)
        if tokens[:count] == own and self._behind_user.match(".".join(tokens[count:])):
            return True
        return tokens[-count:] == own and bool(self._before_user.match(".".join(tokens[:-count])))


def _put(tree: PatternTree[bool], tokens: list[str]) -> None:
    try:
        tree.add(".".join(tokens), True)
    except (DuplicatePattern, InvalidPattern):
        # A duplicate rule adds nothing, and a rule without words allows nothing.
        return


def is_pattern_of_user(pattern: str) -> bool:
    """Whether `${user}` has a meaning in a pattern: only as the whole first or last word."""
    tokens = tokens_of(routed(pattern))
    return all(USER not in token for token in tokens[1:-1]) and (
        USER not in pattern or (pattern.count(USER) == 1 and USER in (tokens[0], tokens[-1]))
    )
