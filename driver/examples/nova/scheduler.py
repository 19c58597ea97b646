"""The scheduler: it chooses a compute for each instance, from those that have told it of themselves."""

import threading
from collections import Counter
from typing import Any

import oslo_messaging

TOPIC = "scheduler"


class Scheduler:
    """Serves the topic `scheduler`."""

    def __init__(self, name: str) -> None:
        self.target: oslo_messaging.Target | None = oslo_messaging.Target(topic=TOPIC, server=name)
        self._lock = threading.Lock()
        self._instances: dict[str, int] = {}
        """How many each compute says that it has."""
        self._chosen: Counter[str] = Counter()
        self._reports: Counter[str] = Counter()

    @oslo_messaging.expose
    def select_destinations(self, ctxt: dict[str, Any], instance: str) -> str | None:
        """rpc.call from the API: return the compute that was chosen least often, or nothing while none is known."""
        with self._lock:
            if not self._instances:
                return None
            chosen = min(self._instances, key=lambda host: (self._chosen[host], host))
            self._chosen[chosen] += 1
            return chosen

    @oslo_messaging.expose
    def update_instance_info(self, ctxt: dict[str, Any], host: str, instances: int) -> None:
        """Fanout from a compute: it tells every scheduler what it has."""
        with self._lock:
            self._reports[host] += 1
            self._instances[host] = instances

    def start(self) -> None:
        """It does nothing of itself."""

    def stop(self) -> None:
        """It has begun nothing."""

    def account(self) -> dict[str, Any]:
        """Return how often it chose each compute, and was told by each."""
        with self._lock:
            return {"chosen": dict(self._chosen), "reports": dict(self._reports)}
