"""The sending end of a link: what may be sent, and how it is cut into frames."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.wire.amqp_error import Error
from routerd.wire.errors import FrameTooLarge, StateError
from routerd.wire.outcomes import ACCEPTED, Rejected
from routerd.wire.performatives import Attach, Detach, Disposition, Flow, Open, Transfer
from routerd.wire.states import LinkState
from routerd.wire.types import Symbol
from tests.conformance.raw_peer import SOURCE, TARGET, SessionPeer, split, transfer
from tests.endpoints import Pair
from tests.unit.wire.attached import attached, told

TOO_LONG = Rejected(error=Error(condition=Symbol("x:long"), description="d" * 600))
SMALL = Open(container_id="peer", max_frame_size=512)


def window(frames, *, seen=0, **fields):
    """The peer's flow: its window, counted from the transfers it has seen."""
    return Flow(next_incoming_id=seen, incoming_window=frames, next_outgoing_id=0, outgoing_window=9, **fields)


def payloads(peer):
    return [(frame.performative.more, frame.payload) for frame in peer.frames_sent()]


def narrow(credit=5, frames=1):
    """A peer that takes so many frames, and a sender to it."""
    peer = SessionPeer()
    sender = peer.attached_sender(credit=credit)
    peer.send(window(frames))
    return peer, sender


def taken_over(*tags, credit=5, unsettled=None, peer=None, **answer):
    """A sender that took over deliveries, attached to a peer that knows them all unless it says what it knows."""
    earlier = SessionPeer()
    old = earlier.attached_sender("l", credit=len(tags))
    earlier.send(window(len(tags)))
    for tag in tags:
        old.send(b"body", tag)
    earlier.engine.transport_closed()
    peer = peer or SessionPeer()
    link = peer.session.sender("l")
    link.take_over(old)
    link.attach(source=SOURCE, target=TARGET)
    known = dict.fromkeys(old.suspended or link.suspended) if unsettled is None else unsettled
    peer.send(Attach(name="l", handle=0, role=True, unsettled=known, **answer))
    peer.send(peer.credit(credit))
    peer.octets_sent()
    return peer, link


# Whole messages


def test_a_message_takes_one_credit_and_one_count():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=2)
    delivery = sender.send(b"body", b"tag", message_format=7, context="kept")
    assert (sender.credit, sender.delivery_count, peer.session.next_outgoing_id) == (1, 1, 1)
    assert (delivery.id, delivery.tag, delivery.size, delivery.context, delivery.message_format) == (
        0,
        b"tag",
        4,
        "kept",
        7,
    )
    assert (delivery.link, delivery.is_incoming, delivery.is_partial, delivery.is_tracked) == (
        sender,
        False,
        False,
        True,
    )
    assert peer.session.outgoing.all() == [delivery]
    (frame,) = peer.frames_sent()
    assert frame.performative == Transfer(handle=0, delivery_id=0, delivery_tag=b"tag", message_format=7, settled=False)
    assert frame.payload == b"body"


def test_a_delivery_has_nothing_of_those_before_it():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=8)
    for _ in range(4):
        earlier = sender.send(b"body", b"tag", True, 7, context="kept")
        earlier.stamp, earlier.via, earlier.remote_state, earlier.is_resumed = 1.5, "via", ACCEPTED, True
    del earlier  # Memory of deliveries is used again.
    for _ in range(4):
        fresh = sender.send(b"body")
        assert (fresh.context, fresh.via, fresh.state, fresh.remote_state, fresh.stamp) == (None, None, None, None, 0)
        assert (fresh.settled, fresh.is_resumed, fresh.message_format, fresh.size) == (False, False, 0, 4)


def test_a_settled_message_is_not_kept():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=1)
    delivery = sender.send(b"body", settled=True)
    assert (delivery.settled, delivery.is_tracked, peer.session.outgoing.count) == (True, False, 0)


