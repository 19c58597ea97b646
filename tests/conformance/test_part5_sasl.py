"""Part 5 of the standard, SASL (5.3): octets in and out of a connection that authenticates."""

from dataclasses import dataclass

import pytest

from routerd.wire.errors import LocalError
from routerd.wire.performatives import Open
from routerd.wire.sasl import (
    AnonymousClient,
    AnonymousServer,
    Challenge,
    ExternalClient,
    ExternalServer,
    Failure,
    PlainClient,
    PlainServer,
    SaslClient,
    SaslCode,
    SaslServer,
    Success,
)
from routerd.wire.sasl_frames import SaslChallenge, SaslInit, SaslMechanisms, SaslOutcome, SaslResponse
from tests.conformance.raw_peer import AMQP_HEADER, SASL_HEADER, Peer, framed, octets, parsed, split

OPEN = Open(container_id="peer")
OFFER = SaslMechanisms(sasl_server_mechanisms=("ANONYMOUS", "PLAIN"))
ANONYMOUS_INIT = SaslInit(mechanism="ANONYMOUS", initial_response=b"")


@dataclass
class Talkative:
    """Both sides of a mechanism that asks three times, and keeps what it was told."""

    name: str = "TALK"
    steps: int = 3

    def __post_init__(self):
        self.heard = []

    def start(self, hostname):
        return self

    def step(self, response):
        self.heard.append(response)
        if len(self.heard) <= self.steps:
            return Challenge(b"%d?" % len(self.heard))
        return Success("somebody", b"proof")

    def initial_response(self):
        return None

    def respond(self, challenge):
        self.heard.append(challenge)
        return challenge.replace(b"?", b"!")

    def finish(self, additional_data):
        self.heard.append(additional_data)


def sasl(content: object, payload: bytes = b"") -> bytes:
    """The octets of a SASL frame."""
    return framed(content, payload, kind=1)


def server(*mechanisms, **config) -> Peer:
    """An engine that asks us to authenticate; its offer is read already."""
    peer = Peer(sasl=SaslServer(mechanisms or [AnonymousServer()]), **config)
    peer.send(SASL_HEADER)
    peer.octets_sent()
    return peer


def client(*mechanisms, hostname: str | None = None) -> Peer:
    """An engine that authenticates itself with us; the headers are exchanged."""
    peer = Peer(is_client=True, sasl=SaslClient(mechanisms or [AnonymousClient()], hostname=hostname))
    peer.octets_sent()
    peer.send(SASL_HEADER)
    return peer


def check_refused(peer: Peer) -> None:
    """The connection is over; the engine has authenticated nobody and says nothing more but, at most, a failure."""
    assert peer.engine.is_finished
    assert "authenticated" not in peer.events.names
    assert "closed" in peer.events.names
    for frame in split(peer.octets_sent()):
        assert parsed(frame).performative.code != SaslCode.OK
    peer.send(AMQP_HEADER, OPEN)
    assert peer.octets_sent() == b""
    assert peer.events.opens == []


# headers


def test_both_sides_begin_with_the_sasl_header():
    peer = Peer(is_client=True, sasl=SaslClient([AnonymousClient()]))
    peer.engine.open()
    assert peer.octets_sent() == octets("414d5150 03 01 00 00")
    peer = Peer(sasl=SaslServer([AnonymousServer()]))
    peer.engine.open()
    assert peer.octets_sent() == b""
    peer.send(SASL_HEADER)
    assert peer.octets_sent()[:8] == octets("414d5150 03 01 00 00")


@pytest.mark.parametrize(
    "header", ["414d5150 00 010000", "414d5150 03 010100", "414d5150 02 010000", "4854545020202020"]
)
def test_a_wrong_header_is_answered_with_the_sasl_header_and_the_end(header):
    peer = Peer(sasl=SaslServer([AnonymousServer()]))
    peer.send(octets(header))
    assert peer.octets_sent() == SASL_HEADER
    check_refused(peer)


@pytest.mark.parametrize("header", ["414d5150 00 010000", "414d5150 03 010100", "4854545020202020"])
def test_a_client_that_gets_another_header_ends(header):
    peer = Peer(is_client=True, sasl=SaslClient([AnonymousClient()]))
    assert peer.octets_sent() == SASL_HEADER
    peer.send(octets(header), sasl(OFFER))
    assert peer.octets_sent() == b""
    check_refused(peer)


