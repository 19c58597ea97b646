"""What an entity that is configured at run time comes to: the same that its section in a file would."""

import os
from collections.abc import Mapping
from dataclasses import replace

from routerd.config.address_section import address_settings
from routerd.config.auth_service import AuthServiceConfig
from routerd.config.auth_service_section import auth_services
from routerd.config.configured import ChangeRefused, ConfiguredEntity
from routerd.config.connector import ConnectorConfig
from routerd.config.connector_section import connector_configs, with_password
from routerd.config.entities import Entity, Findings
from routerd.config.listener import ListenerConfig
from routerd.config.listener_section import listener_configs, with_file
from routerd.config.log import LogModuleConfig
from routerd.config.log_section import log_modules
from routerd.config.record import RecordConfig
from routerd.config.record_section import record_configs
from routerd.config.remote_hosts import Resolve, resolve_host
from routerd.config.ssl_profile import SslProfileConfig
from routerd.config.ssl_profile_section import ssl_profiles, with_resolved
from routerd.config.vhost_section import vhost_settings
from routerd.core import AddressSettings, RouterMode, VhostSettings

Effect = (
    AddressSettings
    | AuthServiceConfig
    | ConnectorConfig
    | ListenerConfig
    | LogModuleConfig
    | RecordConfig
    | SslProfileConfig
    | VhostSettings
)


def effect_of(
    entity: ConfiguredEntity,
    mode: RouterMode,
    environment: Mapping[str, str] = os.environ,
    resolve: Resolve = resolve_host,
) -> Effect | None:
    """Return what the workers of a router in this mode make of an entity, None for nothing. Raises ChangeRefused."""
    findings = Findings("")
    section = Entity(entity.type, None, {**entity.values, "name": entity.name}, {}, findings)
    found: tuple[Effect, ...] = ()
    match entity.type.section:
        case "address":
            found = address_settings([section])
        case "connector":
            found = connector_configs([section], mode, environment)
        case "listener":
            found = listener_configs([section], mode)
        case "log":
            found = log_modules([section])
        case "record":
            found = record_configs([section])
        case "authServicePlugin":
            found = auth_services([section])
        case "sslProfile":
            found = ssl_profiles([section], environment)
        case "vhost":
            found = vhost_settings([section], resolve=resolve)
    if findings.errors:
        error = findings.errors[0]
        raise ChangeRefused(f"{error.attribute}: {error.reason}" if error.attribute else error.reason)
    return found[0] if found else None


def resolved(
    entity: ConfiguredEntity, mode: RouterMode, environment: Mapping[str, str] = os.environ
) -> ConfiguredEntity:
    """Return an entity with its password instead of the place of that, and files by names that hold everywhere.

    Raises ChangeRefused, for what `effect_of` refuses, too.
    """
    effect = effect_of(entity, mode, environment)
    match effect:
        case ConnectorConfig():
            return replace(entity, values=with_password(entity.values, effect))
        case ListenerConfig():
            return replace(entity, values=with_file(entity.values, effect))
        case SslProfileConfig():
            return replace(entity, values=with_resolved(entity.values, effect))
    return entity
