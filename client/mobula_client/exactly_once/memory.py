"""A store in memory: it outlives connections, and not the process."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from secrets import token_bytes
from threading import RLock
from typing import Any

from mobula_client.exactly_once.store import STORE_ID_OCTETS, Entry, Presence, Refusal, Store, tag_of


@dataclass(slots=True)
class _Link:
    attaches: int
    ticket: bytes = b""
    presence: Presence | None = None
    window: int = 0
    entries: dict[int, Entry] = field(default_factory=dict)
    refusals: dict[int, Refusal] = field(default_factory=dict)
    decided: dict[bytes, Any] = field(default_factory=dict)


class MemoryStore(Store):
    """Keeps unsettled maps in memory."""

    is_durable = False

    def __init__(
        self, *, token: Callable[[int], bytes] = token_bytes, time: Callable[[], float] = time.time
    ) -> None:
        """`token` draws the random part of tags."""
        self.time = time
        self._id = token(STORE_ID_OCTETS)
        # The count of attaches begins above those of earlier processes with the same name.
        self._first_attach = int(time() * 1000)
        self._number = 0
        self._links: dict[str, _Link] = {}
        self._lock = RLock()
        self._undo: list[Callable[[], object]] | None = None
        self._afterwards: list[Callable[[], None]] = []

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock:
            if self._undo is not None:
                # One inside another is a part of it.
                yield
                return
            self._undo, self._afterwards = [], []
            try:
                yield
            except BaseException:
                for step in reversed(self._undo):
                    step()
                self._undo = None
                for link in self._links.values():
                    # What was put back stands at the end.
                    link.entries = dict(sorted(link.entries.items()))
                raise
            self._undo, actions = None, self._afterwards
        for action in actions:
            action()

    def transaction(self) -> Any:
        """Return a context in which steps are taken together, or not at all."""
        return self._transaction()

    def after_commit(self, action: Callable[[], None]) -> None:
        """Call a function behind the transaction."""
        with self._lock:
            if self._undo is not None:
                self._afterwards.append(action)
                return
        action()

    def bind(self, container_id: str) -> None:
        """Belong to any container, because this store ends with the process."""

    def next_attach(self, link: str) -> int:
        """Count an attach."""
        found = self._of(link)
        found.attaches += 1
        return found.attaches

    def ticket(self, link: str) -> bytes:
        """Return what the router said."""
        return self._of(link).ticket

    def keep_ticket(self, link: str, ticket: bytes) -> None:
        """Keep what the router says."""
        self._of(link).ticket = ticket

    def presence(self, link: str) -> Presence | None:
        """Return what was kept of the router."""
        return self._of(link).presence

    def keep_presence(self, link: str, presence: Presence) -> None:
        """Keep when the router was heard."""
        self._of(link).presence = presence

    def window_of(self, link: str, window: int) -> int:
        """Return the largest window so far."""
        found = self._of(link)
        found.window = max(found.window, window)
        return found.window

    def put(self, link: str, messages: Sequence[bytes]) -> list[Entry]:
        """Keep messages."""
        with self._transaction():
            entries = []
            for octets in messages:
                self._number += 1
                entry = Entry(self._number, octets, tag_of(self._id, self._number), self.time())
                self._set(self._of(link).entries, entry.number, entry)
                entries.append(entry)
            return entries

    def entries(self, link: str, after: int, most: int) -> list[Entry]:
        """Return messages in their order."""
        return list(islice((entry for entry in self._of(link).entries.values() if entry.number > after), most))

    def forget(self, link: str, numbers: Iterable[int]) -> None:
        """Forget messages."""
        with self._transaction():
            for number in numbers:
                self._drop(self._of(link).entries, number)

    def refuse(self, link: str, number: int, reason: str) -> None:
        """Move a message to the refusals."""
        with self._transaction():
            entry = self._of(link).entries[number]
            self._drop(self._of(link).entries, number)
            self._set(self._of(link).refusals, number, Refusal(number, entry.octets, reason))

    def refusals(self, link: str) -> list[Refusal]:
        """Return the refusals."""
        return list(self._of(link).refusals.values())

    def forget_refusals(self, link: str, numbers: Iterable[int]) -> None:
        """Forget refusals."""
        with self._transaction():
            for number in numbers:
                self._drop(self._of(link).refusals, number)

    def decided(self, link: str) -> Mapping[bytes, Any]:
        """Return outcomes by tag."""
        return dict(self._of(link).decided)

    def decide(self, link: str, tag: bytes, outcome: Any) -> None:
        """Keep an outcome."""
        with self._transaction():
            self._set(self._of(link).decided, tag, outcome)

    def settled(self, link: str, tags: Iterable[bytes]) -> None:
        """Forget outcomes."""
        with self._transaction():
            for tag in tags:
                self._drop(self._of(link).decided, tag)

    def close(self) -> None:
        """Forget everything."""
        self._links.clear()

    def _of(self, link: str) -> _Link:
        if link not in self._links:
            self._links[link] = _Link(self._first_attach)
        return self._links[link]

    def _set(self, kept: dict[Any, Any], key: Any, value: Any) -> None:
        kept[key] = value
        assert self._undo is not None, "there is a transaction"
        self._undo.append(lambda: kept.pop(key, None))

    def _drop(self, kept: dict[Any, Any], key: Any) -> None:
        if key not in kept:
            return
        value = kept.pop(key)
        assert self._undo is not None, "there is a transaction"
        self._undo.append(lambda: kept.setdefault(key, value))
