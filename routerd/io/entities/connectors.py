"""`connector` at a worker."""

from collections.abc import Mapping
from typing import Any

from routerd.config import ConnectorConfig
from routerd.io.entities.running import Running, Step, Workplace, done
from routerd.io.entities.ssl_profiles import check_named_profile


class OwnedConnectors(Running[ConnectorConfig]):
    """Connectors. Each is at one worker."""

    def prepare(self, config: ConnectorConfig, worker: Workplace, named: Mapping[str, Any]) -> Step | None:
        """Have nothing to open; the worker that owns the connector will connect."""
        check_named_profile(named, config)
        if not worker.config.owns(config):
            return None
        return Step(lambda: done(worker.call(worker.connectors.start, config)))

    async def remove(self, config: ConnectorConfig, worker: Workplace) -> None:
        """Close the connection of a connector, if this worker has it, and make no other."""
        await done(worker.call(worker.connectors.stop, config.identity))
