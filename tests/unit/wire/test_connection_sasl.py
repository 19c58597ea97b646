"""A connection behind SASL: who is let in, what may be left out, and an authentication that takes its time."""

import pytest

from routerd.wire.input import HELD_MAX
from routerd.wire.sasl import (
    AnonymousClient,
    AnonymousServer,
    Challenge,
    Failure,
    Pending,
    PlainClient,
    PlainServer,
    SaslClient,
    SaslServer,
    Success,
)
from routerd.wire.sasl_frames import SaslInit, SaslOutcome, SaslResponse
from routerd.wire.states import ConnectionState
from routerd.wire.types import Symbol
from tests.conformance.raw_peer import (
    AMQP_HEADER,
    OPEN,
    SASL_HEADER,
    Peer,
    framed,
    parsed,
)
from tests.endpoints import Pair
from tests.unit.wire.attached import told


def test_a_client_that_is_let_in_goes_on_to_open():
    pair = Pair(client_sasl=SaslClient([AnonymousClient()]), server_sasl=SaslServer([AnonymousServer()]))
    pair.server.start(0.0)
    pair.client.open()
    pair.client.start(0.0)
    pair.pump()
    assert told(pair) == (
        [("authenticated",), ("opened", "server")],
        [("authenticated",), ("opened", "client")],
    )
    assert bytes(pair.to_server[:8]) == SASL_HEADER


def test_a_client_that_is_not_let_in_is_finished():
    pair = Pair(
        client_sasl=SaslClient([PlainClient("me", "wrong")]),
        server_sasl=SaslServer([PlainServer(lambda user, password: False)]),
    )
    pair.server.start(0.0)
    pair.client.open()
    pair.client.start(0.0)
    pair.pump()
    assert told(pair) == ([("authentication failed",), ("closed", None)],) * 2
    assert (pair.client.is_finished, pair.server.is_finished) == (True, True)


def test_sasl_may_be_left_out_where_it_is_not_required():
    pair = Pair(server_sasl=SaslServer([AnonymousServer()]), is_sasl_required=False).open()
    assert (pair.client.state, pair.server.state) == (ConnectionState.OPENED, ConnectionState.OPENED)


def test_a_transport_that_breaks_amid_sasl_ends_the_exchange():
    peer = Peer(sasl=SaslServer([AnonymousServer()]))
    peer.send(SASL_HEADER)
    peer.engine.transport_closed()
    peer.engine.transport_closed()
    assert peer.events.names == ["authentication failed", "closed"]
    assert (peer.engine.sasl.done, peer.engine.sasl.outcome) == (True, None)


def test_a_violation_amid_sasl_ends_without_a_word():
    peer = Peer(sasl=SaslServer([AnonymousServer()]))
    peer.send(SASL_HEADER)
    peer.octets_sent()
    peer.send(framed(OPEN))
    assert peer.events.names == ["violation", "authentication failed", "closed"]
    assert (peer.octets_sent(), peer.engine.is_finished) == (b"", True)


@pytest.mark.parametrize(
    "octets",
    [AMQP_HEADER, AMQP_HEADER + framed(OPEN), framed(OPEN)],
    ids=["header", "header and open", "open"],
)
def test_a_client_that_goes_on_amid_sasl_has_not_said_who_it_is(octets):
    peer = Peer(sasl=SaslServer([AnonymousServer()]))
    peer.send(SASL_HEADER)
    peer.send(octets)
    assert peer.events.violations == ["amqp:connection:policy-error"]
    assert (peer.engine.is_finished, peer.engine.sasl.outcome) == (True, None)


@pytest.mark.parametrize("octets", [AMQP_HEADER, framed(OPEN)], ids=["header", "open"])
def test_a_server_that_goes_on_amid_sasl_sends_frames_that_nobody_expects(octets):
    peer = Peer(is_client=True, sasl=SaslClient([AnonymousClient()]))
    peer.send(SASL_HEADER)
    peer.send(octets)
    assert peer.events.violations == ["amqp:connection:framing-error"]


def test_a_response_too_large_for_sasl_is_not_sent():
    pair = Pair(
        client_sasl=SaslClient([PlainClient("me", "p" * 600)]),
        server_sasl=SaslServer([PlainServer(lambda user, password: True)]),
    )
    pair.server.start(0.0)
    pair.client.start(0.0)
    pair.pump()
    assert told(pair)[0] == [("authentication failed",), ("closed", None)]
    assert bytes(pair.to_server) == SASL_HEADER


