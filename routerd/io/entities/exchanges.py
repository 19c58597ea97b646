"""`exchange` and `binding` at a worker."""

from collections.abc import Mapping
from typing import Any

from routerd.core import BindingSettings, ExchangeSettings
from routerd.io.entities.running import Running, Step, Workplace, done


class HostedExchanges(Running[ExchangeSettings]):
    """Exchanges. One worker hosts each of them; all know its address."""

    def prepare(self, config: ExchangeSettings, worker: Workplace, named: Mapping[str, Any]) -> Step:
        """Open nothing."""
        is_host = worker.config.hosts(config.name)
        return Step(lambda: done(worker.call(worker.exchanges.add, config, is_host)))

    async def remove(self, config: ExchangeSettings, worker: Workplace) -> None:
        """Remove an exchange; continue with messages that it has taken."""
        await done(worker.call(worker.exchanges.remove, config.name))


class Bindings(Running[BindingSettings]):
    """Bindings. Each worker keeps all; they count at the host of their exchange."""

    def prepare(self, config: BindingSettings, worker: Workplace, named: Mapping[str, Any]) -> Step:
        """Open nothing."""
        return Step(lambda: done(worker.call(worker.exchanges.bind, config)))

    async def remove(self, config: BindingSettings, worker: Workplace) -> None:
        """Remove a binding."""
        await done(worker.call(worker.exchanges.unbind, config))
