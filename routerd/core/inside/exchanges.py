"""The exchanges of a worker: those that it hosts, and the addresses of those that siblings host."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from routerd.core.inside.exchange import Exchange
from routerd.core.inside.exchange_loop import ExchangeLoop
from routerd.core.settings import BindingSettings, ExchangeSettings

if TYPE_CHECKING:
    from routerd.core.router import Router

SETTLE_S = 10.0
"""The time for messages of a removed exchange to settle."""


@dataclass(slots=True)
class _Hosted:
    exchange: Exchange
    loop: ExchangeLoop


class Exchanges:
    """A worker's part of the router's exchanges. One worker hosts each exchange."""

    def __init__(self, router: "Router") -> None:
        self._router = router
        self._settings: dict[str, ExchangeSettings] = {}
        self._hosted: dict[str, _Hosted] = {}
        self._bindings: dict[str, dict[str, BindingSettings]] = {}
        """By the name of the exchange, which may be added later."""
        self._leaving: dict[ExchangeLoop, float] = {}
        """The connections of removed exchanges, and the end of the time for their messages to settle."""

    @property
    def hosted(self) -> list[Exchange]:
        """The exchanges that this worker hosts."""
        return [one.exchange for one in self._hosted.values()]

    @property
    def loops(self) -> list[ExchangeLoop]:
        """Their connections, including those of removed exchanges."""
        return [*(one.loop for one in self._hosted.values()), *self._leaving]

    def add(self, settings: ExchangeSettings, is_host: bool) -> None:
        """Add an exchange at its address; another one of the name is replaced."""
        if settings.name in self._settings:
            self.remove(settings.name)
        self._settings[settings.name] = settings
        self._router.configured_addresses.treat_as_exchange(self._key(settings.address, settings.phase), True)
        if is_host:
            exchange = Exchange(settings, self._key)
            for binding in self._bindings.get(settings.name, {}).values():
                exchange.bind(binding)
            self._hosted[settings.name] = _Hosted(exchange, self._begun(exchange))

    def remove(self, name: str) -> None:
        """Remove an exchange: its address is an ordinary one again. Continue with messages that it has taken."""
        settings = self._settings.pop(name, None)
        if settings is None:
            return
        hosted = self._hosted.pop(name, None)
        if hosted is not None:
            hosted.loop.retire()
            self._leaving[hosted.loop] = self._router.now + SETTLE_S
        self._router.configured_addresses.treat_as_exchange(self._key(settings.address, settings.phase), False)

    def bind(self, settings: BindingSettings) -> None:
        """Add a binding: messages that match its key are sent on. Another one of the name is replaced."""
        known = self._bindings.get(settings.exchange, {}).get(settings.name)
        if known is not None:
            self.unbind(known)
        self._bindings.setdefault(settings.exchange, {})[settings.name] = settings
        hosted = self._hosted.get(settings.exchange)
        if hosted is not None:
            hosted.loop.open_hop(hosted.exchange.bind(settings))
            hosted.loop.look_for_ways()

    def unbind(self, settings: BindingSettings) -> None:
        """Remove a binding; this counts for the next message."""
        bindings = self._bindings.get(settings.exchange, {})
        bindings.pop(settings.name, None)
        if not bindings:
            self._bindings.pop(settings.exchange, None)
        hosted = self._hosted.get(settings.exchange)
        if hosted is not None:
            hop = hosted.exchange.unbind(settings.name)
            hosted.loop.look_for_ways()
            if hop is not None:
                hosted.loop.close_hop(hop)

    def each_second(self, now: float) -> None:
        """End connections that are not needed any more, and replace one that a fault has ended."""
        for loop, until in list(self._leaving.items()):
            loop.tidy()
            if loop.is_idle or loop.is_over or now >= until:
                del self._leaving[loop]
                loop.abort()
        for hosted in self._hosted.values():
            if not hosted.loop.is_over:
                hosted.loop.tidy()
            elif not self._router.attaching.is_draining:
                hosted.loop = self._begun(hosted.exchange)

    def _begun(self, exchange: Exchange) -> ExchangeLoop:
        return ExchangeLoop(self._router, exchange, self._router.now)

    def _key(self, address: str, phase: int) -> str:
        return self._router.directory.space.key(address, phase)
