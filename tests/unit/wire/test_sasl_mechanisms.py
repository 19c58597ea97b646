"""ANONYMOUS, PLAIN and EXTERNAL: what each side says, and what the server makes of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.wire.errors import ValueRangeError
from routerd.wire.sasl import (
    AnonymousClient,
    AnonymousServer,
    Challenge,
    ExternalClient,
    ExternalServer,
    Failure,
    PlainClient,
    PlainServer,
    SaslFailed,
    Success,
)


def judged_by(factory, response):
    return factory.start("host").step(response)


def knows_alice(name, password):
    return (name, password) == ("alice", "sesame")


MALFORMED = Failure("the PLAIN message is not [authzid] NUL authcid NUL passwd")


@pytest.mark.parametrize("trace", [None, b"", b"someone@somewhere", b"\xff\xfe", b"\0"])
def test_anonymous_lets_everybody_in_whatever_trace_they_leave(trace):
    assert judged_by(AnonymousServer(), trace) == Success("anonymous")


def test_anonymous_clients_get_the_identity_of_the_configuration():
    assert judged_by(AnonymousServer("guest"), b"") == Success("guest")


def test_an_anonymous_client_leaves_its_trace():
    client = AnonymousClient("anonymous@router").start(None)
    assert client.initial_response() == b"anonymous@router"
    assert client.respond(b"") == b"anonymous@router"
    client.finish(None)


def test_a_trace_is_bounded():
    AnonymousClient("x" * 255)
    with pytest.raises(ValueRangeError, match=r"^the trace has 256 characters; 255 is the most$"):
        AnonymousClient("x" * 256)


def test_plain_succeeds_with_the_right_password():
    assert judged_by(PlainServer(knows_alice), b"\0alice\0sesame") == Success("alice")


def test_plain_asks_for_a_message_that_was_not_in_the_init():
    exchange = PlainServer(knows_alice).start(None)
    assert exchange.step(None) == Challenge(b"")
    assert exchange.step(b"\0alice\0sesame") == Success("alice")


@pytest.mark.parametrize("message", [b"\0alice\0wrong", b"\0bob\0sesame"])
def test_plain_fails_with_a_wrong_password_or_name(message):
    step = judged_by(PlainServer(knows_alice), message)
    assert step == Failure(f"wrong name or password for {message.split(bytes(1))[1].decode()!r}")


@pytest.mark.parametrize(
    "message", [b"", b"alice", b"alice\0sesame", b"\0\0sesame", b"\0alice\0", b"\0alice\0sesame\0", b"\0\0"]
)
def test_plain_fails_on_a_malformed_message(message):
    assert judged_by(PlainServer(knows_alice), message) == MALFORMED


def test_plain_fails_on_what_is_not_utf8():
    assert judged_by(PlainServer(knows_alice), b"\0alice\0\xff") == Failure("the PLAIN message is not UTF-8")


def test_plain_may_name_itself_as_who_to_act_as():
    assert judged_by(PlainServer(knows_alice), b"alice\0alice\0sesame") == Success("alice")


def test_acting_as_somebody_else_is_refused_unless_the_application_honours_it():
    assert judged_by(PlainServer(knows_alice), b"root\0alice\0sesame") == Failure("'alice' may not act as 'root'")


def test_acting_as_somebody_else_is_up_to_the_application():
    server = PlainServer(knows_alice, authorize=lambda name, wanted: (name, wanted) == ("alice", "orders"))
    assert judged_by(server, b"orders\0alice\0sesame") == Success("orders")
    assert judged_by(server, b"root\0alice\0sesame") == Failure("'alice' may not act as 'root'")


def test_who_to_act_as_does_not_matter_with_a_wrong_password():
    server = PlainServer(knows_alice, authorize=lambda name, wanted: True)
    assert judged_by(server, b"orders\0alice\0wrong") == Failure("wrong name or password for 'alice'")


@given(message=st.binary(max_size=40))
@settings(deadline=None)
def test_plain_without_the_password_never_succeeds(message):
    assert isinstance(judged_by(PlainServer(lambda name, password: False), message), Failure)


@given(message=st.binary(max_size=20), password=st.text(min_size=1).filter(lambda text: "\0" not in text))
@settings(deadline=None)
def test_the_reason_of_a_failure_never_has_the_password(message, password):
    secret = f"<{password}>"
    step = judged_by(PlainServer(knows_alice), message + b"\0alice\0" + secret.encode(errors="replace"))
    assert isinstance(step, Failure)
    assert secret not in step.reason


def test_a_plain_client_says_all_in_the_init():
    assert PlainClient("alice", "sesame").start("host").initial_response() == b"\0alice\0sesame"
    assert PlainClient("alice", "sesame", act_as="orders").initial_response() == b"orders\0alice\0sesame"
    PlainClient("alice", "sesame").finish(b"whatever")


def test_a_plain_client_answers_no_challenge():
    with pytest.raises(SaslFailed, match=r"^PLAIN has no challenge$"):
        PlainClient("alice", "sesame").respond(b"again?")


def test_the_password_of_a_client_is_not_in_its_repr():
    assert repr(PlainClient("alice", "sesame")) == "PlainClient(username='alice', act_as='')"


@pytest.mark.parametrize(("username", "password"), [("", "sesame"), ("alice", "")])
def test_plain_needs_name_and_password(username, password):
    with pytest.raises(ValueRangeError, match=r"^PLAIN needs a name and a password$"):
        PlainClient(username, password)


@pytest.mark.parametrize("texts", [("al\0ice", "s", ""), ("alice", "s\0", ""), ("alice", "s", "\0")])
def test_plain_has_no_room_for_nul(texts):
    with pytest.raises(ValueRangeError, match=r"^PLAIN allows no NUL in name and password$"):
        PlainClient(*texts)


@pytest.mark.parametrize("response", [None, b"", b"CN=client"])
def test_external_believes_the_transport(response):
    assert judged_by(ExternalServer("CN=client"), response) == Success("CN=client")


@pytest.mark.parametrize("response", [None, b"", b"CN=client"])
def test_external_fails_without_an_identity_of_the_transport(response):
    assert judged_by(ExternalServer(None), response) == Failure("the transport tells no identity")


def test_external_honours_acting_as_somebody_else_only_by_the_application():
    assert judged_by(ExternalServer("a"), b"b") == Failure("'a' may not act as 'b'")
    assert judged_by(ExternalServer("a", authorize=lambda name, wanted: True), b"b") == Success("b")


def test_external_fails_on_what_is_no_identity():
    assert judged_by(ExternalServer("a"), b"\xff") == Failure("the authorization identity is not UTF-8")
    assert judged_by(ExternalServer("a"), b"a\0") == Failure("the authorization identity has a NUL")


def test_an_external_client_says_whom_to_act_as():
    client = ExternalClient().start(None)
    assert (client.initial_response(), client.respond(b"")) == (b"", b"")
    client = ExternalClient("orders").start(None)
    assert (client.initial_response(), client.respond(b"")) == (b"orders", b"orders")
    client.finish(None)


@pytest.mark.parametrize(("sent", "asked"), [("\u2168", "IX"), ("a\x07", "a\x07")])
def test_plain_asks_for_the_name_as_it_is_compared(sent, asked):
    names = []
    server = PlainServer(lambda name, password: names.append(name) is None)
    assert server.step(f"\0{sent}\0secret".encode()) == Success(asked)
    assert names == [asked]
