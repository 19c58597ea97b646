"""The `router` section: the router's name, its place, and its times."""

import re

import pytest

from routerd.config import parse_config
from routerd.core import Distribution, ManagementAccess, RouterMode, RouterSettings
from tests.unit.config.reading import errors_in, read, section

ALLOWED = "allowed: a word such as Router.A, of at most 127 characters, without blanks and `/`"


def test_everything_may_be_left_out() -> None:
    expected = RouterSettings(id="Standalone_xxxxxxxxxxxxxxx")
    assert read("router {\n}\n").router == expected
    assert read("# nothing\n").router == expected
    assert read("[]", "r.json").router == expected


def test_a_made_up_id_is_another_one_each_time() -> None:
    ids = [parse_config("# nothing\n", "r.conf").router.id for _ in range(2)]
    assert all(re.fullmatch("Standalone_[A-Za-z0-9]{15}", one) for one in ids)
    assert ids[0] != ids[1]


def test_all_attributes_arrive() -> None:
    text = section(
        "router",
        "id: Router.A",
        "mode: 0",
        "defaultDistribution: unavailable",
        "metadata: any text",
        "helloIntervalSeconds: 2",
        "helloMaxAgeSeconds: 5",
        "raIntervalSeconds: 20",
        "raIntervalFluxSeconds: 3",
        "remoteLsMaxAgeSeconds: 50",
        "workerThreads: 8",
        "debugDumpFile: /tmp/x",
        "saslConfigDir: /etc/sasl2",
        "saslConfigName: mine",
        "allowResumableLinkRoute: no",
        "managementAccess: change",
        "managementFileDir: /",
        "timestampsInUTC: yes",
        "timestampFormat: %H",
    )
    config = read(text)
    assert config.router == RouterSettings(
        id="Router.A",
        mode=RouterMode.STANDALONE,
        default_distribution=Distribution.UNAVAILABLE,
        metadata="any text",
        hello_interval_s=2,
        hello_max_age_s=5,
        ra_interval_s=20,
        ra_interval_flux_s=3,
        remote_ls_max_age_s=50,
        sasl_config_dir="/etc/sasl2",
        sasl_config_name="mine",
        allows_resumable_link_routes=False,
        management_access=ManagementAccess.CHANGE,
        management_file_dir="/",
    )
    assert (config.logs.timestamp_format, config.logs.timestamps_in_utc) == ("%H", True)
    assert config.warnings == ()


@pytest.mark.parametrize(
    ("access", "policy", "may_change"),
    [
        (None, "no", False),
        (None, "yes", True),
        ("policy", "no", False),
        ("policy", "yes", True),
        ("read", "no", False),
        ("read", "yes", False),
        ("change", "no", True),
        ("change", "yes", True),
    ],
)
def test_whether_management_may_change_depends_on_policy_and_a_setting(
    access: str | None, policy: str, may_change: bool
) -> None:
    lines = [] if access is None else [f"managementAccess: {access}"]
    text = section("router", *lines) + section("policy", f"enableVhostPolicy: {policy}")
    assert read(text).router.allows_management_changes is may_change


def test_a_folder_for_files_has_a_name() -> None:
    [error] = errors_in('[["router", {"managementFileDir": ""}]]', "r.json")
    assert error.endswith("router.managementFileDir: has no name (got ''); allowed: the name of a folder")


def test_a_folder_for_files_that_is_not_there_is_warned_of() -> None:
    [warning] = read(section("router", "managementFileDir: /no/such")).warnings
    assert warning.endswith(
        "router.managementFileDir: the folder does not exist: management requests cannot name files yet"
    )


WRONG = [
    (
        ["managementAccess: chnge"],
        "line 2: router.managementAccess: Invalid value for enum['read', 'policy', 'change']: 'chnge';"
        " did you mean 'change'?; allowed: read, policy, change",
    ),
    (
        ["id: a b"],
        f"line 2: router.id: AttributeError: "
        f"Router id attribute containing character ' ' in id 'a b' is disallowed.; {ALLOWED}",
    ),
    (
        [r"id: a\u0007"],
        rf"line 2: router.id: AttributeError: "
        rf"Router id attribute containing character '\x07' in id 'a\x07' is disallowed.; {ALLOWED}",
    ),
    (
        ["id: a/b"],
        f"line 2: router.id: AttributeError: "
        f"Router id attribute containing character '/' in id 'a/b' is disallowed.; {ALLOWED}",
    ),
    (
        [f"id: {'a' * 128}"],
        "line 2: router.id: Router ID exceeds the maximum allowed length (127 characters)"
        f" (got '{'a' * 100}'... (28 more)); {ALLOWED}",
    ),
    (
        ["mode: foo"],
        "line 2: router.mode: Invalid value for enum['standalone', 'interior', 'edge']: 'foo';"
        " allowed: standalone, interior, edge",
    ),
    (
        ["mode: Standalone"],
        "line 2: router.mode: Invalid value for enum['standalone', 'interior', 'edge']: 'Standalone';"
        " did you mean 'standalone'?; allowed: standalone, interior, edge",
    ),
    (
        ["raInterval: abc"],
        "line 2: router.raInterval: 'abc' is not a whole number; allowed: 1 or more",
    ),
    (["raIntervalSeconds: 0"], "line 2: router.raIntervalSeconds: 0 is too small; allowed: 1 or more"),
    (
        ["helloMaxAgeSeconds: 1"],
        "line 2: router.helloMaxAgeSeconds: every neighbour would be lost between two greetings, 1 s apart;"
        " allowed: helloMaxAgeSeconds above helloIntervalSeconds",
    ),
    (
        ["helloInterval: 3"],
        "line 2: router.helloInterval: every neighbour would be lost between two greetings, 3 s apart;"
        " allowed: helloMaxAgeSeconds above helloIntervalSeconds",
    ),
    (
        ["timestampsInUTC: maybe"],
        "line 2: router.timestampsInUTC: Invalid Boolean value ''maybe''; allowed: yes, no, true, false, on, off",
    ),
]


@pytest.mark.parametrize(("lines", "error"), WRONG)
def test_a_wrong_attribute_is_told(lines: list[str], error: str) -> None:
    assert errors_in(section("router", *lines)) == [error]


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        ("standalone", RouterMode.STANDALONE),
        ("interior", RouterMode.INTERIOR),
        ("1", RouterMode.INTERIOR),
        ("edge", RouterMode.EDGE),
        ("2", RouterMode.EDGE),
    ],
)
def test_a_router_has_its_place_in_the_network(given: str, mode: RouterMode) -> None:
    router = read(section("router", f"mode: {given}")).router
    assert (router.mode, router.id) == (mode, f"{mode.value.capitalize()}_{'x' * 15}")


def test_an_id_of_127_characters_is_right() -> None:
    assert read(section("router", f"id: {'é' * 127}")).router.id == "é" * 127


def test_an_empty_id_is_told() -> None:
    assert errors_in('[["router", {"id": ""}]]', "r.json") == [f"line 1: router.id: is empty (got ''); {ALLOWED}"]


def test_a_second_router_is_told() -> None:
    assert errors_in("router {\n}\nrouter {\n}\n") == [
        "line 3: router: Adding org.apache.qpid.dispatch.router singleton when that of line 1 already exists;"
        " allowed: one section"
    ]
