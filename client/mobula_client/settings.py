"""How a client connects."""

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mobula_client.authentication import check_mechanisms
from mobula_client.backoff import Backoff
from mobula_client.errors import UsageError
from mobula_client.routers import Router
from mobula_client.tls import Tls


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a client keeps to for all its connections; `connect` makes it."""

    routers: tuple[Router, ...]
    """The routers, tried in turn."""
    container_id: str
    """Our name to the routers. With those of links it says who we are, so no other program may have it."""
    is_container_given: bool = True
    """Whether the application chose the name, so that it is the same after a restart."""
    tls: Tls | ssl.SSLContext | None = None
    """For routers whose URL begins with amqps; None trusts the certificates of the system."""
    mechanisms: tuple[str, ...] | None = None
    """SASL mechanisms, best first; None takes what fits the URL."""
    hostname: str | None = None
    """The virtual host; None takes the host of the URL."""
    idle_timeout_s: float = 30.0
    """A router that is silent for so long counts as lost. It is told half of that, and sends heartbeats."""
    connect_within_s: float = 30.0
    """How long `connect` tries the routers, one after another and again, before it raises."""
    attempt_within_s: float = 10.0
    """How long one attempt may take until the router has opened."""
    reconnect_within_s: float | None = None
    """How long a lost connection is tried to be replaced before everything fails; None is for ever."""
    max_frame_size: int = 65_536
    """The largest frame that we accept. A subscriber's unsettled map has to fit one."""
    backoff: Backoff = field(default_factory=Backoff)
    """The waits between attempts, once all routers have been tried."""
    properties: Mapping[Any, Any] | None = None
    """Properties of the connection, for the router's operator to see."""
    random: Callable[[], float]
    """Draws numbers from 0 to 1, for jitter."""
    token: Callable[[int], bytes]
    """Draws octets that nobody can guess: for nonces, names and tags."""

    def __post_init__(self) -> None:
        check_mechanisms(self.mechanisms)
        for name in ("connect_within_s", "attempt_within_s"):
            if getattr(self, name) <= 0:
                raise UsageError(f"{name} is {getattr(self, name)}; it must be above 0")
        if self.idle_timeout_s < 0:
            raise UsageError(f"idle_timeout_s is {self.idle_timeout_s:g}; it must be above 0, or 0 for no heartbeats")
