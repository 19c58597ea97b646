"""From a configuration file to what the router is made of."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from routerd.config.catalogue import CONFIGURABLES, configurable, find_entity_type
from routerd.config.configurable import Configurable, Reading
from routerd.config.configurations import Configurations
from routerd.config.entities import entities_of
from routerd.config.entity import Entity, Findings
from routerd.config.errors import ConfigErrors, meant_among
from routerd.config.file import read_sections, read_text
from routerd.config.kinds.address import AddressKind
from routerd.config.kinds.connector import ConnectorKind
from routerd.config.kinds.listener import ListenerKind
from routerd.config.kinds.log import LogConfig, LogKind
from routerd.config.kinds.policy import PolicyKind
from routerd.config.kinds.record import RecordConfig, RecordKind
from routerd.config.kinds.router import RouterKind, random_suffix
from routerd.config.kinds.ssl_profile import SslProfileKind
from routerd.config.kinds.vhost import VhostKind
from routerd.config.policy_folder import vhosts_of_folder
from routerd.config.remote_hosts import Resolve, resolve_host
from routerd.config.router_config import RouterConfig
from routerd.config.schema.values import shown
from routerd.config.validation import check_entity
from routerd.core import RouterMode


def load_config(path: str | os.PathLike[str], *, is_strict: bool = False) -> RouterConfig:
    """Return what a configuration file says; raises ConfigErrors. What `is_strict` means is at `parse_config`."""
    return parse_config(read_text(path), os.fspath(path), is_strict=is_strict)


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
    is_strict: bool = False,
) -> RouterConfig:
    """Return what the text of a configuration file says, whose name tells its form; raises ConfigErrors.

    Everything that is wrong is in the errors, except after one of syntax. `new_suffix` makes ids of routers unique;
    `environment` has the variables that passwords may be in; `resolve` finds the addresses of hosts that are named.
    Mistakes that qdrouterd lets pass are errors if the reading `is_strict`, and else warnings.
    """
    findings = Findings(name, is_strict)
    in_file = _without_repeated(entities_of(read_sections(text, name), findings))
    _check_names(in_file)
    router, policy = (_only(kind, in_file, findings) for kind in (RouterKind, PolicyKind))
    vhosts_beside, files_beside = vhosts_of_folder(policy)
    all_findings = (findings, *files_beside)
    entities = [*([router] if router.line is None else []), *in_file, *vhosts_beside]
    present = [*entities, *([policy] if policy.line is None else [])]
    reading = Reading(
        mode=RouterMode(router.values["mode"]),
        environment=environment,
        resolve=resolve,
        new_suffix=new_suffix,
        policy=policy.values,
        sections=_values_by_section(entities),
    )
    found: dict[str, tuple[Any, ...]] = {}
    for kind in CONFIGURABLES:
        of_kind = [one for one in present if one.type is kind.type]
        _check_references(kind, of_kind, entities)
        found[kind.section] = kind.parse(of_kind, reading)
    errors = [error for one in all_findings for error in one.errors]
    if errors:
        warnings = [text for one in all_findings for text in one.warnings]
        raise ConfigErrors(sorted(errors, key=lambda error: error.line or 0), warnings)
    sections = _sections(entities, found)
    configs = Configurations(found)
    [settings] = configs.take(RouterKind)
    [policy_settings] = configs.take(PolicyKind)
    return RouterConfig(
        router=replace(settings, addresses=configs.take(AddressKind), has_policy=policy_settings.is_enforced),
        listeners=configs.take(ListenerKind),
        connectors=configs.take(ConnectorKind),
        ssl_profiles=configs.take(SslProfileKind),
        policy=policy_settings,
        vhosts=configs.take(VhostKind),
        record=next(iter(configs.take(RecordKind)), RecordConfig()),
        logs=LogConfig(
            modules=configs.take(LogKind),
            timestamp_format=router.values["timestampFormat"],
            timestamps_in_utc=bool(router.values["timestampsInUTC"]),
        ),
        others=configs.left,
        sections=sections,
        warnings=tuple(warning for one in all_findings for warning in one.warnings),
        faults=frozenset(fault for one in all_findings for fault in one.faults),
    )


def _without_repeated(entities: list[Entity]) -> list[Entity]:
    """Leave out sections that an earlier one of the file takes the place of."""
    repeated = [
        id(one)
        for kind in CONFIGURABLES
        for one in kind.repeated([entity for entity in entities if entity.type is kind.type])
    ]
    return [one for one in entities if id(one) not in repeated]


def _values_by_section(entities: Iterable[Entity]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for entity in entities:
        found.setdefault(entity.type.section or "", []).append(entity.values)
    return found


def _only(kind: type[Configurable[Any]], entities: Iterable[Entity], findings: Findings) -> Entity:
    """Return the only section of a kind, or one with defaults if there is none (1.7)."""
    implied = Entity(kind.type, None, check_entity(kind.type, {}).values, {}, findings)
    return next((one for one in entities if one.type is kind.type), implied)


def _check_references(kind: Configurable[Any], entities: Iterable[Entity], all_entities: Iterable[Entity]) -> None:
    """Hold the entities that others name against those that there are."""
    for attribute, section in kind.references.items():
        known = tuple(one.values["name"] or "" for one in all_entities if one.type.section == section)
        for entity in entities:
            named = entity.values[attribute]
            if named is not None and named not in known:
                reason = f"there is no {section} with the name {shown(named)}"
                allowed = known or (f"add a section {section}",)
                object_to = entity.tolerate if section == SslProfileKind.type.section else entity.refuse
                object_to(attribute, reason, *allowed, meant=meant_among(named, known))


def _sections(
    entities: Iterable[Entity], found: Mapping[str, tuple[Any, ...]]
) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Return the values of all entities as they are the same in every process."""
    configs = {section: iter(some) for section, some in found.items()}

    def settled(one: Entity) -> Mapping[str, Any]:
        kind = configurable(one.type)
        assert kind is not None, "what is no kind is an error"
        return kind.settled(one.values, next(configs[kind.section]))

    return tuple((one.type.name, settled(one)) for one in entities)


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
