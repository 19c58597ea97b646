"""The effect of an entity that is configured at run time: that of its section in a file."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from routerd.config.catalogue import configurable
from routerd.config.configurable import Reading
from routerd.config.configurations import Configurations
from routerd.config.configured import ConfiguredEntity
from routerd.config.entity import Entity, Findings
from routerd.config.errors import ChangeRefused, PolicyRefused
from routerd.config.kinds.vhost import VHOST, policy_error
from routerd.config.remote_hosts import Resolve, resolve_host
from routerd.core import RouterMode


def effect_of(
    entity: ConfiguredEntity,
    mode: RouterMode,
    environment: Mapping[str, str] = os.environ,
    resolve: Resolve = resolve_host,
) -> Any:
    """Return the configuration that workers take of an entity, None if it never changes. Raises ChangeRefused."""
    kind = configurable(entity.type)
    if kind is None or not kind.is_changeable:
        return None
    findings = Findings("")
    section = Entity(entity.type, None, {**entity.values, "name": entity.name}, {}, findings, entity.label)
    found = kind.parse([section], Reading(mode=mode, environment=environment, resolve=resolve))
    if findings.errors:
        error = findings.errors[0]
        if entity.type is VHOST:
            raise PolicyRefused(policy_error(entity.values, error.reason))
        names_attribute = not error.attribute or error.reason.startswith(f"{error.attribute}=")
        raise ChangeRefused(error.reason if names_attribute else f"{error.attribute}: {error.reason}")
    return next(iter(found), None)


def effects_of(entities: Iterable[ConfiguredEntity], mode: RouterMode, resolve: Resolve) -> Configurations:
    """Return the configurations that workers take of entities. Raises ChangeRefused."""
    found: dict[str, list[Any]] = {}
    for entity in entities:
        effect = effect_of(entity, mode, resolve=resolve)
        if effect is not None:
            found.setdefault(str(entity.type.section), []).append(effect)
    return Configurations({section: tuple(some) for section, some in found.items()})


def resolved(
    entity: ConfiguredEntity, mode: RouterMode, environment: Mapping[str, str] = os.environ
) -> ConfiguredEntity:
    """Return an entity with its password instead of the place of that, and files by names that hold everywhere.

    Raises ChangeRefused, for what `effect_of` refuses, too.
    """
    kind, effect = configurable(entity.type), effect_of(entity, mode, environment)
    if kind is None or effect is None:
        return entity
    return replace(entity, values=kind.settled(entity.values, effect))
