"""`connector` sections: everything that one says arrives, and what it can't say is told."""

import pytest

from routerd.config import INTER_ROUTER_MAX, ConfigErrors, ConnectorConfig, Role, RouterConfig, parse_config
from routerd.config.kinds.connection_attributes import MESSAGE_COMPONENTS
from tests.unit.config.reading import CONF, JSON, errors_in, read, section

INTERIOR = "router {mode}\n".replace("{mode}", "{\nmode: interior\n}")
EDGE = INTERIOR.replace("interior", "edge")
PASSWORDS = "allowed: env:NAME, file:PATH, pass:TEXT, the password itself"
PLAIN_TEXT = "It is unsafe to provide plain text passwords in the config file"


def connector(*lines: str, before: str = "") -> ConnectorConfig:
    """Return what one connector section says."""
    [found] = read(before + section("connector", *lines)).connectors
    return found


def read_in(environment: dict[str, str], *lines: str) -> RouterConfig:
    """Return what a file with one connector section says where these variables are set."""
    return parse_config(section("connector", *lines), CONF, environment=environment)


def test_a_connector_may_leave_everything_out() -> None:
    assert connector() == ConnectorConfig(host="127.0.0.1", port=5672, given_port="amqp")


def test_no_section_is_no_connector() -> None:
    assert read("router {\n}\n").connectors == ()


def test_all_attributes_arrive() -> None:
    assert connector(
        "name: b",
        "host: b.example.com",
        "port: 5673",
        "protocolFamily: IPv6",
        "role: inter-router",
        "cost: 7",
        "saslMechanisms: plain SCRAM-SHA-256",
        "allowRedirect: no",
        "maxFrameSize: 1024",
        "maxSessions: 10",
        "maxSessionFrames: 100",
        "idleTimeoutSeconds: 0",
        "stripAnnotations: in",
        "linkCapacity: 50",
        "verifyHostname: no",
        "saslUsername: ann",
        "saslPassword: pass:hunter2",
        "messageLoggingComponents: to, subject",
        "dedicatedActor: yes",
        "websockets: yes",
        "webSocketPath: /amqp?to=b",
        before=INTERIOR,
    ) == ConnectorConfig(
        name="b",
        host="b.example.com",
        port=5673,
        family="IPv6",
        role=Role.INTER_ROUTER,
        cost=7,
        sasl_mechanisms=("PLAIN", "SCRAM-SHA-256"),
        allow_redirect=False,
        max_frame_size=1024,
        max_sessions=10,
        session_frames=100,
        idle_timeout_s=0,
        strip_in=True,
        strip_out=False,
        link_capacity=50,
        verify_hostname=False,
        sasl_username="ann",
        sasl_password="hunter2",
        message_log_components=("to", "subject"),
        dedicated_actor=True,
        websockets=True,
        websocket_path="/amqp?to=b",
    )


def test_open_properties_arrive() -> None:
    assert connector('openProperties: {"site": {"name": "north"}}').open_properties == {"site": {"name": "north"}}


def test_a_connector_is_called_by_host_port_and_name_as_they_were_given() -> None:
    named, plain = connector("name: b", "port: amqps"), connector("host: ::1", "port: 5673")
    assert (named.port, named.address, named.identity) == (5671, "127.0.0.1:amqps", "connector/127.0.0.1:amqps:b")
    assert (plain.port, plain.address, plain.identity) == (5673, "::1:5673", "connector/::1:5673")


def test_what_is_set_by_the_router_is_warned_of() -> None:
    config = read(section("connector", "failoverUrls: a"))
    assert config.warnings == (
        "r.conf: line 2: Attribute 'failoverUrls' of entity 'connector' is set by the router."
        " What is given has no effect",
    )


def test_a_path_without_websockets_is_warned_of() -> None:
    assert read(section("connector", "webSocketPath: /amqp")).warnings == (
        "r.conf: line 2: connector.webSocketPath: it is of use with websockets: yes only",
    )
    assert read(section("connector", "webSocketPath: /amqp", "websockets: yes")).warnings == ()


