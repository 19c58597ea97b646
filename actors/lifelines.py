"""How the launcher hears of the ends of its actors: by calls that do not return as long as the processes live."""

import queue
from collections.abc import Callable, Mapping
from typing import Any

from ray.exceptions import ActorDiedError

from actors.errors import RouterLost
from routerd.io import module_log

_log = module_log("ROUTER")


class Lifelines:
    """One call to each actor. Ray answers them in another thread; its answers wait to be listened to."""

    def __init__(self, actors: Mapping[str, Any], is_started_again: Callable[[], bool]) -> None:
        """`is_started_again` tells whether Ray can start an actor that has ended."""
        self._actors = actors
        self._is_started_again = is_started_again
        self.away: set[str] = set()
        """Those that have ended, and are not back yet."""
        self._asked: set[str] = set()
        """Those of them that have been asked whether they are back, and have not answered."""
        self._heard: queue.SimpleQueue[tuple[str, BaseException | None] | None] = queue.SimpleQueue()

    def hold(self) -> None:
        """Begin."""
        for role in self._actors:
            self._call(role)

    def let_go(self) -> None:
        """Have `listen` return False."""
        self._heard.put(None)

    def listen(self, for_s: float) -> bool:
        """Listen for this long; return whether there may be more to hear. Raises RouterLost."""
        try:
            heard = self._heard.get(timeout=for_s)
        except queue.Empty:
            for role in self.away - self._asked:
                self._call(role)
            return True
        if heard is None:
            return False
        self._take(*heard)
        return True

    def _take(self, role: str, error: BaseException | None) -> None:
        self._asked.discard(role)
        if isinstance(error, ActorDiedError):
            raise RouterLost(f"actor {role} has ended for good: {error}")
        if error is None:
            self.away.discard(role)
            _log.info("Actor %s is back", role)
            self._call(role)
        elif role not in self.away:
            self.away.add(role)
            _log.warning("Actor %s has ended%s", role, ", and is started again" if self._is_started_again() else "")
            _log.debug("%s", error)
            self._call(role)

    def _call(self, role: str) -> None:
        """Call what returns when the process ends, or when it is there again."""
        actor = self._actors[role]
        if role in self.away:
            self._asked.add(role)
        answer = actor.ready.remote() if role in self.away else actor.stay.remote()
        answer.future().add_done_callback(lambda future: self._heard.put((role, future.exception())))
