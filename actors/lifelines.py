"""How the launcher hears of the ends of its actors: by calls that do not return as long as the processes live."""

import queue
from collections.abc import Mapping
from typing import Any

from ray.exceptions import ActorDiedError

from actors.errors import RouterLost
from routerd.io import module_log

_log = module_log("ROUTER")


class Lifelines:
    """One call to each actor. Ray answers them in a thread of its own; what it says waits to be listened to."""

    def __init__(self, actors: Mapping[str, Any]) -> None:
        self._actors = actors
        self._away: set[str] = set()
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
            for role in self._away:
                self._call(role)
            return True
        if heard is None:
            return False
        self._take(*heard)
        return True

    def _take(self, role: str, error: BaseException | None) -> None:
        if isinstance(error, ActorDiedError):
            raise RouterLost(f"actor {role} has ended for good: {error}")
        if error is None:
            self._away.discard(role)
            _log.info("Actor %s is back", role)
            self._call(role)
        elif role not in self._away:
            self._away.add(role)
            _log.warning("Actor %s has ended, and is started again", role)
            _log.debug("%s", error)
            self._call(role)

    def _call(self, role: str) -> None:
        """Call what returns when the process ends, or when it is there again."""
        actor = self._actors[role]
        answer = actor.ready.remote() if role in self._away else actor.stay.remote()
        answer.future().add_done_callback(lambda future: self._heard.put((role, future.exception())))
