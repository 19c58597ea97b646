"""Part 2 of the standard: how a connection ends, by a close or for silence (2.4.3 to 2.4.6, 2.7.9)."""

import pytest

from routerd.wire.amqp_error import Error
from routerd.wire.errors import StateError
from routerd.wire.performatives import Begin, Close, End, Open, Transfer
from routerd.wire.types import Symbol, UInt
from tests.conformance.raw_peer import (
    AMQP_HEADER,
    EMPTY_FRAME,
    OPEN,
    SOURCE,
    Frame,
    Peer,
    SessionPeer,
    check_closed_with,
    framed,
    opened,
    parsed,
    split,
    transfer,
)

BEGIN = Begin(next_outgoing_id=0, incoming_window=100, outgoing_window=100)


# 2.4.3, 2.4.4, 2.4.6 and 2.7.9: close


def test_closing_writes_a_close_with_its_error():
    peer = opened()
    error = Error(condition="x:reason", description="because", info={Symbol("k"): UInt(1)})
    peer.engine.close(error)
    assert peer.frames_sent() == [Frame(Close(error=error))]
    peer = opened()
    peer.engine.close()
    assert peer.frames_sent() == [Frame(Close())]


def test_the_error_of_a_close_reaches_the_other_side():
    error = Error(condition="amqp:connection:redirect", info={Symbol("network-host"): "other"})
    peer = opened()
    peer.send(Close(error=error))
    assert peer.events.closed == [error]
    assert peer.frames_sent() == [Frame(Close())]


def test_nothing_is_written_after_close():
    peer = SessionPeer(peers_open=Open(container_id="peer", idle_time_out=1000))
    link = peer.attached_sender(credit=5)
    receiver = peer.attached_receiver(handle=1, credit=5)
    peer.send(transfer(0, handle=1), transfer(1, handle=1))
    link.send(b"before")
    peer.engine.close()
    assert [type(each) for each in peer.sent()] == [Transfer, Close]
    for attempt in (
        lambda: link.send(b"after"),
        peer.session.end,
        link.detach,
        peer.engine.close,
        lambda: peer.session.sender("new").attach(source=SOURCE),
    ):
        with pytest.raises(StateError):
            attempt()
    for delivery in peer.events.deliveries:
        delivery.accept()
    receiver.grant(5)
    peer.now = 0.9
    peer.engine.tick(peer.now)
    peer.send(peer.credit(9, echo=True), End())
    assert peer.octets_sent() == b""
    peer.send(Close())
    assert peer.octets_sent() == b""
    assert peer.engine.is_finished


def test_after_close_the_peers_close_is_awaited():
    peer = opened()
    peer.engine.close()
    assert not peer.engine.is_finished
    assert peer.events.closed == []
    peer.send(EMPTY_FRAME, Close())
    assert peer.engine.is_finished
    assert peer.events.closed == [None]


def test_the_wait_for_the_peers_close_has_a_deadline():
    peer = opened(idle_timeout_s=10)
    peer.engine.close()
    deadline = peer.engine.next_deadline()
    assert deadline <= 10
    peer.engine.tick(deadline)
    assert peer.engine.is_finished
    assert peer.events.names[-1] == "closed"


def test_a_close_on_any_channel_is_taken():
    peer = opened()
    peer.send(Close(), channel=7)
    assert peer.events.names[-1] == "closed"
    assert peer.events.violations == []


def test_close_is_sent_on_channel_zero():
    for peer in (opened(), Peer(is_client=True)):
        if peer.engine.is_client:
            peer.engine.open()
        peer.engine.close()
        sent = peer.octets_sent()
        last = split(sent[8:] if peer.engine.is_client else sent)[-1]
        assert parsed(last) == Frame(Close(), channel=0)


def test_after_close_in_both_directions_nothing_is_sent_or_read():
    peer = opened()
    peer.send(Close())
    assert peer.sent() == [Close()]
    seen = list(peer.events.names)
    peer.send(BEGIN, b"\xff" * 40)
    peer.send(AMQP_HEADER, OPEN)
    assert peer.events.names == seen
    assert peer.octets_sent() == b""
    with pytest.raises(StateError):
        peer.engine.open()


