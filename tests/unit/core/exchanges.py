"""Exchanges in memory: their workers, and clients that send with subjects."""

from typing import Any

from routerd.core import BindingSettings, Exchange, Exchanges, ExchangeSettings
from routerd.core.inside.exchange_loop import ExchangeLoop
from routerd.wire import Message, Properties
from tests.routers import Worker, Workers, message


class _LoopLine:
    """Has the connection of an exchange carry what it has when a worker would: once the router says that there is."""

    def __init__(self, loop: ExchangeLoop, worker: Worker) -> None:
        self._loop = loop
        self._worker = worker

    def carry(self, now: float) -> bool:
        """Let what either end has to send arrive; whether the router said that there was anything."""
        router = self._worker.router
        others = [one for one in router.awake if one.context is not self._loop.peer]
        is_awake = len(others) < len(router.awake)
        router.awake = others
        if is_awake:
            self._loop.carry(now)
        return is_awake


class Exchanging:
    """The exchanges of a router of several workers, of which one hosts them."""

    def __init__(self, workers: Workers, host: int = 0) -> None:
        self.workers = workers
        self.host = host
        self.parts = {index: Exchanges(worker.router) for index, worker in workers.workers.items()}
        self._lines: set[ExchangeLoop] = set()
        self._numbers = 0

    def add(self, name: str = "e", address: str = "topic", **options: Any) -> None:
        """Add an exchange."""
        settings = ExchangeSettings(name=name, address=address, **options)
        for index, part in self.parts.items():
            part.add(settings, index == self.host)
        self.pump()

    def bind(self, key: str, next_hop: str, exchange: str = "e", **options: Any) -> BindingSettings:
        """Add a binding."""
        self._numbers += 1
        name = options.pop("name", f"binding/{self._numbers}")
        settings = BindingSettings(name=name, exchange=exchange, key=key, next_hop=next_hop, **options)
        for part in self.parts.values():
            part.bind(settings)
        self.pump()
        return settings

    def unbind(self, settings: BindingSettings) -> None:
        """Remove a binding."""
        for part in self.parts.values():
            part.unbind(settings)
        self.pump()

    def remove(self, name: str = "e") -> None:
        """Remove an exchange."""
        for part in self.parts.values():
            part.remove(name)
        self.pump()

    def second(self, seconds: float = 1.0) -> None:
        """Let time pass."""
        self.workers.pump(seconds)
        for part in self.parts.values():
            part.each_second(self.workers.now)
        self.pump()

    def pump(self) -> None:
        """Carry everything, the connections of exchanges included."""
        for index, part in self.parts.items():
            for loop in part.loops:
                if loop not in self._lines:
                    self._lines.add(loop)
                    self.workers.lines.append(_LoopLine(loop, self.workers[index]))  # type: ignore[arg-type]
        self.workers.pump()

    def counts(self, name: str = "e") -> tuple[int, int, int, int]:
        """What an exchange has received, dropped, forwarded and diverted."""
        one = self.exchange(name)
        return one.received, one.dropped, one.forwarded, one.diverted

    def exchange(self, name: str = "e") -> Exchange:
        """The exchange at its host."""
        [found] = [one for one in self.parts[self.host].hosted if one.settings.name == name]
        return found


def about(subject: str | None, body: Any = "hello", **sections: Any) -> bytes:
    """A message with a subject."""
    return message(body, properties=Properties(subject=subject), **sections)


def subject_of(octets: bytes) -> Any:
    """The subject of a message."""
    properties = Message.decode(octets).properties
    return None if properties is None else properties.subject
