"""From a configuration file to what the router is made of."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from routerd.config.address_section import address_settings
from routerd.config.auth_service_section import auth_services
from routerd.config.catalogue import SECTIONS, find_entity_type
from routerd.config.connector import ConnectorConfig
from routerd.config.connector_section import connector_configs, with_password
from routerd.config.entities import Entity, Findings, entities_of
from routerd.config.errors import ConfigErrors
from routerd.config.file import read_sections, read_text
from routerd.config.listener import ListenerConfig
from routerd.config.listener_section import listener_configs, with_file
from routerd.config.log import LogConfig
from routerd.config.log_section import log_modules
from routerd.config.policy_section import implied_policy, policy_settings, vhosts_of_folder
from routerd.config.record import RecordConfig
from routerd.config.record_section import record_configs
from routerd.config.remote_hosts import Resolve, resolve_host
from routerd.config.router_config import RouterConfig
from routerd.config.router_section import random_suffix, router_settings
from routerd.config.ssl_profile import SslProfileConfig
from routerd.config.ssl_profile_section import ssl_profiles, with_resolved
from routerd.config.validation import check_entity
from routerd.config.vhost_section import vhost_settings
from routerd.core import RouterMode


def load_config(path: str | os.PathLike[str]) -> RouterConfig:
    """Return what a configuration file says; raises ConfigErrors."""
    return parse_config(read_text(path), os.fspath(path))


def line_of(path: str | os.PathLike[str], section: str, name: str, attribute: str) -> int | None:
    """Return in which line of a configuration file the named section has an attribute, or begins if it has none."""
    for found in read_sections(read_text(path), os.fspath(path)).all:
        entity_type = find_entity_type(found.name)
        named = found.attributes.get("name")
        if entity_type is None or entity_type.section != section or named is None or str(named.value) != name:
            continue
        old_names = (old for old, today in entity_type.old_names.items() if today == attribute)
        given = next((found.attributes[one] for one in (attribute, *old_names) if one in found.attributes), None)
        return found.line if given is None else given.line
    return None


def parse_config(
    text: str,
    name: str,
    *,
    new_suffix: Callable[[], str] = random_suffix,
    environment: Mapping[str, str] = os.environ,
    resolve: Resolve = resolve_host,
) -> RouterConfig:
    """Return what the text of a configuration file says, whose name tells its form; raises ConfigErrors.

    Everything that is wrong is in the errors, except after one of syntax. `new_suffix` makes ids of routers unique;
    `environment` has the variables that passwords may be in; `resolve` finds the addresses of hosts that are named.
    """
    findings = Findings(name)
    entities = entities_of(read_sections(text, name), findings)
    _check_names(entities)
    router = _router(entities, findings)
    mode = RouterMode(router.values["mode"])
    profiles = ssl_profiles(_of_type("sslProfile", entities), environment)
    profile_names = [one.name for one in profiles]
    services = auth_services(_of_type("authServicePlugin", entities), profile_names)
    service_names = [one.name for one in services]
    listeners = listener_configs(_of_type("listener", entities), mode, profile_names, service_names)
    connectors = connector_configs(_of_type("connector", entities), mode, environment, profile_names)
    addresses = address_settings(_of_type("address", entities))
    policy = next(iter(_of_type("policy", entities)), None) or implied_policy(findings)
    vhosts_beside, files_beside = vhosts_of_folder(policy)
    vhosts = vhost_settings(
        [*_of_type("vhost", entities), *vhosts_beside],
        uses_patterns=policy.values["enableVhostNamePatterns"],
        resolve=resolve,
    )
    config = RouterConfig(
        router=router_settings(router, addresses, new_suffix, has_policy=policy.values["enableVhostPolicy"]),
        listeners=listeners,
        connectors=connectors,
        ssl_profiles=profiles,
        policy=policy_settings(policy),
        vhosts=vhosts,
        auth_services=services,
        record=next(iter(record_configs(_of_type("record", entities))), RecordConfig()),
        logs=LogConfig(
            modules=log_modules(_of_type("log", entities)),
            timestamp_format=router.values["timestampFormat"],
            timestamps_in_utc=bool(router.values["timestampsInUTC"]),
        ),
        sections=_sections(router, [*entities, *vhosts_beside], listeners, connectors, profiles),
        warnings=tuple(warning for one in (findings, *files_beside) for warning in one.warnings),
    )
    errors = [error for one in (findings, *files_beside) for error in one.errors]
    if errors:
        raise ConfigErrors(sorted(errors, key=lambda error: error.line or 0))
    return config


def _of_type(section: str, entities: list[Entity]) -> list[Entity]:
    return [one for one in entities if one.type.section == section]


def _sections(
    router: Entity,
    entities: list[Entity],
    listeners: tuple[ListenerConfig, ...],
    connectors: tuple[ConnectorConfig, ...],
    profiles: tuple[SslProfileConfig, ...],
) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    implied = [] if router in entities else [router]
    listener, connector, profile = iter(listeners), iter(connectors), iter(profiles)

    def values_of(one: Entity) -> Mapping[str, Any]:
        match one.type.section:
            case "listener":
                return with_file(one.values, next(listener))
            case "connector":
                return with_password(one.values, next(connector))
            case "sslProfile":
                return with_resolved(one.values, next(profile))
        return dict(one.values)

    return tuple((one.type.name, values_of(one)) for one in (*implied, *entities))


def _router(entities: list[Entity], findings: Findings) -> Entity:
    """Return the only router section, or one with defaults if there is none (1.7)."""
    found = _of_type("router", entities)
    if not found:
        entity_type = SECTIONS["router"]
        return Entity(entity_type, None, check_entity(entity_type, {}).values, {}, findings)
    return found[0]


def _check_names(entities: list[Entity]) -> None:
    singletons: dict[str, Entity] = {}
    named: dict[tuple[str, str], Entity] = {}
    for entity in entities:
        section, name = entity.type.section or "", entity.values["name"]
        if entity.type.is_singleton and singletons.setdefault(section, entity) is not entity:
            full_name, line = entity.type.full_name, singletons[section].line
            entity.refuse("", f"Adding {full_name} singleton when that of line {line} already exists", "one section")
        elif name is not None and (first := named.setdefault((section, name), entity)) is not entity:
            reason = f"adding {section} duplicates unique attribute 'name' from existing {section} of line {first.line}"
            entity.refuse("name", reason, "another name")
