"""Starts the workers of a plan, leads them through the run, and adds up what they counted."""

import contextlib
import multiprocessing
import multiprocessing.connection
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection as Pipe
from typing import Any

from routerd.cli.load import worker
from routerd.cli.load.messages import Answer, Ask, Broken, Command, Connect, Go, Listening, Ready, Sample, Stop
from routerd.cli.load.meter import NEVER_NS
from routerd.cli.load.plan import Mode, Part, Plan, Side, parts_of
from routerd.cli.load.tally import NS_PER_S, Tally, total

INTERVAL_S = 1.0
ENDING_INTERVAL_S = 0.02
ENDING_PATIENCE_S = 2.0
"""How long messages may stay away after the last was sent."""
STOP_WITHIN_S = 5.0
_WAIT_S = 0.1


class RunFailed(Exception):
    """The run could not be made; the message says why."""

    def __init__(self, reason: str, *, is_interrupted: bool = False) -> None:
        super().__init__(reason)
        self.is_interrupted = is_interrupted


@dataclass(slots=True)
class Hand:
    """A worker, as the conductor knows it."""

    part: Part
    process: Any
    pipe: "Pipe[Command, Answer]"
    tally: Tally = field(default_factory=Tally)
    is_ready: bool = False
    is_done: bool = False
    has_answered: bool = False
    has_ended: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a run; it ended early if it was interrupted, or nothing moved any more."""

    plan: Plan
    tally: Tally
    ready_s: float
    """How long it took until everything was connected and attached."""
    measured_s: float
    is_interrupted: bool = False
    is_stalled: bool = False


class Conductor:
    """One run of a plan; `on_progress` is called every second while it lasts, `on_ready` before it begins."""

    def __init__(
        self,
        plan: Plan,
        on_progress: Callable[[float, Tally], None],
        on_listening: Callable[[str, int], None],
        on_ready: Callable[[float], None],
    ) -> None:
        self._plan = plan
        self._on_progress = on_progress
        self._on_listening = on_listening
        self._on_ready = on_ready
        self._hands: list[Hand] = []
        is_passive = plan.is_direct or plan.is_listening
        self._place: tuple[str, int] | None = None if is_passive else (plan.host, plan.port)
        self._is_interrupted = False
        self._is_stalled = False

    def interrupt(self) -> None:
        """Have the run end now, with what was measured; a signal handler may call this."""
        self._is_interrupted = True

    def run(self) -> Result:
        """Make the run, and return what was measured."""
        if self._plan.is_tls:
            # It takes its time: once for all processes.
            import routerd.cli.load.tls
        if self._plan.is_websocket:
            import routerd.cli.load.websocket  # noqa: F401
        started = time.monotonic()
        try:
            for part in parts_of(self._plan):
                self._hands.append(self._start(part))
            self._make_ready()
            went = time.monotonic()
            self._on_ready(went - started)
            self._go()
            self._watch(went)
            measured_s = time.monotonic() - went
            self._stop()
        finally:
            self._end()
        return Result(self._plan, self._total(), went - started, measured_s, self._is_interrupted, self._is_stalled)

    def _start(self, part: Part) -> Hand:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        ends = [*(hand.pipe for hand in self._hands), ours]
        process = context.Process(
            target=worker.main, args=(part, theirs, ends), name=f"routerbench {part.name}", daemon=True
        )
        process.start()
        theirs.close()
        return Hand(part, process, ours)

    def _make_ready(self) -> None:
        self._await(lambda: self._place is not None, self._hands)
        assert self._place is not None
        # A sender is attached when its receivers are: only then is it sure to get credit.
        for side in (Side.RECEIVING, Side.SENDING):
            hands = self._of(side)
            for hand in hands:
                if not hand.is_ready:
                    hand.pipe.send(Connect(self._place, self._plan.receive_at or self._place))
            self._await(lambda hands=hands: all(hand.is_ready for hand in hands), hands)  # type: ignore[misc]

    def _go(self) -> None:
        plan = self._plan
        measure_from_ns = time.monotonic_ns() + int(plan.warmup_s * NS_PER_S)
        until_ns = measure_from_ns + int(plan.seconds * NS_PER_S) if plan.seconds else NEVER_NS
        sending = self._of(Side.SENDING)
        for hands in ([hand for hand in self._hands if hand not in sending], sending):
            for hand in hands:
                hand.pipe.send(Go(measure_from_ns, until_ns))
            # Receivers know from when on to count before anything is sent.
            self._sample(hands)

    def _watch(self, went: float) -> None:
        sending = self._of(Side.SENDING)
        last_progress, moved_at = -1, time.monotonic()
        told_at = went
        while not self._is_interrupted and not self._is_complete(sending, went):
            is_ending = bool(sending) and all(hand.is_done for hand in sending)
            self._wait(ENDING_INTERVAL_S if is_ending else INTERVAL_S, sending, is_ending)
            self._sample(self._hands)
            now = time.monotonic()
            tally = self._total()
            if now - told_at > INTERVAL_S / 2:
                told_at = now
                self._on_progress(now - went, tally)
            if tally.progress != last_progress:
                last_progress, moved_at = tally.progress, now
            patience_s = ENDING_PATIENCE_S if is_ending else self._patience_s()
            if now - moved_at > patience_s:
                self._is_stalled = not is_ending
                return

    def _patience_s(self) -> float:
        plan = self._plan
        if plan.mode is Mode.IDLE or not plan.sending:
            return float("inf") if plan.mode is not Mode.ATTACH else plan.patience_s
        return plan.patience_s + plan.warmup_s + (plan.sending / plan.rate if plan.rate else 0)

    def _is_complete(self, sending: list[Hand], went: float) -> bool:
        plan, tally = self._plan, self._total()
        if sending:
            is_done = all(hand.is_done for hand in sending)
            return is_done and (plan.mode is not Mode.TRAFFIC or tally.received >= plan.expected(tally.sent))
        if plan.count:
            return tally.arrived >= plan.count
        return 0 < plan.seconds <= time.monotonic() - went - plan.warmup_s

    def _wait(self, interval_s: float, sending: list[Hand], is_ending: bool) -> None:
        # Until the interval is over, or all that was to be sent is sent.
        until = time.monotonic() + interval_s
        while (left := until - time.monotonic()) > 0 and not self._is_interrupted:
            self._take(min(left, _WAIT_S))
            if not is_ending and sending and all(hand.is_done for hand in sending):
                return

    def _sample(self, hands: list[Hand]) -> None:
        for hand in hands:
            hand.has_answered = hand.has_ended
            if not hand.has_ended:
                hand.pipe.send(Ask())
        while not all(hand.has_answered for hand in hands):
            self._take(_WAIT_S)

    def _stop(self) -> None:
        # The sending side ends first, so that no end finds the other one gone.
        sending = self._of(Side.SENDING)
        for hands in (sending, [hand for hand in self._hands if hand not in sending]):
            for hand in hands:
                with contextlib.suppress(OSError):
                    hand.pipe.send(Stop())
            give_up_at = time.monotonic() + STOP_WITHIN_S
            while not all(hand.has_ended for hand in hands) and time.monotonic() < give_up_at:
                self._take(_WAIT_S)

    def _end(self) -> None:
        for hand in self._hands:
            hand.pipe.close()
            hand.process.join(STOP_WITHIN_S)
            if hand.process.is_alive():
                hand.process.kill()
                hand.process.join()

    def _await(self, is_true: Callable[[], bool], hands: list[Hand]) -> None:
        give_up_at = time.monotonic() + self._plan.patience_s
        while not is_true():
            self._take(_WAIT_S)
            if self._is_interrupted:
                raise RunFailed("interrupted before anything was measured", is_interrupted=True)
            if time.monotonic() > give_up_at and not is_true():
                self._sample(hands)
                failures = self._total().failures
                waiting = next(hand.part.name for hand in hands if not hand.is_ready)
                raise RunFailed(
                    f"the {waiting} side did not connect and attach within {self._plan.patience_s:g} s"
                    + (f": {failures[0]}" if failures else "")
                )

    def _take(self, timeout_s: float) -> None:
        hands = {hand.pipe: hand for hand in self._hands if not hand.has_ended}
        for pipe in multiprocessing.connection.wait(list(hands), timeout_s):
            hand = hands[pipe]  # type: ignore[index]
            try:
                self._note(hand, hand.pipe.recv())
            except (EOFError, OSError):
                hand.has_ended = hand.has_answered = True
                hand.process.join(STOP_WITHIN_S)
                if hand.process.exitcode:
                    raise RunFailed(f"the {hand.part.name} process ended with status {hand.process.exitcode}") from None

    def _note(self, hand: Hand, answer: Answer) -> None:
        if isinstance(answer, Listening):
            self._place = (answer.host, answer.port)
            self._on_listening(answer.host, answer.port)
        elif isinstance(answer, Ready):
            hand.is_ready = True
        elif isinstance(answer, Sample):
            hand.tally = answer.tally
            hand.is_done = answer.is_done
            hand.has_answered = True
        elif isinstance(answer, Broken):
            raise RunFailed(answer.reason)

    def _of(self, side: Side) -> list[Hand]:
        return [hand for hand in self._hands if side in hand.part.sides]

    def _total(self) -> Tally:
        return total(hand.tally for hand in self._hands)
