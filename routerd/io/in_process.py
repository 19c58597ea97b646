"""A router in one process, without Ray: a single worker, which needs no address table."""

from routerd.io.worker import Worker
from routerd.io.worker_config import WorkerConfig


class InProcessRouter:
    """Starts and ends one worker."""

    def __init__(self, config: WorkerConfig) -> None:
        self._worker = Worker(config, lambda changes: None)

    def start(self) -> list[str]:
        """Return once everything listens: what listens. Raises ListenFailed."""
        return self._worker.start()

    def wait(self) -> None:
        """Return when the worker has ended."""
        self._worker.wait()

    def drain(self, grace_s: float) -> None:
        """End in order."""
        self._worker.drain(grace_s).result()
        self._worker.stop()

    def stop(self) -> None:
        """End now."""
        self._worker.stop()
