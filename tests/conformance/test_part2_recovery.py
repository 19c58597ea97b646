"""Parts 2 and 3 of the standard: links that are resumed, and what survived (2.6.3, 2.6.5, 2.6.13, 3.4.6)."""

import pytest

from routerd.wire.amqp_error import Error
from routerd.wire.errors import StateError
from routerd.wire.outcomes import ACCEPTED, RELEASED, Received
from routerd.wire.performatives import Attach, Detach, Disposition, Open, Transfer
from routerd.wire.receiver import Receiver
from routerd.wire.recovery import Recovery, plan_recovery
from routerd.wire.sender import Sender
from tests.conformance.raw_peer import (
    SOURCE,
    TARGET,
    SessionPeer,
    check_closed_with,
    framed,
    octets,
    parsed,
    split,
    transfer,
)
from tests.conformance.test_part2_links import attach
from tests.conformance.test_part2_sessions import flow

PART = Received(section_number=0, section_offset=100)


def suspended_sender(*tags: bytes | None, **begin) -> Sender:
    """A sender of an engine whose transport broke, with these deliveries unsettled."""
    peer = SessionPeer()
    sender = peer.attached_sender("l", credit=50)
    for tag in tags:
        delivery = sender.begin(tag, **begin)
        sender.write(delivery, b"body", 0, 4, False)
    peer.octets_sent()
    peer.engine.transport_closed()
    assert peer.events.detached == [("l", False, None)]
    return sender


def suspended_receiver(*tags: bytes, **fields) -> Receiver:
    """A receiver of an engine whose transport broke, with these deliveries unsettled."""
    peer = SessionPeer()
    receiver = peer.attached_receiver("l", credit=50, rcv_settle_mode=1)
    peer.send(*(transfer(number, delivery_tag=tag, **fields) for number, tag in enumerate(tags)))
    peer.engine.transport_closed()
    return receiver


def resumed(old: Sender | Receiver, unsettled, *, credit: int = 50, peer: SessionPeer | None = None, **fields):
    """A peer on a new connection, to which the engine resumed the link, and our answer has this unsettled map."""
    peer = peer or SessionPeer()
    link = peer.session.sender("l") if old.is_sender else peer.session.receiver("l")
    link.take_over(old)
    link.attach(source=SOURCE, target=TARGET, rcv_settle_mode=1)
    peer.octets_sent()
    peer.send(attach("l", role=old.is_sender, rcv_settle_mode=1, unsettled=unsettled, **fields))
    if old.is_sender:
        peer.send(peer.credit(credit))
    else:
        link.grant(credit)
        peer.octets_sent()
    return peer, link


def planned(peer: SessionPeer, link: Sender | Receiver) -> dict[bytes, tuple[Recovery, object]]:
    """What the engine advises to do with each delivery, and the state that our map gave."""
    ours = peer.events.attaches[-1]
    plan = plan_recovery(link, ours.unsettled, is_incomplete=ours.incomplete_unsettled)
    return {each.delivery.tag: (each.recovery, each.remote_state) for each in plan}


# 2.6.3, 2.6.13 and 2.7.3: the unsettled map


def test_a_resuming_attach_carries_the_unsettled_map():
    old = suspended_sender(b"a", b"b")
    old.suspended[b"b"].update(ACCEPTED, False)
    peer = SessionPeer()
    link = peer.session.sender("l")
    link.take_over(old)
    link.attach(source=SOURCE, target=TARGET)
    (sent,) = peer.sent()
    assert (sent.name, sent.role, sent.unsettled, sent.incomplete_unsettled) == (
        "l",
        False,
        {b"a": None, b"b": ACCEPTED},
        False,
    )
    old = suspended_receiver(b"x", b"y")
    old.suspended[b"y"].update(PART, False)
    peer.send(attach("l", role=False, unsettled={b"x": None}))
    answer = peer.events.links[-1]
    answer.take_over(old)
    answer.attach(source=SOURCE, target=TARGET)
    (sent,) = peer.sent()
    assert (sent.role, sent.unsettled) == (True, {b"x": None, b"y": PART})


