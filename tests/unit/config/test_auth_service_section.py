"""`authServicePlugin` sections, and listeners that name them."""

import pytest

from routerd.config import AuthServiceConfig
from tests.unit.config.reading import errors_in, read, section

SERVICE = section("authServicePlugin", "name: a", "host: h")


def service(*lines: str) -> AuthServiceConfig:
    [found] = read(section("authServicePlugin", "name: a", *lines)).others["authServicePlugin"]
    return found


def test_a_service_has_a_place() -> None:
    assert service("host: h") == AuthServiceConfig(name="a", host="h", port=5672)
    assert service("host: h", "port: amqps", "realm: r") == AuthServiceConfig(name="a", host="h", port=5671, realm="r")


@pytest.mark.parametrize(
    ("given", "host", "port"), [("h:7", "h", 7), ("h:amqps", "h", 5671), ("h", "h", 5672), ("[::1]:7", "::1", 7)]
)
def test_the_old_attribute_has_host_and_port(given: str, host: str, port: int) -> None:
    assert service(f"authService: {given}") == AuthServiceConfig(name="a", host=host, port=port)


def test_the_new_attributes_come_before_the_old_one() -> None:
    assert service("authService: old:1", "host: h", "port: 2") == AuthServiceConfig(name="a", host="h", port=2)


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        (("host: h",), "name: Missing required attribute 'name'; allowed: what listeners call it"),
        (("name: a",), "host: the service has to be somewhere; allowed: an address, the name of a host"),
        (("name: a", "host: h", "port: 0"), "port: 0 is not a port to connect to"),
        (("name: a", "authService: h:x"), "authService: 'x' is neither a number nor the name of a service"),
        (("name: a", "host: h", "sslProfile: p"), "sslProfile: there is no sslProfile with the name 'p'"),
    ],
)
def test_what_is_wrong_is_told(lines: tuple[str, ...], error: str) -> None:
    [found] = errors_in(section("authServicePlugin", *lines))
    assert error in found


def test_a_listener_names_a_service() -> None:
    config = read(SERVICE + section("listener", "saslPlugin: a"))
    assert [one.sasl_plugin for one in config.listeners] == ["a"]


def test_a_listener_that_names_a_service_that_is_not_there_is_refused() -> None:
    [error] = errors_in(SERVICE + section("listener", "saslPlugin: b"))
    assert error == "line 6: listener.saslPlugin: there is no authServicePlugin with the name 'b'; allowed: a"


def test_a_listener_where_nobody_can_connect_is_warned_of() -> None:
    config = read(section("listener", "authenticatePeer: yes", "saslMechanisms: ANONYMOUS"))
    assert config.warnings == (
        "r.conf: line 3: listener.saslMechanisms: nobody can connect: ANONYMOUS proves nothing, "
        "and 'authenticatePeer' is set",
    )
