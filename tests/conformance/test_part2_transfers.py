"""Part 2 of the standard: deliveries, their transfers and dispositions (2.6.11 to 2.6.14, 2.7.5, 2.7.6)."""

import pytest

from routerd.wire.amqp_error import Error
from routerd.wire.errors import StateError
from routerd.wire.outcomes import ACCEPTED, RELEASED, Modified, Received, Rejected
from routerd.wire.performatives import Disposition, Transfer
from tests.conformance.raw_peer import Frame, SessionPeer, check_closed_with, framed, octets, parsed, split, transfer
from tests.conformance.test_part2_links import check_detached_with
from tests.conformance.test_part2_sessions import check_ended_with


def more_of(handle: int = 0, payload: bytes = b"", **fields) -> bytes:
    """The octets of a further transfer."""
    return framed(Transfer(handle=handle, **fields), payload)


# 2.6.11, 2.6.12 and the first transfer of 2.7.5


@pytest.mark.parametrize("payload", [b"", bytes(range(256)), b"\x00\x53\x14\x45"])
def test_any_payload_octets_are_transferred(payload):
    peer = SessionPeer()
    peer.attached_sender("out", handle=0, credit=1).send(payload)
    assert peer.frames_sent()[0].payload == payload
    peer.attached_receiver("in", handle=1, credit=1)
    peer.send(transfer(0, payload, handle=1))
    assert peer.events.arrivals[0].octets == payload


def test_the_first_transfer_has_id_tag_and_format():
    peer = SessionPeer()
    peer.attached_sender(credit=1).send(b"abc", b"T")
    (frame,) = split(peer.octets_sent())
    assert frame[8:] == octets("00 53 14 c0 08 05 43 43 a0 01 54 43 42") + b"abc"


def test_the_delivery_tag_given_by_the_application_is_sent():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=9)
    for tag in (b"", b"x", b"t" * 32):
        sender.send(b"m", tag)
    assert [each.delivery_tag for each in peer.sent()] == [b"", b"x", b"t" * 32]


def test_tags_chosen_by_the_engine_are_all_different():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=50)
    for _ in range(50):
        sender.send(b"m")
    assert len({each.delivery_tag for each in peer.sent()}) == 50


def test_a_tag_of_more_than_32_octets_is_refused():
    peer = SessionPeer()
    peer.attached_receiver(credit=1)
    peer.send(framed(octets("00 53 14 c0 28 04 52 00 43 a0 21" + "74" * 33 + "43"), b"m"))
    check_closed_with(peer, "amqp:invalid-field")


@pytest.mark.parametrize("message_format", [0, 1, 0x01020304, 0xFFFFFFFF])
def test_the_message_format_given_by_the_application_is_sent(message_format):
    peer = SessionPeer()
    peer.attached_sender("out", handle=0, credit=1).send(b"m", message_format=message_format)
    assert peer.sent()[0].message_format == message_format
    peer.attached_receiver("in", handle=1, credit=1)
    first = Transfer(handle=1, delivery_id=0, delivery_tag=b"t", message_format=message_format)
    peer.send(framed(first, b"m"))
    assert peer.events.deliveries[0].message_format == message_format


def test_a_transfer_for_an_unattached_handle_ends_the_session():
    peer = SessionPeer()
    peer.attached_receiver(credit=1)
    peer.send(transfer(0, handle=1))
    check_ended_with(peer, "amqp:session:unattached-handle")
    peer = SessionPeer()
    peer.attached_receiver(credit=1)
    peer.send(framed(octets("00 53 14 45")))
    check_closed_with(peer, "amqp:decode-error")


# 2.6.14: large and aborted messages


def test_a_large_message_is_cut_at_the_frame_size_with_more_set():
    peer = SessionPeer(send_frame_size=512)
    sender = peer.attached_sender(credit=1)
    sender.send(bytes(range(256)) * 10, b"t")
    frames = split(peer.octets_sent())
    transfers = [parsed(frame) for frame in frames]
    assert b"".join(each.payload for each in transfers) == bytes(range(256)) * 10
    assert [each.performative.more for each in transfers] == [True] * (len(frames) - 1) + [False]
    assert transfers[0].performative.delivery_tag == b"t"
    assert {each.performative.delivery_id for each in transfers[1:]} <= {None, 0}
    assert max(map(len, frames)) <= 512
    assert len(frames) <= 6


