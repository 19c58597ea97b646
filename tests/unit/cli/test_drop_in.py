"""What a router has that is to stand in for qdrouterd."""

import pytest

from routerd.cli.drop_in import as_drop_in
from routerd.core import ManagementAccess
from tests.unit.config.reading import read, section


@pytest.mark.parametrize(
    ("lines", "access", "folder"),
    [
        ((), ManagementAccess.CHANGE, "/"),
        (("managementAccess: read",), ManagementAccess.READ, "/"),
        (("managementFileDir: /etc",), ManagementAccess.CHANGE, "/etc"),
    ],
)
def test_management_changes_what_the_file_does_not_forbid(
    lines: tuple[str, ...], access: ManagementAccess, folder: str
) -> None:
    config = as_drop_in(read(section("router", "id: A", *lines)))
    assert (config.router.management_access, config.router.management_file_dir) == (access, folder)
    router = config.router
    assert (router.cuts_for_large_messages, router.gives_credit_at_once) == (True, True)
    assert (router.gathers_messages, router.carries_anything, router.takes_long_tags) == (True, True, True)
    [values] = [values for name, values in config.sections if name == "router"]
    assert (values["id"], values["managementAccess"], values["managementFileDir"]) == ("A", access.value, folder)
