"""GSSAPI: the exchange around a security context, and the agreement on no security layer."""

import pytest

from routerd.wire.sasl import (
    Challenge,
    Failure,
    GssapiClient,
    GssapiServer,
    SaslClient,
    SaslCode,
    SaslFailed,
    SaslServer,
    Success,
)
from tests.unit.wire.gss_context import SEAL, MadeUpContext, acceptor, initiator

NO_LAYER = SEAL + b"\x01\x00\x00\x00"


def offered(context=acceptor, **options):
    """Return a server's exchange that has offered its layers."""
    exchange = GssapiServer(context, **options).start("host")
    exchange.step(b"hello")
    assert exchange.step(b"") == Challenge(NO_LAYER)
    return exchange


def run(server, client):
    frames = server.start()
    while frames:
        frames = [answer for frame in frames for answer in client.receive(frame)]
        frames = [answer for frame in frames for answer in server.receive(frame)]


def test_both_sides_come_to_an_agreement():
    server, client = SaslServer([GssapiServer(acceptor)]), SaslClient([GssapiClient(initiator)])
    run(server, client)
    assert (server.outcome, server.identity, server.mechanism) == (SaslCode.OK, "alice", "GSSAPI")
    assert (client.outcome, client.mechanism) == (SaslCode.OK, "GSSAPI")


def test_a_context_may_take_several_tokens():
    server = SaslServer([GssapiServer(lambda: MadeUpContext([b"2", b"4"], [b"1", b"3"]))])
    client = SaslClient([GssapiClient(lambda: MadeUpContext([b"1", b"3"], [b"2", b"4"]))])
    run(server, client)
    assert (server.outcome, client.outcome) == (SaslCode.OK, SaslCode.OK)


@pytest.mark.parametrize("response", [None, b""])
def test_a_client_that_leaves_its_token_out_of_the_init_is_asked_for_it_once(response):
    exchange = GssapiServer(acceptor).start(None)
    assert exchange.step(response) == Challenge(b"")
    assert exchange.step(b"") == Failure("b'' is not a token")
    other = GssapiServer(acceptor).start(None)
    assert [other.step(response), other.step(b"hello")] == [Challenge(b""), Challenge(b"who?")]


def test_layers_are_offered_at_once_where_the_context_has_nothing_more_to_say():
    exchange = GssapiServer(lambda: MadeUpContext([], [b"hello"])).start(None)
    assert exchange.step(b"hello") == Challenge(NO_LAYER)


def test_a_token_that_is_wrong_is_refused():
    assert GssapiServer(acceptor).start(None).step(b"hullo") == Failure("b'hullo' is not a token")


def test_a_client_that_goes_on_with_an_established_context_is_refused():
    exchange = GssapiServer(acceptor).start(None)
    exchange.step(b"hello")
    assert exchange.step(b"more") == Failure("the context is established, and the client goes on")


@pytest.mark.parametrize(
    ("choice", "outcome"),
    [
        (b"\x01\x00\x00\x00", Success("alice")),
        (b"\x01\x00\xff\xffalice", Success("alice")),
        (b"\x01\x00\x00\x00alice@REALM", Success("alice")),
        (b"\x01\x00\x00\x00bob", Failure("'alice' may not act as 'bob'")),
        (b"\x01\x00\x00\x00\xff", Failure("the authorization identity is not UTF-8")),
        (b"\x02\x00\x10\x00", Failure("the client chose a security layer, and none was offered")),
        (b"\x05\x00\x10\x00", Failure("the client chose a security layer, and none was offered")),
        (b"\x01\x00\x00", Failure("the client chose a security layer, and none was offered")),
        (b"", Failure("the client chose a security layer, and none was offered")),
    ],
)
def test_the_choice_of_a_client_is_judged(choice, outcome):
    assert offered().step(SEAL + choice) == outcome


def test_a_client_may_act_as_who_it_is_allowed_to():
    exchange = offered(authorize=lambda name, wanted: (name, wanted) == ("alice", "bob"))
    assert exchange.step(SEAL + b"\x01\x00\x00\x00bob") == Success("bob")


def test_a_choice_that_is_not_the_clients_is_refused():
    assert offered().step(b"\x01\x00\x00\x00") == Failure(r"b'\x01\x00\x00\x00' is not sealed")


def test_a_client_takes_no_layer_where_that_is_among_those_offered():
    exchange = GssapiClient(initiator).start("host")
    assert exchange.initial_response() == b"hello"
    assert exchange.respond(b"who?") == b""
    assert exchange.respond(SEAL + b"\x07\x00\x10\x00") == NO_LAYER
    exchange.finish(None)


@pytest.mark.parametrize("offer", [b"\x06\x00\x10\x00", b"\x01\x00\x00", b"\x01\x00\x00\x00x", b""])
def test_a_client_gives_up_where_a_layer_is_asked_for(offer):
    exchange = GssapiClient(initiator).start(None)
    exchange.initial_response()
    exchange.respond(b"who?")
    with pytest.raises(SaslFailed, match=r"^the server asks for a security layer; encryption is a matter of TLS here$"):
        exchange.respond(SEAL + offer)


@pytest.mark.parametrize("said", [[], [b"who?"]])
def test_a_server_that_says_ok_before_the_end_is_not_believed(said):
    exchange = GssapiClient(initiator).start(None)
    exchange.initial_response()
    for token in said:
        exchange.respond(token)
    with pytest.raises(SaslFailed, match=r"^the server did not prove who it is$"):
        exchange.finish(None)


def test_a_server_that_goes_on_after_the_end_is_not_heard():
    exchange = GssapiClient(initiator).start(None)
    exchange.initial_response()
    exchange.respond(b"who?")
    exchange.respond(NO_LAYER)
    with pytest.raises(SaslFailed, match=r"^the server goes on when everything is agreed on$"):
        exchange.respond(NO_LAYER)


def test_a_server_that_cannot_prove_itself_is_not_believed():
    exchange = GssapiClient(initiator).start(None)
    exchange.initial_response()
    with pytest.raises(SaslFailed, match=r"^b'what\?' is not a token$"):
        exchange.respond(b"what?")