def test_messages_of_different_links_may_be_interleaved():
    peer = SessionPeer()
    peer.attached_receiver("a", handle=0, credit=1)
    peer.attached_receiver("b", handle=1, credit=1)
    peer.send(
        transfer(0, b"a1", handle=0, more=True),
        transfer(1, b"b1", handle=1, more=True),
        more_of(0, b"a2"),
        more_of(1, b"b2"),
    )
    assert [(each.tag, each.octets, each.is_partial) for each in peer.events.arrivals] == [
        (b"0", b"a1", True),
        (b"1", b"b1", True),
        (b"0", b"a2", False),
        (b"1", b"b2", False),
    ]
    one, two = peer.attached_sender("c", handle=2, credit=1), peer.attached_sender("d", handle=3, credit=1)
    first, second = one.begin(), two.begin()
    for sender, delivery, more in ((one, first, True), (two, second, True), (one, first, False), (two, second, False)):
        sender.write(delivery, b"x", 0, 1, more)
    assert [(each.handle, each.more) for each in peer.sent()] == [(2, True), (3, True), (2, False), (3, False)]


def test_messages_of_one_link_are_not_interleaved():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=5)
    delivery = sender.begin()
    sender.write(delivery, b"x", 0, 1, True)
    with pytest.raises(StateError):
        sender.begin()
    with pytest.raises(StateError):
        sender.send(b"other")
    sender.write(delivery, b"y", 0, 1, False)
    assert [frame.payload for frame in peer.frames_sent()] == [b"x", b"y"]


def test_aborting_sends_aborted_without_more():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=2)
    delivery = sender.begin(b"t")
    sender.write(delivery, b"part", 0, 4, True)
    sender.abort(delivery)
    first, last = peer.frames_sent()
    assert (first.payload, first.performative.more) == (b"part", True)
    assert (last.payload, last.performative.aborted, last.performative.more) == (b"", True, False)
    assert delivery.settled
    assert peer.session.outgoing.count == 0


# settlement


def test_settled_unset_is_false_until_a_transfer_sets_it():
    peer = SessionPeer()
    peer.attached_receiver(credit=9)
    peer.send(transfer(0, more=True), more_of(0, b"m", more=True), more_of(0))
    peer.send(transfer(1, more=True), more_of(0, settled=True, more=True), more_of(0))
    peer.send(transfer(2, settled=True, more=True), more_of(0))
    assert [each.remote_settled for each in peer.events.arrivals] == [False] * 3 + [False, True, True] + [True, True]
    assert peer.session.incoming.count == 1


def test_a_settled_link_sends_settled_deliveries():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=2, snd_settle_mode=1)
    with pytest.raises(StateError):
        sender.send(b"m", settled=False)
    sender.send(b"m", settled=True)
    assert [each.settled for each in peer.sent()] == [True]


def test_an_unsettled_link_sends_unsettled_deliveries():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=2, snd_settle_mode=0)
    with pytest.raises(StateError):
        sender.send(b"m", settled=True)
    sender.send(b"m" * 100_000, settled=False)
    assert {each.settled for each in peer.sent()} <= {False, None}


def test_a_mixed_link_sends_both_kinds():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=2, snd_settle_mode=2)
    sender.send(b"m", settled=True)
    sender.send(b"m", settled=False)
    assert [each.settled for each in peer.sent()] == [True, False]


def test_a_presettled_delivery_is_forgotten_at_once():
    peer = SessionPeer()
    peer.attached_sender("out", handle=0, credit=1).send(b"m", settled=True)
    assert peer.session.outgoing.count == 0
    peer.attached_receiver("in", handle=1, credit=1)
    peer.send(transfer(0, handle=1, settled=True))
    assert peer.session.incoming.count == 0
    peer.events.deliveries[0].accept()
    assert peer.octets_sent() == b""


def test_the_receiver_settles_first_in_mode_first():
    peer = SessionPeer()
    peer.attached_receiver(credit=1, rcv_settle_mode=0)
    peer.send(transfer(0))
    peer.events.deliveries[0].accept()
    assert peer.frames_sent() == [Frame(Disposition(role=True, first=0, settled=True, state=ACCEPTED))]
    assert peer.session.incoming.count == 0