WRONG = [
    ("port: 0", "port: 0 is not a port to connect to; allowed: 1 to 65535, the name of a service"),
    (
        "port: 65536",
        "port: port 65536 is out of range (0 to 65535);"
        " allowed: 0 to 65535, the name of a service, such as amqp for 5672 or amqps for 5671",
    ),
    ("host: a b", "host: the name of the host contains a blank (got 'a b'); allowed: an address, the name of a host"),
    ("cost: 0", "cost: 0 is too small; allowed: 1 to 2147483647"),
    (
        "role: inter-router",
        "role: role='standalone' not allowed to connect to or accept connections from other routers."
        " (got 'inter-router'); allowed: normal, route-container",
    ),
    ("sslProfile: p", "sslProfile: there is no sslProfile with the name 'p'; allowed: add a section sslProfile"),
    (
        "saslMechanisms: CRAM-MD5 GS2-KRB5",
        "saslMechanisms: none of these mechanisms is supported (got 'CRAM-MD5 GS2-KRB5');"
        " allowed: EXTERNAL, GSSAPI, SCRAM-SHA-512, SCRAM-SHA-256, SCRAM-SHA-1, PLAIN, ANONYMOUS",
    ),
    (
        "saslMechanisms: SCRAM-SHA-256 PLAIN",
        "saslMechanisms: SCRAM-SHA-256 needs 'saslUsername' and 'saslPassword' (got 'SCRAM-SHA-256 PLAIN');"
        " allowed: both of them, ANONYMOUS",
    ),
    (
        "saslMechanisms: PLAIN CRAM-MD5",
        "saslMechanisms: PLAIN needs 'saslUsername' and 'saslPassword' (got 'PLAIN CRAM-MD5');"
        " allowed: both of them, ANONYMOUS",
    ),
    (
        "saslMechanisms: PLAIN,EXTERNAL",
        "saslMechanisms: 'PLAIN,EXTERNAL' is not the name of a SASL mechanism;"
        " allowed: names of mechanisms with blanks between them",
    ),
    ("logMessage: subjct", "logMessage: 'subjct' is not a part of a message; did you mean 'subject'?"),
    (
        "messageLoggingComponents: zzz",
        "messageLoggingComponents: 'zzz' is not a part of a message;"
        f" allowed: all, none, {', '.join(MESSAGE_COMPONENTS)}",
    ),
    ("webSocketPath: amqp", "webSocketPath: a path begins with / and has no blanks (got 'amqp'); allowed: /, /amqp"),
    ("webSocketPath: /a b", "webSocketPath: a path begins with / and has no blanks (got '/a b'); allowed: /, /amqp"),
    ('openProperties: {"é": 1}', "openProperties: Property keys must be ASCII encoded: 'é' is not; allowed: a map"),
    (
        "saslPassword: env:NO_SUCH",
        f"saslPassword: Failed to find a password in the environment variable 'NO_SUCH'; {PASSWORDS}",
    ),
    (
        "saslPassword: file:/no/such",
        f"saslPassword: Unable to open password file '/no/such', error: No such file or directory; {PASSWORDS}",
    ),
]


@pytest.mark.parametrize(("line", "error"), WRONG)
def test_a_wrong_attribute_is_told(line: str, error: str) -> None:
    assert errors_in(section("connector", line))[:1] == [f"line 2: connector.{error}"]


def test_an_empty_host_is_told() -> None:
    assert errors_in('[["connector", {"host": ""}]]', JSON) == [
        "line 1: connector.host: is empty (got ''); allowed: an address, the name of a host"
    ]


def test_a_family_that_is_not_that_of_the_host_is_told() -> None:
    assert errors_in(section("connector", "host: 127.0.0.1", "protocolFamily: IPv6")) == [
        "line 3: connector.protocolFamily: host 127.0.0.1 is of the other family (got 'IPv6'); allowed: IPv4"
    ]


@pytest.mark.parametrize(
    ("mode", "roles"),
    [
        ("standalone", "normal, route-container"),
        ("interior", "normal, inter-router, route-container, edge"),
        ("edge", "normal, route-container, edge"),
    ],
)
def test_a_role_depends_on_the_mode(mode: str, roles: str) -> None:
    for role in ("normal", "inter-router", "route-container", "edge"):
        errors = errors_in(section("router", f"mode: {mode}") + section("connector", f"role: {role}"))
        if role in roles.split(", "):
            assert errors == []
        else:
            [error] = errors
            assert error.startswith("line 5: connector.role: role='")
            assert error.endswith(f"allowed: {roles}")


def test_the_network_is_reached_from_within_by_its_own_role() -> None:
    assert errors_in(EDGE + section("connector", "role: inter-router")) == [
        "line 5: connector.role: role='inter-router' only allowed with router mode='interior';"
        " allowed: normal, route-container, edge"
    ]


def test_a_connection_that_an_interior_router_makes_no_use_of_is_warned_of() -> None:
    assert read(INTERIOR + section("connector", "role: edge")).warnings == (
        "r.conf: line 5: connector.role: only a router with mode='edge' makes use of such a connection",
    )
    assert read(EDGE + section("connector", "role: edge")).warnings == ()


