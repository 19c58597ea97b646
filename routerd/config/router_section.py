"""The `router` section."""

import os
import secrets
import string
from collections.abc import Callable

from routerd.config.entities import Entity
from routerd.core import AddressSettings, Distribution, ManagementAccess, RouterMode, RouterSettings

ID_MAX = 127
_LETTERS = string.ascii_letters + string.digits
_ID_ALLOWED = ("a word such as Router.A, of at most 127 characters, without blanks and `/`",)


def random_suffix() -> str:
    """Return what tells the routers of one network apart that have no ids of their own (12)."""
    return "".join(secrets.choice(_LETTERS) for _ in range(15))


def router_settings(
    entity: Entity,
    addresses: tuple[AddressSettings, ...],
    new_suffix: Callable[[], str] = random_suffix,
    *,
    has_policy: bool,
) -> RouterSettings:
    """Return what the section says; what is wrong with it is noted at it."""
    values = entity.values
    mode = RouterMode(values["mode"])
    _check_id(entity)
    _check_times(entity)
    return RouterSettings(
        id=values["id"] if values["id"] is not None else f"{mode.value.capitalize()}_{new_suffix()}",
        mode=mode,
        default_distribution=Distribution(values["defaultDistribution"]),
        addresses=addresses,
        metadata=values["metadata"],
        hello_interval_s=values["helloIntervalSeconds"],
        hello_max_age_s=values["helloMaxAgeSeconds"],
        ra_interval_s=values["raIntervalSeconds"],
        ra_interval_flux_s=values["raIntervalFluxSeconds"],
        remote_ls_max_age_s=values["remoteLsMaxAgeSeconds"],
        sasl_config_dir=values["saslConfigDir"],
        sasl_config_name=values["saslConfigName"],
        allows_resumable_link_routes=values["allowResumableLinkRoute"],
        management_access=ManagementAccess(values["managementAccess"]),
        has_policy=has_policy,
        management_file_dir=_management_file_dir(entity),
    )


def _management_file_dir(entity: Entity) -> str | None:
    folder: str | None = entity.values["managementFileDir"]
    if folder is None:
        return None
    if not folder:
        entity.refuse("managementFileDir", "has no name", "the name of a folder")
    elif not os.path.isdir(folder):
        entity.warn("managementFileDir", "there is no such folder: requests to management can name no file yet")
    return os.path.abspath(folder)


def _check_id(entity: Entity) -> None:
    router_id = entity.values["id"]
    if router_id is None:
        return
    wrong = next((one for one in router_id if one.isspace() or not one.isprintable() or one == "/"), None)
    if not router_id:
        entity.refuse("id", "is empty", *_ID_ALLOWED)
    elif len(router_id) > ID_MAX:
        entity.refuse("id", f"Router ID exceeds the maximum allowed length ({ID_MAX} characters)", *_ID_ALLOWED)
    elif wrong is not None:
        reason = f"Router id attribute containing character {wrong!r} in id {router_id!r} is disallowed."
        entity.refuse("id", reason, *_ID_ALLOWED)


def _check_times(entity: Entity) -> None:
    values = entity.values
    if values["helloMaxAgeSeconds"] <= values["helloIntervalSeconds"]:
        reason = f"every neighbour would be lost between two greetings, {values['helloIntervalSeconds']} s apart"
        at = "helloMaxAgeSeconds" if "helloMaxAgeSeconds" in entity.given else "helloIntervalSeconds"
        entity.refuse(at, reason, "helloMaxAgeSeconds above helloIntervalSeconds")