def test_crossing_closes_end_the_connection():
    peer = opened()
    peer.engine.close(Error(condition="x:ours"))
    peer.send(Close(error=Error(condition="x:theirs")))
    assert peer.sent() == [Close(error=Error(condition="x:ours"))]
    assert peer.engine.is_finished
    assert peer.events.closed == [Error(condition="x:theirs")]
    assert peer.events.violations == []


def test_after_closing_for_an_error_frames_are_dropped_until_close():
    peer = SessionPeer()
    peer.attached_receiver(credit=5)
    peer.send(OPEN)
    check_closed_with(peer, "amqp:illegal-state")
    seen = len(peer.events.names)
    peer.send(
        transfer(0), transfer(1), Begin(next_outgoing_id=0, incoming_window=1, outgoing_window=1), framed(b"\xff")
    )
    assert peer.events.names[seen:] == []
    assert not peer.engine.is_finished
    peer.send(Close())
    assert peer.engine.is_finished
    assert peer.octets_sent() == b""


def test_frames_behind_the_peers_close_are_not_read():
    peer = opened()
    peer.send(Close(), BEGIN)
    assert peer.events.names == ["opened", "closed"]


# 2.4.5: idle time-out


def test_a_silent_peer_is_closed_with_an_error():
    peer = opened(idle_timeout_s=10)
    assert peer.engine.next_deadline() == 10
    peer.engine.tick(9.9)
    assert peer.octets_sent() == b""
    peer.engine.tick(10)
    (close,) = peer.sent()
    assert close.error.condition == "amqp:resource-limit-exceeded"
    assert "10 s" in close.error.description


@pytest.mark.parametrize("frame", [EMPTY_FRAME, framed(BEGIN)])
def test_any_frame_restarts_the_idle_timer(frame):
    peer = opened(idle_timeout_s=10)
    peer.now = 9.0
    peer.send(frame)
    assert peer.engine.next_deadline() == 19
    peer.engine.tick(18.9)
    assert peer.octets_sent() == b""


def test_the_announced_idle_time_out_is_half_of_the_threshold():
    peer = Peer(is_client=True, idle_timeout_s=10)
    peer.engine.open()
    (frame,) = split(peer.octets_sent()[8:])
    assert parsed(frame).performative.idle_time_out == 5000


def test_an_idle_time_out_that_is_too_short_is_refused():
    peer = Peer()
    peer.send(AMQP_HEADER, Open(container_id="peer", idle_time_out=1))
    close = parsed(split(peer.octets_sent()[8:])[-1]).performative
    assert isinstance(close, Close)
    assert close.error is not None


def test_an_idle_time_out_of_zero_is_none():
    peer = opened(Open(container_id="peer", idle_time_out=0))
    assert peer.engine.next_deadline() == float("inf")
    peer.engine.tick(1e9)
    assert peer.octets_sent() == b""


def test_an_empty_frame_is_sent_before_the_peer_times_out():
    peer = opened(Open(container_id="peer", idle_time_out=1000))
    assert peer.engine.next_deadline() == 0.5
    peer.now = 0.5
    peer.engine.tick(peer.now)
    assert peer.octets_sent() == EMPTY_FRAME
    assert peer.engine.next_deadline() == 1.0


def test_empty_frames_on_any_channel_are_taken():
    peer = opened()
    peer.send(framed(b"", channel=0), framed(b"", channel=1), framed(b"", channel=32767))
    assert peer.events.names == ["opened"]
    assert peer.octets_sent() == b""
    early = Peer()
    early.send(AMQP_HEADER, OPEN, EMPTY_FRAME)
    assert early.events.names == ["opened"]


def test_no_empty_frame_is_sent_before_open():
    peer = Peer()
    peer.send(AMQP_HEADER, Open(container_id="peer", idle_time_out=1000))
    peer.octets_sent()
    peer.now = 0.9
    peer.engine.tick(peer.now)
    assert peer.octets_sent() == b""
    peer.engine.open()
    assert [type(each) for each in peer.sent()] == [Open]
