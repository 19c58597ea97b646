"""The settings of the log in a process of the router that has no worker: they change with the configuration."""

from routerd.config import effect_of
from routerd.core import RouterMode
from routerd.io.logs import LogFileError, change_log, module_log
from routerd.management import Configuration

_log = module_log("AGENT")


def follow_log(mode: RouterMode, before: Configuration, after: Configuration) -> None:
    """Take over what has changed of the log between two configurations, as far as its files can be written here."""
    for entity in before.change_to(after).added:
        if entity.type.section == "log":
            try:
                change_log(effect_of(entity, mode))
            except LogFileError as error:
                _log.error("%s", error)
