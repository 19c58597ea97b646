"""`connector` sections."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from routerd.config.connection_attributes import (
    NO_PORT,
    check_host,
    check_open_properties,
    check_role,
    frame_size,
    logged_parts,
    mechanisms_of,
    port_of,
    session_limit,
)
from routerd.config.connector import INTER_ROUTER_MAX, ConnectorConfig
from routerd.config.entities import Entity
from routerd.config.listener import Role
from routerd.config.passwords import PASSWORDS_ALLOWED, is_plain, password_of
from routerd.config.schema.values import ValueRefused
from routerd.config.ssl_profile_section import check_profile_named
from routerd.core import RouterMode
from routerd.wire.sasl import SCRAM_MECHANISMS

WITH_PASSWORD = (*SCRAM_MECHANISMS, "PLAIN")
GSSAPI = "GSSAPI"
USABLE_MECHANISMS = ("EXTERNAL", GSSAPI, *WITH_PASSWORD, "ANONYMOUS")
"""Those that connectors can use; others may be named beside them."""


def connector_configs(
    entities: Iterable[Entity],
    mode: RouterMode,
    environment: Mapping[str, str] = os.environ,
    profiles: Iterable[str] | None = None,
) -> tuple[ConnectorConfig, ...]:
    """Return what the sections say; what is wrong with them is noted at them.

    `profiles` are the names of all sections `sslProfile`, None where others look whether the one named is there.
    """
    connectors: list[ConnectorConfig] = []
    lines: dict[str, int | None] = {}
    to_routers = 0
    for entity in entities:
        check_role(entity, mode)
        if profiles is not None:
            check_profile_named(entity, profiles)
        connector = _connector(entity, environment)
        connectors.append(connector)
        if connector.role is Role.EDGE and mode is RouterMode.INTERIOR:
            entity.warn("role", "only a router with mode='edge' makes use of such a connection")
        to_routers += connector.role is Role.INTER_ROUTER
        if connector.role is Role.INTER_ROUTER and to_routers > INTER_ROUTER_MAX:
            reason = f"a router has at most {INTER_ROUTER_MAX} connections with role='inter-router'"
            entity.refuse("role", reason, "fewer connectors")
        if connector.port != NO_PORT and connector.identity in lines:
            existing = f"existing connector of line {lines[connector.identity]}"
            reason = f"adding {connector.identity} duplicates unique attribute 'identity' from {existing}"
            entity.refuse("port", reason, "another host or port", "a name for each of the two")
        lines.setdefault(connector.identity, entity.line)
    return tuple(connectors)


def with_password(values: Mapping[str, Any], connector: ConnectorConfig) -> dict[str, Any]:
    """Return the values of a connector's attributes with the password itself, not where it is to be found."""
    password = connector.sasl_password
    return {**values, "saslPassword": None if password is None else f"pass:{password}"}


def _connector(entity: Entity, environment: Mapping[str, str]) -> ConnectorConfig:
    values = entity.values
    strip = values["stripAnnotations"]
    port = port_of(entity)
    if port == 0:
        entity.refuse("port", "0 is no port to connect to", "1 to 65535", "the name of a service")
    if not values["host"]:
        entity.refuse("host", "is empty", "an address", "the name of a host")
    check_host(entity, "protocolFamily")
    check_open_properties(entity)
    password = _password(entity, environment)
    mechanisms = _mechanisms(entity)
    _check_credentials(entity, mechanisms)
    return ConnectorConfig(
        name=values["name"],
        host=values["host"],
        port=port,
        given_port=None if values["port"] == str(port) else values["port"],
        family=values["protocolFamily"],
        role=Role(values["role"]),
        cost=values["cost"],
        max_frame_size=frame_size(entity),
        max_sessions=session_limit(entity),
        session_frames=values["maxSessionFrames"] or None,
        idle_timeout_s=values["idleTimeoutSeconds"],
        strip_in=strip in ("in", "both"),
        strip_out=strip in ("out", "both"),
        link_capacity=values["linkCapacity"] or 0,
        sasl_mechanisms=mechanisms,
        sasl_username=values["saslUsername"],
        sasl_password=password,
        ssl_profile=values["sslProfile"],
        verify_hostname=values["verifyHostname"],
        allow_redirect=values["allowRedirect"],
        open_properties=values["openProperties"] or {},
        policy_vhost=values["policyVhost"],
        dedicated_actor=values["dedicatedActor"],
        message_log_components=logged_parts(entity),
    )


def _password(entity: Entity, environment: Mapping[str, str]) -> str | None:
    text = entity.values["saslPassword"]
    if text is None:
        return None
    if is_plain(text):
        entity.warn("saslPassword", "It is unsafe to provide plain text passwords in the config file")
    try:
        return password_of(text, environment)
    except ValueRefused as refused:
        entity.refuse("saslPassword", str(refused), *PASSWORDS_ALLOWED)
        return None


def _check_credentials(entity: Entity, mechanisms: tuple[str, ...] | None) -> None:
    for given, missing in (("saslUsername", "saslPassword"), ("saslPassword", "saslUsername")):
        if given == "saslUsername" and GSSAPI in (mechanisms or ()):
            # It says whose ticket it is.
            continue
        if entity.values[given] is not None and entity.values[missing] is None:
            entity.warn(given, f"is of no use without '{missing}'")


def _mechanisms(entity: Entity) -> tuple[str, ...] | None:
    names = mechanisms_of(entity)
    if names is None:
        return None
    usable = [one for one in names if one in USABLE_MECHANISMS]
    if not usable:
        entity.refuse("saslMechanisms", "none of these mechanisms is supported", *USABLE_MECHANISMS)
    elif set(usable) <= set(WITH_PASSWORD) and None in (entity.values["saslUsername"], entity.values["saslPassword"]):
        reason = f"{usable[0]} needs 'saslUsername' and 'saslPassword'"
        entity.refuse("saslMechanisms", reason, "both of them", "ANONYMOUS")
    return names
