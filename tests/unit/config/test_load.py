"""Whole files: all errors of one are told, both forms say the same, and what this router does not do is skipped."""

from pathlib import Path

import pytest

from routerd.config import ConfigError, ConfigErrors, load_config, parse_config
from routerd.config.entities import OUTSIDE
from tests.unit.config.reading import JSON, errors_in, read, section


def test_every_error_of_a_file_is_told_in_the_order_of_its_lines() -> None:
    text = "listner {\n}\naddress {\n    priority: 10\n}\nrouter {\n    bogus: 1\n    id: a b\n}\n"
    assert [error.partition("; ")[0] for error in errors_in(text)] == [
        "line 1: listner: No such entity type 'org.apache.qpid.dispatch.listner'",
        "line 3: address: Must set either 'prefix' or 'pattern'",
        "line 4: address.priority: 10 is too large",
        "line 7: router.bogus: Unknown attribute 'bogus' for 'org.apache.qpid.dispatch.router'",
        "line 8: router.id: AttributeError: Router id attribute containing character ' ' in id 'a b' is disallowed.",
    ]


def test_an_error_has_its_parts() -> None:
    with pytest.raises(ConfigErrors) as rejected:
        parse_config(section("router", "mode: 5"), "r.conf")
    [error] = rejected.value.errors
    assert (error.file, error.line, error.entity, error.attribute, error.value) == ("r.conf", 2, "router", "mode", "5")
    assert error.reason == "Invalid value for enum['standalone', 'interior', 'edge']: '5'"
    assert (error.allowed, error.meant) == (("standalone", "interior", "edge"), None)


def test_nothing_is_told_after_an_error_of_syntax() -> None:
    assert errors_in("router {\n    bogus: 1\n") == [
        "line 1: Section 'router' is not closed; allowed: `}` in a line of its own at its end"
    ]


UNKNOWN = [
    (
        "listner",
        "No such entity type 'org.apache.qpid.dispatch.listner'; did you mean 'listener'?",
    ),
    (
        "ssl-profiles",
        "No such entity type 'org.apache.qpid.dispatch.sslProfiles'; did you mean 'sslProfile'?",
    ),
    ("connection", "'connection' can be watched, and not configured; did you mean 'connector'?"),
    ("vhostUserGroupSettings", "'vhostUserGroupSettings' has no section of its own; allowed: router, "),
]


@pytest.mark.parametrize(("name", "error"), UNKNOWN)
def test_an_unknown_section_is_told(name: str, error: str) -> None:
    [found] = errors_in(section(name, "any: thing"))
    assert found.partition(": ")[2].partition(": ")[2].startswith(error)


def test_a_section_like_no_other_is_told_with_all_there_are() -> None:
    assert errors_in(section("zzz")) == [
        "line 1: zzz: No such entity type 'org.apache.qpid.dispatch.zzz'; allowed: router, sslProfile,"
        " authServicePlugin, listener, connector, log, address, linkRoute, autoLink, exchange, binding,"
        " policy, vhost, dummy, record"
    ]


@pytest.mark.parametrize("name", ["entity", "org.apache.qpid.dispatch.configurationEntity"])
def test_a_type_that_others_are_built_on_is_no_section(name: str) -> None:
    [error] = errors_in(f'[["{name}", {{}}]]', JSON)
    assert f"No such entity type 'org.apache.qpid.dispatch.{name.rpartition('.')[2]}'" in error


def test_an_unknown_attribute_is_told_with_the_close_one() -> None:
    assert errors_in(section("listener", "prot: 5672")) == [
        "line 2: listener.prot: Unknown attribute 'prot' for 'org.apache.qpid.dispatch.listener'; did you mean 'port'?"
    ]


def test_an_old_name_beside_the_new_one_is_told() -> None:
    assert errors_in(section("linkRoute", "prefix: a", "dir: in", "direction: in")) == [
        "line 4: linkRoute.direction: Both 'dir' and 'direction' cannot be specified"
        " for entity 'org.apache.qpid.dispatch.router.config.linkRoute'; allowed: 'direction' alone",
    ]


def test_an_old_name_is_warned_of() -> None:
    config = read(section("router", "helloInterval: 2"))
    assert config.router.hello_interval_s == 2
    assert config.warnings == (
        "r.conf: line 2: Attribute 'helloInterval' of entity 'router' has been deprecated."
        " Use 'helloIntervalSeconds' instead",
    )


def test_what_the_router_sets_itself_is_warned_of() -> None:
    assert read(section("router", "version: 9", "hostName: x", "area: 7")).warnings == tuple(
        f"r.conf: line {line}: Attribute '{name}' of entity 'router' is set by the router."
        " What is given has no effect"
        for line, name in ((2, "version"), (3, "hostName"), (4, "area"))
    )


def test_a_repeated_attribute_is_warned_of() -> None:
    config = read(section("router", "id: A", "id: B"))
    assert config.router.id == "B"
    assert config.warnings == ("r.conf: line 3: Attribute 'id' was given in line 2 already. This one counts",)


@pytest.mark.parametrize("name", sorted(OUTSIDE))
def test_a_section_for_what_the_router_does_not_do_is_skipped_with_a_warning(name: str) -> None:
    config = read(section("router", "id: A") + section(name, "anything: goes", "port: none"))
    assert config.router.id == "A"
    reason = f"this router has no '{name}': {OUTSIDE[name]}"
    assert config.warnings == (f"r.conf: line 4: {name}: the section is skipped: {reason}",)
    assert errors_in(section(name)) == [f"line 1: {name}: {reason}"]


def test_what_qdrouterd_lets_pass_is_an_error_only_for_who_is_strict() -> None:
    text = section("listener", "port: 0", "sslProfile: p")
    reason = "listener.sslProfile: there is no sslProfile with the name 'p'"
    assert read(text).warnings == (f"r.conf: line 3: {reason}",)
    assert errors_in(text) == [f"line 3: {reason}; allowed: add a section sslProfile"]


def test_names_are_told_apart_by_type() -> None:
    text = section("listener", "name: a") + section("address", "name: a", "prefix: x")
    assert errors_in(text) == []


def test_full_names_are_understood_in_json() -> None:
    text = '[["org.apache.qpid.dispatch.router", {"id": "A"}], ["router.config.address", {"prefix": "a"}]]'
    assert read(text, JSON) == read(section("router", "id: A") + section("address", "prefix: a"))


def test_what_peers_of_a_terminal_see_stays_in_one_line() -> None:
    [error] = errors_in('[["a\\nb\\u001b", {}]]', JSON)
    assert error.startswith(r"line 1: a\nb\x1b: No such entity type 'org.apache.qpid.dispatch.a\nb\x1b'; ")


def test_a_file_is_named_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "r.conf"
    path.write_text(section("router", "id: a b"))
    with pytest.raises(ConfigErrors) as rejected:
        load_config(path)
    assert [error.file for error in rejected.value.errors] == [str(path)]


def test_many_addresses_are_read_in_one_go() -> None:
    text = "".join(section("address", f"prefix: a.{number}") for number in range(500))
    assert [one.pattern for one in read(text).router.addresses] == [f"a.{number}/#" for number in range(500)]


def test_errors_are_what_they_are_made_of() -> None:
    error = ConfigError("f", 1, "router", "id", "x", "why", ("a", "b"))
    assert str(error) == "Cannot load configuration file f: line 1: router.id: why (got 'x'); allowed: a, b"
    assert str(ConfigErrors([error, error])) == f"{error}\n{error}"