def test_a_link_is_recovered_by_its_name_alone():
    peer = SessionPeer()
    link = peer.session.sender("l")
    link.attach(source=SOURCE, target=None)
    assert peer.sent()[0].target is None
    peer.send(attach("l"), peer.credit(1))
    assert link.remote_target == TARGET
    link.send(b"m")
    assert [frame.payload for frame in peer.frames_sent()] == [b"m"]
    peer.send(attach("r", handle=1, role=False, target=None))
    answer = peer.events.links[-1]
    assert (answer.remote_source, answer.remote_target) == (SOURCE, None)
    answer.attach(source=SOURCE, target=TARGET)
    assert peer.sent()[0].target == TARGET


def test_a_link_detached_with_an_error_is_resumed_with_an_unsettled_map():
    peer = SessionPeer()
    peer.attached_receiver("l", credit=5).detach(error=Error(condition="x:broken"))
    peer.send(Detach(handle=0, closed=True), attach("l", role=False, unsettled={}))
    peer.events.links[-1].attach(source=SOURCE, target=TARGET)
    assert [type(each) for each in peer.sent()] == [Detach, Attach]
    assert peer.events.violations == []
    peer.session.sender("m").attach(source=SOURCE, target=TARGET, unsettled={})
    (frame,) = split(peer.octets_sent())
    assert octets("c1 01 00") in frame


def test_a_map_too_large_for_a_frame_is_sent_as_incomplete():
    tags = [b"%032d" % number for number in range(50)]
    old = suspended_sender(*tags)
    peer = SessionPeer(peers_open=Open(container_id="peer", max_frame_size=512))
    link = peer.session.sender("l")
    link.take_over(old)
    link.attach(source=SOURCE, target=TARGET)
    (frame,) = split(peer.octets_sent())
    assert len(frame) <= 512
    sent = parsed(frame).performative
    assert sent.incomplete_unsettled
    assert 0 < len(sent.unsettled) < 50
    assert set(sent.unsettled) < set(tags)


@pytest.mark.parametrize("key", ["40", "a1 01 78", "43"])
def test_an_unsettled_map_with_a_key_that_is_no_tag_is_refused(key):
    pairs = octets(key + "00 53 24 45")
    unsettled = b"\xc1" + bytes([len(pairs) + 1, 2]) + pairs
    fields = octets("a1 01 6c 43 41 40 40 40 40") + unsettled
    peer = SessionPeer()
    peer.send(framed(octets("00 53 12 c0") + bytes([len(fields) + 1, 8]) + fields))
    check_closed_with(peer, "amqp:decode-error")


def test_both_unsettled_maps_are_compared_by_tag():
    peer, link = resumed(suspended_sender(b"a", b"b", b"c"), {b"a": ACCEPTED, b"b": PART, b"z": RELEASED})
    assert planned(peer, link) == {
        b"a": (Recovery.CONFIRM, ACCEPTED),
        b"b": (Recovery.RESUME, PART),
        b"c": (Recovery.RESEND, None),
    }
    peer, link = resumed(suspended_receiver(b"x", b"y"), {b"y": RELEASED})
    assert planned(peer, link) == {b"x": (Recovery.FORGET, None), b"y": (Recovery.AWAIT, RELEASED)}


def test_deliveries_only_the_target_holds_are_settled():
    peer, link = resumed(suspended_receiver(b"a", b"b"), {b"b": None, b"z": None})
    assert planned(peer, link) == {b"a": (Recovery.FORGET, None), b"b": (Recovery.AWAIT, None)}
    link.suspended[b"a"].settle()
    assert list(link.suspended) == [b"b"]
    assert peer.octets_sent() == b""
    peer, link = resumed(suspended_sender(b"a"), {b"a": None, b"only the target": ACCEPTED})
    assert planned(peer, link) == {b"a": (Recovery.RESUME, None)}
    assert peer.octets_sent() == b""
    assert peer.events.violations == []


def test_a_tag_missing_from_an_incomplete_map_is_not_settled():
    for old in (suspended_receiver(b"a", b"b"), suspended_sender(b"a", b"b")):
        peer, link = resumed(old, {b"b": None}, incomplete_unsettled=True)
        assert planned(peer, link)[b"a"] == (Recovery.UNKNOWN, None)
        assert list(link.suspended) == [b"a", b"b"]
        assert peer.octets_sent() == b""


# 2.6.13, 2.7.3: incomplete maps