def test_after_success_both_sides_send_the_amqp_header():
    peer = server()
    peer.engine.open()
    peer.send(sasl(ANONYMOUS_INIT))
    (outcome,) = split(peer.octets_sent())
    assert outcome == sasl(octets("00 53 44 c0 03 01 50 00"))
    assert peer.events.names == ["authenticated"]
    peer.send(AMQP_HEADER, OPEN)
    sent = peer.octets_sent()
    assert sent[:8] == AMQP_HEADER
    assert [type(parsed(frame).performative) for frame in split(sent[8:])] == [Open]
    assert peer.events.names == ["authenticated", "opened"]
    peer = client()
    peer.engine.open()
    peer.send(sasl(OFFER))
    peer.octets_sent()
    peer.send(sasl(SaslOutcome(code=0)))
    sent = peer.octets_sent()
    assert sent[:8] == AMQP_HEADER
    assert [type(parsed(frame).performative) for frame in split(sent[8:])] == [Open]
    peer.send(AMQP_HEADER, OPEN)
    assert peer.events.names == ["authenticated", "opened"]


# 5.3.1: frames


def test_sasl_frames_have_type_one_channel_zero_and_doff_two():
    peer = Peer(sasl=SaslServer([AnonymousServer()]))
    peer.send(SASL_HEADER)
    (offer,) = split(peer.octets_sent()[8:])
    peer = client()
    peer.send(sasl(OFFER))
    (init,) = split(peer.octets_sent())
    for frame in (offer, init):
        assert frame[4:8] == octets("02 01 0000")


def test_octets_six_and_seven_and_the_extended_header_are_ignored():
    inside = sasl(ANONYMOUS_INIT)[8:]
    peer = server()
    peer.send((len(inside) + 16).to_bytes(4, "big") + octets("04 01 ffff ffffffffffffffff") + inside)
    assert peer.events.names == ["authenticated"]


def test_a_sasl_frame_over_512_octets_is_refused():
    def init_of(size: int) -> bytes:
        init = sasl(SaslInit(mechanism="ANONYMOUS", initial_response=b"x" * 300))
        return sasl(SaslInit(mechanism="ANONYMOUS", initial_response=b"x" * (300 + size - len(init))))

    assert (len(init_of(512)), len(init_of(513))) == (512, 513)
    peer = server()
    peer.send(init_of(512))
    assert peer.events.names == ["authenticated"]
    peer = server(max_frame_size=65536)
    peer.send(init_of(513))
    check_refused(peer)


def test_a_sasl_frame_over_512_octets_is_not_sent():
    peer = client(PlainClient("user", "p" * 600))
    peer.send(sasl(OFFER))
    assert peer.octets_sent() == b""
    assert peer.events.names == ["authentication failed", "closed"]


def test_octets_behind_the_sasl_body_are_refused():
    peer = server()
    peer.send(sasl(ANONYMOUS_INIT, b"\x40"))
    check_refused(peer)


@pytest.mark.parametrize("text", ["00 53 10 c0 04 01 a1 01 63", "00 53 45 45", "45", "a1 01 78", "00 53 24 45"])
def test_a_body_that_is_no_sasl_frame_is_refused(text):
    for peer in (server(), client()):
        peer.send(sasl(octets(text)))
        check_refused(peer)


def test_an_empty_sasl_frame_is_refused():
    for peer in (server(), client()):
        peer.send(octets("00000008 02 01 0000"))
        check_refused(peer)


def test_an_amqp_frame_within_sasl_is_refused():
    for frame in (framed(OPEN), octets("00000008 02 00 0000"), framed(ANONYMOUS_INIT)):
        peer = server()
        peer.send(frame)
        check_refused(peer)


# 5.3.2: the exchange


def test_the_server_announces_its_mechanisms_first():
    peer = Peer(sasl=SaslServer([ExternalServer(None), PlainServer(lambda name, password: True), AnonymousServer()]))
    peer.send(SASL_HEADER)
    (offer,) = split(peer.octets_sent()[8:])
    names = octets("08 45585445524e414c 05 504c41494e 09 414e4f4e594d4f5553")
    assert offer[8:] == octets("00 53 40 c0 1e 01 e0 1b 03 a3") + names


