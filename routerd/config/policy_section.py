"""The `policy` section, and the files of vhosts that it names (10.1, 1.7)."""

import os
from pathlib import Path

from routerd.config.catalogue import SECTIONS
from routerd.config.entities import Entity, Findings, entities_of
from routerd.config.errors import ConfigErrors
from routerd.config.file import read_sections, read_text
from routerd.config.validation import check_entity
from routerd.core import PolicySettings

_VHOST = "vhost"


def implied_policy(findings: Findings) -> Entity:
    """Return the section that a file without one has."""
    entity_type = SECTIONS["policy"]
    return Entity(entity_type, None, check_entity(entity_type, {}).values, {}, findings)


def policy_settings(entity: Entity) -> PolicySettings:
    """Return what the section says."""
    values = entity.values
    return PolicySettings(
        max_connections=values["maxConnections"],
        max_message_size=values["maxMessageSize"],
        is_enforced=values["enableVhostPolicy"],
        uses_name_patterns=values["enableVhostNamePatterns"],
        default_vhost=values["defaultVhost"] or "",
    )


def vhosts_of_folder(policy: Entity) -> tuple[list[Entity], list[Findings]]:
    """Return the vhosts of the files in the folder that the section names, and what there is to say about the files."""
    folder: str = policy.values["policyDir"] or ""
    if not folder:
        return [], []
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except OSError as error:
        reason = f"policyDir cannot be read: {error.strerror}"
        policy.refuse("policyDir", reason, "a folder with files of vhost sections whose names end in .json")
        return [], []
    files = [Findings(str(Path(folder) / name)) for name in names]
    return [entity for findings in files for entity in _vhosts_of_file(findings)], files


def _vhosts_of_file(findings: Findings) -> list[Entity]:
    try:
        sections = read_sections(read_text(findings.file), findings.file)
    except ConfigErrors as errors:
        findings.errors.extend(errors.errors)
        return []
    # Other sections are for whoever reads the file for them.
    sections.all = [one for one in sections.all if one.name == _VHOST]
    return entities_of(sections, findings)