def test_no_new_delivery_is_sent_while_a_map_is_incomplete():
    peer, link = resumed(suspended_sender(b"a"), {b"a": None}, incomplete_unsettled=True)
    with pytest.raises(StateError):
        link.send(b"new")
    assert peer.octets_sent() == b""
    link.resume(link.suspended[b"a"], b"old")
    assert [each.resume for each in peer.sent()] == [True]
    peer = SessionPeer()
    ours = peer.session.sender("l")
    ours.attach(source=SOURCE, target=TARGET, unsettled={b"a": None}, incomplete_unsettled=True)
    peer.send(attach("l", unsettled={}), peer.credit(5))
    with pytest.raises(StateError):
        ours.send(b"new")


def test_a_new_delivery_after_our_incomplete_map_detaches_the_link():
    peer = SessionPeer()
    receiver = peer.session.receiver("l")
    receiver.attach(source=SOURCE, target=TARGET, unsettled={b"a": None}, incomplete_unsettled=True)
    peer.send(attach("l", role=False, unsettled={}))
    receiver.grant(5)
    peer.octets_sent()
    peer.send(transfer(0, delivery_tag=b"new"))
    (detach,) = peer.sent()
    assert detach.error is not None
    assert peer.events.arrivals == []


def test_an_incomplete_map_is_worked_off_before_new_deliveries():
    peer, link = resumed(suspended_sender(b"a", b"b"), {b"a": ACCEPTED}, incomplete_unsettled=True)
    link.resume(link.suspended[b"a"], state=ACCEPTED, settled=True)
    link.detach(closed=False)
    assert [type(each) for each in peer.sent()] == [Transfer, Detach]
    peer.send(Detach(handle=0, closed=False))
    peer, again = resumed(link, {b"b": None}, peer=peer)
    assert list(again.suspended) == [b"b"]
    again.resume(again.suspended[b"b"], b"old")
    again.send(b"new")
    assert [(each.performative.resume, each.payload) for each in peer.frames_sent()] == [
        (True, b"old"),
        (False, b"new"),
    ]


# 2.6.13, 2.7.5: resumed deliveries


def test_deliveries_both_sides_hold_are_resumed():
    peer, link = resumed(suspended_sender(b"a"), {b"a": None})
    delivery = link.suspended[b"a"]
    link.resume(delivery, b"body of a")
    (frame,) = peer.frames_sent()
    assert frame.payload == b"body of a"
    assert (frame.performative.resume, frame.performative.delivery_tag, frame.performative.more) == (True, b"a", False)
    assert link.suspended == {}
    peer.send(Disposition(role=True, first=frame.performative.delivery_id, settled=True, state=ACCEPTED))
    assert (delivery.remote_settled, delivery.remote_state) == (True, ACCEPTED)
    peer, link = resumed(suspended_receiver(b"x"), {b"x": None})
    known = link.suspended[b"x"]
    peer.send(transfer(5, b"again", delivery_tag=b"x", resume=True, more=True))
    peer.send(framed(Transfer(handle=0), b"rest"))
    assert peer.events.deliveries == [known, known]
    assert [each.octets for each in peer.events.arrivals] == [b"again", b"rest"]
    assert known.is_resumed


def test_a_resumed_delivery_is_not_interleaved_with_another():
    old = suspended_sender(b"a", b"b")
    peer, link = resumed(old, {b"a": None, b"b": None}, peer=SessionPeer(send_frame_size=512))
    new = link.begin(b"new")
    link.write(new, b"part", 0, 4, True)
    with pytest.raises(StateError):
        link.resume(link.suspended[b"a"], b"m")
    link.write(new, b"", 0, 0, False)
    peer.octets_sent()
    peer.send(flow(next_incoming_id=2, incoming_window=2))
    link.resume(link.suspended[b"a"], b"x" * 1500)
    link.send(b"after")
    peer.send(flow(next_incoming_id=4, incoming_window=50))
    sent = peer.frames_sent()
    assert [frame.payload for frame in sent][-1] == b"after"
    assert b"".join(frame.payload for frame in sent) == b"x" * 1500 + b"after"
    assert [frame.performative.more for frame in sent] == [True] * (len(sent) - 2) + [False, False]


