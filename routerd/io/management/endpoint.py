"""A worker's consumer of requests to the router's management, and the sender of the answers.

Credit bounds what is taken: a request is settled, and makes room for another, when its answer has been handed on.
Before that, connections take turns at the address (`FairQueue`), and requesters, known by their reply
addresses, take turns here. Requests of a requester that leaves its answers waiting are refused (`answer_lines`).
"""

import logging
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from time import monotonic

from routerd.core import InnerConsumer, LoopBack, Router
from routerd.io.logs import SeldomLog, module_log
from routerd.io.management.answer_lines import LINE_MESSAGES, LINE_OCTETS, AnswerLines
from routerd.io.management.messages import refusal, reply_address
from routerd.management import changes_refused
from routerd.wire import Delivery

CAPACITY = 16
"""Requests that each management address has in hand at this worker."""
IN_WORK_MAX = 16
"""Requests of this worker that are being answered."""
IN_WORK_OF_ONE = 2
"""Of these, the requests with one reply address."""

OLD_ADDRESS = "_local/$_management_internal"
"""Where the agent of qdrouterd has requests handed on to. Its clients reach it there, too."""
FORBIDDEN = "You are not allowed to perform this operation."

Ask = Callable[[bytes], "Future[bytes | None]"]
"""Answers a request, both as messages; None if the request asks for no answer."""

_NOBODY = ""
"""This is not a reply address: the router gives none that is empty, and a request with it asks for no answer."""

_log = module_log("AGENT")


class ManagementAway(Exception):
    """Nothing can answer requests now; the text is for the client."""


@dataclass(slots=True, eq=False)
class _Request:
    octets: bytes
    delivery: Delivery
    consumer: InnerConsumer
    reply_to: str | None
    is_held: bool


class ManagementEndpoint:
    """Consumes at `$management` and at the addresses that belong to this router."""

    def __init__(self, router: Router, now: float, ask: Ask, post: Callable[..., None]) -> None:
        """`post` runs a function in the worker's loop."""
        self._ask = ask
        self._post = post
        self._seldom = SeldomLog(_log, monotonic)
        self._waiting: OrderedDict[str | None, deque[_Request]] = OrderedDict()
        """By reply address; the first one is next."""
        self._in_work: dict[str | None, int] = {}
        inside = LoopBack(router, now, is_fair=True)
        for address in ("$management", "_local/$management", f"_topo/0/{router.settings.id}/$management", OLD_ADDRESS):
            self._stand_at(inside, address)
        self._answers = AnswerLines(router, now, self._seldom)
        router.intake.answer_forbidden = self._forbid
        router.connection_routes.send = self._answer_own
        settings = router.settings
        self._forbidden = FORBIDDEN if settings.has_policy else str(changes_refused(settings.management_access))

    def _stand_at(self, inside: LoopBack, address: str) -> None:
        def take(octets: bytes, delivery: Delivery) -> None:
            self._take(consumer, octets, delivery)

        consumer = inside.consume(address, take, capacity=CAPACITY)

    # --- requests in

    def _take(self, consumer: InnerConsumer, octets: bytes, delivery: Delivery) -> None:
        reply_to = reply_address(octets)
        if reply_to is not None and self._answers.is_full(reply_to):
            self._refuse(delivery, reply_to)
            return
        request = _Request(octets, delivery, consumer, reply_to, delivery.remote_settled)
        if request.is_held:
            consumer.hold()
        self._waiting.setdefault(reply_to, deque()).append(request)
        self._go_on()

    def _refuse(self, delivery: Delivery, reply_to: str) -> None:
        if not delivery.settled:
            delivery.release()
        self._seldom.say(
            logging.WARNING,
            f"full {reply_to}",
            f"Requests of {reply_to} are refused: it leaves {LINE_MESSAGES} answers waiting, or {LINE_OCTETS} octets; "
            "give credit to the link that receives them",
        )

    def _go_on(self) -> None:
        """Let requests be answered: requesters take turns, and each has few at a time."""
        while sum(self._in_work.values()) < IN_WORK_MAX:
            free = (one for one in self._waiting if self._in_work.get(one, 0) < IN_WORK_OF_ONE)
            reply_to = next(free, _NOBODY)
            if reply_to is _NOBODY:
                return
            requests = self._waiting.pop(reply_to)
            request = requests.popleft()
            if requests:
                self._waiting[reply_to] = requests
            self._in_work[reply_to] = self._in_work.get(reply_to, 0) + 1
            self._asked(request.octets).add_done_callback(partial(self._post, self._answered, request))

    def _asked(self, octets: bytes) -> "Future[bytes | None]":
        try:
            return self._ask(octets)
        except RuntimeError:
            # The loop that answers is closed: the router ends.
            failed: Future[bytes | None] = Future()
            failed.set_exception(ManagementAway("the router is shutting down"))
            return failed

    # --- answers out

    def _answered(self, request: _Request, answer: "Future[bytes | None]") -> None:
        reply_to = request.reply_to
        self._in_work[reply_to] -= 1
        if not self._in_work[reply_to]:
            del self._in_work[reply_to]
        try:
            message = self._message(request, answer)
            if message is not None and reply_to is not None:
                self._answers.send(reply_to, message)
        finally:
            if request.is_held:
                request.consumer.let_go()
            elif not request.delivery.settled:
                request.delivery.accept()
            self._go_on()

    def _message(self, request: _Request, answer: "Future[bytes | None]") -> bytes | None:
        failure = answer.exception()
        if failure is None:
            return answer.result()
        status = 503 if isinstance(failure, ManagementAway) else 500
        text = str(failure) or type(failure).__name__
        self._seldom.say(logging.ERROR, text, f"A request is answered with {status}: {text}")
        refused = refusal(request.octets, status, text)
        return None if refused is None else refused[1]

    def _answer_own(self, reply_to: str, answer: bytes) -> bool:
        if self._answers.is_full(reply_to):
            return False
        self._answers.send(reply_to, answer)
        return True

    def _forbid(self, octets: bytes) -> bool:
        refused = refusal(octets, 403, self._forbidden)
        if refused is None or self._answers.is_full(refused[0]):
            return False
        self._answers.send(*refused)
        return True