def test_a_whole_settled_message_leaves_without_a_delivery():
    peer, kept = SessionPeer(), SessionPeer()
    sender, likeness = peer.attached_sender(credit=2), kept.attached_sender(credit=2)
    for number in range(2):
        assert sender.send_settled(b"<body>", 1, 5, 7) is True
        likeness.send(b"body", settled=True, message_format=7)
        assert (
            (sender.credit, sender.delivery_count)
            == (likeness.credit, likeness.delivery_count)
            == (1 - number, number + 1)
        )
    assert peer.octets_sent() == kept.octets_sent()
    assert peer.session.next_outgoing_id == kept.session.next_outgoing_id == 2
    assert sender.unsettled_count == peer.session.outgoing.count == 0


def test_without_credit_it_does_not_leave():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=1)
    assert sender.send_settled(b"m", 0, 1, 0) is True
    assert sender.send_settled(b"m", 0, 1, 0) is False
    assert len(peer.frames_sent()) == 1


def test_nor_does_it_where_the_window_or_the_frames_of_the_peer_are_too_small():
    peer, sender = narrow(frames=1)
    assert sender.send_settled(b"m", 0, 1, 0) is True
    assert sender.send_settled(b"m", 0, 1, 0) is False
    sender.send(b"queued")
    peer.send(window(5, seen=1))
    assert len(peer.frames_sent()) == 2
    small = SessionPeer(peers_open=SMALL)
    sender = small.attached_sender(credit=2)
    room = 512 - 33 - 4
    assert sender.send_settled(b"x" * (room + 1), 0, room + 1, 0) is False
    assert sender.send_settled(b"x" * room, 0, room, 0) is True
    assert sender.credit == 1


def test_nor_does_it_behind_what_waits_or_is_under_way():
    peer, sender = narrow(frames=1)
    sender.send(b"first")
    sender.send(b"waits")
    assert sender.send_settled(b"m", 0, 1, 0) is False
    peer = SessionPeer()
    sender = peer.attached_sender(credit=2)
    delivery = sender.begin()
    sender.write(delivery, b"part", 0, 4, True)
    assert sender.send_settled(b"m", 0, 1, 0) is False


def test_nor_does_it_on_a_link_that_is_not_for_it():
    unsettled = SessionPeer().attached_sender(credit=1, snd_settle_mode=0)
    assert unsettled.send_settled(b"m", 0, 1, 0) is False
    small = SessionPeer().attached_sender(credit=1, max_message_size=3)
    assert small.send_settled(b"four", 0, 4, 0) is False
    assert small.send_settled(b"four", 0, 3, 0) is True
    gone = SessionPeer().attached_sender(credit=1)
    gone.detach()
    assert gone.send_settled(b"m", 0, 1, 0) is False


@pytest.mark.parametrize(
    ("mode", "settled", "is_allowed"),
    [(0, False, True), (0, True, False), (1, True, True), (1, False, False), (2, True, True), (2, False, True)],
)
def test_the_settle_mode_of_the_link_is_kept_to(mode, settled, is_allowed):
    peer = SessionPeer()
    sender = peer.attached_sender(credit=1, snd_settle_mode=mode)
    if is_allowed:
        assert sender.send(b"m", settled=settled).settled is settled
    else:
        with pytest.raises(StateError, match=rf"^link 'out': its snd-settle-mode does not allow settled={settled}$"):
            sender.send(b"m", settled=settled)
    assert sender.credit == (0 if is_allowed else 1)


def test_a_delivery_to_be_settled_second_needs_a_link_of_that_mode():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=2)
    with pytest.raises(StateError, match="does not allow a delivery to be settled second"):
        sender.begin(rcv_settle_mode=1)
    sender.write(sender.begin(settled=True, rcv_settle_mode=1), b"m", 0, 1, False)
    second = peer.attached_sender("second", credit=1, handle=1, rcv_settle_mode=1)
    assert second.begin(rcv_settle_mode=1).rcv_settle_mode == 1


def test_nothing_is_sent_on_a_link_that_is_not_attached():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=5)
    delivery = sender.begin()
    sender.detach()
    with pytest.raises(StateError, match=r"^link 'out' is detach sent: nothing can be sent$"):
        sender.send(b"m")
    for use in (lambda: sender.write(delivery, b"m", 0, 1, False), lambda: sender.abort(delivery)):
        with pytest.raises(StateError, match=r"is not under way$"):
            use()
    assert peer.sent() == [Detach(handle=0, closed=True)]


