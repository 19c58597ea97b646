"""Slow steps of SASL mechanisms, in threads: the loop never waits for them."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, TypeVar

from routerd.io.logs import module_log
from routerd.io.scheduling import use_all_cores
from routerd.wire.sasl import (
    AuthenticationUnavailable,
    Failure,
    Pending,
    SaslCode,
    ServerMechanism,
    ServerMechanismFactory,
    Step,
)

THREADS = 4
"""Steps of a worker that are taken at the same time; others wait for their turn."""

T = TypeVar("T")
Answer = Callable[[Step], None]
_log = module_log("SERVER")


class AuthenticationThreads:
    """The threads of one worker. They start when they are needed, and none delays the worker's end."""

    def __init__(self, post: Callable[..., None]) -> None:
        """`post` lets the worker's loop call a function."""
        self._post = post
        self._threads: list[threading.Thread] = []
        self._steps: SimpleQueue[tuple[Callable[[], Any], Callable[[Any], None]] | None] = SimpleQueue()
        self._is_over = False

    def take(self, step: Callable[[], T], answer: Callable[[T | Failure], None]) -> None:
        """Take a step in a thread, and let the loop call `answer` with the result."""
        self._steps.put((step, answer))
        if len(self._threads) < THREADS:
            # A thread that waits for a hanging server must not keep the process from ending.
            self._threads.append(threading.Thread(target=self._run, name="routerd-authentication", daemon=True))
            self._threads[-1].start()

    def close(self) -> None:
        """Take no more steps; a step under way is not awaited."""
        self._is_over = True
        for _ in self._threads:
            self._steps.put(None)

    def _run(self) -> None:
        use_all_cores()
        while (taken := self._steps.get()) is not None and not self._is_over:
            step, answer = taken
            outcome = _outcome(step)
            if not self._is_over:
                self._post(answer, outcome)


def _outcome(step: Callable[[], T]) -> T | Failure:
    try:
        return step()
    except AuthenticationUnavailable as error:
        return error.failure
    except Exception:
        # A fault of ours, or of the library: it ends this exchange only.
        _log.exception("A step of authentication failed")
        return Failure("the step failed", SaslCode.SYS)


@dataclass(frozen=True, slots=True)
class InThreads:
    """A mechanism whose steps are taken in a thread; `answer` takes the results."""

    inner: ServerMechanismFactory
    threads: AuthenticationThreads
    answer: Answer = field(repr=False)

    @property
    def name(self) -> str:
        """The mechanism's name."""
        return self.inner.name

    def start(self, hostname: str | None) -> "_Threaded":
        """Begin an exchange."""
        return _Threaded(self.inner.start(hostname), self)


@dataclass(slots=True)
class _Threaded:
    mechanism: ServerMechanism
    factory: InThreads

    def step(self, response: bytes | None) -> Pending:
        """Take the step in a thread; its answer comes later."""
        mechanism = self.mechanism
        self.factory.threads.take(lambda: mechanism.step(response), self.factory.answer)
        return Pending()
