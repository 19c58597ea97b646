"""`listener` sections: everything that one says arrives, and what it can't say is told."""

import os
from pathlib import Path

import pytest

from routerd.config import FailoverUrl, ListenerConfig, Role, parse_config
from routerd.config.kinds.connection_attributes import MESSAGE_COMPONENTS
from tests.unit.config.reading import JSON, errors_in, listener, read, section


def test_a_listener_may_leave_everything_out() -> None:
    assert listener() == ListenerConfig(host="", port=5672)


def test_no_section_is_no_listener() -> None:
    assert read("router {\n}\n").listeners == ()


def test_all_attributes_arrive() -> None:
    assert listener(
        "name: clients",
        "host: 127.0.0.1",
        "port: amqps",
        "socketAddressFamily: IPv4",
        "role: normal",
        "cost: 7",
        "saslMechanisms: anonymous SCRAM-SHA-256",
        "authenticatePeer: no",
        "requireEncryption: off",
        "requireSsl: no",
        "maxFrameSize: 1024",
        "maxSessions: 10",
        "maxLinks: 500",
        "maxSessionFrames: 100",
        "idleTimeoutSeconds: 0",
        "initialHandshakeTimeoutSeconds: 30",
        "stripAnnotations: no",
        "linkCapacity: 50",
        "multiTenant: true",
        "failoverUrls: a, amqps://b:5671, amqp://[::1]:amqp",
        "healthz: no",
        "http: no",
        "messageLoggingComponents: to, subject",
        'openProperties: {"a": {"b": [1, 2.5, true]}}',
        "dedicatedActor: yes",
    ) == ListenerConfig(
        name="clients",
        host="127.0.0.1",
        port=5671,
        family="IPv4",
        role=Role.NORMAL,
        cost=7,
        sasl_mechanisms=("ANONYMOUS", "SCRAM-SHA-256"),
        max_frame_size=1024,
        max_sessions=10,
        max_links=500,
        session_frames=100,
        idle_timeout_s=0,
        handshake_timeout_s=30,
        strip_in=False,
        strip_out=False,
        link_capacity=50,
        is_multi_tenant=True,
        failover_urls=(
            FailoverUrl("a", 5672),
            FailoverUrl("b", 5671, "amqps"),
            FailoverUrl("::1", 5672, "amqp"),
        ),
        message_log_components=("to", "subject"),
        open_properties={"a": {"b": [1, 2.5, True]}},
        dedicated_actor=True,
        healthz=False,
    )


@pytest.mark.parametrize(
    ("value", "strips"), [("in", (True, False)), ("out", (False, True)), ("both", (True, True)), ("no", (False, False))]
)
def test_annotations_are_stripped_where_it_says(value: str, strips: tuple[bool, bool]) -> None:
    found = listener(f"stripAnnotations: {value}")
    assert (found.strip_in, found.strip_out) == strips


def test_a_frame_size_below_the_least_is_raised_with_a_warning() -> None:
    config = read(section("listener", "max-frame-size: 511"))
    assert config.listeners[0].max_frame_size == 512
    assert config.warnings == ("r.conf: line 2: listener.maxFrameSize: 511 is taken as 512, the least there is",)


@pytest.mark.parametrize(("given", "taken"), [("0", 32768), ("1", 1), ("32768", 32768), ("99999", 32768)])
def test_too_many_sessions_are_as_many_as_there_can_be(given: str, taken: int) -> None:
    assert listener(f"maxSessions: {given}").max_sessions == taken


def test_no_frames_and_no_capacity_are_as_if_not_given() -> None:
    found = listener("maxSessionFrames: 0", "linkCapacity: 0")
    assert (found.session_frames, found.link_capacity) == (None, 0)


@pytest.mark.parametrize(
    ("text", "names"),
    [("none", ()), ("all", MESSAGE_COMPONENTS), ("to,to", ("to", "to")), ("app-properties", ("app-properties",))],
)
def test_parts_of_messages_are_named(text: str, names: tuple[str, ...]) -> None:
    assert listener(f"messageLoggingComponents: {text}").message_log_components == names


def test_empty_texts_are_as_if_not_given() -> None:
    text = '[["listener", {"saslMechanisms": "", "failoverUrls": "", "messageLoggingComponents": "", "host": ""}]]'
    assert read(text, JSON).listeners == (ListenerConfig(host="", port=5672),)


