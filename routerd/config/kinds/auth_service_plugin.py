"""`authServicePlugin`: a service that says who a peer is."""

from dataclasses import dataclass
from typing import ClassVar

from routerd.config.configurable import Configurable, Reading
from routerd.config.entity import Entity
from routerd.config.kinds.connection_attributes import NO_PORT
from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import CREATE, STRING, Attribute, EntityType, Purpose
from routerd.config.schema.values import ValueRefused
from routerd.config.values import PORTS_ALLOWED, port_number

AUTH_SERVICE_PLUGIN = EntityType(
    name="authServicePlugin",
    description="A service that says who a peer is.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="authServicePlugin",
    own_operations=("CREATE", "DELETE"),
    is_experimental=True,
    is_referential=True,
    is_supported=True,
    own_attributes=(
        Attribute("authService", STRING, "Host and port of the service in one.", CREATE, is_deprecated=True),
        Attribute("host", STRING, "The host of the service.", CREATE, ""),
        Attribute("port", STRING, "The port of the service.", CREATE, "amqp"),
        Attribute("realm", STRING, "The host name that the service is given.", CREATE, old_name="saslInitHostname"),
        Attribute("sslProfile", STRING, "The `sslProfile` of connections to it.", CREATE, old_name="authSslProfile"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthServiceConfig:
    """Where a service is that SASL exchanges are passed on to."""

    name: str
    """What listeners call it."""
    host: str
    port: int
    realm: str | None = None
    """The host name that the service is given in the exchange."""
    ssl_profile: str | None = None
    """The name of the profile for TLS to the service; None is without TLS."""


NO_NAME = ""
"""Stands in for the name of a service that has none."""


@dataclass(frozen=True, slots=True)
class _Place:
    host: str
    port: str
    host_attribute: str
    port_attribute: str


class AuthServiceKind(Configurable[AuthServiceConfig]):
    """Services that SASL exchanges are passed on to."""

    type = AUTH_SERVICE_PLUGIN
    example = """authServicePlugin {
    name: identity
    host: identity.example.com
    port: 5672
    realm: example.com
}
# Whoever connects here is who that service says.
listener {
    port: 5672
    authenticatePeer: yes
    saslPlugin: identity
}
"""
    notes = """A listener that names it as `saslPlugin` offers what the service offers, passes on what the
peer says, and believes what the service decides. See [security.md](security.md) for what a service has to do."""
    change_notes = "It stays as long as a listener names it."
    references: ClassVar = {"sslProfile": "sslProfile"}

    def read(self, entity: Entity, reading: Reading) -> AuthServiceConfig:
        """Return what a section says."""
        values = entity.values
        if not values["name"]:
            entity.refuse("name", "Missing required attribute 'name'", "what listeners call it")
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
        entity.refuse(place.port_attribute, "0 is not a port to connect to", "1 to 65535", "the name of a service")
    return port
