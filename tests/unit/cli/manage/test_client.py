"""The client against the engine as a router, and against things that are none, in memory."""

import ssl
from typing import Any

import pytest

from routerd.cli.manage.client import ManagementClient, Response
from routerd.cli.manage.failures import BadAnswer, NoAnswer, ToolFailed, Unreachable
from routerd.cli.manage.stream import Stream
from routerd.wire import Error
from routerd.wire.sasl import AnonymousClient, AnonymousServer, PlainClient, PlainServer, SaslClient, SaslServer
from tests.unit.cli.manage.canned_router import CannedRouter, MemoryStream, Reply, ScriptedStream

WHERE = "127.0.0.1:5672"
NODE = "$management"
SILENT_HINT = "is it a router, and one without TLS? amqps:// connects with it"


def echo(address: str, properties: Any, body: Any) -> Reply:
    return 200, "OK", [address, dict(properties), body]


def client_of(stream: MemoryStream, sasl: SaslClient | None = None) -> ManagementClient:
    typed: Stream = stream
    return ManagementClient(
        typed, WHERE, hostname="router.example", container_id="tool", sasl=sasl, timeout_s=5.0, clock=stream.clock
    )


def failure_of(stream: MemoryStream, sasl: SaslClient | None = None) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        client_of(stream, sasl).open()
    return caught.value


def plain(password: str) -> SaslClient:
    return SaslClient([PlainClient("ann", password)], hostname="router.example")


def plain_server() -> SaslServer:
    return SaslServer([PlainServer(lambda name, password: (name, password) == ("ann", "secret"))])


def test_a_request_is_answered() -> None:
    router = CannedRouter(echo)
    client = client_of(MemoryStream(router))
    client.open()
    assert client.request(NODE, {"operation": "READ"}, {"a": 1}) == Response(
        200, "OK", [NODE, {"operation": "READ"}, {"a": 1}]
    )
    assert router.opened is not None
    assert (router.opened.container_id, router.opened.hostname) == ("tool", "router.example")


def test_each_node_has_one_link_for_all_its_requests() -> None:
    router = CannedRouter(echo)
    client = client_of(MemoryStream(router))
    other = "_topo/0/QDR.B/$management"
    answers = [client.request(address, {"operation": "X"}).body[0] for address in (NODE, other, NODE, NODE)]
    assert answers == [NODE, other, NODE, NODE]
    assert len(router.connection.sessions()[0].links()) == 3


@pytest.mark.parametrize("is_settling", [True, False])
def test_more_answers_than_the_first_credit_arrive(is_settling: bool) -> None:
    client = client_of(MemoryStream(CannedRouter(echo, is_settling=is_settling)))
    assert [client.request(NODE, {"operation": str(n)}).body[1] for n in range(250)] == [
        {"operation": str(n)} for n in range(250)
    ]


def test_an_answer_in_many_frames_is_put_together() -> None:
    rows = [["a" * 100, number] for number in range(2000)]
    client = client_of(MemoryStream(CannedRouter(lambda *_: (200, "OK", rows), max_frame_size=512)))
    assert client.request(NODE, {"operation": "QUERY"}).body == rows


def test_an_answer_to_something_else_is_passed_over() -> None:
    def answer(address: str, properties: Any, body: Any) -> Reply:
        router.send("somebody else", (500, "not for us", None))
        return 200, "OK", None

    router = CannedRouter(answer)
    assert client_of(MemoryStream(router)).request(NODE, {"operation": "X"}) == Response(200, "OK", None)


def test_close_is_told() -> None:
    router = CannedRouter(echo)
    stream = MemoryStream(router)
    client = client_of(stream)
    client.open()
    client.close()
    assert router.is_closed
    assert stream.is_closed


