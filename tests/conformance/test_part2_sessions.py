"""Part 2 of the standard: sessions, their channels, windows and flows (2.5, 2.7.2, 2.7.4, 2.7.8)."""

import pytest

from routerd.wire.amqp_error import Error
from routerd.wire.errors import StateError
from routerd.wire.performatives import Attach, Begin, Close, Disposition, End, Flow
from routerd.wire.session import Session
from routerd.wire.types import Symbol, UInt
from tests.conformance.raw_peer import (
    SOURCE,
    TARGET,
    Frame,
    Peer,
    SessionPeer,
    body,
    check_closed_with,
    framed,
    octets,
    opened,
    parsed,
    split,
    transfer,
)

BEGIN = Begin(next_outgoing_id=0, incoming_window=100, outgoing_window=100)


def begin(**fields) -> Begin:
    """A begin of ours."""
    return Begin(**{"next_outgoing_id": 0, "incoming_window": 100, "outgoing_window": 100, **fields})


def flow(**fields) -> Flow:
    """A flow of ours, of the session alone unless it names a handle."""
    return Flow(
        **{"next_incoming_id": 0, "incoming_window": 100, "next_outgoing_id": 0, "outgoing_window": 100, **fields}
    )


def begun(peer: Peer) -> Session:
    """A session that the engine began, on the next channel, and we answered on the same."""
    session = peer.engine.session()
    session.begin()
    (frame,) = peer.frames_sent()
    peer.send(begin(remote_channel=frame.channel), channel=frame.channel)
    return session


def check_ended_with(peer: Peer, condition: str) -> None:
    """All that the engine sends is an end with this condition."""
    (end,) = peer.sent()
    assert isinstance(end, End)
    assert end.error is not None
    assert end.error.condition == condition
    assert peer.events.violations == [condition]


# 2.4 and 2.5.1: channels


def test_incoming_and_outgoing_channel_numbers_are_independent():
    peer = opened(is_client=True)
    session = peer.engine.session()
    session.begin()
    assert [frame.channel for frame in peer.frames_sent()] == [0]
    peer.send(begin(), channel=0)
    peer.events.sessions[0].begin()
    peer.send(begin(remote_channel=0), channel=5)
    session.receiver("l").attach(source=SOURCE, target=TARGET)
    answers = peer.frames_sent()
    assert [(type(frame.performative), frame.channel) for frame in answers] == [(Begin, 1), (Attach, 0)]
    assert answers[0].performative.remote_channel == 0
    peer.send(Attach(name="l", handle=0, role=False, initial_delivery_count=0), channel=5)
    assert peer.events.links[0].session is session
    assert session.remote_channel == 5


def test_a_new_session_takes_the_lowest_free_channel():
    peer = opened(is_client=True)
    sessions = [begun(peer) for _ in range(3)]
    assert [each.channel for each in sessions] == [0, 1, 2]
    sessions[1].end()
    peer.send(End(), channel=1)
    assert [(each.performative, each.channel) for each in peer.frames_sent()] == [(End(), 1)]
    assert [begun(peer).channel, peer.engine.session().channel] == [1, 3]


@pytest.mark.parametrize("frame", [BEGIN, flow(), End(), Attach(name="l", handle=0, role=True)])
def test_a_channel_above_ours_is_a_framing_error(frame):
    peer = SessionPeer(channel_max=3)
    peer.send(begin(), channel=3)
    peer.events.sessions[-1].begin()
    assert peer.events.violations == []
    peer.octets_sent()
    peer.send(frame, channel=4)
    check_closed_with(peer, "amqp:connection:framing-error")


def test_a_begin_of_ours_has_no_remote_channel():
    peer = opened(is_client=True)
    peer.engine.session().begin()
    (frame,) = peer.frames_sent()
    assert frame.performative.remote_channel is None


def test_an_answering_begin_names_the_peers_channel():
    peer = opened(is_client=True)
    peer.send(begin(), channel=777)
    peer.events.sessions[0].begin()
    (frame,) = peer.frames_sent()
    assert frame == Frame(begin(remote_channel=777, incoming_window=2048, outgoing_window=2048, handle_max=65535))


