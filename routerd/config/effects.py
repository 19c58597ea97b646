"""What an entity that is configured at run time comes to: the same that its section in a file would."""

import os
from collections.abc import Mapping
from dataclasses import replace

from routerd.config.address_section import address_settings
from routerd.config.connector import ConnectorConfig
from routerd.config.connector_section import connector_configs, with_password
from routerd.config.entities import Entity, Findings
from routerd.config.listener import ListenerConfig
from routerd.config.listener_section import listener_configs
from routerd.config.log import LogModuleConfig
from routerd.config.log_section import log_modules
from routerd.core import AddressSettings, RouterMode
from routerd.management import ChangeRefused, ConfiguredEntity

Effect = AddressSettings | ConnectorConfig | ListenerConfig | LogModuleConfig


def effect_of(
    entity: ConfiguredEntity, mode: RouterMode, environment: Mapping[str, str] = os.environ
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
    if findings.errors:
        error = findings.errors[0]
        raise ChangeRefused(f"{error.attribute}: {error.reason}" if error.attribute else error.reason)
    return found[0] if found else None


def resolved(
    entity: ConfiguredEntity, mode: RouterMode, environment: Mapping[str, str] = os.environ
) -> ConfiguredEntity:
    """Return an entity with the password itself instead of its place, which others may not reach.

    Raises ChangeRefused, for what `effect_of` refuses, too.
    """
    effect = effect_of(entity, mode, environment)
    if not isinstance(effect, ConnectorConfig):
        return entity
    return replace(entity, values=with_password(entity.values, effect))
