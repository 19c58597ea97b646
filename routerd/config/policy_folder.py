"""The files of vhosts that a section `policy` names (10.1, 1.7)."""

import os
from pathlib import Path

from routerd.config.entities import entities_of
from routerd.config.entity import Entity, Findings
from routerd.config.errors import ConfigErrors
from routerd.config.file import read_sections, read_text

_VHOST = "vhost"


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