@pytest.mark.parametrize("remote_channel", [1, 9, 65535])
def test_a_begin_that_answers_nothing_is_refused(remote_channel):
    peer = opened(is_client=True)
    begun(peer)
    peer.send(begin(remote_channel=remote_channel), channel=6)
    check_closed_with(peer, "amqp:invalid-field")
    answered_twice = opened(is_client=True)
    begun(answered_twice)
    answered_twice.send(begin(remote_channel=0), channel=6)
    check_closed_with(answered_twice, "amqp:invalid-field")


def test_a_begin_on_a_channel_in_use_is_refused():
    peer = SessionPeer()
    peer.send(BEGIN)
    check_closed_with(peer, "amqp:illegal-state")


@pytest.mark.parametrize(
    "frame", [flow(), End(), Attach(name="l", handle=0, role=True), Disposition(role=True, first=0), transfer(0)]
)
def test_a_frame_on_a_channel_without_session_is_refused(frame):
    peer = SessionPeer()
    peer.send(frame if not isinstance(frame, bytes) else transfer(0, channel=1), channel=1)
    check_closed_with(peer, "amqp:illegal-state")


# 2.7.2: begin


@pytest.mark.parametrize(
    "text", ["45", "c0 01 00", "c0 04 03 40 43 43", "c0 05 04 40 40 43 43", "c0 05 04 40 43 43 40"]
)
def test_a_begin_without_its_mandatory_fields_is_refused(text):
    peer = opened(is_client=True)
    peer.send(framed(octets("00 53 11" + text)))
    check_closed_with(peer, "amqp:decode-error")


def test_every_field_of_begin_has_its_default():
    peer = opened(is_client=True)
    peer.send(framed(octets("00 53 11 c0 05 04 40 43 43 43")))
    assert peer.events.begins == [
        Begin(
            remote_channel=None,
            next_outgoing_id=0,
            incoming_window=0,
            outgoing_window=0,
            handle_max=4294967295,
            offered_capabilities=(),
            desired_capabilities=(),
            properties=None,
        )
    ]


def test_every_field_of_begin_reaches_the_other_side():
    full = begin(
        remote_channel=0,
        incoming_window=20,
        outgoing_window=20,
        handle_max=7,
        offered_capabilities=("a",),
        desired_capabilities=("b", "c"),
        properties={Symbol("k"): UInt(300)},
    )
    peer = opened(is_client=True)
    peer.engine.session().begin()
    peer.octets_sent()
    peer.send(full)
    assert peer.events.begins == [full]
    peer.send(begin(), channel=8)
    peer.events.sessions[1].begin(
        incoming_window=20,
        handle_max=7,
        offered_capabilities=("a",),
        desired_capabilities=("b", "c"),
        properties={Symbol("k"): UInt(300)},
    )
    full.remote_channel = 8
    assert peer.frames_sent() == [Frame(full, channel=1)]


# 2.5.2 to 2.5.5: ending


def test_sessions_end_with_the_connection():
    for end in (lambda peer: peer.send(Close()), lambda peer: peer.engine.transport_closed()):
        peer = SessionPeer()
        peer.attached_receiver()
        end(peer)
        assert peer.events.names[-3:] == ["detached", "ended", "closed"]


def test_end_is_answered_with_end_and_frees_the_channel():
    peer = SessionPeer()
    peer.send(End(error=Error(condition="x:done")))
    assert peer.frames_sent() == [Frame(End())]
    assert peer.events.ended == [Error(condition="x:done")]
    peer.send(BEGIN)
    peer.events.sessions[-1].begin()
    assert [type(each) for each in peer.sent()] == [Begin]
    assert peer.events.sessions[-1].channel == 0


def test_crossing_ends_end_the_session():
    peer = SessionPeer()
    peer.session.end(Error(condition="x:ours"))
    peer.send(End(error=Error(condition="x:theirs")))
    assert peer.sent() == [End(error=Error(condition="x:ours"))]
    assert peer.events.ended == [Error(condition="x:theirs")]
    assert peer.events.violations == []
    assert peer.engine.session().channel == 0