def test_a_server_without_authentication_offers_anonymous_alone():
    peer = Peer(sasl=SaslServer([AnonymousServer()]))
    peer.send(SASL_HEADER)
    (offer,) = split(peer.octets_sent()[8:])
    assert parsed(offer).performative == SaslMechanisms(sasl_server_mechanisms=("ANONYMOUS",))


def test_the_client_picks_one_of_the_servers_mechanisms():
    peer = client(ExternalClient(), PlainClient("user", "secret"))
    peer.send(sasl(OFFER))
    (init,) = split(peer.octets_sent())
    assert parsed(init).performative == SaslInit(mechanism="PLAIN", initial_response=b"\0user\0secret")
    peer = client(ExternalClient())
    peer.send(sasl(OFFER))
    check_refused(peer)


def test_the_client_takes_the_strongest_mechanism_it_has():
    peer = client(ExternalClient(), PlainClient("user", "secret"), AnonymousClient())
    peer.send(sasl(SaslMechanisms(sasl_server_mechanisms=("ANONYMOUS", "PLAIN", "EXTERNAL"))))
    assert peer.sent()[0].mechanism == "EXTERNAL"


def test_frames_of_the_wrong_direction_are_refused():
    for frame in (OFFER, SaslChallenge(challenge=b""), SaslOutcome(code=0)):
        peer = server()
        peer.send(sasl(frame))
        check_refused(peer)
    for frame in (ANONYMOUS_INIT, SaslResponse(response=b"")):
        peer = client()
        peer.send(sasl(frame))
        check_refused(peer)


def test_frames_out_of_order_are_refused():
    for frames in ([SaslResponse(response=b"")], [SaslInit(mechanism="TALK"), SaslInit(mechanism="TALK")]):
        peer = server(Talkative())
        peer.send(*map(sasl, frames))
        peer.octets_sent()
        check_refused(peer)
    for frames in ([SaslChallenge(challenge=b"")], [SaslOutcome(code=0)], [OFFER, OFFER]):
        peer = client()
        peer.send(*map(sasl, frames))
        peer.octets_sent()
        check_refused(peer)


def test_challenge_and_response_may_repeat():
    talk = Talkative()
    peer = server(talk)
    peer.send(sasl(SaslInit(mechanism="TALK")))
    for number in (1, 2, 3):
        assert peer.sent() == [SaslChallenge(challenge=b"%d?" % number)]
        peer.send(sasl(SaslResponse(response=b"%d!" % number)))
    assert peer.sent() == [SaslOutcome(code=0, additional_data=b"proof")]
    assert talk.heard == [None, b"1!", b"2!", b"3!"]
    assert peer.engine.sasl.identity == "somebody"
    peer = client(Talkative())
    peer.send(sasl(SaslMechanisms(sasl_server_mechanisms=("TALK",))))
    assert peer.sent() == [SaslInit(mechanism="TALK")]
    for number in (1, 2, 3):
        peer.send(sasl(SaslChallenge(challenge=b"%d?" % number)))
        assert peer.sent() == [SaslResponse(response=b"%d!" % number)]


# 5.3.3: the frames' fields


@pytest.mark.parametrize("text", ["45", "c0 02 01 40", "c0 05 01 e0 02 00 a3"])
def test_an_empty_list_of_mechanisms_is_refused(text):
    peer = client()
    peer.send(sasl(octets("00 53 40" + text)))
    check_refused(peer)
    with pytest.raises(LocalError):
        SaslServer([])


@pytest.mark.parametrize("text", ["45", "c0 04 02 40 a0 00"])
def test_an_init_without_mechanism_is_refused(text):
    peer = server()
    peer.send(sasl(octets("00 53 41" + text)))
    check_refused(peer)


def test_a_mechanism_that_was_not_offered_fails():
    peer = server(PlainServer(lambda name, password: True))
    peer.send(sasl(ANONYMOUS_INIT))
    assert peer.octets_sent() == sasl(octets("00 53 44 c0 03 01 50 01"))
    assert peer.events.names == ["authentication failed", "closed"]
    check_refused(peer)


