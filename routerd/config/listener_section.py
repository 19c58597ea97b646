"""`listener` sections."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from routerd.config.auth_service_section import check_service_named
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
    text_of,
)
from routerd.config.entities import Entity
from routerd.config.errors import meant_among
from routerd.config.listener import ListenerConfig, Role
from routerd.config.ssl_profile_section import check_profile_named
from routerd.config.values import URLS_ALLOWED, failover_urls
from routerd.core import RouterMode
from routerd.wire.sasl import SCRAM_MECHANISMS

ANONYMOUS, EXTERNAL, GSSAPI = "ANONYMOUS", "EXTERNAL", "GSSAPI"
OFFERED_MECHANISMS = (EXTERNAL, GSSAPI, *SCRAM_MECHANISMS, "PLAIN", ANONYMOUS)
"""Those that listeners can offer by themselves."""
CYRUS_MECHANISMS = (
    *("CRAM-MD5", "DIGEST-MD5", "GS2-IAKERB", "GS2-KRB5", "GSS-SPNEGO", "KERBEROS_V4", "LOGIN", "NTLM", "OTP"),
    *("PASSDSS-3DES-1", "SRP", *(f"{one}-PLUS" for one in SCRAM_MECHANISMS)),
)
"""Those that Cyrus SASL may have besides."""


def listener_configs(
    entities: Iterable[Entity],
    mode: RouterMode,
    profiles: Iterable[str] | None = None,
    services: Iterable[str] | None = None,
) -> tuple[ListenerConfig, ...]:
    """Return what the sections say; what is wrong with them is noted at them.

    `profiles` are the names of all sections `sslProfile`, None where others look whether the one named is there;
    `services` those of all sections `authServicePlugin`.
    """
    listeners: list[ListenerConfig] = []
    at: dict[tuple[str, int], list[tuple[ListenerConfig, int | None]]] = {}
    for entity in entities:
        check_role(entity, mode)
        if profiles is not None:
            check_profile_named(entity, profiles)
        if services is not None:
            check_service_named(entity, services)
        listener = _listener(entity)
        listeners.append(listener)
        if listener.port != NO_PORT:
            others = at.setdefault((listener.host, listener.port), [])
            _check_clash(entity, listener, others)
            others.append((listener, entity.line))
    return tuple(listeners)


def with_file(values: Mapping[str, Any], listener: ListenerConfig) -> dict[str, Any]:
    """Return the values of a listener's attributes with a file by a name that holds everywhere."""
    return {**values, "trustedCertsFile": listener.trusted_file}


def _listener(entity: Entity) -> ListenerConfig:
    values = entity.values
    strip = values["stripAnnotations"]
    mechanisms = mechanisms_of(entity)
    _check_mechanisms(entity, mechanisms or ())
    if values["authenticatePeer"] and mechanisms == (ANONYMOUS,):
        entity.warn("saslMechanisms", "nobody can connect: ANONYMOUS proves nothing, and 'authenticatePeer' is set")
    check_host(entity, "socketAddressFamily")
    check_open_properties(entity)
    return ListenerConfig(
        name=values["name"],
        host=values["host"],
        port=port_of(entity),
        family=values["socketAddressFamily"],
        role=Role(values["role"]),
        cost=values["cost"],
        max_frame_size=frame_size(entity),
        max_sessions=session_limit(entity),
        max_links=values["maxLinks"],
        session_frames=values["maxSessionFrames"] or None,
        idle_timeout_s=values["idleTimeoutSeconds"],
        handshake_timeout_s=values["initialHandshakeTimeoutSeconds"],
        strip_in=strip in ("in", "both"),
        strip_out=strip in ("out", "both"),
        link_capacity=values["linkCapacity"] or 0,
        sasl_mechanisms=mechanisms,
        authenticate_peer=values["authenticatePeer"],
        sasl_plugin=values["saslPlugin"],
        require_encryption=values["requireEncryption"],
        ssl_profile=values["sslProfile"],
        require_ssl=_requires_ssl(entity),
        trusted_file=_trusted_file(entity, mechanisms),
        open_properties=values["openProperties"] or {},
        policy_vhost=values["policyVhost"],
        failover_urls=text_of(entity, "failoverUrls", failover_urls, URLS_ALLOWED, ()),
        is_multi_tenant=values["multiTenant"],
        dedicated_actor=values["dedicatedActor"],
        message_log_components=logged_parts(entity),
    )


def _check_mechanisms(entity: Entity, names: tuple[str, ...]) -> None:
    """Hold the mechanisms against those that can be offered; what a service offers, it alone knows."""
    known = (*OFFERED_MECHANISMS, *CYRUS_MECHANISMS)
    unknown = [one for one in names if one not in known]
    if not unknown or entity.values["saslPlugin"] is not None:
        return
    text = f"{unknown[0]} is no mechanism that this router can offer"
    meant = GSSAPI if "KERB" in unknown[0] else meant_among(unknown[0], OFFERED_MECHANISMS)
    if len(unknown) == len(names) and entity.values["authenticatePeer"]:
        reason = f"nobody can connect: {text}, and 'authenticatePeer' is set"
        entity.refuse("saslMechanisms", reason, *OFFERED_MECHANISMS, meant=meant)
    else:
        hint = f"did you mean {meant}?" if meant else f"it has {', '.join(OFFERED_MECHANISMS)}"
        entity.warn("saslMechanisms", f"{text}, and is passed over; {hint}")


def _requires_ssl(entity: Entity) -> bool:
    is_required: bool = entity.values["requireSsl"]
    if is_required and entity.values["sslProfile"] is None:
        entity.refuse("requireSsl", "TLS needs an 'sslProfile'", "sslProfile as well", "no")
    return is_required


def _trusted_file(entity: Entity, mechanisms: tuple[str, ...] | None) -> str | None:
    file: str | None = entity.values["trustedCertsFile"]
    if file is None:
        return None
    if entity.values["sslProfile"] is None or EXTERNAL not in (mechanisms or ()):
        reason = "nobody is asked for a certificate: that takes an 'sslProfile', and EXTERNAL in 'saslMechanisms'"
        entity.warn("trustedCertsFile", reason)
    return os.path.abspath(file)


def _check_clash(entity: Entity, one: ListenerConfig, others: list[tuple[ListenerConfig, int | None]]) -> None:
    """Hold a listener against those with its host and port."""
    for other, line in others:
        if one.name is None and other.name is None:
            reason = (
                f"adding {one.identity} duplicates unique attribute 'identity' from existing listener of line {line}"
            )
            entity.refuse("port", reason, "another port", "a name for each of the two")
        elif one.port and (one.family is None or other.family is None or one.family == other.family):
            reason = f"the listener of line {line} listens on {one.address} already"
            entity.refuse("port", reason, "another port or host")
