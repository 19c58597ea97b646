"""What a worker can tell a routing engine that has just been started."""

from dataclasses import dataclass

from routerd.core import MappedAddresses, TrunkEvent


@dataclass(frozen=True, slots=True)
class NetworkView:
    """The network as a worker knows it; a plain value that can be pickled."""

    version: tuple[int, int]
    """Of the news that the worker had last."""
    checkpoint: object
    """What the engine before gave the workers to keep; None if there was none."""
    mapping: tuple[MappedAddresses, ...]
    trunks: tuple[TrunkEvent, ...]
    """The trunks of this worker, as the events of their opening."""
