"""Policy and vhosts as management shows and changes them."""

from typing import Any

import pytest

from routerd.management import ChangeRefused, PolicyRow, VhostRow
from tests.unit.management.fake_router import Client, client_of, refusal

VHOST = "org.apache.qpid.dispatch.vhost"
ROWS = [
    PolicyRow(
        connections_processed=5,
        connections_denied=1,
        connections_current=3,
        links_denied=2,
        message_size_denied=1,
        total_denials=4,
        vhosts=(
            VhostRow(
                hostname="a",
                connections_approved=3,
                connections_denied=1,
                connections_current=2,
                by_user={"ann": ("h:1",), "bob": ()},
                by_host={"h": ("h:1",)},
                sessions_denied=1,
                senders_denied=2,
                receivers_denied=3,
                message_size_denied=4,
            ),
        ),
    ),
    PolicyRow(
        connections_processed=10,
        vhosts=(
            VhostRow(hostname="a", connections_approved=1, by_user={"ann": ("i:1",)}, by_host={"i": ("i:1",)}),
            VhostRow(hostname="gone", connections_approved=7),
        ),
    ),
]


def client_with(*sections: tuple[str, dict[str, Any]]) -> Client:
    found = client_of(("router", {"id": "R1"}), *sections)
    found.router.policy_rows = ROWS
    return found


VHOSTS = (("vhost", {"hostname": "a", "groups": {"g": {"users": "*"}}}), ("vhost", {"hostname": "b"}))


def test_there_is_one_policy_with_the_sums_of_all_workers() -> None:
    for found in (client_with(), client_with(("policy", {"maxConnections": 7}))):
        [row] = found.rows("policy", "identity", "name", "connectionsProcessed", "connectionsDenied", "linksDenied")
        assert row == ["policy/None", "policy/None", 15, 1, 2]
    found = client_with(("policy", {"maxConnections": 7, "enableVhostPolicy": True}))
    answer = found.ask("READ", identity="policy/None")
    assert answer.body == {
        "maxConnections": 7,
        "maxMessageSize": 0,
        "enableVhostPolicy": True,
        "enableVhostNamePatterns": False,
        "policyDir": "",
        "defaultVhost": "$default",
        "connectionsProcessed": 15,
        "connectionsDenied": 1,
        "connectionsCurrent": 3,
        "linksDenied": 2,
        "maxMessageSizeDenied": 1,
        "totalDenials": 4,
        "name": "policy/None",
        "identity": "policy/None",
        "type": "org.apache.qpid.dispatch.policy",
    }


def test_the_statistics_of_vhosts_are_sums_and_stay_when_they_are_gone() -> None:
    found = client_with(*VHOSTS)
    names = ("hostname", "connectionsApproved", "connectionsCurrent", "sessionDenied", "maxMessageSizeDenied")
    assert found.rows("vhostStats", *names) == [["a", 4, 2, 1, 4], ["b", 0, 0, 0, 0], ["gone", 7, 0, 0, 0]]
    answer = found.ask("READ", identity="vhostStats/a")
    assert answer.body["perUserState"] == {"ann": ["h:1", "i:1"], "bob": []}
    assert answer.body["perHostState"] == {"h": ["h:1"], "i": ["i:1"]}
    assert (answer.body["id"], answer.body["name"]) == ("a", "vhostStats/a")


def test_vhosts_are_known_by_their_hostnames_and_have_groups() -> None:
    found = client_with(*VHOSTS)
    assert found.rows("vhost", "identity", "name", "groups") == [
        ["vhost/a", "vhost/a", {"g": {"users": "*"}}],
        ["vhost/b", "vhost/b", {}],
    ]


def test_a_vhost_is_created_changed_and_deleted() -> None:
    found = client_with(*VHOSTS)
    answer = found.ask("CREATE", {"id": "c", "maxMessageSize": 5}, type="vhost")
    assert (answer.status, answer.body["identity"], answer.body["maxMessageSize"]) == (201, "vhost/c", 5)
    update = {"maxConnections": 3, "hostname": "c", "type": "vhost", "name": None}
    answer = found.ask("UPDATE", update, identity="vhost/c")
    assert (answer.status, answer.body["maxConnections"], answer.body["maxMessageSize"]) == (200, 3, 5)
    assert found.ask("UPDATE", {"maxConnections": None}, identity="vhost/c").body["maxConnections"] == 65_535
    assert found.ask("DELETE", type="vhost", identity="vhost/c").status == 204
    assert found.router.asked == ["create vhost/c", "update vhost/c", "update vhost/c", "delete vhost/c"]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("x", "Body of request must be a map"),
        ({"bogus": 1}, f"Unknown attribute 'bogus' for '{VHOST}'"),
        ({"hostname": "x"}, "Cannot update attribute 'hostname' in UPDATE"),
        ({"identity": "x"}, "Cannot update attribute 'identity' in UPDATE"),
        ({"type": "x"}, "Cannot update attribute 'type' in UPDATE"),
        ({"maxConnections": -1}, f"{VHOST}: -1 is too small; allowed: 0 or more"),
    ],
)
def test_a_wrong_change_is_refused(body: Any, sentence: str) -> None:
    assert refusal(client_with(*VHOSTS).ask("UPDATE", body, identity="vhost/a")) == (400, sentence)


def test_a_change_that_the_router_refuses_is_told() -> None:
    found = client_with(*VHOSTS)
    found.router.failure = ChangeRefused("aliases: no")
    assert refusal(found.ask("UPDATE", {"aliases": "b"}, identity="vhost/a")) == (400, "aliases: no")


def test_two_vhosts_of_one_name_are_refused() -> None:
    assert client_with(*VHOSTS).ask("CREATE", {"hostname": "a"}, type="vhost", name="other").status == 400


def test_policy_is_only_read() -> None:
    assert client_with().ask("UPDATE", {"maxConnections": 1}, identity="policy/None").status == 501
    assert client_with().ask("CREATE", {}, type="policy").status == 501


def test_while_a_vhost_is_changed_no_other_request_changes_it() -> None:
    found = client_with(*VHOSTS)
    found.router.is_slow = True
    first = found.begun("UPDATE", {"maxConnections": 1}, identity="vhost/a")
    first.send(None)
    found.router.is_slow = False
    sentence = "vhost/a is being changed by another request; try again"
    assert refusal(found.ask("UPDATE", {"maxConnections": 2}, identity="vhost/a")) == (400, sentence)
    with pytest.raises(StopIteration):
        first.send(None)
