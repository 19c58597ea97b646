"""The client's role in SASL."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.wire.errors import IllegalState, InvalidField, RemoteError, StateError, ValueRangeError
from routerd.wire.sasl import (
    AnonymousClient,
    ExternalClient,
    NoCommonMechanism,
    Pending,
    PlainClient,
    SaslClient,
    SaslCode,
    SaslFailed,
    SaslLimits,
    ScramClient,
)
from routerd.wire.sasl_frames import SaslChallenge, SaslInit, SaslMechanisms, SaslOutcome, SaslResponse
from routerd.wire.types import Symbol


@dataclass
class Echoing:
    """A mechanism of an application: answers a challenge with itself, and wants `due` in the end."""

    name: str = "ECHOING"
    due: bytes | None = None
    hosts: list = field(default_factory=list)

    def start(self, hostname):
        self.hosts.append(hostname)
        return self

    def initial_response(self):
        return None

    def respond(self, challenge):
        return challenge

    def finish(self, additional_data):
        if additional_data != self.due:
            raise SaslFailed("not what was due")


def offer(*names):
    return SaslMechanisms(sasl_server_mechanisms=tuple(map(Symbol, names)))


def offered(*mechanisms, **options):
    client = SaslClient(mechanisms, **options)
    client.receive(offer(*(mechanism.name for mechanism in mechanisms)))
    return client


def check_abandoned(client):
    assert (client.done, client.outcome, client.identity) == (True, None, None)


def test_the_server_has_the_first_word():
    client = SaslClient([AnonymousClient()])
    assert client.start() == []
    assert (client.done, client.mechanism, client.outcome, client.identity) == (False, None, None, None)


def test_a_client_needs_a_mechanism():
    with pytest.raises(ValueRangeError, match=r"^a SASL client needs a mechanism that it is ready to use$"):
        SaslClient([])


def test_the_first_of_ours_that_is_offered_is_chosen():
    client = SaslClient([ExternalClient(), PlainClient("alice", "sesame"), AnonymousClient()], hostname="broker")
    assert client.receive(offer("ANONYMOUS", "GSSAPI", "PLAIN")) == [
        SaslInit(mechanism=Symbol("PLAIN"), initial_response=b"\0alice\0sesame", hostname="broker")
    ]
    assert client.mechanism == "PLAIN"


def test_a_success_ends_the_exchange():
    client = offered(AnonymousClient())
    assert client.receive(SaslOutcome(code=0)) == []
    assert (client.done, client.outcome, client.identity) == (True, SaslCode.OK, None)


@pytest.mark.parametrize("code", [SaslCode.AUTH, SaslCode.SYS, SaslCode.SYS_PERM, SaslCode.SYS_TEMP])
def test_a_failure_ends_the_exchange_with_its_code(code):
    client = offered(Echoing(due=b"proof"))
    assert client.receive(SaslOutcome(code=int(code))) == []
    assert (client.done, client.outcome) == (True, code)


def test_challenges_are_answered_by_the_mechanism():
    mechanism = Echoing(due=b"proof")
    client = offered(mechanism, hostname="broker")
    assert mechanism.hosts == ["broker"]
    assert client.receive(SaslChallenge(challenge=b"one")) == [SaslResponse(response=b"one")]
    assert client.receive(SaslChallenge(challenge=b"two")) == [SaslResponse(response=b"two")]
    assert not client.done
    assert client.receive(SaslOutcome(code=0, additional_data=b"proof")) == []
    assert client.outcome is SaslCode.OK


def test_a_server_that_does_not_prove_itself_is_not_believed():
    client = offered(Echoing(due=b"proof"))
    with pytest.raises(SaslFailed, match=r"^not what was due$") as caught:
        client.receive(SaslOutcome(code=0))
    assert caught.value.condition == "amqp:unauthorized-access"
    check_abandoned(client)


def test_an_empty_offer_breaks_the_protocol():
    client = SaslClient([AnonymousClient()])
    with pytest.raises(InvalidField, match=r"^the server offers no mechanism at all \(5\.3\.3\.1\)$") as caught:
        client.receive(offer())
    assert caught.value.condition == "amqp:invalid-field"
    check_abandoned(client)


def test_an_offer_without_a_mechanism_of_ours_says_what_there_was():
    client = SaslClient([ExternalClient(), AnonymousClient()])
    with pytest.raises(NoCommonMechanism) as caught:
        client.receive(offer("GSSAPI", "PLAIN"))
    error = caught.value
    assert (error.offered, error.ready) == (("GSSAPI", "PLAIN"), ("EXTERNAL", "ANONYMOUS"))
    assert str(error) == "the server offers GSSAPI, PLAIN; ready to use: EXTERNAL, ANONYMOUS"
    assert error.condition == "amqp:unauthorized-access"
    check_abandoned(client)


def test_a_code_that_does_not_exist_breaks_the_protocol():
    client = offered(AnonymousClient())
    with pytest.raises(InvalidField, match=r"^5 is not the code of an outcome \(5\.3\.3\.6\)$"):
        client.receive(SaslOutcome(code=5))
    check_abandoned(client)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (SaslInit(mechanism=Symbol("PLAIN")), r"a server does not send SaslInit \(5\.3\.2\)"),
        (SaslResponse(response=b""), r"a server does not send SaslResponse \(5\.3\.2\)"),
        (SaslChallenge(challenge=b""), r"sasl-challenge: not in the state 'start' \(5\.3\.2\)"),
        (SaslOutcome(code=0), r"sasl-outcome ok: not in the state 'start' \(5\.3\.2\)"),
        (SaslOutcome(code=1), r"sasl-outcome: not in the state 'start' \(5\.3\.2\)"),
    ],
)
def test_a_frame_out_of_place_ends_the_exchange(frame, message):
    client = SaslClient([AnonymousClient()])
    with pytest.raises(IllegalState, match=f"^{message}$"):
        client.receive(frame)
    check_abandoned(client)


def test_a_second_offer_is_out_of_place():
    client = offered(AnonymousClient())
    with pytest.raises(IllegalState, match="'waiting for the server'"):
        client.receive(offer("ANONYMOUS"))


def test_a_frame_after_the_outcome_is_out_of_place_and_changes_nothing():
    client = offered(AnonymousClient())
    client.receive(SaslOutcome(code=0))
    with pytest.raises(IllegalState, match="'succeeded'"):
        client.receive(SaslOutcome(code=1))
    assert client.outcome is SaslCode.OK


def test_challenges_without_end_are_ended():
    client = offered(Echoing(), limits=SaslLimits(steps=2))
    for _ in range(2):
        client.receive(SaslChallenge(challenge=b""))
    with pytest.raises(SaslFailed, match=r"^more than 2 challenges$"):
        client.receive(SaslChallenge(challenge=b""))
    check_abandoned(client)


@pytest.mark.parametrize("frame", [SaslChallenge(challenge=b"12345"), SaslOutcome(code=0, additional_data=b"12345")])
def test_a_token_above_the_limit_does_not_reach_the_mechanism(frame):
    client = offered(Echoing(due=b"12345"), limits=SaslLimits(token_size_bytes=4))
    with pytest.raises(SaslFailed, match=r"^5 octets at once; 4 is the most$"):
        client.receive(frame)
    check_abandoned(client)


def test_an_abandoned_exchange_is_over_without_outcome():
    client = offered(AnonymousClient())
    client.abandon()
    check_abandoned(client)


TOKENS = st.binary(max_size=60) | st.sampled_from(
    [
        b"r=abcdefghijklmnopqrstuvwx,s=QSXCR+Q6sek8bf92,i=4096",
        b"r=abcdefghijklmnopqrstuvwx,s=QSXCR+Q6sek8bf92,i=9999999",
        b"r=abcdefghijklmnopqrstuvwx,s=QSXCR+Q6sek8bf92,i=" + b"9" * 5000,
        b"r=abcdefghijklmnopqrstuvwx,s=!,i=4096,x=1",
        b"r=zzz,s=QSXCR+Q6sek8bf92,i=4096",
        b"v=rmF9pqV8S7suAoZWja4dJRkFsKQ=",
        b"v=!",
        b"e=other-error",
        b"e=never heard",
    ]
)
SERVER_FRAMES = (
    st.builds(SaslMechanisms, sasl_server_mechanisms=st.sampled_from([(), ("SCRAM-SHA-1",), ("PLAIN", "EXTERNAL")]))
    | st.builds(SaslChallenge, challenge=TOKENS)
    | st.builds(SaslOutcome, code=st.integers(0, 9), additional_data=st.none() | TOKENS)
    | st.just(SaslInit(mechanism=Symbol("PLAIN")))
)


@given(frames=st.lists(SERVER_FRAMES, max_size=5), mechanism=st.sampled_from(["SCRAM-SHA-1", "PLAIN", "EXTERNAL"]))
@settings(deadline=None)
def test_whatever_a_server_sends_is_answered_or_refused_and_scram_never_fooled(frames, mechanism):
    ready = {
        "SCRAM-SHA-1": ScramClient("SCRAM-SHA-1", "user", "pencil", lambda: "abcdefghijklmnop", iterations_max=5000),
        "PLAIN": PlainClient("user", "pencil"),
        "EXTERNAL": ExternalClient(),
    }[mechanism]
    client = SaslClient([ready], limits=SaslLimits(token_size_bytes=4999))
    refusals = []
    for frame in [SaslMechanisms(sasl_server_mechanisms=(mechanism,)), *frames]:
        try:
            client.receive(frame)
        except RemoteError as error:
            refusals.append(str(error))
    assert "pencil" not in " ".join(refusals)
    assert client.done or not refusals
    assert not (mechanism == "SCRAM-SHA-1" and client.outcome is SaslCode.OK)


class Slow:
    """A mechanism that says nothing at once."""

    name = "SLOW"

    def start(self, hostname):
        return self

    def initial_response(self):
        return Pending()

    def respond(self, challenge):
        return Pending()

    def finish(self, additional_data):
        pass


def test_what_a_mechanism_says_later_is_sent_then():
    client = offered(Slow())
    assert (client.mechanism, client.is_waiting) == ("SLOW", False)
    assert client.answer(b"first") == [SaslInit(mechanism=Symbol("SLOW"), initial_response=b"first", hostname=None)]
    assert client.receive(SaslChallenge(challenge=b"who?")) == []
    assert client.answer(b"me") == [SaslResponse(response=b"me")]
    client.receive(SaslChallenge(challenge=b"more?"))
    assert client.answer(None) == [SaslResponse(response=b"")]
    client.receive(SaslOutcome(code=0))
    assert client.outcome is SaslCode.OK


def test_what_comes_after_the_end_is_not_sent():
    client = offered(Slow())
    client.abandon()
    assert client.answer(b"first") == []


def test_a_server_does_not_go_on_before_it_has_an_answer():
    client = offered(Slow())
    with pytest.raises(IllegalState):
        client.receive(SaslChallenge(challenge=b"who?"))
    check_abandoned(client)


def test_an_answer_that_nobody_waits_for_is_a_mistake():
    client = offered(Slow())
    client.answer(b"first")
    with pytest.raises(StateError):
        client.answer(b"again")