def test_lists_may_be_lists_in_json() -> None:
    text = '[["listener", {"saslMechanisms": ["PLAIN", "ANONYMOUS"], "failoverUrls": ["a", "b:1"]}]]'
    [found] = read(text, JSON).listeners
    assert found.sasl_mechanisms == ("PLAIN", "ANONYMOUS")
    assert found.failover_urls == (FailoverUrl("a", 5672), FailoverUrl("b", 1))


PORTS = "allowed: 0 to 65535, the name of a service, such as amqp for 5672 or amqps for 5671"
URLS = "[scheme://]host[:port], with commas between several"
KEYS = (
    "allowed: keys other than product, version, failover-server-list, network-host, port, scheme, hostname,"
    " qd.*, x-opt-qd.*"
)
TOO_LARGE = "is too large for AMQP; allowed: whole numbers from -2**63 to 2**63 - 1"

WRONG = [
    ("port: 65536", f"port: port 65536 is out of range (0 to 65535); {PORTS}"),
    ("port: -1", f"port: port -1 is out of range (0 to 65535); {PORTS}"),
    ("port: no such service", f"port: 'no such service' is neither a number nor the name of a service; {PORTS}"),
    ("host: a b", "host: the name of the host contains a blank (got 'a b'); allowed: an address, the name of a host"),
    ("host: [::1]", "host: an address stands here without brackets (got '[::1]'); allowed: ::1"),
    (
        "socketAddressFamily: IPv5",
        "socketAddressFamily: Invalid value for enum['IPv4', 'IPv6']: 'IPv5'; did you mean 'IPv6'?"
        "; allowed: IPv4, IPv6",
    ),
    ("cost: 0", "cost: 0 is too small; allowed: 1 to 2147483647"),
    ("maxFrameSize: 4294967296", "maxFrameSize: 4294967296 is too large; allowed: 0 to 4294967295"),
    ("maxSessions: -1", "maxSessions: -1 is too small; allowed: 0 or more"),
    ("maxLinks: -1", "maxLinks: -1 is too small; allowed: 0 to 2147483647"),
    (
        "idleTimeoutSeconds: 1.5",
        "idleTimeoutSeconds: '1.5' is not a whole number; allowed: 0 to 4294967",
    ),
    (
        "role: inter-router",
        "role: role='standalone' not allowed to connect to or accept connections from other routers."
        " (got 'inter-router'); allowed: normal, route-container",
    ),
    (
        "role: edge",
        "role: role='standalone' not allowed to connect to or accept connections from other routers."
        " (got 'edge'); allowed: normal, route-container",
    ),
    ("sslProfile: p", "sslProfile: there is no sslProfile with the name 'p'; allowed: add a section sslProfile"),
    ("requireSsl: yes", "requireSsl: TLS needs an 'sslProfile' (got 'yes'); allowed: sslProfile as well, no"),
    (
        "httpRootDir: /no/such/folder",
        "httpRootDir: there is no folder /no/such/folder;"
        " allowed: a folder with files to serve",
    ),
    (
        "webSocketOrigins: http://a, b",
        "webSocketOrigins: 'b' is no origin (got 'http://a, b');"
        " allowed: scheme://host[:port], with commas between several, *",
    ),
    (
        "saslMechanisms: PLAIN,EXTERNAL",
        "saslMechanisms: 'PLAIN,EXTERNAL' is not the name of a SASL mechanism;"
        " allowed: names of mechanisms with blanks between them",
    ),
    (
        "failoverUrls: a, b:c:d",
        "failoverUrls: 'b:c:d' is not a URL (got 'a, b:c:d'); allowed: " + URLS,
    ),
    (
        "failoverUrls: a:0",
        "failoverUrls: 'a:0' has no port to connect to; allowed: [scheme://]host[:port], with commas between several",
    ),
    (
        "logMessage: subjct",
        "logMessage: 'subjct' is not a part of a message; did you mean 'subject'?",
    ),
    (
        "messageLoggingComponents: all, zzz",
        "messageLoggingComponents: 'all' is not a part of a message (got 'all, zzz');"
        f" allowed: all, none, {', '.join(MESSAGE_COMPONENTS)}",
    ),
    ('openProperties: {"é": 1}', "openProperties: Property keys must be ASCII encoded: 'é' is not; allowed: a map"),
    ('openProperties: {"product": 1}', f"openProperties: Reserved key 'product' not allowed in openProperties; {KEYS}"),
    ('openProperties: {"qd.x": 1}', f"openProperties: Reserved key 'qd.x' not allowed in openProperties; {KEYS}"),
    (
        'openProperties: {"x-opt-qd.x": 1}',
        f"openProperties: Reserved key 'x-opt-qd.x' not allowed in openProperties; {KEYS}",
    ),
    ('openProperties: {"a": [{"b": 9223372036854775808}]}', f"openProperties: the number of key 'a' {TOO_LARGE}"),
    ("dedicatedActor: 2x", "dedicatedActor: Invalid Boolean value ''2x''; allowed: yes, no, true, false, on, off"),
]


