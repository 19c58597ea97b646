"""`policy` and `vhost` sections, their groups, and the files of a policyDir."""

import json
from pathlib import Path
from typing import Any

import pytest

from routerd.config import ConfigErrors, RouterConfig, VhostNames, effect_of, parse_config
from routerd.config.remote_hosts import resolve_if_possible
from routerd.core import GroupSettings, HostRange, PolicySettings, RouterMode, VhostSettings
from routerd.management import ChangeRefused
from tests.unit.config.reading import section
from tests.unit.config.test_effects import entity

HOSTS = {"one.example": ["10.0.0.7"], "two.example": ["10.0.0.7", "10.0.0.8"], "same.example": ["::1", "::1"]}


def resolve(name: str) -> list[str]:
    """Find the hosts of these tests."""
    try:
        return HOSTS[name]
    except KeyError:
        raise OSError("no such host") from None


def read(*sections: str) -> RouterConfig:
    """Return what a file of these sections says."""
    return parse_config("\n".join(sections), "r.conf", new_suffix=lambda: "x" * 15, resolve=resolve)


def errors_in(*sections: str) -> list[str]:
    """Return the lines about what is wrong."""
    with pytest.raises(ConfigErrors) as caught:
        read(*sections)
    return [line.removeprefix("Cannot load configuration file r.conf: ") for line in str(caught.value).splitlines()]


def vhost(groups: dict[str, Any] | None = None, *lines: str) -> str:
    """The section of a vhost."""
    said = [] if groups is None else [f"groups: {json.dumps(groups)}"]
    return section("vhost", "hostname: h", *said, *lines)


def group(**settings: Any) -> GroupSettings:
    """What a group with these settings says."""
    [found] = read(vhost({"g": settings})).vhosts
    [one] = found.groups
    return one


def test_without_a_section_policy_lets_everybody_in() -> None:
    config = read(section("router", "id: R"))
    assert (config.policy, config.vhosts) == (PolicySettings(), ())
    assert config.policy.max_connections == 65_535


def test_a_policy_section_says_it_all() -> None:
    found = read(
        section(
            "policy",
            "maxConnections: 10",
            "maxMessageSize: 20",
            "enableVhostPolicy: yes",
            "enableVhostNamePatterns: on",
            "defaultVhost: d",
        )
    )
    assert found.policy == PolicySettings(
        max_connections=10, max_message_size=20, is_enforced=True, uses_name_patterns=True, default_vhost="d"
    )
    assert found.sections[-1][1]["maxConnections"] == 10


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("maxConnections: -1", "line 2: policy.maxConnections: -1 is too small; allowed: 0 or more"),
        (
            "enableVhostPolicy: maybe",
            "line 2: policy.enableVhostPolicy: Invalid Boolean value ''maybe''; "
            "allowed: yes, no, true, false, on, off",
        ),
        (
            "policyDir: /nowhere/at/all",
            "line 2: policy.policyDir: policyDir cannot be read: No such file or directory (got '/nowhere/at/all'); "
            "allowed: a folder with files of vhost sections whose names end in .json",
        ),
    ],
)
def test_a_wrong_policy_is_told(line: str, error: str) -> None:
    assert errors_in(section("policy", line)) == [error]


def test_a_vhost_has_limits_aliases_and_groups() -> None:
    [found] = read(
        section(
            "vhost",
            "hostname: a.com",
            "aliases: b.com, c.com,",
            "maxConnections: 1",
            "maxConnectionsPerUser: 2",
            "maxConnectionsPerHost: 3",
            "maxMessageSize: 4",
            "allowUnknownUser: true",
            "groups: {",
            '    "$default": {"remoteHosts": "*"},',
            '    "a": {"users": "ann, bob", "remoteHosts": "::1"},',
            "}",
        )
    ).vhosts
    assert found == VhostSettings(
        hostname="a.com",
        aliases=("b.com", "c.com"),
        max_connections=1,
        max_connections_per_user=2,
        max_connections_per_host=3,
        max_message_size=4,
        allows_unknown_user=True,
        groups=(
            GroupSettings(name="$default", from_any_host=True),
            GroupSettings(name="a", users=("ann", "bob"), remote_hosts=(HostRange(6, 1, 1),)),
        ),
    )