def test_a_router_takes_no_open_properties_from_others() -> None:
    assert errors_in(EDGE + section("connector", "role: edge", 'openProperties: {"a": 1}')) == [
        "line 6: connector.openProperties: openProperties not allowed for role edge; allowed: no such attribute here"
    ]


def test_two_connectors_without_names_to_one_place_are_told() -> None:
    assert errors_in(section("connector", "host: h") * 2) == [
        "line 4: connector.port: adding connector/h:amqp duplicates unique attribute 'identity' from existing connector"
        " of line 1; allowed: another host or port, a name for each of the two"
    ]


def test_several_connectors_with_names_may_lead_to_one_place() -> None:
    assert len(read(section("connector", "name: a") + section("connector", "name: b")).connectors) == 2


def test_wrong_ports_are_not_compared() -> None:
    errors = errors_in(section("connector", "port: x!") + section("connector", "port: x!"))
    assert [error.partition(": ")[0] for error in errors] == ["line 2", "line 5"]


def test_there_are_only_so_many_connections_to_routers() -> None:
    def text(count: int) -> str:
        sections = (section("connector", "role: inter-router", f"port: {port}") for port in range(1, count + 1))
        return INTERIOR + section("connector", "role: normal") + "".join(sections)

    assert len(read(text(INTER_ROUTER_MAX)).connectors) == INTER_ROUTER_MAX + 1
    line = 3 + 3 + 4 * INTER_ROUTER_MAX + 2
    assert errors_in(text(INTER_ROUTER_MAX + 1)) == [
        f"line {line}: connector.role: a router has at most 128 connections with role='inter-router';"
        " allowed: fewer connectors"
    ]


@pytest.mark.parametrize("text", ["hunter2", "pass:hunter2"])
def test_a_password_in_plain_text_is_warned_of(text: str) -> None:
    config = read_in({}, "saslUsername: ann", f"saslPassword: {text}")
    assert config.connectors[0].sasl_password == "hunter2"
    assert config.warnings == (f"r.conf: line 3: connector.saslPassword: {PLAIN_TEXT}",)


def test_a_password_is_taken_from_its_place_once() -> None:
    config = read_in({"SECRET": "hunter2"}, "saslUsername: ann", "saslPassword: env:SECRET")
    assert (config.connectors[0].sasl_password, config.warnings) == ("hunter2", ())
    values = dict(config.sections)["connector"]
    assert values["saslPassword"] == "pass:hunter2"


@pytest.mark.parametrize(
    ("given", "missing"), [("saslUsername: ann", "saslPassword"), ("saslPassword: env:SECRET", "saslUsername")]
)
def test_half_of_the_credentials_is_warned_of(given: str, missing: str) -> None:
    name = given.partition(":")[0]
    assert read_in({"SECRET": "x"}, given).warnings == (
        f"r.conf: line 2: connector.{name}: is of no use without '{missing}'",
    )


def test_plain_may_be_named_without_credentials_where_there_is_another() -> None:
    assert connector("saslMechanisms: PLAIN ANONYMOUS").sasl_mechanisms == ("PLAIN", "ANONYMOUS")
    assert connector("saslMechanisms: EXTERNAL").sasl_mechanisms == ("EXTERNAL",)


def test_a_password_is_shown_nowhere() -> None:
    config = read_in({"SECRET": "hunter2"}, "saslUsername: ann", "saslPassword: env:SECRET")
    assert "hunter2" not in repr(config)
    with pytest.raises(ConfigErrors) as rejected:
        read(section("connector", "saslPassword: env:hunter2", "verifyHostname: 2x"))
    assert [error.value for error in rejected.value.errors] == [None, "2x"]


def test_a_router_starts_without_the_file_of_a_password() -> None:
    text = section("connector", "saslUsername: ann", "saslPassword: file:/nowhere/secret")
    config = read(text)
    assert config.connectors[0].sasl_password is None
    assert config.warnings == (
        "r.conf: line 3: connector.saslPassword:"
        " Unable to open password file '/nowhere/secret', error: No such file or directory",
    )
    assert config.faults == set(config.warnings)
    with pytest.raises(ConfigErrors, match="Unable to open password file"):
        parse_config(text, "r.conf", is_strict=True)


def test_a_user_without_a_password_may_be_whose_ticket_it_is() -> None:
    config = read_in({}, "saslMechanisms: GSSAPI", "saslUsername: inventory")
    assert (config.connectors[0].sasl_username, config.warnings) == ("inventory", ())