@pytest.mark.parametrize("is_used_again", [False, True], ids=["left", "used again"])
def test_a_session_that_nobody_uses_ends_when_the_peer_has_answered_it(is_used_again):
    """No end may be sent between begin and the answer (2.5.5)."""
    peer = opened()
    session = peer.engine.session()
    session.begin()
    session.end_unused()
    (frame,) = peer.frames_sent()
    assert isinstance(frame.performative, Begin)
    if is_used_again:
        session.sender("one").attach(source=SOURCE, target=TARGET)
        peer.sent()
    peer.send(begin(remote_channel=frame.channel), channel=frame.channel)
    assert [type(each) for each in peer.sent()] == ([] if is_used_again else [End])
    assert session.is_open is is_used_again


def test_a_session_error_is_sent_in_an_end():
    peer = SessionPeer()
    peer.send(Attach(name="a", handle=0, role=True), Attach(name="b", handle=1, role=True))
    peer.octets_sent()
    peer.send(flow(handle=5))
    check_ended_with(peer, "amqp:session:unattached-handle")
    peer = SessionPeer()
    error = Error(condition="x:why", description="because", info={Symbol("k"): UInt(1)})
    peer.session.end(error)
    assert peer.frames_sent() == [Frame(End(error=error))]
    peer = SessionPeer()
    peer.send(flow(handle=5))
    assert peer.sent()[0].error.description


def test_after_ending_for_an_error_frames_are_dropped_until_end():
    peer = SessionPeer()
    peer.attached_receiver(credit=5)
    peer.send(flow(handle=5))
    check_ended_with(peer, "amqp:session:unattached-handle")
    seen = len(peer.events.names)
    peer.send(transfer(0), transfer(1, handle=9), flow(handle=7, echo=True), Attach(name="z", handle=0, role=True))
    assert peer.events.names[seen:] == []
    assert peer.octets_sent() == b""
    peer.send(End())
    assert peer.events.names[-1] == "ended"
    assert peer.octets_sent() == b""


def test_after_our_end_frames_still_come_in_and_none_go_out():
    peer = SessionPeer()
    link = peer.attached_sender(credit=5)
    receiver = peer.attached_receiver(handle=1, credit=5)
    peer.send(transfer(0, handle=1))
    peer.session.end()
    assert [type(each) for each in peer.sent()] == [End]
    peer.send(peer.credit(9, echo=True), flow(echo=True))
    assert peer.events.violations == []
    for attempt in (
        lambda: link.send(b"late"),
        link.detach,
        peer.session.end,
        lambda: peer.session.sender("n").attach(),
    ):
        with pytest.raises(StateError):
            attempt()
    peer.events.deliveries[0].accept()
    receiver.grant(5)
    assert peer.octets_sent() == b""
    peer.send(End())
    assert peer.events.names[-1] == "ended"
    assert peer.octets_sent() == b""


def test_a_frame_behind_the_peers_end_is_refused():
    peer = SessionPeer()
    peer.send(End())
    assert peer.sent() == [End()]
    peer.send(flow())
    check_closed_with(peer, "amqp:illegal-state")


# 2.5.6: windows


def test_no_transfer_is_sent_beyond_the_peers_incoming_window():
    peer = SessionPeer(begin=begin(incoming_window=2))
    sender = peer.attached_sender()
    peer.send(flow(incoming_window=2, handle=0, delivery_count=0, link_credit=9))
    for text in (b"a", b"b", b"c"):
        sender.send(text)
    assert [frame.payload for frame in peer.frames_sent()] == [b"a", b"b"]
    assert peer.session.has_backlog
    peer.send(flow(next_incoming_id=2, incoming_window=1))
    assert [frame.payload for frame in peer.frames_sent()] == [b"c"]
    sender.send(b"d")
    assert peer.octets_sent() == b""


def test_a_flow_sets_the_window_from_the_peers_next_incoming_id():
    peer = SessionPeer(begin=begin(incoming_window=2))
    sender = peer.attached_sender()
    peer.send(flow(incoming_window=2, handle=0, delivery_count=0, link_credit=9))
    sender.send(b"a")
    sender.send(b"b")
    peer.send(flow(next_incoming_id=1, incoming_window=2))
    sender.send(b"c")
    sender.send(b"d")
    assert [frame.payload for frame in peer.frames_sent()] == [b"a", b"b", b"c"]