def test_resting_keeps_the_connection_alive() -> None:
    router = CannedRouter(echo)
    stream = MemoryStream(router)
    client = client_of(stream)
    client.open()
    assert client.next_deadline() == float("inf")
    client.rest(is_readable=False)
    router.connection.close(Error(condition="amqp:connection:forced", description="shutting down"))
    with pytest.raises(Unreachable, match="shutting down"):
        client.rest(is_readable=True)


def test_at_a_listener_for_tenants_the_node_has_its_other_name() -> None:
    router = CannedRouter(echo, serves=lambda address: address == "_local/$management")
    client = client_of(MemoryStream(router))
    for _ in range(2):
        assert client.request(NODE, {"operation": "X"}).body[0] == "_local/$management"
    assert len(router.connection.sessions()[0].links()) == 3


# No answer


def test_a_router_that_is_not_there_is_named() -> None:
    client = client_of(MemoryStream(CannedRouter(echo, serves=lambda address: address == NODE)))
    with pytest.raises(NoAnswer) as caught:
        client.request("_topo/0/QDR.X/$management", {"operation": "X"})
    assert str(caught.value) == (
        "there is no router 'QDR.X' that 127.0.0.1:5672 can reach; -n lists those that there are (waited 5 s)"
    )
    assert client.request(NODE, {"operation": "X"}).status == 200


def test_a_peer_without_management_is_doubted() -> None:
    client = client_of(MemoryStream(CannedRouter(echo, serves=lambda _: False)))
    with pytest.raises(NoAnswer, match=r"nobody at 127.0.0.1:5672 takes requests for \$management; is it a router\?"):
        client.request(NODE, {"operation": "X"})


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            {"refuses_attach": Error(condition="amqp:not-found", description="no such node")},
            "$management at 127.0.0.1:5672 refuses requests: no such node",
        ),
        (
            {"refuses_replies": Error(condition="amqp:unauthorized-access")},
            "the router at 127.0.0.1:5672 gives us no address for replies: amqp:unauthorized-access",
        ),
        ({"releases": True}, "$management at 127.0.0.1:5672 did not take the request; nobody serves it now"),
    ],
)
def test_a_refusal_is_told(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(NoAnswer) as caught:
        client_of(MemoryStream(CannedRouter(echo, **options))).request(NODE, {"operation": "X"})
    assert str(caught.value) == complaint


def test_silence_ends() -> None:
    stream = MemoryStream(CannedRouter(lambda *_: None))
    with pytest.raises(NoAnswer) as caught:
        client_of(stream).request(NODE, {"operation": "QUERY"})
    assert str(caught.value) == (
        "$management at 127.0.0.1:5672 does not answer QUERY; -t SECS waits longer (waited 5 s)"
    )
    assert stream.now == 105.0


def test_an_answer_without_a_status_is_none() -> None:
    client = client_of(MemoryStream(CannedRouter(lambda *_: ("fine", "OK", None))))  # type: ignore[arg-type,return-value]
    with pytest.raises(BadAnswer):
        client.request(NODE, {"operation": "X"})


# No connection


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], f"it closed the connection; {SILENT_HINT}"),
        ([ConnectionResetError(104, "Connection reset by peer")], f"Connection reset by peer; {SILENT_HINT}"),
        ([b"\x15\x03\x01\x00\x02\x02\x46"], "TLS is expected there; amqps:// or --ssl-trustfile connects with it"),
        ([b"AMQP\x02\x01\x00\x00"], "TLS is expected there; amqps:// or --ssl-trustfile connects with it"),
        ([b"AM", b"QP\x00\x00\x09\x01"], "another AMQP than 1.0 is spoken there (0.9.1); a router speaks 1.0"),
        (
            [b"AMQP\x03\x01\x00\x00"],
            "one has to log in by SASL; --sasl-username NAME logs in, --sasl-mechanisms ANONYMOUS does without a name",
        ),
        ([b"HTTP/1.1 400 Bad Request\r\n"], "HTTP is spoken there, not AMQP; -b HOST:PORT names another port"),
        ([b"SSH-2.0-OpenSSH_9.2"], "what listens there does not speak AMQP (it says b'SSH-2.0-')"),
    ],
)
def test_what_is_no_router_is_recognised(words: list[bytes | OSError], reason: str) -> None:
    assert str(failure_of(ScriptedStream(*words))) == f"cannot reach a router at {WHERE}: {reason}"