@pytest.mark.parametrize(("line", "error"), WRONG)
def test_a_wrong_attribute_is_told(line: str, error: str) -> None:
    assert errors_in(section("listener", line))[:1] == [f"line 2: listener.{error}"]


def test_a_listener_for_http_says_what_it_serves(tmp_path: Path) -> None:
    found = listener("http: yes", "websockets: no", "metrics: no", "webSocketOrigins: HTTPS://A:1, *")
    assert (found.takes_http, found.http_root, found.websockets, found.metrics, found.healthz) == (
        *(True, None, False, False, True),
    )
    assert found.websocket_origins == ("https://a:1", "*")
    rooted = listener(f"httpRootDir: {os.path.relpath(tmp_path)}")
    assert (rooted.takes_http, rooted.http_root) == (True, str(tmp_path))
    assert not listener().takes_http


def test_routers_may_connect_over_websocket() -> None:
    text = section("router", "mode: interior", "id: A") + section("listener", "role: inter-router", "http: yes")
    [found] = read(text).listeners
    assert (found.role, found.takes_http) == (Role.INTER_ROUTER, True)


def test_every_wrong_part_of_a_list_is_told() -> None:
    allowed = f"allowed: all, none, {', '.join(MESSAGE_COMPONENTS)}"
    assert errors_in(section("listener", "messageLoggingComponents: none, zzz")) == [
        f"line 2: listener.messageLoggingComponents: 'none' is not a part of a message (got 'none, zzz'); {allowed}",
        f"line 2: listener.messageLoggingComponents: 'zzz' is not a part of a message (got 'none, zzz'); {allowed}",
    ]


def test_a_family_that_is_not_that_of_the_host_is_told() -> None:
    assert errors_in(section("listener", "host: ::1", "protocolFamily: IPv4")) == [
        "line 3: listener.protocolFamily: host ::1 is of the other family (got 'IPv4'); allowed: IPv6"
    ]


def test_a_router_takes_no_open_properties_from_others() -> None:
    errors = errors_in(section("listener", "role: edge", 'openProperties: {"a": 1}'))
    assert errors[1:] == [
        "line 3: listener.openProperties: openProperties not allowed for role edge; allowed: no such attribute here"
    ]


def test_two_listeners_without_names_at_one_place_are_told() -> None:
    text = section("listener", "host: h", "port: amqp") + section("listener", "host: h", "port: 5672")
    assert errors_in(text) == [
        "line 7: listener.port: adding listener/h:5672 duplicates unique attribute 'identity' from existing listener"
        " of line 1 (got '5672'); allowed: another port, a name for each of the two"
    ]


def test_two_listeners_with_names_at_one_place_are_told() -> None:
    text = section("listener", "name: a") + section("listener", "name: b")
    assert errors_in(text) == [
        "line 4: listener.port: the listener of line 1 listens on :5672 already; allowed: another port or host"
    ]


def test_listeners_of_different_families_may_share_a_port() -> None:
    text = section("listener", "name: a", "socketAddressFamily: IPv4")
    text += section("listener", "name: b", "socketAddressFamily: IPv6")
    assert errors_in(text) == []


def test_listeners_with_names_may_each_have_any_free_port() -> None:
    assert errors_in(section("listener", "name: a", "port: 0") + section("listener", "name: b", "port: 0")) == []


def test_wrong_ports_are_not_compared() -> None:
    errors = errors_in(section("listener", "port: x!") + section("listener", "port: y!"))
    assert [error.partition(": ")[0] for error in errors] == ["line 2", "line 5"]


def test_two_listeners_with_one_name_are_told() -> None:
    text = section("listener", "name: a", "port: 1") + section("listener", "name: a", "port: 2")
    assert errors_in(text) == [
        "line 6: listener.name: adding listener duplicates unique attribute 'name' from existing listener of line 1"
        " (got 'a'); allowed: another name"
    ]


