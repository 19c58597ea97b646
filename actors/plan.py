"""How a router is laid out: its actors, what they are called, and which of them has which listeners."""

from dataclasses import dataclass, replace

from routerd.config import ConnectorConfig, ListenerConfig

TABLE = "table"
ENGINE = "engine"
MANAGEMENT = "management"


def connection_role(worker: int) -> str:
    """Return what a connection actor is called in its router."""
    return f"connection.{worker}"


def is_connection(role: str) -> bool:
    """Return whether an actor is a connection actor."""
    return role.startswith("connection.")


def worker_of(role: str) -> int:
    """Return the number of a connection actor."""
    return int(role.removeprefix("connection."))


def actor_name(router_id: str, role: str) -> str:
    """Return what an actor is called in Ray, where other routers have actors too."""
    return f"{router_id}.{role}"


@dataclass(frozen=True, slots=True)
class Place:
    """One connection actor."""

    worker: int
    listeners: tuple[ListenerConfig, ...]
    connectors: tuple[ConnectorConfig, ...] = ()
    """All that are shared, of which this one has some; or the one that it is for."""


def places(
    listeners: tuple[ListenerConfig, ...], connectors: tuple[ConnectorConfig, ...], shared_actors: int
) -> tuple[Place, ...]:
    """Return the connection actors: some that share what they are for, and one for each that asks for its own."""
    shared = tuple(one for one in listeners if not one.dedicated_actor)
    shared_out = tuple(one for one in connectors if not one.dedicated_actor)
    found = [Place(worker, shared, shared_out) for worker in range(shared_actors)]
    found += [Place(shared_actors, (one,)) for one in listeners if one.dedicated_actor]
    found += [Place(shared_actors, (), (one,)) for one in connectors if one.dedicated_actor]
    return tuple(replace(place, worker=worker) for worker, place in enumerate(found))