def test_what_says_nothing_at_all_is_given_up() -> None:
    failure = failure_of(ScriptedStream(hangs_up=False))
    assert str(failure) == f"cannot reach a router at {WHERE}: no answer within 5 s; {SILENT_HINT}"


def test_a_router_that_closes_says_why() -> None:
    router = CannedRouter(echo)
    router.close_error = Error(condition="amqp:connection:forced", description="too many connections")
    with pytest.raises(Unreachable) as caught:
        client_of(MemoryStream(router)).request(NODE, {"operation": "X"})
    assert caught.value.reason == "it closed the connection (too many connections)"


# SASL


def test_who_logs_in_is_let_in() -> None:
    client = client_of(MemoryStream(CannedRouter(echo, sasl=plain_server())), plain("secret"))
    client.open()
    assert client.request(NODE, {"operation": "X"}).status == 200


def test_a_wrong_password_is_told() -> None:
    failure = failure_of(MemoryStream(CannedRouter(echo, sasl=plain_server())), plain("guess"))
    assert isinstance(failure, Unreachable)
    assert failure.reason == "authentication failed (PLAIN)"


def test_mechanisms_that_do_not_meet_are_listed() -> None:
    sasl = SaslClient([AnonymousClient()], hostname="router.example")
    failure = failure_of(MemoryStream(CannedRouter(echo, sasl=plain_server())), sasl)
    assert str(failure).endswith("the server offers PLAIN; ready to use: ANONYMOUS")


def test_a_peer_without_sasl_is_recognised() -> None:
    stream = ScriptedStream(b"AMQP\x00\x01\x00\x00")
    assert str(failure_of(stream, plain("secret"))).endswith(
        "no SASL is spoken there; leave the options of SASL out"
    )


def test_a_peer_that_leaves_during_the_login_is_told() -> None:
    stream = ScriptedStream(b"AMQP\x03\x01\x00\x00")
    failure = failure_of(stream, plain("secret"))
    assert isinstance(failure, Unreachable)
    assert failure.reason == "authentication was broken off (no mechanism was chosen)"


def test_anonymous_is_enough_for_those_who_take_it() -> None:
    sasl = SaslClient([AnonymousClient()], hostname="router.example")
    client_of(MemoryStream(CannedRouter(echo, sasl=SaslServer([AnonymousServer()]))), sasl).open()


def test_failures_of_tls_are_told_apart() -> None:
    from routerd.cli.manage.bus import Bus
    from routerd.cli.manage.failures import WrongUse
    from routerd.cli.manage.stream import TlsOptions
    from routerd.cli.manage.tls import context, failure

    bus = Bus(host="router.example", port=5671, is_tls=True)
    wrong = ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)")
    wrong.reason = "WRONG_VERSION_NUMBER"
    assert str(failure(bus, wrong)) == (
        "cannot reach a router at router.example:5671: what listens there does not speak TLS (wrong version number); "
        "amqp:// connects without TLS"
    )
    wanted = ssl.SSLError(1, "[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] tlsv13 alert certificate required (_ssl.c:2580)")
    wanted.reason = "TLSV13_ALERT_CERTIFICATE_REQUIRED"
    assert str(failure(bus, wanted)) == (
        "cannot reach a router at router.example:5671: it wants to see a certificate; "
        "--ssl-certificate and --ssl-key show one"
    )
    with pytest.raises(WrongUse, match=r"^--ssl-trustfile /nowhere: No such file or directory$"):
        context(TlsOptions(trustfile="/nowhere"))
