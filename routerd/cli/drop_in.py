"""A configuration with the settings of qdrouterd in place of defaults that are more careful."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from routerd.config import RouterConfig
from routerd.core import ManagementAccess

ALL_FILES = "/"


def as_drop_in(config: RouterConfig) -> RouterConfig:
    """Let management change everything and name all files, as far as the file does not say something else.

    Messages have the treatment of qdrouterd in some cases, which no attribute chooses: docs/differences.md lists them.
    """
    router = config.router
    access = router.management_access
    if access is ManagementAccess.POLICY:
        access = ManagementAccess.CHANGE
    folder = router.management_file_dir or ALL_FILES
    own = {"managementAccess": access.value, "managementFileDir": folder}
    return replace(
        config,
        router=replace(
            router,
            management_access=access,
            management_file_dir=folder,
            cuts_for_large_messages=True,
            gives_credit_at_once=True,
            gathers_messages=True,
            carries_anything=True,
            takes_long_tags=True,
        ),
        sections=tuple((name, _with(values, own) if name == "router" else values) for name, values in config.sections),
    )


def _with(values: Mapping[str, Any], own: Mapping[str, str]) -> Mapping[str, Any]:
    return {**values, **own}
