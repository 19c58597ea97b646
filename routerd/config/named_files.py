"""Which files requests to management may name, and where they may have the router look for passwords.

A configuration file is the operator's, and names what it likes. A request comes from a client. A password of
`file:PATH` or `env:NAME` would have the router send to others what only the router can read. A log file would have it
write wherever the router may. So requests name files of one folder that the operator has set, or none.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from routerd.config.catalogue import configurable
from routerd.config.configured import ConfiguredEntity
from routerd.config.errors import ChangeForbidden
from routerd.config.passwords import ENVIRONMENT, FILE
from routerd.config.schema.values import shown

SETTING = "managementFileDir"


def check_named_files(
    new: ConfiguredEntity, old: ConfiguredEntity | None, folder: str | None, kept: Iterable[str] = ()
) -> None:
    """Refuse what an entity of a request names outside a folder; what it had before it may keep.

    `kept` are files and folders that no request names, wherever they are. Raises ChangeForbidden.
    """
    kind = configurable(new.type)
    if kind is None:
        return
    before: Mapping[str, Any] = {} if old is None else old.values
    for attribute in kind.file_attributes:
        name = new.values.get(attribute)
        if name is not None and name != before.get(attribute) and kind.names_file(attribute, name):
            _check_file(attribute, name, folder, kept)
    for attribute in kind.passwords:
        text = new.values.get(attribute)
        if text is None or text == before.get(attribute):
            continue
        if text.startswith(ENVIRONMENT):
            raise ChangeForbidden(
                f"{attribute}: {shown(text)} names a variable of the router's environment, which requests to management"
                " may not do; give the password itself, or name the variable in the configuration file"
            )
        if text.startswith(FILE):
            _check_file(attribute, text.removeprefix(FILE), folder, kept)


def _check_file(attribute: str, name: str, folder: str | None, kept: Iterable[str]) -> None:
    if folder is None:
        raise ChangeForbidden(
            f"{attribute}: {shown(name)} is a file, and requests to management may name none; to allow files of one"
            f" folder, set {SETTING} in the router section"
        )
    # Links and `..` lead where they lead: what counts is the file that would be opened.
    place = os.path.realpath(os.path.abspath(name))
    if any(_is_in(place, one) for one in kept):
        raise ChangeForbidden(f"{attribute}: {shown(name)} belongs to the router itself; name another file")
    if not _is_in(place, folder):
        raise ChangeForbidden(
            f"{attribute}: {shown(name)} is not in the folder {shown(folder)} ({SETTING} of the router section), and"
            " requests to management may name no other file"
        )


def _is_in(place: str, folder: str) -> bool:
    root = os.path.realpath(folder)
    return os.path.commonpath((root, place)) == root
