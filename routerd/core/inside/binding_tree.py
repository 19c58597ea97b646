"""The keys of an exchange's bindings, as a tree of their words.

A subject is compared with all keys at once, word by word. `match` keeps the places of the tree that the words so far
lead to, each place once. So the cost of a subject is the number of its words times the places at most. A key of AMQP
may have `#` anywhere, a key of MQTT only at its end.
"""

from typing import Any

from routerd.core.settings import MatchMethod

_SIGNS = {MatchMethod.AMQP: (".", "*"), MatchMethod.MQTT: ("/", "+")}
_MANY = "#"


def key_fault(key: str, method: MatchMethod) -> str | None:
    """Return the error in a key; None if there is none."""
    if not key:
        return "is empty"
    separator, _ = _SIGNS[method]
    if method is MatchMethod.MQTT and _MANY in key.split(separator)[:-1]:
        return "has a `#` that is not its last word"
    return None


class Place:
    """A place in the tree: the further words of the keys that lead to it."""

    one: "Place | None"
    many: "Place | None"

    def __init__(self) -> None:
        self.words: dict[str, Place] = {}
        # Below `*`, and below `#`. A place below `#` also stays for each further word.
        self.one = None
        self.many = None
        self.is_many = False
        self.found: list[Any] = []
        self.round = 0

    def is_empty(self) -> bool:
        """Whether no key passes here."""
        return not self.words and self.one is None and self.many is None and not self.found


class BindingTree:
    """Finds the bindings whose keys a subject matches."""

    def __init__(self, method: MatchMethod) -> None:
        self._separator, self._any_word = _SIGNS[method]
        self._root = Place()
        self._round = 0

    def add(self, key: str, binding: Any) -> None:
        """Add a binding."""
        place = self._root
        for word in self._words(key):
            place = self._below(place, word)
        place.found.append(binding)

    def remove(self, key: str, binding: Any) -> None:
        """Remove a binding that was added with this key."""
        place = self._root
        way = []
        for word in self._words(key):
            way.append((place, word))
            place = self._below(place, word)
        place.found.remove(binding)
        while way and place.is_empty():
            place, word = way.pop()
            if word == self._any_word:
                place.one = None
            elif word == _MANY:
                place.many = None
            else:
                del place.words[word]

    def match(self, subject: str) -> list[Any]:
        """Return the bindings whose keys a subject matches, each once."""
        active: list[Place] = []
        self._round += 1
        self._enter(self._root, active)
        for word in subject.split(self._separator):
            following: list[Place] = []
            self._round += 1
            for place in active:
                below = place.words.get(word)
                if below is not None:
                    self._enter(below, following)
                if place.one is not None:
                    self._enter(place.one, following)
                if place.is_many:
                    self._enter(place, following)
            active = following
            if not active:
                break
        found: list[Any] = []
        for place in active:
            if place.found:
                found += place.found
        return found

    def _enter(self, place: Place, active: list[Place]) -> None:
        """Add a place, and the places that need no further word."""
        below: Place | None = place
        while below is not None and below.round != self._round:
            below.round = self._round
            active.append(below)
            below = below.many

    def _words(self, key: str) -> list[str]:
        words = key.split(self._separator)
        # `#.#` means the same as `#`.
        return [word for at, word in enumerate(words) if word != _MANY or at == 0 or words[at - 1] != _MANY]

    def _below(self, place: Place, word: str) -> Place:
        if word == self._any_word:
            if place.one is None:
                place.one = Place()
            return place.one
        if word == _MANY:
            if place.many is None:
                place.many = Place()
                place.many.is_many = True
            return place.many
        below = place.words.get(word)
        if below is None:
            below = place.words[word] = Place()
        return below
