"""The API: it boots instances as fast as they are built, and keeps account of what it was promised."""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

import oslo_messaging
from oslo_messaging import MessageDeliveryFailure, MessagingTimeout

from examples.nova.compute import TOPIC as COMPUTE
from examples.nova.scheduler import TOPIC as SCHEDULER

BOOTING = 4
"""Instances that are booted at a time."""
INTERVAL_S = 0.02
CALL_S = 5
"""How long a call may take."""
ENDING_S = 40.0

Answer = TypeVar("Answer")


class Api:
    """Serves nobody; boots, and tells the computes of rules."""

    def __init__(self, transport: oslo_messaging.Transport) -> None:
        self.target: oslo_messaging.Target | None = None
        client = oslo_messaging.get_rpc_client
        self._scheduler = client(transport, oslo_messaging.Target(topic=SCHEDULER), timeout=CALL_S)
        self._computes = client(transport, oslo_messaging.Target(topic=COMPUTE), timeout=CALL_S)
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._begun: set[str] = set()
        self._promised: dict[str, str] = {}
        """By instance, the host that has accepted it."""
        self._running: set[str] = set()
        self._wrong: list[str] = []
        self._rules: list[int] = []
        self._repeated: Counter[str] = Counter()
        self._last_running = time.monotonic()
        self._worst_pause_s = 0.0
        self._is_stopping = threading.Event()
        self._threads = [threading.Thread(target=self._boot_all, daemon=True) for _ in range(BOOTING)]
        self._threads.append(threading.Thread(target=self._tell_rules, daemon=True))

    def start(self) -> None:
        """Begin to boot."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Boot no more; finish what was begun, for a time."""
        self._is_stopping.set()
        deadline = time.monotonic() + ENDING_S
        for thread in self._threads:
            thread.join(max(deadline - time.monotonic(), 0.0))

    def account(self) -> dict[str, Any]:
        """Return what was begun, what was promised and what came of it."""
        with self._lock:
            self._note_pause()
            worst_pause_s, self._worst_pause_s = self._worst_pause_s, 0.0
            self._last_running = time.monotonic()
            return {
                "begun": sorted(self._begun),
                "promised": dict(self._promised),
                "running": sorted(self._running),
                "wrong": list(self._wrong),
                "rules": list(self._rules),
                "repeated": dict(self._repeated),
                "pause_s": worst_pause_s,
            }

    # --- booting

    def _boot_all(self) -> None:
        while not self._is_stopping.wait(INTERVAL_S):
            instance = f"instance-{next(self._numbers):05}"
            with self._lock:
                self._begun.add(instance)
            self._boot(instance)

    def _boot(self, instance: str) -> None:
        host = self._insist(lambda: self._scheduler.call({}, "select_destinations", instance=instance))
        compute = self._computes.prepare(server=host)
        # With its cast accepted, the host has promised to build it.
        self._insist(lambda: compute.cast({}, "build_and_run_instance", instance=instance) or True)
        with self._lock:
            self._promised[instance] = host
        said = self._insist(lambda: compute.call({}, "get_console_output", instance=instance))
        with self._lock:
            if said != f"{instance} runs on {host}":
                self._wrong.append(f"{instance}: {said}")
                return
            self._note_pause()
            self._last_running = time.monotonic()
            self._running.add(instance)

    def _insist(self, attempt: Callable[[], Answer | None]) -> Answer:
        """Try until there is an answer; nothing is done twice by it, since each instance has a name."""
        while True:
            try:
                answer = attempt()
                if answer is not None:
                    return answer
                reason = "not yet"
            except (MessageDeliveryFailure, MessagingTimeout) as error:
                reason = type(error).__name__
            with self._lock:
                self._repeated[reason] += 1
            time.sleep(INTERVAL_S)

    def _note_pause(self) -> None:
        self._worst_pause_s = max(self._worst_pause_s, time.monotonic() - self._last_running)

    # --- what all computes are told

    def _tell_rules(self) -> None:
        computes = self._computes.prepare(fanout=True)
        for number in itertools.count(1):
            if self._is_stopping.wait(INTERVAL_S * 2):
                return
            try:
                computes.cast({}, "refresh_security_rules", number=number)
            except (MessageDeliveryFailure, MessagingTimeout):
                with self._lock:
                    self._repeated["fanout not accepted"] += 1
            else:
                with self._lock:
                    self._rules.append(number)