def test_tags_are_given_in_sequence():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=600)
    peer.send(window(600))
    tags = [sender.send(b"").tag for _ in range(600)]
    assert tags == [number.to_bytes(4, "big") for number in range(600)]


def test_a_tag_may_be_given_and_has_32_octets_at_most():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=2)
    assert sender.send(b"m", b"t" * 32).tag == b"t" * 32
    with pytest.raises(StateError, match=r"^a delivery-tag has 32 octets at most, not 33$"):
        sender.send(b"m", b"t" * 33)
    assert sender.send(b"m", b"").tag == b""


def test_a_message_larger_than_the_peer_takes_is_refused_and_nothing_changes():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=3, max_message_size=10)
    with pytest.raises(StateError, match=r"^link 'out': the peer takes messages of 10 octets at most$"):
        sender.send(b"m" * 11)
    assert (sender.credit, peer.sent()) == (3, [])
    assert sender.send(b"m" * 10).size == 10
    delivery = sender.begin()
    sender.write(delivery, b"m" * 6, 0, 6, True)
    with pytest.raises(StateError):
        sender.write(delivery, b"m" * 5, 0, 5, False)
    sender.write(delivery, b"m" * 4, 0, 4, False)
    assert (delivery.size, sender.credit) == (10, 1)


def test_fields_that_do_not_fit_a_frame_are_refused_and_nothing_changes():
    peer = SessionPeer(peers_open=SMALL)
    sender = peer.attached_sender(credit=1)
    with pytest.raises(
        FrameTooLarge, match=r"^the fields of a transfer take [0-9]+ octets; the peer takes frames of 512$"
    ):
        sender.begin(state=TOO_LONG)
    assert (sender.credit, peer.sent()) == (1, [])
    sender.send(b"m")


def test_a_delivery_can_have_a_state_a_mode_and_be_batchable():
    peer = SessionPeer(peers_open=SMALL)
    sender = peer.attached_sender(credit=3, rcv_settle_mode=1)
    for fields in ({"state": ACCEPTED}, {"rcv_settle_mode": 0}, {"batchable": True}):
        sender.write(sender.begin(b"t", **fields), b"m" * 1000, 0, 1000, False)
    frames = split(peer.octets_sent())
    assert max(map(len, frames)) == 512
    peer.engine.output.put_raw(b"".join(frames))
    sent = peer.frames_sent()
    firsts = [frame.performative for frame in sent if frame.performative.delivery_id is not None]
    assert [(each.state, each.rcv_settle_mode, each.batchable, each.more) for each in firsts] == [
        (ACCEPTED, None, False, True),
        (None, 0, False, True),
        (None, None, True, True),
    ]
    assert b"".join(frame.payload for frame in sent) == b"m" * 3000
    assert [frame.performative.more for frame in sent if frame.performative.delivery_id is None].count(False) == 3


def test_a_delivery_with_a_state_that_fits_one_frame_takes_one():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=2)
    sender.write(sender.begin(state=ACCEPTED), b"m", 0, 1, False)
    sender.write(sender.begin(state=ACCEPTED), b"m", 0, 1, True)
    assert payloads(peer) == [(False, b"m"), (True, b"m")]


# Messages in pieces


def test_a_message_may_be_written_in_pieces():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=2)
    delivery = sender.begin()
    assert (delivery.is_partial, sender.credit, peer.sent()) == (True, 1, [])
    sender.write(delivery, b"<one>", 1, 4, True)
    sender.write(delivery, bytearray(b"two"), 0, 3, True)
    assert delivery.is_partial
    sender.write(delivery, b"", 0, 0, False)
    assert payloads(peer) == [(True, b"one"), (True, b"two"), (False, b"")]
    assert (delivery.size, delivery.is_partial) == (6, False)


