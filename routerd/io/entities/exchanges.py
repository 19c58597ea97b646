"""`exchange` and `binding` at a worker."""

from collections.abc import Mapping
from typing import Any

from routerd.core import BindingSettings, ExchangeSettings
from routerd.io.entities.running import Running, Step, Workplace, done


class HostedExchanges(Running[ExchangeSettings]):
    """Exchanges. Each is hosted by one worker; all know its address."""

    def prepare(self, config: ExchangeSettings, worker: Workplace, named: Mapping[str, Any]) -> Step:
        """Have nothing to open."""
        is_host = worker.config.hosts(config.name)
        return Step(lambda: done(worker.call(worker.exchanges.add, config, is_host)))

    async def remove(self, config: ExchangeSettings, worker: Workplace) -> None:
        """Do without an exchange; messages that it has taken go on."""
        await done(worker.call(worker.exchanges.remove, config.name))


class Bindings(Running[BindingSettings]):
    """Bindings, which each worker keeps; they count where their exchange is."""

    def prepare(self, config: BindingSettings, worker: Workplace, named: Mapping[str, Any]) -> Step:
        """Have nothing to open."""
        return Step(lambda: done(worker.call(worker.exchanges.bind, config)))

    async def remove(self, config: BindingSettings, worker: Workplace) -> None:
        """Do without a binding."""
        await done(worker.call(worker.exchanges.unbind, config))