def test_the_receiver_settles_second_in_mode_second():
    peer = SessionPeer()
    peer.attached_receiver(credit=1, rcv_settle_mode=1)
    peer.send(transfer(0))
    (delivery,) = peer.events.deliveries
    delivery.accept()
    assert peer.frames_sent() == [Frame(Disposition(role=True, first=0, settled=False, state=ACCEPTED))]
    assert not delivery.settled
    peer.send(Disposition(role=False, first=0, settled=True, state=ACCEPTED))
    assert delivery.remote_settled
    assert peer.events.dispositions == [delivery]
    delivery.settle()
    assert peer.octets_sent() == b""


def test_a_delivery_without_mode_has_the_mode_of_the_link():
    for mode, settled in ((0, True), (1, False)):
        peer = SessionPeer()
        peer.attached_receiver(credit=1, rcv_settle_mode=mode)
        peer.send(transfer(0))
        peer.events.deliveries[0].accept()
        assert [each.settled for each in peer.sent()] == [settled]
    peer = SessionPeer()
    peer.attached_receiver(credit=1, rcv_settle_mode=1)
    peer.send(transfer(0, rcv_settle_mode=0))
    peer.events.deliveries[0].accept()
    assert [each.settled for each in peer.sent()] == [True]


def test_mode_second_on_a_link_of_mode_first_is_refused():
    peer = SessionPeer()
    peer.attached_receiver(credit=1, rcv_settle_mode=0)
    peer.send(transfer(0, rcv_settle_mode=1))
    check_detached_with(peer, "amqp:invalid-field")
    assert peer.events.arrivals == []


def test_the_mode_of_a_settled_delivery_is_ignored():
    peer = SessionPeer()
    peer.attached_receiver(credit=1, rcv_settle_mode=0)
    peer.send(transfer(0, settled=True, rcv_settle_mode=1))
    assert len(peer.events.arrivals) == 1
    assert peer.events.violations == []


def test_settling_twice_is_settling_once():
    peer = SessionPeer()
    delivery = peer.attached_sender(credit=1).send(b"m")
    peer.octets_sent()
    peer.send(Disposition(role=True, first=0, settled=True, state=ACCEPTED))
    peer.send(Disposition(role=True, first=0, settled=True, state=RELEASED))
    peer.send(Disposition(role=True, first=0, settled=False, state=RELEASED))
    assert (delivery.remote_settled, delivery.remote_state) == (True, ACCEPTED)
    assert peer.events.dispositions == [delivery]
    delivery.settle()
    with pytest.raises(StateError):
        delivery.settle()
    assert peer.octets_sent() == b""


def test_settling_what_the_sender_settled_sends_nothing():
    peer = SessionPeer()
    peer.attached_receiver(credit=1)
    peer.send(transfer(0), Disposition(role=False, first=0, settled=True))
    peer.events.deliveries[0].accept()
    assert peer.octets_sent() == b""


def test_the_sender_may_state_an_outcome_without_settling():
    peer = SessionPeer()
    delivery = peer.attached_sender(credit=1).send(b"m")
    peer.octets_sent()
    delivery.update(RELEASED, False)
    assert peer.sent() == [Disposition(role=False, first=0, settled=False, state=RELEASED)]
    peer.send(Disposition(role=True, first=0, settled=False, state=RELEASED))
    assert (delivery.remote_state, delivery.settled) == (RELEASED, False)
    delivery.settle()
    assert peer.sent() == [Disposition(role=False, first=0, settled=True, state=RELEASED)]


def test_the_state_of_a_transfer_reaches_the_receiver():
    state = Received(section_number=1, section_offset=2)
    peer = SessionPeer()
    peer.attached_receiver("in", handle=0, credit=1)
    peer.send(transfer(0, state=state, more=True), more_of(0, state=RELEASED))
    assert peer.events.deliveries[0].remote_state == RELEASED
    sender = peer.attached_sender("out", handle=1, credit=1)
    delivery = sender.begin(b"t", state=Modified(delivery_failed=True))
    sender.write(delivery, b"m", 0, 1, False)
    assert [each.state for each in peer.sent()] == [Modified(delivery_failed=True)]