def test_one_delivery_is_under_way_at_a_time():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=3)
    first = sender.send(b"m")
    delivery = sender.begin()
    with pytest.raises(StateError, match=r"^link 'out': the delivery before is not complete$"):
        sender.begin()
    for use in (lambda: sender.write(first, b"m", 0, 1, False), lambda: sender.abort(first)):
        with pytest.raises(StateError, match=r"^link 'out': delivery b'.*' is not under way$"):
            use()
    sender.write(delivery, b"m", 0, 1, False)
    sender.begin()


def test_the_longest_fields_leave_less_room_for_the_message():
    pair = Pair(server={"max_frame_size": 512}).open()
    session = pair.session(next_outgoing_id=2**31)
    links = [session.sender(f"l{number}") for number in range(257)]
    for link in links:
        link.attach(source=SOURCE, target=TARGET)
    pair.pump()
    pair.at_server.links["l256"].grant(1)
    pair.settle_down()
    delivery = links[256].send(b"m" * 5000, b"t" * 32, message_format=2**31)
    assert (delivery.id, links[256].handle) == (2**31, 256)
    pair.pump()
    frames = split(pair.to_server)
    assert {len(frame) for frame in frames[:-1]} == {512}
    assert b"".join(pair.at_server.bodies) == b"m" * 5000


@given(st.integers(0, 3000), st.binary(max_size=32), st.sampled_from([512, 513, 1000]))
def test_no_frame_is_larger_than_the_peer_takes(size, tag, frame_size):
    peer = SessionPeer(peers_open=Open(container_id="peer", max_frame_size=frame_size))
    sender = peer.attached_sender(credit=1)
    body = bytes(number % 251 for number in range(size))
    sender.send(body, tag, message_format=2**32 - 1)
    frames = split(peer.octets_sent())
    assert max(map(len, frames)) <= frame_size
    peer.engine.output.put_raw(b"".join(frames))
    sent = payloads(peer)
    assert b"".join(payload for _, payload in sent) == body
    assert [more for more, _ in sent] == [True] * (len(sent) - 1) + [False]


# Flow


def test_a_flow_without_credit_changes_none():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=3)
    peer.send(window(9, handle=0, properties={Symbol("p"): 1}))
    assert (sender.credit, sender.flow_properties) == (3, {Symbol("p"): 1})


def test_a_drained_sender_gives_its_credit_back():
    link = attached(credit=5)
    link.sender.send(b"m")
    link.receiver.set_credit(7, drain=True)
    link.pair.pump()
    assert (link.sender.drain, link.sender.credit) == (True, 6)
    link.sender.drained()
    assert (link.sender.credit, link.sender.delivery_count) == (0, 7)
    link.pair.pump()
    assert (link.receiver.credit, link.receiver.delivery_count) == (0, 7)
    assert told(link.pair)[1][-1] == ("link flow", "l", 0)
    link.sender.drained()
    assert link.sender.delivery_count == 7


def test_drains_are_answered_once_for_all_that_came_together():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=2)
    for number in range(50):
        peer.send(window(9, handle=0, link_credit=2, delivery_count=2 * number, drain=True))
        sender.drained()
    assert [(each.delivery_count, each.link_credit, each.drain) for each in peer.sent()] == [(100, 0, True)]


def test_the_delivery_count_wraps_around():
    link = attached(initial_delivery_count=2**32 - 2, credit=5)
    for _ in range(3):
        link.sender.send(b"m")
    assert (link.sender.delivery_count, link.sender.credit) == (1, 2)
    link.pair.pump()
    link.receiver.set_credit(2**31 - 1, drain=True)
    link.pair.pump()
    assert (link.receiver.delivery_count, link.sender.credit) == (1, 2**31 - 1)
    link.sender.drained()
    link.pair.pump()
    assert (link.sender.delivery_count, link.receiver.delivery_count, link.receiver.credit) == (2**31, 2**31, 0)


def test_draining_goes_over_the_wrap():
    link = attached(initial_delivery_count=2**32 - 2, credit=5)
    link.receiver.set_credit(5, drain=True)
    link.pair.pump()
    link.sender.drained()
    link.pair.pump()
    assert (link.sender.delivery_count, link.receiver.delivery_count, link.receiver.credit) == (3, 3, 0)