def test_an_initial_response_may_be_missing_or_empty():
    for init, heard in (("c0 07 01 a3 04 54414c4b", None), ("c0 09 02 a3 04 54414c4b a0 00", b"")):
        talk = Talkative()
        peer = server(talk)
        peer.send(sasl(octets("00 53 41" + init)))
        assert talk.heard == [heard]
    for mechanism, response in ((Talkative(name="PLAIN"), None), (ExternalClient(), b"")):
        peer = client(mechanism)
        peer.send(sasl(SaslMechanisms(sasl_server_mechanisms=("PLAIN", "EXTERNAL"))))
        assert peer.sent()[0].initial_response == response


def test_the_hostname_of_init_reaches_the_server():
    peer = server()
    peer.send(sasl(SaslInit(mechanism="ANONYMOUS", hostname="vhost")))
    assert peer.engine.sasl.hostname == "vhost"
    peer = server()
    peer.send(sasl(SaslInit(mechanism="ANONYMOUS")))
    assert peer.engine.sasl.hostname is None
    peer = client(hostname="vhost")
    peer.send(sasl(OFFER))
    assert peer.sent()[0].hostname == "vhost"


@pytest.mark.parametrize("text", ["45", "c0 02 01 40"])
def test_a_challenge_or_response_without_data_is_refused(text):
    peer = server(Talkative())
    peer.send(sasl(SaslInit(mechanism="TALK")))
    peer.octets_sent()
    peer.send(sasl(octets("00 53 43" + text)))
    check_refused(peer)
    peer = client()
    peer.send(sasl(OFFER))
    peer.octets_sent()
    peer.send(sasl(octets("00 53 42" + text)))
    check_refused(peer)


def test_additional_data_of_a_success_reaches_the_mechanism():
    talk = Talkative()
    peer = client(talk)
    peer.send(
        sasl(SaslMechanisms(sasl_server_mechanisms=("TALK",))), sasl(SaslOutcome(code=0, additional_data=b"proof"))
    )
    assert talk.heard == [b"proof"]
    assert peer.events.names == ["authenticated"]


def test_a_failure_carries_no_additional_data():
    peer = server(PlainServer(lambda name, password: False))
    peer.send(sasl(SaslInit(mechanism="PLAIN", initial_response=b"\0user\0wrong")))
    assert peer.octets_sent() == sasl(octets("00 53 44 c0 03 01 50 01"))


@pytest.mark.parametrize("text", ["45", "c0 02 01 40", "c0 04 02 40 a0 00"])
def test_an_outcome_without_code_is_refused(text):
    peer = client()
    peer.send(sasl(OFFER))
    peer.octets_sent()
    peer.send(sasl(octets("00 53 44" + text)))
    check_refused(peer)


def test_after_a_failed_outcome_input_is_ignored():
    peer = server(PlainServer(lambda name, password: False))
    peer.send(sasl(SaslInit(mechanism="PLAIN", initial_response=b"\0user\0wrong")))
    peer.octets_sent()
    peer.send(sasl(SaslInit(mechanism="PLAIN", initial_response=b"\0user\0right")), AMQP_HEADER, OPEN, b"\xff" * 20)
    assert peer.octets_sent() == b""
    assert peer.events.names == ["authentication failed", "closed"]
    peer = client()
    peer.send(sasl(OFFER), sasl(SaslOutcome(code=1)), AMQP_HEADER, OPEN)
    assert peer.events.names == ["authentication failed", "closed"]


@pytest.mark.parametrize("code", [1, 2, 3, 4])
def test_every_failure_code_is_reported(code):
    class Refusing(Talkative):
        def step(self, response):
            return Failure("no", SaslCode(code))

    peer = server(Refusing())
    peer.send(sasl(SaslInit(mechanism="TALK")))
    assert peer.octets_sent() == sasl(octets("00 53 44 c0 03 01 50") + bytes([code]))
    peer = client()
    peer.send(sasl(OFFER), sasl(SaslOutcome(code=code)))
    assert peer.engine.sasl.outcome == SaslCode(code)
    assert peer.events.names == ["authentication failed", "closed"]


@pytest.mark.parametrize("code", [5, 255])
def test_an_undefined_outcome_code_is_refused(code):
    peer = client()
    peer.send(sasl(OFFER))
    peer.octets_sent()
    peer.send(sasl(octets("00 53 44 c0 03 01 50") + bytes([code])))
    check_refused(peer)