def test_its_old_name_is_understood() -> None:
    assert [one.hostname for one in read(section("vhost", "id: a.com")).vhosts] == ["a.com"]


def test_a_group_has_every_setting() -> None:
    assert group(
        users=["ann", "bob"],
        remoteHosts="10.0.0.1, 10.0.0.3 - 10.0.0.9, one.example, same.example, *",
        maxConnectionsPerUser=1,
        maxConnectionsPerHost="2",
        maxMessageSize=3,
        maxFrameSize=4,
        maxSessionWindow=5,
        maxSessions=6,
        maxSenders=7,
        maxReceivers=8,
        allowDynamicSource=True,
        allowAnonymousSender="true",
        allowUserIdProxy=True,
        allowWaypointLinks=False,
        allowFallbackLinks="yes",
        allowDynamicLinkRoutes=False,
        allowAdminStatusUpdate=False,
        allowManagementChanges=False,
        sources="a b, c.*",
        targetPattern=["x.#", "${user}.*"],
    ) == GroupSettings(
        name="g",
        users=("ann", "bob"),
        from_any_host=True,
        remote_hosts=(
            HostRange(4, 0x0A000001, 0x0A000001),
            HostRange(4, 0x0A000003, 0x0A000009),
            HostRange(4, 0x0A000007, 0x0A000007),
            HostRange(6, 1, 1),
        ),
        max_connections_per_user=1,
        max_connections_per_host=2,
        max_message_size=3,
        max_frame_size=4,
        max_session_window=5,
        max_sessions=6,
        max_senders=7,
        max_receivers=8,
        allows_dynamic_source=True,
        allows_anonymous_sender=True,
        allows_user_id_proxy=True,
        allows_waypoint_links=False,
        # Of words only `true` says so, as it always was.
        allows_fallback_links=False,
        allows_dynamic_link_routes=False,
        allows_admin_status_update=False,
        allows_management_changes=False,
        sources=("a b", "c.*"),
        target_patterns=("x.#", "${user}.*"),
    )


def test_what_a_group_does_not_say_has_its_default() -> None:
    assert group() == group(maxSenders=None, bogus=1) == GroupSettings(name="g")


def test_an_option_that_there_is_not_is_passed_over_with_a_warning() -> None:
    config = read(vhost({"g": {"bogus": 1}}))
    assert config.warnings == (
        "r.conf: line 3: vhost.groups: Policy vhost 'h' user group 'g' option 'bogus' is ignored.",
    )


def test_the_hosts_of_the_group_for_connectors_do_not_matter() -> None:
    [found] = read(vhost({"$connector": {"remoteHosts": "nobody.example"}})).vhosts
    assert found.groups == (GroupSettings(name="$connector"),)


GROUP = "line 3: vhost.groups: Policy vhost 'h' user group 'g' "
HOSTS_ALLOWED = "; allowed: *, addresses, names of hosts, ranges such as 10.0.0.1-10.0.0.9, with commas between them"
PATTERNS_ALLOWED = "; allowed: patterns with commas between them; ${user} is the first or the last word of one"