def test_a_resumed_delivery_has_a_new_delivery_id():
    old = suspended_sender(b"a", b"b")
    assert [each.id for each in old.suspended.values()] == [0, 1]
    peer, link = resumed(old, {b"a": None, b"b": None})
    link.resume(link.suspended[b"b"], b"m")
    link.resume(link.suspended[b"a"], b"m")
    assert [(each.delivery_id, each.delivery_tag) for each in peer.sent()] == [(0, b"b"), (1, b"a")]


def test_a_resumed_delivery_the_receiver_does_not_know_is_ignored():
    peer, link = resumed(suspended_receiver(b"x"), {b"x": None, b"y": None})
    peer.send(transfer(0, b"one", delivery_tag=b"y", resume=True, more=True))
    peer.send(framed(Transfer(handle=0, more=True), b"two"), framed(Transfer(handle=0), b"three"))
    assert peer.events.arrivals == []
    assert peer.events.violations == []
    peer.send(transfer(1, b"new", delivery_tag=b"z"))
    assert [each.octets for each in peer.events.arrivals] == [b"new"]
    assert link.delivery_count == 2


def test_only_deliveries_of_the_local_map_can_be_resumed():
    peer, link = resumed(suspended_sender(b"a"), {b"a": None})
    stranger = suspended_sender(b"b").suspended[b"b"]
    with pytest.raises(StateError):
        link.resume(stranger, b"m")
    fresh = link.send(b"new")
    with pytest.raises(StateError):
        link.resume(fresh, b"m")
    assert [each.resume for each in peer.sent()] == [False]


def test_mode_and_batchable_are_not_kept_over_a_suspension():
    old = suspended_sender(b"a", rcv_settle_mode=0, batchable=True)
    peer, link = resumed(old, {b"a": None})
    link.resume(link.suspended[b"a"], b"m")
    assert [(each.rcv_settle_mode, each.batchable) for each in peer.sent()] == [(None, False)]
    old = suspended_receiver(b"x", rcv_settle_mode=0, batchable=True)
    peer, link = resumed(old, {b"x": None})
    peer.send(transfer(0, delivery_tag=b"x", resume=True))
    (delivery,) = peer.events.deliveries
    assert (delivery.rcv_settle_mode, delivery.is_batchable) == (1, False)


def test_tags_of_deliveries_taken_over_are_not_given_again():
    old = suspended_sender(None, None)
    kept = set(old.suspended)
    peer, link = resumed(old, dict.fromkeys(kept))
    for _ in range(5):
        link.send(b"new")
    assert kept.isdisjoint(each.delivery_tag for each in peer.sent())


# 3.4.1 and 3.4.6: resuming by delivery states


def test_the_sender_puts_received_on_the_first_resumed_transfer_only():
    peer = SessionPeer(send_frame_size=512)
    peer, link = resumed(suspended_sender(b"a"), {b"a": PART}, peer=peer)
    link.resume(link.suspended[b"a"], b"x" * 2000, state=PART)
    frames = peer.sent()
    assert len(frames) > 3
    assert [each.state for each in frames] == [PART] + [None] * (len(frames) - 1)


def test_the_state_of_a_resumed_transfer_says_where_its_data_begins():
    peer, link = resumed(suspended_sender(b"a"), {b"a": PART})
    link.resume(link.suspended[b"a"], b"tail", state=PART)
    assert [(each.performative.state, each.payload) for each in peer.frames_sent()] == [(PART, b"tail")]


def test_the_receivers_received_state_reaches_the_sender_in_attach_and_disposition():
    peer = SessionPeer()
    delivery = peer.attached_sender("l", credit=1).send(b"m")
    peer.send(Disposition(role=True, first=0, state=PART))
    assert delivery.remote_state == PART
    peer, _ = resumed(suspended_sender(b"a"), {b"a": PART})
    assert peer.events.attaches[-1].unsettled == {b"a": PART}


@pytest.mark.parametrize("state", [None, Received(section_number=0, section_offset=20), PART])
def test_the_receiver_reports_where_resumed_data_begins(state):
    old = suspended_receiver(b"x")
    old.suspended[b"x"].update(PART, False)
    peer, _ = resumed(old, {b"x": None})
    peer.send(transfer(0, b"tail", delivery_tag=b"x", resume=True, state=state))
    (delivery,) = peer.events.deliveries
    assert (delivery.is_resumed, delivery.state, delivery.remote_state) == (True, PART, state)


