"""The client's role on behalf of somebody else."""

import pytest

from routerd.wire.errors import IllegalState, InvalidField, StateError
from routerd.wire.sasl import SaslCode, SaslFailed, SaslLimits, SaslRelay
from routerd.wire.sasl_frames import SaslChallenge, SaslInit, SaslMechanisms, SaslOutcome, SaslResponse
from routerd.wire.types import Symbol

OFFER = SaslMechanisms(sasl_server_mechanisms=(Symbol("PLAIN"), Symbol("X")))


class End:
    """Keeps what it is told."""

    def __init__(self):
        self.told = []

    def offered(self, mechanisms):
        self.told.append(mechanisms)

    def challenged(self, challenge):
        self.told.append(challenge)

    def decided(self, code, additional_data):
        self.told.append((code, additional_data))


def relay(**options):
    end = End()
    return SaslRelay(end, hostname="realm", **options), end


def chosen(**options):
    one, end = relay(**options)
    one.receive(OFFER)
    one.choose("X", b"first")
    return one, end


def test_an_exchange_is_passed_on():
    one, end = relay()
    assert (one.start(), one.identity, one.is_waiting) == ([], None, False)
    assert one.receive(OFFER) == []
    assert one.choose("X", b"first") == [
        SaslInit(mechanism=Symbol("X"), initial_response=b"first", hostname="realm")
    ]
    assert one.receive(SaslChallenge(challenge=b"who?")) == []
    assert one.respond(b"me") == [SaslResponse(response=b"me")]
    assert one.receive(SaslOutcome(code=0, additional_data=b"proof")) == []
    assert end.told == [("PLAIN", "X"), b"who?", (SaslCode.OK, b"proof")]
    assert (one.done, one.outcome, one.mechanism) == (True, SaslCode.OK, "X")


def test_a_refusal_is_passed_on():
    one, end = chosen()
    one.receive(SaslOutcome(code=4))
    assert (end.told[1:], one.done, one.outcome) == ([(SaslCode.SYS_TEMP, None)], True, SaslCode.SYS_TEMP)


@pytest.mark.parametrize(
    ("frame", "fault"),
    [
        (SaslMechanisms(sasl_server_mechanisms=()), InvalidField),
        (SaslChallenge(challenge=b""), IllegalState),
        (SaslOutcome(code=0), IllegalState),
        (SaslOutcome(code=9), InvalidField),
        (SaslResponse(response=b""), IllegalState),
    ],
)
def test_what_a_server_must_not_say_ends_the_exchange(frame, fault):
    one, end = relay()
    with pytest.raises(fault):
        one.receive(frame)
    assert (one.done, one.outcome, end.told) == (True, None, [])


@pytest.mark.parametrize(
    "frame", [SaslChallenge(challenge=b"four"), SaslOutcome(code=0, additional_data=b"four")]
)
def test_a_token_that_is_too_long_ends_the_exchange(frame):
    one, end = chosen(limits=SaslLimits(token_size_bytes=3))
    with pytest.raises(SaslFailed, match="4 octets at once; 3 is the most"):
        one.receive(frame)
    assert end.told == [("PLAIN", "X")]


def test_challenges_come_to_an_end():
    one, _ = chosen(limits=SaslLimits(steps=1))
    one.receive(SaslChallenge(challenge=b""))
    one.respond(b"")
    with pytest.raises(SaslFailed, match="more than 1 challenges"):
        one.receive(SaslChallenge(challenge=b""))


def test_nothing_is_chosen_before_something_is_offered():
    one, _ = relay()
    with pytest.raises(StateError, match="send sasl-init"):
        one.choose("X", None)
