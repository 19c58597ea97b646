"""Where a worker takes requests to the router's management, and sends the answers."""

from collections.abc import Callable
from concurrent.futures import Future

from routerd.core import LoopBack, Router
from routerd.io.logs import module_log
from routerd.io.management_messages import forbidden_answer
from routerd.wire import Delivery

CAPACITY = 100
"""Requests that a client may have under way at this worker."""

Ask = Callable[[bytes], "Future[bytes | None]"]
"""Has a request answered, both as messages; None is for one that asks for no answer."""

_log = module_log("AGENT")


class ManagementEndpoint:
    """Stands at `$management` and at the addresses that are this router's alone."""

    def __init__(self, router: Router, now: float, ask: Ask, post: Callable[..., None]) -> None:
        """`post` has a function run in the worker's loop."""
        self._ask = ask
        self._post = post
        inside = LoopBack(router, now)
        for address in ("$management", "_local/$management", f"_topo/0/{router.settings.id}/$management"):
            inside.consume(address, self._take, capacity=CAPACITY)
        self._answers = inside.produce()
        router.answer_forbidden = self._forbid

    def _take(self, request: bytes, delivery: Delivery) -> None:
        delivery.accept()
        self._ask(request).add_done_callback(lambda answer: self._post(self._send, answer))

    def _forbid(self, request: bytes) -> None:
        answer = forbidden_answer(request)
        if answer is not None:
            self._answers.send(answer, settled=True)

    def _send(self, answer: "Future[bytes | None]") -> None:
        failure = answer.exception()
        if failure is not None:
            _log.error("A request was not answered: %s", failure)
            return
        message = answer.result()
        if message is not None:
            self._answers.send(message, settled=True)
