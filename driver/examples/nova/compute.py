"""A compute: it builds the instances that are cast to it, answers for them, and hears what is told to all computes."""

import threading
from collections import Counter
from typing import Any

import oslo_messaging
from oslo_messaging import MessageDeliveryFailure, MessagingTimeout

from examples.nova.scheduler import TOPIC as SCHEDULER

TOPIC = "compute"
REPORT_INTERVAL_S = 0.5


class Compute:
    """Serves the topic `compute` as the host of its name."""

    def __init__(self, name: str, transport: oslo_messaging.Transport) -> None:
        self.target: oslo_messaging.Target | None = oslo_messaging.Target(topic=TOPIC, server=name)
        self._name = name
        self._schedulers = oslo_messaging.get_rpc_client(transport, oslo_messaging.Target(topic=SCHEDULER))
        self._lock = threading.Lock()
        self._built: Counter[str] = Counter()
        self._rules: Counter[int] = Counter()
        self._asked = 0
        self._unheard_reports = 0
        self._is_stopping = threading.Event()
        self._reporter = threading.Thread(target=self._report, name="reporter", daemon=True)

    @oslo_messaging.expose
    def build_and_run_instance(self, ctxt: dict[str, Any], instance: str) -> None:
        """rpc.cast from the API to this host: build it, once."""
        with self._lock:
            self._built[instance] += 1

    @oslo_messaging.expose
    def get_console_output(self, ctxt: dict[str, Any], instance: str) -> str | None:
        """rpc.call from the API to this host: return what an instance says, if it is here."""
        with self._lock:
            self._asked += 1
            return f"{instance} runs on {self._name}" if instance in self._built else None

    @oslo_messaging.expose
    def refresh_security_rules(self, ctxt: dict[str, Any], number: int) -> None:
        """Fanout from the API to all computes."""
        with self._lock:
            self._rules[number] += 1

    def start(self) -> None:
        """Tell the schedulers of it, again and again."""
        self._reporter.start()

    def stop(self) -> None:
        """Tell them no more."""
        self._is_stopping.set()
        self._reporter.join()

    def account(self) -> dict[str, Any]:
        """Return what it has built and heard."""
        with self._lock:
            return {
                "built": dict(self._built),
                "rules": sorted(self._rules),
                "asked": self._asked,
                "unheard_reports": self._unheard_reports,
            }

    def _report(self) -> None:
        schedulers = self._schedulers.prepare(fanout=True)
        while not self._is_stopping.wait(REPORT_INTERVAL_S):
            try:
                schedulers.cast({}, "update_instance_info", host=self._name, instances=len(self._built))
            except (MessageDeliveryFailure, MessagingTimeout):
                # The next one says the same, and more.
                self._unheard_reports += 1