def test_a_terminal_state_is_not_changed_by_a_later_frame_of_the_sender():
    peer = SessionPeer()
    peer.attached_receiver("in", handle=0, credit=1)
    peer.send(transfer(0, state=ACCEPTED), Disposition(role=False, first=0, state=RELEASED))
    assert peer.events.deliveries[0].remote_state == ACCEPTED
    delivery = peer.attached_sender("out", handle=1, credit=1).send(b"m")
    peer.octets_sent()
    delivery.update(ACCEPTED, False)
    with pytest.raises(StateError):
        delivery.update(RELEASED, False)
    assert peer.sent() == [Disposition(role=False, first=0, settled=False, state=ACCEPTED)]


def test_batchable_on_any_transfer_holds_for_the_delivery():
    peer = SessionPeer()
    peer.attached_receiver(credit=2)
    peer.send(transfer(0, more=True), more_of(0, batchable=True, more=True), more_of(0))
    peer.send(transfer(1, batchable=True, more=True), more_of(0))
    assert [peer.events.deliveries[n].is_batchable for n in (0, -1)] == [True, True]


# 2.7.3, max-message-size, and limits of ours


def test_max_message_size_zero_is_no_limit():
    peer = SessionPeer()
    peer.attached_receiver(credit=1, max_message_size=0)
    peer.send(transfer(0, b"x" * 50_000))
    assert peer.events.violations == []
    for size in (0, None):
        sender = SessionPeer().attached_sender(credit=1, max_message_size=size)
        sender.send(b"x" * 50_000)


# 2.7.6: disposition


@pytest.mark.parametrize("text", ["45", "c0 02 01 41", "c0 03 02 40 43", "c0 03 02 41 40"])
def test_a_disposition_without_its_mandatory_fields_is_refused(text):
    peer = SessionPeer()
    peer.send(framed(octets("00 53 15" + text)))
    check_closed_with(peer, "amqp:decode-error")


def test_a_disposition_touches_links_of_its_role_only():
    peer = SessionPeer()
    ours = peer.attached_sender("out", handle=0, credit=1).send(b"m")
    peer.attached_receiver("in", handle=1, credit=1)
    peer.send(transfer(0, handle=1))
    (theirs,) = peer.events.deliveries
    assert ours.id == theirs.id == 0
    peer.send(Disposition(role=True, first=0, settled=True, state=ACCEPTED))
    assert (ours.remote_settled, theirs.remote_settled) == (True, False)
    peer.send(Disposition(role=False, first=0, settled=True))
    assert peer.events.dispositions == [ours, theirs]


def test_a_disposition_without_last_means_one_delivery():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=3)
    deliveries = [sender.send(b"m") for _ in range(3)]
    peer.send(Disposition(role=True, first=1, settled=True, state=ACCEPTED))
    assert [each.remote_settled for each in deliveries] == [False, True, False]


def test_one_disposition_covers_a_range_over_several_links():
    peer = SessionPeer()
    senders = [peer.attached_sender(name, handle=handle, credit=2) for handle, name in enumerate("ab")]
    deliveries = [sender.send(b"m") for sender in senders * 2]
    assert [each.id for each in deliveries] == [0, 1, 2, 3]
    state = Rejected(error=Error(condition="x:bad"))
    peer.send(Disposition(role=True, first=1, last=3, settled=True, state=state))
    assert [each.remote_settled for each in deliveries] == [False, True, True, True]
    assert [each.remote_state for each in deliveries] == [None, state, state, state]
    peer.octets_sent()
    receivers = [peer.attached_receiver(name, handle=handle, credit=2) for handle, name in ((2, "c"), (3, "d"))]
    assert len(receivers) == 2
    peer.send(*(transfer(number, handle=2 + number % 2) for number in range(4)))
    for delivery in peer.events.deliveries:
        delivery.accept()
    assert peer.sent() == [Disposition(role=True, first=0, last=3, settled=True, state=ACCEPTED)]


def test_numbers_without_delivery_in_a_range_are_passed_over():
    peer = SessionPeer()
    deliveries = [peer.attached_sender(credit=3).send(b"m")]
    peer.send(Disposition(role=True, first=0xFFFFFF00, last=1_000_000, settled=True, state=ACCEPTED))
    assert [each.remote_settled for each in deliveries] == [True]
    peer.send(Disposition(role=True, first=500, last=600, settled=True), Disposition(role=False, first=3))
    assert peer.events.dispositions == deliveries
    assert peer.events.violations == []
