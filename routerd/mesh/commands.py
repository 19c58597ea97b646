"""The commands of the engine to its shell."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from routerd.mesh.messages import ControlMessage
from routerd.mesh.routes import Routes


@dataclass(frozen=True, slots=True)
class SendControl:
    """Send a message on the control link of a trunk."""

    trunk: int
    message: ControlMessage


@dataclass(frozen=True, slots=True)
class RoutesChanged:
    """Forward by these routes from now on."""

    routes: Routes


@dataclass(frozen=True, slots=True)
class OriginsChanged:
    """Take these as the routers whose paths lead through us."""

    version: int
    """Of the routes that they belong to."""
    through_us: Mapping[str, frozenset[str]]
    """By origin, the destinations that its best paths through us lead to; origins without any are left out."""


@dataclass(frozen=True, slots=True)
class AddressesMapped:
    """Enter and remove addresses of another router."""

    router: str
    added: Mapping[str, int]
    """Keys, and as a hint the treatment that the router gives them, or NO_HINT."""
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RouterForgotten:
    """Remove all addresses of another router."""

    router: str


@dataclass(frozen=True, slots=True)
class Remark:
    """Log a sentence."""

    level: Literal["warning", "info", "debug"]
    text: str


Command = SendControl | RoutesChanged | OriginsChanged | AddressesMapped | RouterForgotten | Remark