# Authentication that takes its time


class Slow:
    """A mechanism whose answers come from elsewhere."""

    name = "SLOW"

    def start(self, hostname):
        return self

    def step(self, response):
        return Pending()


SLOW_INIT = SaslInit(mechanism=Symbol("SLOW"), initial_response=b"")


def slow_peer(**options):
    peer = Peer(sasl=SaslServer([Slow()], **options))
    peer.send(SASL_HEADER, framed(SLOW_INIT, kind=1))
    peer.octets_sent()
    return peer


def answer(peer, step):
    peer.engine.send_sasl(peer.engine.sasl.answer(step), peer.now)


def test_a_peer_waits_until_it_is_known_who_it_is():
    peer = slow_peer()
    assert (peer.octets_sent(), peer.events.names) == (b"", [])
    answer(peer, Success("me"))
    assert parsed(peer.octets_sent()).performative == SaslOutcome(code=0)
    assert peer.events.names == ["authenticated"]


def test_what_is_sent_meanwhile_is_taken_when_the_answer_is_there():
    peer = slow_peer()
    for octet in AMQP_HEADER + framed(OPEN):
        peer.send(bytes([octet]))
    assert peer.events.names == []
    answer(peer, Success("me"))
    assert peer.events.names == ["authenticated", "opened"]


def test_frames_behind_the_choice_wait_too():
    peer = Peer(sasl=SaslServer([Slow()]))
    peer.send(SASL_HEADER + framed(SLOW_INIT, kind=1) + AMQP_HEADER + framed(OPEN))
    assert peer.events.names == []
    answer(peer, Success("me"))
    assert peer.events.names == ["authenticated", "opened"]


def test_a_second_step_keeps_the_rest_waiting():
    peer = slow_peer()
    response = framed(SaslResponse(response=b"r"), kind=1)
    peer.send(response + AMQP_HEADER + framed(OPEN))
    answer(peer, Challenge(b"c"))
    assert peer.events.names == []
    answer(peer, Success("me"))
    assert peer.events.names == ["authenticated", "opened"]


def test_there_is_a_bound_to_what_is_kept_meanwhile():
    peer = slow_peer()
    peer.send(b"\0" * (HELD_MAX + 1))
    assert peer.events.names == ["violation", "authentication failed", "closed"]
    assert (peer.engine.sasl.done, peer.engine.is_finished) == (True, True)
    answer(peer, Success("me"))
    assert peer.octets_sent() == b""


def test_an_answer_for_a_peer_that_has_left_is_dropped():
    peer = slow_peer()
    peer.engine.transport_closed()
    answer(peer, Success("me"))
    assert (peer.events.names, peer.engine.sasl.identity) == (["authentication failed", "closed"], None)


def test_a_refusal_that_was_held_back_is_told():
    peer = slow_peer(hold_back=lambda failure: True)
    answer(peer, failure := Failure("no"))
    assert peer.octets_sent() == b""
    answer(peer, failure)
    assert parsed(peer.octets_sent()).performative == SaslOutcome(code=1)
    assert peer.events.names == ["authentication failed", "closed"]


def test_an_offer_may_take_its_time():
    peer = Peer(sasl=SaslServer(lambda: None))
    peer.send(SASL_HEADER, framed(SLOW_INIT, kind=1))
    assert peer.octets_sent() == SASL_HEADER
    peer.engine.send_sasl(peer.engine.sasl.offer([Slow()]), peer.now)
    answer(peer, Success("me"))
    assert peer.events.names == ["authenticated"]


def test_a_peer_that_leaves_sasl_out_is_told_of_by_the_name_that_operators_know():
    peer = Peer(sasl=SaslServer([AnonymousServer()]))
    peer.send(AMQP_HEADER)
    assert peer.octets_sent() == SASL_HEADER
    assert peer.events.names == ["violation", "closed"]


def test_sasl_frames_may_be_larger_where_that_is_configured():
    ticket = SaslInit(mechanism=Symbol("SLOW"), initial_response=b"t" * 700)
    peer = Peer(sasl=SaslServer([Slow()]), sasl_frame_size=2000)
    peer.send(SASL_HEADER, framed(ticket, kind=1))
    peer.octets_sent()
    answer(peer, Challenge(b"c" * 900))
    assert parsed(peer.octets_sent()).performative.challenge == b"c" * 900
    peer.send(framed(SaslResponse(response=b"r" * 2000), kind=1))
    assert peer.events.names == ["violation", "authentication failed", "closed"]
