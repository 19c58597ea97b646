"""What requests may do depends on the router's section: read, what policy allows, or change."""

from typing import Any

import pytest

from routerd.core import ManagementAccess, RouterSettings
from tests.unit.management.fake_router import SECTIONS, Client, client_of, refusal

CHANGES: list[tuple[str, dict[str, Any], Any]] = [
    ("CREATE", {"type": "P.router.config.address", "name": "a"}, {"prefix": "a"}),
    ("CREATE", {"type": "P.connector", "name": "c"}, {"port": "1"}),
    ("CREATE", {"type": "P.no.such", "name": "c"}, None),
    ("create", {"type": "P.listener", "name": "l"}, {"port": "1"}),
    ("UPDATE", {"type": "P.log", "identity": "log/SERVER"}, {"enable": "trace+"}),
    ("UPDATE", {"type": "P.connection", "identity": "1"}, {"adminStatus": "deleted"}),
    ("UPDATE", {"type": "P.connection", "identity": "1"}, {"enableProtocolTrace": True}),
    ("DELETE", {"type": "P.listener", "name": "L1"}, None),
]
NO_POLICY = (
    "Management of this router is read only: managementAccess is 'policy' in the router section, and no policy is"
    " enabled. To allow changes, set managementAccess: change, or enableVhostPolicy: yes in the policy section"
)
READ_ONLY = (
    "Management of this router is read only: managementAccess is 'read' in the router section;"
    " to allow changes, set it to 'change'"
)


def client_with(access: ManagementAccess, *, has_policy: bool = False) -> Client:
    return client_of(*SECTIONS, settings=RouterSettings(id="R1", management_access=access, has_policy=has_policy))


@pytest.mark.parametrize(("operation", "properties", "body"), CHANGES)
def test_without_policy_and_without_a_setting_nothing_is_changed(
    operation: str, properties: dict[str, Any], body: Any
) -> None:
    found = client_with(RouterSettings(id="R1").management_access)
    assert refusal(found.ask(operation, body, **properties)) == (403, NO_POLICY)
    assert found.router.asked == []


@pytest.mark.parametrize("has_policy", [False, True])
def test_read_is_read_whatever_policy_says(has_policy: bool) -> None:
    found = client_with(ManagementAccess.READ, has_policy=has_policy)
    for operation, properties, body in CHANGES:
        assert refusal(found.ask(operation, body, **properties)) == (403, READ_ONLY)
    assert found.router.asked == []


@pytest.mark.parametrize(
    ("access", "has_policy"),
    [(ManagementAccess.POLICY, True), (ManagementAccess.CHANGE, False), (ManagementAccess.CHANGE, True)],
)
def test_what_policy_or_the_setting_allows_is_done(access: ManagementAccess, has_policy: bool) -> None:
    found = client_with(access, has_policy=has_policy)
    assert found.ask("DELETE", type="P.listener", name="L1").status == 204


@pytest.mark.parametrize("access", ManagementAccess)
def test_everybody_may_read(access: ManagementAccess) -> None:
    found = client_with(access)
    assert found.rows("P.listener", "name") != []
    assert found.ask("READ", type="P.listener", name="L1").status == 200
    assert found.ask("GET-SCHEMA").status == 200