def test_a_delivery_unknown_to_the_receiver_is_sent_anew_without_resume():
    peer, link = resumed(suspended_sender(b"a", b"b"), {b"b": None})
    assert planned(peer, link)[b"a"] == (Recovery.RESEND, None)
    link.suspended[b"a"].settle()
    link.send(b"body of a", b"a")
    assert [(each.delivery_tag, each.resume) for each in peer.sent()] == [(b"a", False)]
    assert list(link.suspended) == [b"b"]


def test_a_delivery_with_an_outcome_at_the_receiver_is_resumed_without_payload():
    peer, link = resumed(suspended_sender(b"a"), {b"a": ACCEPTED})
    link.resume(link.suspended[b"a"], state=ACCEPTED, settled=True)
    (frame,) = peer.frames_sent()
    sent = frame.performative
    assert (sent.resume, sent.settled, sent.state, sent.more, frame.payload) == (True, True, ACCEPTED, False, b"")
    assert peer.session.outgoing.count == 0


def test_a_delivery_the_receiver_knows_without_data_is_resumed_whole():
    peer, link = resumed(suspended_sender(b"a"), {b"a": None})
    link.resume(link.suspended[b"a"], b"body of a")
    (frame,) = peer.frames_sent()
    sent = frame.performative
    assert (sent.delivery_tag, sent.resume, sent.state, frame.payload) == (b"a", True, None, b"body of a")


def test_a_resumed_delivery_can_be_aborted():
    peer, link = resumed(suspended_sender(b"a"), {b"a": PART})
    link.resume(link.suspended[b"a"], aborted=True)
    (frame,) = peer.frames_sent()
    sent = frame.performative
    assert (sent.delivery_tag, sent.resume, sent.aborted, sent.more, frame.payload) == (b"a", True, True, False, b"")
    assert (peer.session.outgoing.count, link.suspended) == (0, {})
    peer, link = resumed(suspended_receiver(b"x"), {b"x": None})
    peer.send(transfer(0, b"", delivery_tag=b"x", resume=True, aborted=True))
    assert [(each.tag, each.is_aborted) for each in peer.events.arrivals] == [(b"x", True)]
    assert (peer.session.incoming.count, link.suspended) == (0, {})


def test_a_delivery_settled_by_outcome_and_unknown_to_the_receiver_is_not_resent():
    old = suspended_sender(b"a")
    old.suspended[b"a"].update(ACCEPTED, False)
    peer, link = resumed(old, {})
    assert planned(peer, link) == {b"a": (Recovery.FORGET, None)}
    link.suspended[b"a"].settle()
    assert peer.octets_sent() == b""
    assert link.suspended == {}


def test_equal_outcomes_are_settled_by_a_resuming_transfer():
    old = suspended_sender(b"a")
    old.suspended[b"a"].update(ACCEPTED, False)
    peer, link = resumed(old, {b"a": ACCEPTED})
    link.resume(link.suspended[b"a"], settled=True)
    (sent,) = peer.sent()
    assert (sent.resume, sent.settled, sent.delivery_tag) == (True, True, b"a")
    peer, link = resumed(suspended_receiver(b"x"), {b"x": ACCEPTED})
    peer.send(transfer(0, b"", delivery_tag=b"x", resume=True, settled=True))
    (delivery,) = peer.events.deliveries
    assert delivery.remote_settled
    delivery.settle()
    assert peer.octets_sent() == b""


def test_differing_outcomes_are_restated_by_the_sender_and_echoed_by_the_receiver():
    old = suspended_sender(b"a")
    old.suspended[b"a"].update(ACCEPTED, False)
    peer, link = resumed(old, {b"a": RELEASED})
    link.resume(link.suspended[b"a"], state=ACCEPTED)
    (sent,) = peer.sent()
    assert (sent.resume, sent.settled, sent.state) == (True, False, ACCEPTED)
    old = suspended_receiver(b"x")
    old.suspended[b"x"].update(RELEASED, False)
    peer, link = resumed(old, {b"x": ACCEPTED})
    peer.send(transfer(10, b"", delivery_tag=b"x", resume=True, state=ACCEPTED))
    (delivery,) = peer.events.deliveries
    assert (delivery.state, delivery.remote_state) == (RELEASED, ACCEPTED)
    delivery.update(ACCEPTED, True)
    assert peer.sent() == [Disposition(role=True, first=10, settled=True, state=ACCEPTED)]