def test_without_drain_drained_gives_nothing_back():
    link = attached(credit=5)
    link.sender.available = 3
    link.sender.drained()
    link.pair.pump()
    assert (link.sender.credit, link.receiver.credit, link.receiver.available) == (5, 5, 3)


@pytest.mark.parametrize("state", ["detached", "detach sent"])
def test_a_link_that_is_not_attached_has_no_flow(state):
    link = attached()
    sender = link.sender.session.sender("new")
    if state == "detach sent":
        sender = link.sender
        sender.detach()
    with pytest.raises(StateError, match=rf"^link '{sender.name}' is {state}: it has no flow$"):
        sender.drained()


# Resuming


def test_a_resumed_delivery_is_sent_with_what_is_given():
    peer, link = taken_over(b"a", b"b")
    a, b = link.suspended.values()
    link.resume(b, b"rest", state=ACCEPTED)
    link.resume(a, settled=True)
    assert [(each.delivery_id, each.delivery_tag, each.state, each.settled, each.resume) for each in peer.sent()] == [
        (0, b"b", ACCEPTED, False, True),
        (1, b"a", None, True, True),
    ]
    assert (link.suspended, peer.session.outgoing.all(), link.credit) == ({}, [b], 3)
    assert (b.is_resumed, b.size, b.state) == (True, 4, ACCEPTED)


def test_a_resumed_delivery_counts_its_size_anew():
    peer, link = taken_over(b"a", max_message_size=5)
    (delivery,) = link.suspended.values()
    with pytest.raises(StateError, match=r"^link 'l': the peer takes messages of 5 octets at most$"):
        link.resume(delivery, b"123456")
    assert (list(link.suspended), link.credit) == ([b"a"], 5)
    link.resume(delivery, b"body")
    assert (delivery.size, len(peer.sent())) == (4, 1)


def test_a_resumption_that_does_not_fit_a_frame_changes_nothing():
    peer, link = taken_over(b"a", peer=SessionPeer(peers_open=SMALL))
    (delivery,) = link.suspended.values()
    before = (delivery.state, delivery.is_resumed, delivery.is_aborted, delivery.is_plain)
    with pytest.raises(FrameTooLarge):
        link.resume(delivery, b"m", state=TOO_LONG, aborted=True)
    assert (delivery.state, delivery.is_resumed, delivery.is_aborted, delivery.is_plain) == before
    assert (list(link.suspended), link.credit, peer.sent()) == ([b"a"], 5, [])
    link.resume(delivery, b"m")
    assert [each.aborted for each in peer.sent()] == [False]


def test_resuming_needs_credit_and_no_delivery_under_way():
    _, link = taken_over(b"a", credit=0)
    (delivery,) = link.suspended.values()
    with pytest.raises(StateError, match=r"^link 'l' has no credit$"):
        link.resume(delivery)
    _, link = taken_over(b"a")
    (delivery,) = link.suspended.values()
    link.begin()
    with pytest.raises(StateError, match=r"^link 'l': the delivery before is not complete$"):
        link.resume(delivery)


def test_only_what_was_taken_over_is_resumed():
    peer, link = taken_over(b"a")
    (delivery,) = link.suspended.values()
    link.resume(delivery)
    fresh = link.send(b"m")
    for each in (delivery, fresh):
        with pytest.raises(StateError, match=r"is not one to resume$"):
            link.resume(each)
    other = peer.attached_sender("other", credit=1, handle=1)
    with pytest.raises(StateError, match=r"is not one to resume$"):
        other.resume(delivery)
    _, link = taken_over(b"a")
    link.detach()
    with pytest.raises(StateError, match=r"is not one to resume$"):
        link.resume(link.suspended[b"a"])


def test_a_resumed_delivery_waits_for_the_window_as_others_do():
    peer, link = taken_over(b"a")
    peer.send(window(0))
    (delivery,) = link.suspended.values()
    link.resume(delivery, b"body")
    link.send(b"next")
    assert (peer.sent(), peer.session.has_backlog) == ([], True)
    peer.send(window(9))
    assert [(frame.performative.resume, frame.payload) for frame in peer.frames_sent()] == [
        (True, b"body"),
        (False, b"next"),
    ]


