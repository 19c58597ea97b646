"""`sslProfile` sections."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from routerd.config.entities import Entity
from routerd.config.errors import meant_among
from routerd.config.passwords import PASSWORDS_ALLOWED, is_plain, password_of
from routerd.config.schema.values import ValueRefused, shown
from routerd.config.ssl_profile import (
    DEFAULT_PROTOCOLS,
    PROTOCOLS,
    UID_LETTERS,
    UID_LETTERS_MAX,
    SslProfileConfig,
)
from routerd.config.values import members_of

FILES = ("caCertFile", "certFile", "privateKeyFile", "uidNameMappingFile")
NO_NAME = ""
"""Stands in for the name of a profile that has none."""
_LITERAL, _PASSWORD, _FILE = ("literal:", "pass:", "file:")


def ssl_profiles(
    entities: Iterable[Entity], environment: Mapping[str, str] = os.environ
) -> tuple[SslProfileConfig, ...]:
    """Return what the sections say; what is wrong with them is noted at them."""
    return tuple(_profile(entity, environment) for entity in entities)


def with_resolved(values: Mapping[str, Any], profile: SslProfileConfig) -> dict[str, Any]:
    """Return the values of a profile's attributes as they are the same everywhere: absolute names, the password."""
    files = zip(FILES, (profile.ca_file, profile.cert_file, profile.key_file, profile.names_file), strict=True)
    password = None if profile.password is None else f"{_PASSWORD}{profile.password}"
    return {**values, **dict(files), "password": password, "passwordFile": None}


def check_profile_named(entity: Entity, names: Iterable[str]) -> None:
    """Hold the profile that a listener or connector names against those that there are."""
    named, known = entity.values["sslProfile"], tuple(names)
    if named is not None and named not in known:
        reason = f"there is no sslProfile with the name {shown(named)}"
        allowed = known or ("add a section sslProfile",)
        entity.refuse("sslProfile", reason, *allowed, meant=meant_among(named, known))


def _profile(entity: Entity, environment: Mapping[str, str]) -> SslProfileConfig:
    values = entity.values
    if not values["name"]:
        entity.refuse("name", "Missing required attribute 'name'", "what listeners and connectors call it")
    if values["privateKeyFile"] is not None and values["certFile"] is None:
        entity.refuse("privateKeyFile", "a private key is of no use without its certificate", "certFile as well")
    files = {one: None if values[one] is None else os.path.abspath(values[one]) for one in FILES}
    return SslProfileConfig(
        name=values["name"] or NO_NAME,
        ca_file=files["caCertFile"],
        cert_file=files["certFile"],
        key_file=files["privateKeyFile"],
        password=_password(entity, environment),
        ciphers=values["ciphers"],
        protocols=_protocols(entity),
        uid_format=_uid_format(entity),
        names_file=files["uidNameMappingFile"],
    )


def _password(entity: Entity, environment: Mapping[str, str]) -> str | None:
    text: str | None = entity.values["password"]
    file: str | None = entity.values["passwordFile"]
    attribute = "password"
    if text is None and file is not None:
        attribute, text = "passwordFile", _FILE + file
    if text is None:
        return None
    if is_plain(text):
        entity.warn(attribute, "It is unsafe to provide plain text passwords in the config file")
    if text.startswith(_LITERAL):
        return text.removeprefix(_LITERAL)
    try:
        return password_of(text, environment)
    except ValueRefused as refused:
        entity.refuse(attribute, str(refused), *PASSWORDS_ALLOWED, "literal:TEXT")
        return None


def _protocols(entity: Entity) -> tuple[str, ...]:
    names = members_of(entity.values["protocols"] or "", " ")
    for name in names:
        if name not in PROTOCOLS:
            meant = meant_among(name, PROTOCOLS)
            entity.refuse("protocols", f"{shown(name)} is no version of TLS", *PROTOCOLS, meant=meant)
    for name in names:
        if name in PROTOCOLS and name not in DEFAULT_PROTOCOLS:
            entity.warn("protocols", f"{name} is not safe any more, and systems may be set to refuse it")
    return tuple(one for one in PROTOCOLS if one in names) or DEFAULT_PROTOCOLS


def _uid_format(entity: Entity) -> str | None:
    text: str | None = entity.values["uidFormat"]
    if text is not None and (len(text) > UID_LETTERS_MAX or set(text) - set(UID_LETTERS)):
        allowed = f"up to {UID_LETTERS_MAX} of {', '.join(UID_LETTERS)}"
        entity.warn("uidFormat", f"{shown(text)} is not {allowed}: nobody has a user by it")
    return text or None
