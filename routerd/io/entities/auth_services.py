"""`authServicePlugin` at a worker."""

from collections.abc import Mapping
from typing import Any

from routerd.config import AuthServiceConfig
from routerd.io.entities.running import Running, Step, Workplace, done


class AuthServices(Running[AuthServiceConfig]):
    """Services that listeners name."""

    def prepare(self, config: AuthServiceConfig, worker: Workplace, named: Mapping[str, Any]) -> Step:
        """Have nothing to open: the service is connected to when a peer comes."""
        return Step(lambda: done(worker.call(worker.authentication.add_service, config)))

    async def remove(self, config: AuthServiceConfig, worker: Workplace) -> None:
        """Do without a service that no listener names any more."""
        await done(worker.call(worker.authentication.remove_service, config.name))
