"""`authServicePlugin` sections."""

from collections.abc import Iterable
from dataclasses import dataclass

from routerd.config.auth_service import AuthServiceConfig
from routerd.config.connection_attributes import NO_PORT
from routerd.config.entities import Entity
from routerd.config.errors import meant_among
from routerd.config.schema.values import ValueRefused, shown
from routerd.config.ssl_profile_section import check_profile_named
from routerd.config.values import PORTS_ALLOWED, port_number

NO_NAME = ""
"""Stands in for the name of a service that has none."""


@dataclass(frozen=True, slots=True)
class _Place:
    host: str
    port: str
    host_attribute: str
    port_attribute: str


def auth_services(entities: Iterable[Entity], profiles: Iterable[str] | None = None) -> tuple[AuthServiceConfig, ...]:
    """Return what the sections say; what is wrong with them is noted at them.

    `profiles` are the names of all sections `sslProfile`, None where others look whether the one named is there.
    """
    known = None if profiles is None else tuple(profiles)
    return tuple(_service(entity, known) for entity in entities)


def check_service_named(entity: Entity, names: Iterable[str]) -> None:
    """Hold the service that a listener names against those that there are."""
    named, known = entity.values["saslPlugin"], tuple(names)
    if named is not None and named not in known:
        reason = f"there is no authServicePlugin with the name {shown(named)}"
        allowed = known or ("add a section authServicePlugin",)
        entity.refuse("saslPlugin", reason, *allowed, meant=meant_among(named, known))


def _service(entity: Entity, profiles: tuple[str, ...] | None) -> AuthServiceConfig:
    values = entity.values
    if not values["name"]:
        entity.refuse("name", "Missing required attribute 'name'", "what listeners call it")
    if profiles is not None:
        check_profile_named(entity, profiles)
    place = _place(entity)
    if not place.host:
        entity.refuse(place.host_attribute, "the service has to be somewhere", "an address", "the name of a host")
    return AuthServiceConfig(
        name=values["name"] or NO_NAME,
        host=place.host,
        port=_port(entity, place),
        realm=values["realm"],
        ssl_profile=values["sslProfile"],
    )


def _place(entity: Entity) -> _Place:
    """Return where the service is; `authService` has both in one, and was there first (9.6)."""
    values = entity.values
    if values["authService"] is None or values["host"]:
        return _Place(values["host"], values["port"], "host", "port")
    host, colon, port = values["authService"].rpartition(":")
    if not colon:
        host, port = port, values["port"]
    return _Place(host.removeprefix("[").removesuffix("]"), port, "authService", "authService")


def _port(entity: Entity, place: _Place) -> int:
    try:
        port = port_number(place.port)
    except ValueRefused as refused:
        entity.refuse(place.port_attribute, str(refused), *PORTS_ALLOWED)
        return NO_PORT
    if port == 0:
        entity.refuse(place.port_attribute, "0 is no port to connect to", "1 to 65535", "the name of a service")
    return port