def test_a_listener_is_called_by_host_port_and_name() -> None:
    config = ListenerConfig(host="::1", port=0, name="a")
    assert (config.address, config.identity) == ("::1:0", "listener/::1:0:a")
    assert ListenerConfig(host="", port=5672).identity == "listener/:5672"


@pytest.mark.parametrize("role", ["normal", "inter-router", "route-container", "edge"])
def test_a_listener_of_an_interior_router_has_its_role_and_cost(role: str) -> None:
    [found] = read(section("router", "mode: interior") + section("listener", f"role: {role}", "cost: 7")).listeners
    assert (found.role, found.cost) == (Role(role), 7)


@pytest.mark.parametrize(
    ("mode", "role", "is_right"),
    [
        ("interior", "inter-router", True),
        ("interior", "edge", True),
        ("edge", "inter-router", False),
        ("edge", "edge", False),
        ("edge", "normal", True),
        ("edge", "route-container", True),
        ("standalone", "route-container", True),
    ],
)
def test_a_role_depends_on_the_mode(mode: str, role: str, is_right: bool) -> None:
    text = f"router {{\nmode: {mode}\n}}\nlistener {{\nrole: {role}\n}}\n"
    reason = f"role='{role}' only allowed with router mode='interior'"
    error = f"line 5: listener.role: {reason}; allowed: normal, route-container"
    assert errors_in(text) == ([] if is_right else [error])


def test_the_ports_of_the_system_have_names() -> None:
    assert parse_config("listener {\nport: AMQPS\n}\n", "r.conf").listeners[0].port == 5671


class TestTrustedFile:
    ASKS = ("sslProfile: tls", "saslMechanisms: EXTERNAL", "trustedCertsFile: some.crt")

    def test_it_has_a_name_that_holds_everywhere(self) -> None:
        config = read("sslProfile {\n name: tls\n}\n" + section("listener", *self.ASKS))
        [shown] = [values for kind, values in config.sections if kind.endswith("listener")]
        file = os.path.abspath("some.crt")
        assert (config.listeners[0].trusted_file, shown["trustedCertsFile"]) == (file, file)
        assert [warning.partition(" listener.")[1] for warning in config.warnings] == [""]

    @pytest.mark.parametrize("missing", [0, 1])
    def test_it_is_warned_of_where_nobody_is_asked(self, missing: int) -> None:
        lines = [one for at, one in enumerate(self.ASKS) if at != missing]
        config = read("sslProfile {\n name: tls\n}\n" + section("listener", *lines))
        assert [warning.partition(" listener.")[2] for warning in config.warnings] == [
            "",
            "trustedCertsFile: no client is asked for a certificate: add an 'sslProfile', and EXTERNAL to"
            " 'saslMechanisms'",
        ]


class TestMechanisms:
    """Names of mechanisms, of which some nobody can offer."""

    OFFERED = "EXTERNAL, GSSAPI, SCRAM-SHA-512, SCRAM-SHA-256, SCRAM-SHA-1, PLAIN, ANONYMOUS"

    def test_where_nobody_could_connect_that_is_an_error(self) -> None:
        assert errors_in(section("listener", "saslMechanisms: KERBEROS", "authenticatePeer: yes")) == [
            "line 2: listener.saslMechanisms: nobody can connect: KERBEROS is not a mechanism that this router can"
            f" offer, and 'authenticatePeer' is set; did you mean 'GSSAPI'?; allowed: {self.OFFERED}"
        ]

    def test_one_that_is_written_wrong_is_told(self) -> None:
        config = read(section("listener", "saslMechanisms: SCRAM-SHA256 PLAIN", "authenticatePeer: yes"))
        assert config.warnings == (
            "r.conf: line 2: listener.saslMechanisms: SCRAM-SHA256 is not a mechanism that this router can offer,"
            " and is passed over; did you mean SCRAM-SHA-256?",
        )
        config = read(section("listener", "saslMechanisms: FOO"))
        assert config.warnings == (
            "r.conf: line 2: listener.saslMechanisms: FOO is not a mechanism that this router can offer,"
            f" and is passed over; it has {self.OFFERED}",
        )

    def test_what_cyrus_sasl_or_a_service_may_have_is_left_to_them(self) -> None:
        assert not read(section("listener", "saslMechanisms: DIGEST-MD5", "authenticatePeer: yes")).warnings
        service = section("authServicePlugin", "name: it", "host: h", "port: 5672")
        text = section("listener", "saslMechanisms: XOAUTH2", "authenticatePeer: yes", "saslPlugin: it")
        assert not read(service + text).warnings