def test_a_resumed_delivery_that_is_aborted_is_over():
    peer, link = taken_over(b"a")
    (delivery,) = link.suspended.values()
    link.resume(delivery, aborted=True)
    assert [(each.aborted, each.resume, each.more) for each in peer.sent()] == [(True, True, False)]
    assert (delivery.settled, delivery.is_aborted, peer.session.outgoing.count) == (True, True, 0)


def test_tags_are_told_apart_from_those_taken_over_however_many():
    _, link = taken_over(*(number.to_bytes(4, "big") for number in range(2000)))
    assert link.send(b"m").tag == (2000).to_bytes(4, "big")


def test_tags_are_told_apart_from_those_that_were_resumed():
    _, link = taken_over(None, None, None, credit=9)
    for delivery in list(link.suspended.values()):
        link.resume(delivery)
    assert [link.send(b"m").tag[-1] for _ in range(3)] == [3, 4, 5]


def test_an_incomplete_map_holds_new_deliveries_back():
    _, link = taken_over(b"a", incomplete_unsettled=True)
    with pytest.raises(StateError, match=r"an unsettled map was incomplete; resume, detach and attach again$"):
        link.send(b"new")
    link.resume(link.suspended[b"a"])


# Settling


def test_the_sender_may_state_an_outcome_first():
    link = attached(credit=1)
    delivery = link.sender.send(b"m")
    delivery.update(ACCEPTED, False)
    link.pair.pump()
    (received,) = link.pair.at_server.deliveries
    assert (received.remote_state, received.remote_settled) == (ACCEPTED, False)
    delivery.settle()
    link.pair.pump()
    assert (received.remote_settled, link.receiver.session.incoming.count) == (True, 0)


def test_a_state_too_long_for_a_disposition_is_refused_and_nothing_changes():
    link = attached(pair=Pair(server={"max_frame_size": 512}).open(), credit=1)
    delivery = link.sender.send(b"m")
    with pytest.raises(FrameTooLarge, match=r"^a delivery state of [0-9]+ octets; the peer accepts frames of 512$"):
        delivery.update(TOO_LONG, True)
    assert (delivery.state, delivery.settled, delivery.is_tracked) == (None, False, True)


def test_a_disposition_of_the_peer_settles():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=2)
    first, second = sender.send(b"m"), sender.send(b"m")
    peer.send(Disposition(role=True, first=0, last=1, settled=True, state=ACCEPTED))
    assert peer.events.dispositions == [first, second]
    assert [(each.remote_state, each.remote_settled, each.is_tracked) for each in (first, second)] == [
        (ACCEPTED, True, False)
    ] * 2
    assert (sender.unsettled_count, sender.state) == (0, LinkState.ATTACHED)


def test_deliveries_are_as_new_after_more_were_settled_at_once_than_are_kept_to_serve_again():
    peer, sender = narrow(credit=600, frames=600)
    peer.events.on_disposition = lambda delivery: None
    for first in (0, 300):
        for number in range(300):
            sender.send(b"body", b"t%d" % number, context=peer)
        sent = [(frame.performative.delivery_id, frame.performative.delivery_tag) for frame in peer.frames_sent()]
        assert sent == [(first + number, b"t%d" % number) for number in range(300)]
        peer.send(Disposition(role=True, first=first, last=first + 299, settled=True, state=ACCEPTED))
        assert peer.session.outgoing.count == 0


# What was received on another link


@pytest.mark.parametrize(("credit", "is_under_way"), [(0, False), (2, True)])
def test_a_delivery_of_another_link_is_not_begun_without_credit_or_within_another(credit, is_under_way):
    coming = SessionPeer()
    coming.attached_receiver(credit=1)
    coming.send(transfer(0, b"body", delivery_tag=b"t"))
    (received,) = coming.events.deliveries
    _, sender = narrow(credit=credit)
    if is_under_way:
        sender.begin(b"a")
    with pytest.raises(StateError, match="can't begin a delivery now"):
        sender.forward(received, b"body", 0, 4)
    assert sender.credit == credit - is_under_way