@pytest.mark.parametrize(
    ("groups", "error"),
    [
        ({"g": "x"}, GROUP + "is not a map; allowed: a map"),
        ({"g": {"maxSenders": "x"}}, GROUP + "option 'maxSenders': 'x' is not a whole number; "
         "allowed: 0 or more"),
        ({"g": {"maxSessions": -1}}, GROUP + "option 'maxSessions': -1 is too small; allowed: 0 or more"),
        ({"g": {"maxSessions": 1 << 32}}, GROUP + "option 'maxSessions': 4294967296 is too large; allowed: 0 or more"),
        ({"g": {"users": {}}}, GROUP + "option 'users': a map is not text"),
        (
            {"g": {"sources": "a", "sourcePattern": "a"}},
            GROUP + "specifies conflicting 'sources' and 'sourcePattern' attributes; allowed: one of them",
        ),
        (
            {"g": {"targets": "a", "targetPattern": "a"}},
            GROUP + "specifies conflicting 'targets' and 'targetPattern' attributes; allowed: one of them",
        ),
        (
            {"g": {"sourcePattern": "a.${user}.b"}},
            GROUP + "option 'sourcePattern': 'a.${user}.b' has ${user} where it means nothing" + PATTERNS_ALLOWED,
        ),
        ({"g": {"targetPattern": "."}}, GROUP + "option 'targetPattern': '.' has no token" + PATTERNS_ALLOWED),
        (
            {"g": {"remoteHosts": "nobody.example"}},
            GROUP + "option 'remoteHosts': 'nobody.example' is neither an address nor the name of a host that can be "
            "found" + HOSTS_ALLOWED,
        ),
        (
            {"g": {"remoteHosts": "two.example"}},
            GROUP + "option 'remoteHosts': 'two.example' is the name of 2 addresses, and has to be of one"
            + HOSTS_ALLOWED,
        ),
        ({"g": {"remoteHosts": "10.0.0.1-x"}}, GROUP + "option 'remoteHosts': '10.0.0.1-x' is not a range of addresses"
         + HOSTS_ALLOWED),
        ({"g": {"remoteHosts": "10.0.0.1-::1"}}, GROUP + "option 'remoteHosts': '10.0.0.1-::1' is a range from one "
         "family of addresses to the other" + HOSTS_ALLOWED),
        ({"g": {"remoteHosts": "10.0.0.2-10.0.0.1"}}, GROUP + "option 'remoteHosts': '10.0.0.2-10.0.0.1' is a range "
         "that ends before it begins" + HOSTS_ALLOWED),
        (
            {"g": {"users": "ann, bob"}, "i": {"users": "bob"}},
            "line 3: vhost.groups: Policy 'h' is invalid: user 'bob' is in multiple user groups 'g' and 'i'; "
            "allowed: each user in one group",
        ),
    ],
)  # fmt: skip
def test_a_wrong_group_is_told(groups: dict[str, Any], error: str) -> None:
    assert errors_in(vhost(groups)) == [error]


def test_a_user_named_twice_in_one_group_is_in_it() -> None:
    assert group(users="ann, ann").users == ("ann", "ann")


@pytest.mark.parametrize(
    ("sections", "error"),
    [
        (
            [vhost({}, "allowUnknownUser: yes")],
            "line 4: vhost.allowUnknownUser: Policy 'h' is invalid: allowUnknownUser is true and there is no group "
            "$default (got 'yes'); allowed: a group $default, allowUnknownUser: false",
        ),
        (
            [vhost(), vhost()],
            "line 6: vhost.hostname: Policy 'h' is invalid: the name 'h' is used in line 1 of r.conf already; "
            "allowed: names that no other vhost has",
        ),
        (
            [vhost(None, "aliases: a, h")],
            "line 3: vhost.aliases: Policy 'h' is invalid: the name 'h' is used in line 1 of r.conf already "
            "(got 'a, h'); allowed: names that no other vhost has",
        ),
        ([section("vhost", "aliases: a")], "line 1: vhost.hostname: Missing required attribute 'hostname'"),
        (
            [section("policy", "enableVhostNamePatterns: yes"), vhost(None, "aliases: a.*, a/*")],
            "line 7: vhost.aliases: Policy 'h' is invalid: the optimized pattern conflicts with existing pattern 'a/*'"
            " of another vhost "
            "(got 'a.*, a/*'); allowed: names that no other vhost has",
        ),
        (
            [section("policy", "enableVhostNamePatterns: yes"), vhost(None, "aliases: .")],
            "line 7: vhost.aliases: Policy 'h' is invalid: the pattern '.' has no token; "
            "allowed: names that no other vhost has",
        ),
    ],
)
def test_a_wrong_vhost_is_told(sections: list[str], error: str) -> None:
    assert error in errors_in(*sections)


