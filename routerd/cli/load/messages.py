"""What the conductor and its workers say to each other."""

from dataclasses import dataclass
from typing import TypeAlias

from routerd.cli.load.tally import Tally


@dataclass(frozen=True, slots=True)
class Connect:
    """Connect each side to its place, and attach; answered by Ready."""

    sending: tuple[str, int]
    receiving: tuple[str, int]


@dataclass(frozen=True, slots=True)
class Go:
    """Begin: what is sent from the one time to the other is measured."""

    measure_from_ns: int
    until_ns: int


@dataclass(frozen=True, slots=True)
class Ask:
    """Tell what was counted so far; answered by a Sample."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Close all connections, tell what was counted, and end; answered by a last Sample."""


Command: TypeAlias = Connect | Go | Ask | Stop


@dataclass(frozen=True, slots=True)
class Listening:
    """The passive side can be connected to."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Ready:
    """All connections are open and all links attached."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What was counted; `is_done` once everything was sent and settled, or attached."""

    tally: Tally
    is_done: bool


@dataclass(frozen=True, slots=True)
class Broken:
    """The worker cannot go on, and ends."""

    reason: str


Answer: TypeAlias = Listening | Ready | Sample | Broken
