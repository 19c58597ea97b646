"""The server's role in SASL, with mechanisms made for the test."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.wire.errors import IllegalState, RemoteError, StateError, ValueRangeError
from routerd.wire.sasl import (
    AnonymousServer,
    AuthenticationUnavailable,
    Challenge,
    ExternalServer,
    Failure,
    Pending,
    PlainServer,
    SaslCode,
    SaslLimits,
    SaslServer,
    ScramCredentials,
    ScramServer,
    Success,
)
from routerd.wire.sasl.scram_credentials import ScramDecoys
from routerd.wire.sasl_frames import SaslChallenge, SaslInit, SaslMechanisms, SaslOutcome, SaslResponse
from routerd.wire.types import Symbol


@dataclass
class Scripted:
    """A mechanism of an application: gives its steps one by one, and keeps what it was given."""

    script: list
    name: str = "SCRIPTED"

    def start(self, hostname):
        self.hostname = hostname
        self.heard = []
        return self

    def step(self, response):
        self.heard.append(response)
        step = self.script[len(self.heard) - 1]
        if isinstance(step, Exception):
            raise step
        return step


def init(mechanism="SCRIPTED", response=None, hostname=None):
    return SaslInit(mechanism=Symbol(mechanism), initial_response=response, hostname=hostname)


def started(*factories, **options):
    server = SaslServer(factories, **options)
    server.start()
    return server


def check_refused(server, code):
    assert (server.done, server.outcome, server.identity) == (True, code, None)


def test_the_mechanisms_are_offered_in_the_order_given():
    server = SaslServer([ExternalServer(None), AnonymousServer()])
    assert server.start() == [
        SaslMechanisms(sasl_server_mechanisms=(Symbol("EXTERNAL"), Symbol("ANONYMOUS"))),
    ]
    assert (server.done, server.mechanism, server.outcome, server.failure) == (False, None, None, None)


def test_a_server_cannot_offer_nothing():
    with pytest.raises(ValueRangeError, match=r"^mechanisms must be one or more, none twice: \[\]$"):
        SaslServer([])


def test_a_server_cannot_offer_a_mechanism_twice():
    with pytest.raises(ValueRangeError, match="none twice"):
        SaslServer([AnonymousServer(), AnonymousServer("guest")])


def test_starting_twice_is_our_mistake():
    server = started(AnonymousServer())
    with pytest.raises(StateError):
        server.start()


def test_an_initial_response_can_be_all_it_takes():
    mechanism = Scripted([Success("alice")])
    server = started(mechanism)
    assert server.receive(init(response=b"hello", hostname="broker")) == [SaslOutcome(code=SaslCode.OK)]
    assert mechanism.heard == [b"hello"]
    assert (mechanism.hostname, server.hostname) == ("broker", "broker")
    assert (server.done, server.outcome, server.identity, server.mechanism, server.failure) == (
        True,
        SaslCode.OK,
        "alice",
        "SCRIPTED",
        None,
    )


def test_challenges_and_responses_alternate_until_the_outcome():
    mechanism = Scripted([Challenge(b"one"), Challenge(b"two"), Success("alice", b"proof")])
    server = started(mechanism)
    assert server.receive(init()) == [SaslChallenge(challenge=b"one")]
    assert (server.done, server.identity) == (False, None)
    assert server.receive(SaslResponse(response=b"1")) == [SaslChallenge(challenge=b"two")]
    assert server.receive(SaslResponse(response=b"2")) == [SaslOutcome(code=SaslCode.OK, additional_data=b"proof")]
    assert mechanism.heard == [None, b"1", b"2"]
    assert server.identity == "alice"


@pytest.mark.parametrize("code", [SaslCode.AUTH, SaslCode.SYS, SaslCode.SYS_PERM, SaslCode.SYS_TEMP])
def test_the_peer_is_told_the_code_of_a_failure_and_nothing_else(code):
    server = started(Scripted([Failure("no such user: mallory", code)]))
    assert server.receive(init()) == [SaslOutcome(code=code)]
    check_refused(server, code)
    assert server.failure == Failure("no such user: mallory", code)


def test_a_failure_has_not_the_code_ok():
    with pytest.raises(ValueRangeError, match=r"^a failure cannot have the code ok$"):
        Failure("reason", SaslCode.OK)


@pytest.mark.parametrize("code", [SaslCode.SYS, SaslCode.SYS_PERM, SaslCode.SYS_TEMP])
def test_credentials_that_cannot_be_asked_for_are_a_failure_of_the_system(code):
    server = started(Scripted([AuthenticationUnavailable("no data base", code)]))
    assert server.receive(init()) == [SaslOutcome(code=code)]
    check_refused(server, code)
    assert server.failure == Failure("no data base", code)


def test_what_is_unavailable_comes_back_unless_the_application_says_otherwise():
    assert AuthenticationUnavailable("no data base").failure == Failure("no data base", SaslCode.SYS_TEMP)


def test_a_mechanism_that_was_not_offered_is_refused():
    server = started(AnonymousServer())
    assert server.receive(init("PLAIN", b"\0a\0b")) == [SaslOutcome(code=SaslCode.AUTH)]
    check_refused(server, SaslCode.AUTH)
    assert server.mechanism is None
    assert server.failure == Failure("the client chose a mechanism that was not offered")


def test_a_token_above_the_limit_does_not_reach_the_mechanism():
    mechanism = Scripted([Success("alice")])
    server = started(mechanism, limits=SaslLimits(token_size_bytes=4))
    assert server.receive(init(response=b"12345")) == [SaslOutcome(code=SaslCode.AUTH)]
    assert mechanism.heard == []
    assert server.failure == Failure("5 octets at once; 4 is the most")


def test_a_token_at_the_limit_does():
    server = started(Scripted([Success("alice")]), limits=SaslLimits(token_size_bytes=4))
    assert server.receive(init(response=b"1234")) == [SaslOutcome(code=SaslCode.OK)]


def test_a_mechanism_that_never_ends_is_ended():
    server = started(Scripted([Challenge(b"")] * 3), limits=SaslLimits(steps=2))
    assert server.receive(init()) == [SaslChallenge(challenge=b"")]
    assert server.receive(SaslResponse(response=b"")) == [SaslChallenge(challenge=b"")]
    assert server.receive(SaslResponse(response=b"")) == [SaslOutcome(code=SaslCode.AUTH)]
    assert server.failure == Failure("more than 2 steps")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps is 0; it must be at least 1"),
        ({"token_size_bytes": 0}, "token_size_bytes is 0; it must be at least 1"),
    ],
)
def test_limits_leave_room_for_an_exchange(options, message):
    with pytest.raises(ValueRangeError, match=f"^{message}$"):
        SaslLimits(**options)


def test_an_abandoned_exchange_is_over_without_outcome():
    server = started(Scripted([Challenge(b"")]))
    server.receive(init())
    server.abandon()
    check_refused(server, None)
    with pytest.raises(IllegalState):
        server.receive(SaslResponse(response=b""))


def test_abandoning_does_not_undo_a_success():
    server = started(AnonymousServer())
    server.receive(init("ANONYMOUS"))
    server.abandon()
    assert (server.done, server.outcome, server.identity) == (True, SaslCode.OK, "anonymous")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            SaslMechanisms(sasl_server_mechanisms=(Symbol("PLAIN"),)),
            r"a client does not send SaslMechanisms \(5\.3\.2\)",
        ),
        (SaslChallenge(challenge=b""), r"a client does not send SaslChallenge \(5\.3\.2\)"),
        (SaslOutcome(code=0), r"a client does not send SaslOutcome \(5\.3\.2\)"),
        (SaslResponse(response=b""), r"sasl-response: not in the state 'mechanisms sent' \(5\.3\.2\)"),
    ],
)
def test_a_frame_out_of_place_ends_the_exchange(frame, message):
    server = started(AnonymousServer())
    with pytest.raises(IllegalState, match=f"^{message}$") as caught:
        server.receive(frame)
    assert caught.value.condition == "amqp:illegal-state"
    check_refused(server, None)


def test_an_init_before_the_offer_is_out_of_place():
    with pytest.raises(IllegalState, match="'start'"):
        SaslServer([AnonymousServer()]).receive(init("ANONYMOUS"))


def test_a_second_init_is_out_of_place():
    server = started(Scripted([Challenge(b"")]))
    server.receive(init())
    with pytest.raises(IllegalState, match=r"^sasl-init: not in the state 'challenge sent' \(5\.3\.2\)$"):
        server.receive(init())
    check_refused(server, None)


def test_a_frame_after_the_outcome_is_out_of_place_and_changes_nothing():
    server = started(AnonymousServer())
    server.receive(init("ANONYMOUS"))
    with pytest.raises(IllegalState, match="'succeeded'"):
        server.receive(init("ANONYMOUS"))
    assert (server.outcome, server.identity) == (SaslCode.OK, "anonymous")


CREDENTIALS = ScramCredentials.derive("SCRAM-SHA-256", "pencil", salt=b"0123456789abcdef")


def nonce():
    return "3rfcNHYJY1ZVvWVs7j"


def every_server():
    return [
        *(
            ScramServer(
                name, {"user": CREDENTIALS}.get, ScramDecoys(b"s" * 16), nonce, proof_in_outcome=name[-1] == "6"
            )
            for name in ("SCRAM-SHA-256", "SCRAM-SHA-1")
        ),
        ExternalServer("CN=client"),
        PlainServer(lambda name, password: password == "pencil"),
    ]


MECHANISM_NAMES = st.sampled_from(["SCRAM-SHA-256", "SCRAM-SHA-1", "EXTERNAL", "PLAIN", "NONE"])
SCRAM_TEXT = st.lists(
    st.sampled_from(["n", "y", "p=tls-unique", "", ",", "=", "a=b", "n=user", "r=abcdefgh", "c=biws", "r=", "p=aaaa",
                     "p=!", "e=other-error", "m=x", "n==2C", "n==", "n=\u00ad", "\0", "é", "n=user,r=abc"]),
    max_size=8,
).map(lambda parts: ",".join(parts).encode())  # fmt: skip
TOKENS = st.none() | st.binary(max_size=80) | SCRAM_TEXT | st.just(b"n,,n=user,r=abcdefgh") | st.just(b"\0user\0pencil")
CLIENT_FRAMES = (
    st.builds(SaslInit, mechanism=MECHANISM_NAMES.map(Symbol), initial_response=TOKENS)
    | st.builds(SaslResponse, response=TOKENS.filter(lambda token: token is not None))
    | st.builds(SaslOutcome, code=st.integers(0, 4))
)


@given(frames=st.lists(CLIENT_FRAMES, min_size=1, max_size=5))
@settings(deadline=None)
def test_whatever_a_client_sends_is_answered_or_refused(frames):
    server = started(*every_server())
    for frame in frames:
        was_over = server.done
        try:
            answers = [type(answer) for answer in server.receive(frame)]
        except RemoteError as error:
            answers = [error.condition]
        allowed = [["amqp:illegal-state"]] if was_over else [[SaslChallenge], [SaslOutcome], ["amqp:illegal-state"]]
        assert answers in allowed
        assert server.done is (answers != [SaslChallenge])
    assert (server.identity is not None) is (server.outcome is SaslCode.OK)
    assert server.identity in (None, "CN=client", "user")


# Steps that take their time


def test_a_pending_step_is_answered_later():
    server = started(Scripted([Pending(), Pending()]))
    assert (server.receive(init(response=b"one")), server.is_waiting, server.done) == ([], True, False)
    assert server.answer(Challenge(b"two")) == [SaslChallenge(challenge=b"two")]
    assert server.receive(SaslResponse(response=b"three")) == []
    assert server.answer(Success("me", b"data")) == [SaslOutcome(code=0, additional_data=b"data")]
    assert (server.is_waiting, server.done, server.identity) == (False, True, "me")


def test_a_pending_step_may_fail():
    server = started(Scripted([Pending()]))
    server.receive(init())
    assert server.answer(Failure("no", SaslCode.SYS_TEMP)) == [SaslOutcome(code=4)]
    check_refused(server, SaslCode.SYS_TEMP)


def test_nothing_is_taken_while_a_step_is_pending():
    server = started(Scripted([Pending()]))
    server.receive(init())
    with pytest.raises(IllegalState, match="mechanism at work"):
        server.receive(SaslResponse(response=b""))
    assert (server.done, server.is_waiting) == (True, False)


def test_an_answer_comes_too_late_for_an_exchange_that_was_abandoned():
    server = started(Scripted([Pending()]))
    server.receive(init())
    server.abandon()
    assert (server.answer(Success("me")), server.identity, server.outcome) == ([], None, None)


def test_an_answer_that_nobody_waits_for_is_refused():
    server = started(Scripted([Challenge(b"")]))
    with pytest.raises(StateError, match="does not wait for an answer"):
        server.answer(Success("me"))


def test_what_is_offered_is_asked_for_when_the_client_wants_to_know():
    offers = [[AnonymousServer()], [AnonymousServer(), Scripted([])]]
    server = SaslServer(lambda: offers.pop())
    assert server.start() == [SaslMechanisms(sasl_server_mechanisms=(Symbol("ANONYMOUS"), Symbol("SCRIPTED")))]
    assert server.receive(init("ANONYMOUS")) == [SaslOutcome(code=0)]


def test_what_is_offered_may_be_found_out_later():
    server = SaslServer(lambda: None)
    assert (server.start(), server.is_waiting) == ([], True)
    assert server.offer([AnonymousServer()]) == [SaslMechanisms(sasl_server_mechanisms=(Symbol("ANONYMOUS"),))]
    assert (server.is_waiting, server.receive(init("ANONYMOUS"))) == (False, [SaslOutcome(code=0)])


def test_an_offer_comes_too_late_for_an_exchange_that_was_abandoned():
    server = SaslServer(lambda: None)
    server.start()
    server.abandon()
    assert (server.offer([AnonymousServer()]), server.done) == ([], True)


def test_an_offer_that_is_empty_is_refused():
    with pytest.raises(ValueRangeError, match="one or more"):
        SaslServer(list).start()


def test_a_failure_may_be_held_back():
    held = []
    server = started(Scripted([Failure("no")]), hold_back=lambda failure: held.append(failure) is None)
    assert (server.receive(init()), server.is_waiting, server.outcome) == ([], True, None)
    [failure] = held
    assert (server.failure, server.answer(failure)) == (failure, [SaslOutcome(code=1)])
    check_refused(server, SaslCode.AUTH)


def test_a_failure_is_told_at_once_where_it_is_not_held_back():
    server = started(Scripted([]), hold_back=lambda failure: False)
    assert server.receive(init("OTHER")) == [SaslOutcome(code=1)]
    check_refused(server, SaslCode.AUTH)