def test_the_session_counts_transfers_in_both_directions():
    peer = SessionPeer(begin=begin(outgoing_window=10))
    peer.attached_receiver(credit=9)
    assert (peer.session.next_incoming_id, peer.session.remote_outgoing_window) == (0, 10)
    peer.send(transfer(0), transfer(1))
    assert (peer.session.next_incoming_id, peer.session.remote_outgoing_window) == (2, 8)
    peer.send(flow(next_outgoing_id=2, outgoing_window=30))
    assert (peer.session.next_incoming_id, peer.session.remote_outgoing_window) == (2, 30)
    sender = peer.attached_sender(handle=1, credit=9)
    peer.octets_sent()
    sender.send(b"x")
    assert (peer.session.next_outgoing_id, peer.session.remote_incoming_window) == (1, 99)


def test_a_flow_sets_next_incoming_id():
    peer = SessionPeer()
    peer.send(flow(next_outgoing_id=7, echo=True))
    assert peer.sent()[0].next_incoming_id == 7


def test_a_transfer_beyond_our_window_is_a_window_violation():
    peer = SessionPeer()
    peer.send(begin(), channel=1)
    session = peer.events.sessions[-1]
    session.begin(incoming_window=2)
    peer.send(Attach(name="l", handle=0, role=False, initial_delivery_count=0), channel=1)
    receiver = peer.events.links[-1]
    receiver.attach(source=SOURCE, target=TARGET)
    receiver.grant(10)
    session.withhold(2)
    peer.octets_sent()
    peer.send(transfer(0, channel=1), transfer(1, channel=1))
    assert peer.octets_sent() == b""
    peer.send(transfer(2, channel=1))
    check_ended_with(peer, "amqp:session:window-violation")
    assert len(peer.events.arrivals) == 2


# 2.7.4: flow


def test_a_flow_has_next_incoming_id_after_the_peers_begin():
    peer = SessionPeer(begin=begin(next_outgoing_id=42))
    peer.send(flow(next_outgoing_id=42, echo=True))
    (answer,) = peer.sent()
    assert answer == Flow(next_incoming_id=42, incoming_window=2048, next_outgoing_id=0, outgoing_window=2048)


def test_a_flow_before_the_peers_begin_has_no_next_incoming_id():
    peer = opened(is_client=True)
    session = peer.engine.session()
    session.begin()
    receiver = session.receiver("l")
    receiver.attach(source=SOURCE, target=TARGET)
    receiver.grant(5)
    begin_sent, attach_sent, flow_sent = peer.sent()
    assert (type(begin_sent), type(attach_sent)) == (Begin, Attach)
    assert flow_sent.next_incoming_id is None
    assert flow_sent.link_credit == 5


@pytest.mark.parametrize(
    "text", ["45", "c0 04 03 43 43 43", "c0 05 04 43 40 43 43", "c0 05 04 43 43 40 43", "c0 05 04 43 43 43 40"]
)
def test_a_flow_without_its_mandatory_fields_is_refused(text):
    peer = SessionPeer()
    peer.send(framed(octets("00 53 13" + text)))
    check_closed_with(peer, "amqp:decode-error")


def test_a_flow_without_handle_changes_no_link():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=3)
    peer.send(flow(incoming_window=50))
    assert (sender.credit, sender.drain) == (3, False)
    assert peer.events.names[-1] == "session flow"
    assert peer.session.remote_incoming_window == 50


def test_a_session_flow_of_ours_has_no_link_fields():
    peer = SessionPeer()
    peer.session.send_flow(None)
    peer.session.send_flow(None, True)
    told, asked = split(peer.octets_sent())
    assert told[8:] == body(Flow(next_incoming_id=0, incoming_window=2048, next_outgoing_id=0, outgoing_window=2048))
    assert parsed(asked).performative.echo is True
    # handle, delivery-count, link-credit, available and drain are null, not even false
    assert asked[-6:] == octets("40 40 40 40 40 41")


def test_echo_without_handle_is_answered_with_the_state_of_the_session():
    peer = SessionPeer()
    peer.send(flow(echo=True))
    (answer,) = peer.sent()
    assert answer == Flow(next_incoming_id=0, incoming_window=2048, next_outgoing_id=0, outgoing_window=2048)
    peer.send(flow())
    assert peer.octets_sent() == b""