def test_without_patterns_names_that_would_be_the_same_are_two() -> None:
    assert len(read(vhost(None, "aliases: a.b, a/b")).vhosts) == 1
    assert VhostNames(False).add({"hostname": "a", "aliases": None}, "here") is None


@pytest.mark.parametrize("uses_patterns", [False, True])
def test_one_vhost_may_have_no_name(uses_patterns: bool) -> None:
    names = VhostNames(uses_patterns)
    assert names.add({"hostname": "", "aliases": None}, "here") is None
    clash = names.add({"hostname": "", "aliases": None}, "there")
    assert clash == ("hostname", "the name '' is used in here already")


class TestFolders:
    def policy(self, folder: Path) -> str:
        return section("policy", f"policyDir: {folder}")

    def test_the_vhosts_of_its_files_are_there_too(self, tmp_path: Path) -> None:
        (tmp_path / "b.json").write_text('[["vhost", {"hostname": "b", "groups": {"g": {"x": 1}}}], ["other", {}]]')
        (tmp_path / "a.json").write_text('[["listener", {"port": "x"}], ["vhost", {"hostname": "a"}]]')
        (tmp_path / "c.conf").write_text("not read")
        config = read(self.policy(tmp_path), vhost())
        assert [one.hostname for one in config.vhosts] == ["h", "a", "b"]
        assert [values["hostname"] for name, values in config.sections if name == "vhost"] == ["h", "a", "b"]
        assert config.warnings == (
            f"{tmp_path}/b.json: line 1: vhost.groups: Policy vhost 'b' user group 'g' option 'x' is ignored.",
        )

    def test_what_is_wrong_there_is_told_with_its_file(self, tmp_path: Path) -> None:
        (tmp_path / "a.json").write_text('[["vhost", {"hostname": "h"}],\n["vhost", {"bogus": 1}]]')
        (tmp_path / "b.json").write_text("[")
        found = errors_in(self.policy(tmp_path), vhost())
        assert [line.removeprefix("Cannot load configuration file ").split(": ")[:3] for line in found] == [
            [f"{tmp_path}/a.json", "line 1", "vhost.hostname"],
            [f"{tmp_path}/b.json", "line 1", "Expecting value"],
            [f"{tmp_path}/a.json", "line 2", "vhost.bogus"],
            [f"{tmp_path}/a.json", "line 2", "vhost.hostname"],
        ]


def test_a_vhost_of_run_time_comes_to_the_same() -> None:
    given = entity("vhost", hostname="a", groups={"g": {"remoteHosts": "one.example"}})
    found = effect_of(given, RouterMode.STANDALONE, resolve=resolve)
    assert found == VhostSettings(
        hostname="a", groups=(GroupSettings(name="g", remote_hosts=(HostRange(4, 0x0A000007, 0x0A000007),)),)
    )
    with pytest.raises(ChangeRefused, match="PolicyError: Policy 'a' is invalid: Policy vhost 'a' user group 'g'"):
        effect_of(entity("vhost", hostname="a", groups={"g": {"remoteHosts": "two.example"}}), RouterMode.STANDALONE,
                  resolve=resolve)  # fmt: skip


def test_a_name_that_cannot_be_found_any_more_is_nobodys() -> None:
    assert resolve_if_possible("127.0.0.1") == ["127.0.0.1"]
    assert resolve_if_possible("no.such.host.invalid") == ["::"]
