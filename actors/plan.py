"""How a router is laid out: its actors, what they are called, and which of them has which listeners."""

from dataclasses import dataclass

from routerd.config import ListenerConfig

TABLE = "table"
ENGINE = "engine"
MANAGEMENT = "management"


def connection_role(worker: int) -> str:
    """Return what a connection actor is called in its router."""
    return f"connection.{worker}"


def is_connection(role: str) -> bool:
    """Return whether an actor is a connection actor."""
    return role.startswith("connection.")


def actor_name(router_id: str, role: str) -> str:
    """Return what an actor is called in Ray, where other routers have actors too."""
    return f"{router_id}.{role}"


@dataclass(frozen=True, slots=True)
class Place:
    """One connection actor."""

    worker: int
    listeners: tuple[ListenerConfig, ...]


def places(listeners: tuple[ListenerConfig, ...], shared_actors: int) -> tuple[Place, ...]:
    """Return the connection actors: some that share the listeners, and one for each that asks for its own."""
    shared = tuple(listener for listener in listeners if not listener.dedicated_actor)
    dedicated = [listener for listener in listeners if listener.dedicated_actor]
    together = [Place(worker, shared) for worker in range(shared_actors)]
    return (*together, *(Place(shared_actors + number, (one,)) for number, one in enumerate(dedicated)))
