"""The receiving end of a link: credit granted, and transfers put together into deliveries."""

import pytest

from routerd.wire.amqp_error import Error
from routerd.wire.errors import StateError, ValueRangeError
from routerd.wire.outcomes import ACCEPTED, RELEASED, Received, Rejected
from routerd.wire.performatives import Attach, Detach, Flow, Transfer
from routerd.wire.states import LinkState
from routerd.wire.types import Symbol
from tests.conformance.raw_peer import SOURCE, TARGET, Arrival, SessionPeer, framed, transfer
from tests.unit.wire.attached import attached, told

UINT_MAX = 2**32 - 1
CREDIT_MAX = 2**31 - 1


def with_long_tag(number, payload, *, settled=False, more=False):
    """A transfer with a delivery-tag of 33 octets."""
    flags = bytes([0x41 if settled else 0x42, 0x41 if more else 0x42])
    fields = b"\x43\x52" + bytes([number]) + b"\xa0\x21" + b"t" * 33 + b"\x43" + flags
    return framed(b"\x00\x53\x14\xc0" + bytes([len(fields) + 1, 6]) + fields, payload)


def more(payload=b"", **fields):
    """A further transfer of the delivery under way."""
    return framed(Transfer(handle=0, **fields), payload)


def receiving(credit=9, **fields):
    """A peer, and a receiver that it may send to."""
    peer = SessionPeer()
    return peer, peer.attached_receiver(credit=credit, **fields)


def taken_over(*tags, unsettled=None, max_message_size=0, **fields):
    """A receiver that took over deliveries, attached to a peer that may resume them."""
    earlier, old = receiving(rcv_settle_mode=1)
    earlier.send(*(transfer(number, b"body", delivery_tag=tag) for number, tag in enumerate(tags)))
    earlier.engine.transport_closed()
    peer = SessionPeer()
    link = peer.session.receiver("in")
    link.take_over(old)
    link.attach(source=SOURCE, target=TARGET, max_message_size=max_message_size, rcv_settle_mode=1)
    peer.send(Attach(name="in", handle=0, role=False, initial_delivery_count=0, unsettled=unsettled or {}, **fields))
    link.grant(9)
    peer.octets_sent()
    return peer, link


def check_detached_with(peer, link, condition):
    (detach,) = peer.sent()
    assert (str(detach.error.condition), detach.closed, link.state) == (condition, True, LinkState.DETACH_SENT)
    assert peer.events.violations == [condition]


# Credit


def test_credit_is_granted_on_top_of_what_is_left():
    peer, link = receiving(credit=2)
    peer.send(transfer(0))
    link.grant(3)
    link.grant(1)
    assert link.credit == 5
    (flow,) = peer.sent()
    assert (flow.handle, flow.delivery_count, flow.link_credit, flow.drain, flow.available) == (0, 1, 5, False, None)


def test_credit_may_be_set_outright():
    peer, link = receiving(credit=5)
    link.set_credit(2)
    link.set_credit(1, drain=True)
    assert [(each.link_credit, each.drain) for each in peer.sent()] == [(1, True)]
    link.grant(4)
    assert [(each.link_credit, each.drain) for each in peer.sent()] == [(5, False)]


def test_credit_has_a_range():
    peer, link = receiving(credit=0)
    link.grant(CREDIT_MAX)
    with pytest.raises(ValueRangeError, match=rf"^the credit of a link is {CREDIT_MAX} at most$"):
        link.grant(1)
    for credit in (-1, CREDIT_MAX + 1):
        with pytest.raises(ValueRangeError, match=rf"^the credit of a link is 0 to {CREDIT_MAX}, not {credit}$"):
            link.set_credit(credit)
    assert link.credit == CREDIT_MAX
    assert [each.link_credit for each in peer.sent()] == [CREDIT_MAX]


def test_what_was_on_its_way_when_credit_was_taken_back_is_taken():
    peer, link = receiving(credit=3)
    link.set_credit(0)
    peer.octets_sent()
    peer.send(transfer(0), transfer(1), transfer(2))
    assert (len(peer.events.arrivals), link.credit, link.delivery_count) == (3, 0, 3)
    peer.send(transfer(3))
    check_detached_with(peer, link, "amqp:link:transfer-limit-exceeded")


def test_a_sender_to_which_we_are_lenient_may_use_its_credit_once_again():
    peer, link = receiving(credit=0)
    link.is_lenient = True
    link.grant(3)
    peer.octets_sent()
    peer.send(*(transfer(number) for number in range(6)))
    assert (len(peer.events.arrivals), link.credit, link.delivery_count) == (6, 0, 6)
    link.grant(1)
    [flow] = peer.sent()
    assert (flow.delivery_count, flow.link_credit) == (6, 1)
    peer.send(*(transfer(number) for number in range(6, 10)))
    assert len(peer.events.arrivals) == 10
    peer.send(transfer(10))
    check_detached_with(peer, link, "amqp:link:transfer-limit-exceeded")


def test_credit_that_was_never_told_cannot_be_used():
    peer, link = receiving(credit=0)
    link.grant(5)
    link.set_credit(0)
    peer.octets_sent()
    peer.send(transfer(0))
    check_detached_with(peer, link, "amqp:link:transfer-limit-exceeded")


def test_credit_that_was_told_before_the_sender_attached_can_be_used_after_it_was_taken_back():
    peer = SessionPeer()
    link = peer.session.receiver("in")
    link.attach(source=SOURCE, target=TARGET)
    link.grant(2)
    assert [getattr(each, "link_credit", None) for each in peer.sent()] == [None, 2]
    link.set_credit(0)
    peer.octets_sent()
    peer.send(Attach(name="in", handle=0, role=False, initial_delivery_count=UINT_MAX))
    peer.send(transfer(0), transfer(1))
    assert (len(peer.events.arrivals), link.delivery_count) == (2, 1)
    peer.send(transfer(2))
    check_detached_with(peer, link, "amqp:link:transfer-limit-exceeded")


def test_credit_that_the_sender_gives_up_is_gone():
    peer, link = receiving(credit=9)
    peer.send(transfer(0))
    count = Flow(next_incoming_id=0, incoming_window=9, next_outgoing_id=1, outgoing_window=9, handle=0, available=4)
    count.delivery_count = 5
    peer.send(count)
    assert (link.delivery_count, link.credit, link.available) == (5, 4, 4)
    count.delivery_count, count.available = 2, None
    peer.send(count)
    assert (link.delivery_count, link.credit, link.available) == (5, 4, 4)
    count.delivery_count = 2000
    peer.send(count)
    assert (link.delivery_count, link.credit) == (2000, 0)


def test_available_counts_down_with_what_arrives():
    peer, link = receiving()
    link.available = 1
    peer.send(transfer(0), transfer(1))
    assert link.available == 0


def test_a_flow_of_ours_may_ask_for_the_senders():
    link = attached(credit=2)
    link.receiver.flow(echo=True, properties={Symbol("p"): 1})
    link.pair.pump()
    assert told(link.pair) == ([("link flow", "l", 2)], [("link flow", "l", 2)])
    assert link.sender.flow_properties == {Symbol("p"): 1}
    link.receiver.flow()
    link.pair.pump()
    assert (told(link.pair), link.sender.flow_properties) == (([("link flow", "l", 2)], []), None)


@pytest.mark.parametrize("state", ["detached", "detach sent"])
def test_a_link_that_is_not_attached_has_no_flow(state):
    link = attached()
    receiver = link.receiver.session.receiver("new")
    if state == "detach sent":
        receiver = link.receiver
        receiver.detach()
    with pytest.raises(StateError, match=rf"^link '{receiver.name}' is {state}: it has no flow$"):
        receiver.flow()


def test_credit_granted_after_the_detach_is_not_told():
    peer, link = receiving()
    link.grant(1)
    link.detach()
    link.grant(1)
    assert [type(each).__name__ for each in peer.sent()] == ["Flow", "Detach"]


# Deliveries


def test_a_delivery_arrives_with_what_its_transfer_says():
    peer, link = receiving(rcv_settle_mode=1)
    peer.send(transfer(7, b"body", delivery_tag=b"tag", state=RELEASED, rcv_settle_mode=0, batchable=True))
    (delivery,) = peer.events.deliveries
    assert peer.events.arrivals == [Arrival(b"tag", b"body", False, False, False)]
    assert (delivery.id, delivery.tag, delivery.size, delivery.message_format) == (7, b"tag", 4, 0)
    assert (delivery.link, delivery.is_incoming, delivery.is_tracked, delivery.is_resumed) == (link, True, True, False)
    assert (delivery.state, delivery.remote_state, delivery.settled) == (None, RELEASED, False)
    assert (delivery.rcv_settle_mode, delivery.is_batchable, link.unsettled_count) == (0, True, 1)


def test_the_parts_of_a_delivery_arrive_as_they_come():
    peer, link = receiving()
    peer.send(transfer(0, b"one", more=True), more(b"two", more=True), more())
    assert peer.events.arrivals == [
        Arrival(b"0", b"one", True, False, False),
        Arrival(b"0", b"two", True, False, False),
        Arrival(b"0", b"", False, False, False),
    ]
    assert len(set(map(id, peer.events.deliveries))) == 1
    assert (peer.events.deliveries[0].size, link.credit) == (6, 8)


def test_a_delivery_may_be_settled_by_its_last_transfer():
    peer, _ = receiving()
    peer.send(transfer(0, b"one", more=True), more(b"two", settled=True, batchable=True, state=ACCEPTED))
    (delivery, _) = peer.events.deliveries
    assert [each.remote_settled for each in peer.events.arrivals] == [False, True]
    assert (delivery.is_tracked, delivery.is_batchable, delivery.remote_state) == (False, True, ACCEPTED)
    assert peer.session.incoming.count == 0


def test_a_settled_delivery_is_not_kept():
    peer, link = receiving()
    peer.send(transfer(0, settled=True))
    assert (peer.session.incoming.count, link.unsettled_count) == (0, 0)


def test_settled_deliveries_that_are_kept_stay_what_they_were():
    peer, _ = receiving(credit=4)
    peer.send(*(transfer(number, settled=True) for number in range(4)))
    assert [(each.id, each.tag) for each in peer.events.deliveries] == [(number, b"%d" % number) for number in range(4)]


@pytest.mark.parametrize("settled", [True, False])
def test_a_delivery_has_nothing_of_those_before(settled):
    peer, link = receiving(credit=9)
    seen = []

    def scribble(receiver, delivery, data, start, end):
        own = (delivery.id, delivery.tag, delivery.size, delivery.link is link)
        told = (delivery.context, delivery.via, delivery.book, delivery.state, delivery.remote_state, delivery.stamp)
        flags = (delivery.is_aborted, delivery.is_resumed, delivery.is_batchable)
        seen.append((own, told, flags, (delivery.ticket, delivery.page)))
        delivery.context = delivery.via = delivery.book = peer
        delivery.state = delivery.remote_state = ACCEPTED
        delivery.stamp, delivery.ticket, delivery.page = 1.0, 2, 3
        delivery.is_aborted = delivery.is_resumed = delivery.is_batchable = True

    peer.events.on_transfer = scribble
    tags = [b"0", b"abcd", b"", b"1", b"efgh"]
    peer.send(*(transfer(number, bytes(number), delivery_tag=tag, settled=settled) for number, tag in enumerate(tags)))
    nothing = (None, None, None, None, None, 0.0), (False, False, False), (0, 0)
    assert seen == [((number, tag, number, True), *nothing) for number, tag in enumerate(tags)]


def test_the_first_outcome_of_the_sender_stays():
    peer, _ = receiving()
    part = Received(section_number=0, section_offset=0)
    peer.send(transfer(0, more=True, state=part))
    (delivery,) = peer.events.deliveries
    for state, expected in ((ACCEPTED, ACCEPTED), (RELEASED, ACCEPTED)):
        peer.send(more(more=True, state=state))
        assert delivery.remote_state == expected


@pytest.mark.parametrize("is_under_way", [True, False])
def test_what_is_aborted_while_its_receiver_detaches_is_not_kept(is_under_way):
    peer, link = receiving()
    if is_under_way:
        peer.send(transfer(0, b"one", more=True))
    link.detach(closed=False)
    peer.send(more(aborted=True), Detach(handle=0))
    assert (peer.session.incoming.count, link.suspended, link.state) == (0, None, LinkState.DETACHED)
    assert len(peer.events.arrivals) == is_under_way


def test_what_is_aborted_to_a_sender_that_detaches_is_ignored():
    peer = SessionPeer()
    link = peer.attached_sender()
    link.detach(closed=False)
    peer.send(more(aborted=True), Detach(handle=0))
    assert (peer.events.violations, link.state) == ([], LinkState.DETACHED)


def test_a_transfer_without_octets_in_the_midst_of_a_message_is_not_told():
    peer, link = receiving()
    peer.send(transfer(0, b"one", more=True))
    for fields in ({}, {"batchable": True}, {"state": Received(section_number=1, section_offset=2)}):
        peer.send(more(more=True, **fields))
    assert len(peer.events.arrivals) == 1
    delivery = link.session.incoming.get(0)
    assert (delivery.is_batchable, delivery.remote_state) == (True, Received(section_number=1, section_offset=2))
    peer.send(more(more=True, settled=True), more())
    assert [each.octets for each in peer.events.arrivals] == [b"one", b"", b""]


@pytest.mark.parametrize("earlier", [True, False])
def test_an_aborted_delivery_brings_no_octets_and_is_over(earlier):
    peer, link = receiving()
    if earlier:
        peer.send(transfer(0, b"one", more=True), more(b"ignored", aborted=True, more=True))
    else:
        peer.send(transfer(0, b"ignored", aborted=True))
    delivery = peer.events.deliveries[-1]
    assert peer.events.arrivals[-1] == Arrival(b"0", b"", False, True, True)
    assert (delivery.is_aborted, delivery.settled, delivery.is_tracked, peer.session.incoming.count) == (
        True,
        True,
        False,
        0,
    )
    peer.send(transfer(1, b"next"))
    assert (peer.events.arrivals[-1].octets, link.credit) == (b"next", 7)


def test_a_delivery_may_be_settled_with_its_last_transfer_by_us():
    peer, _ = receiving()
    peer.send(transfer(0, b"one", more=True))
    (delivery,) = peer.session.incoming.all()
    delivery.update(RELEASED, False)
    delivery.settle_at_end()
    peer.send(more(b"two", more=True))
    assert [(each.state, each.settled) for each in peer.sent()] == [(RELEASED, False)]
    peer.send(more(b"three"))
    assert [(each.first, each.state, each.settled) for each in peer.sent()] == [(0, RELEASED, True)]
    assert (delivery.settled, peer.session.incoming.count) == (True, 0)


@pytest.mark.parametrize("last", [{"aborted": True}, {"settled": True}])
def test_one_that_its_sender_settles_at_the_end_needs_no_more(last):
    peer, _ = receiving()
    peer.send(transfer(0, b"one", more=True))
    (delivery,) = peer.session.incoming.all()
    delivery.update(RELEASED, False)
    delivery.settle_at_end()
    peer.sent()
    peer.send(more(b"two", **last))
    assert (peer.sent(), peer.session.incoming.count) == ([], 0)


def test_a_delivery_may_be_settled_before_it_is_complete():
    peer, _ = receiving()
    peer.send(transfer(0, b"one", more=True))
    peer.events.deliveries[0].accept()
    assert [(each.first, each.settled, each.state) for each in peer.sent()] == [(0, True, ACCEPTED)]
    peer.send(more(b"two"))
    assert [each.octets for each in peer.events.arrivals] == [b"one", b"two"]


@pytest.mark.parametrize(
    "first",
    [
        Transfer(handle=0, delivery_tag=b"t"),
        Transfer(handle=0, delivery_id=0),
        Transfer(handle=0, delivery_tag=b"t", resume=True),
        Transfer(handle=0, delivery_id=0, resume=True),
        Transfer(handle=0, delivery_id=0, delivery_tag=b"t", rcv_settle_mode=1),
    ],
)
def test_a_first_transfer_that_lacks_or_oversteps_something_detaches_the_link(first):
    peer, link = receiving()
    peer.send(framed(first, b"m"))
    check_detached_with(peer, link, "amqp:invalid-field")
    assert peer.events.arrivals == []


@pytest.mark.parametrize(
    ("fields", "is_allowed"),
    [
        ({"delivery_id": 0, "delivery_tag": b"0", "message_format": 0}, True),
        ({"delivery_id": 1}, False),
        ({"delivery_tag": b"1"}, False),
        ({"message_format": 1}, False),
        ({"delivery_id": 1, "aborted": True}, False),
    ],
)
def test_a_further_transfer_says_nothing_else_of_the_delivery(fields, is_allowed):
    peer, link = receiving()
    peer.send(transfer(0, more=True), more(b"m", **fields))
    if is_allowed:
        assert (peer.sent(), len(peer.events.arrivals)) == ([], 2)
    else:
        check_detached_with(peer, link, "amqp:invalid-field")


def test_an_id_in_use_ends_the_session():
    peer, _ = receiving()
    peer.send(transfer(0, delivery_tag=b"a"), transfer(0, delivery_tag=b"b"))
    (end,) = peer.sent()
    assert str(end.error.condition) == "amqp:invalid-field"


@pytest.mark.parametrize("size", [10, 11])
def test_a_message_above_our_limit_detaches_the_link(size):
    peer, link = receiving(max_message_size=10)
    peer.send(transfer(0, b"m" * 6, more=True), more(b"m" * (size - 6)))
    if size == 10:
        assert (peer.sent(), peer.events.deliveries[0].size) == ([], 10)
    else:
        disposition, detach = peer.sent()
        told = Error(condition=Symbol("amqp:link:message-size-exceeded"), description="Message size exceeded")
        assert (disposition.first, disposition.state, disposition.settled) == (0, Rejected(error=told), True)
        assert (detach.error, detach.closed, link.state) == (told, True, LinkState.DETACH_SENT)
        assert peer.events.violations == [told.condition]
        peer.send(more(b"m"))
        assert len(peer.events.arrivals) == 1


def test_the_detach_has_no_error_if_the_close_of_the_connection_is_to_have_it():
    peer, link = receiving(max_message_size=10)
    link.is_size_for_close = True
    peer.send(transfer(0, b"m" * 11))
    disposition, detach = peer.sent()
    assert str(disposition.state.error.condition) == "amqp:link:message-size-exceeded"
    assert (detach.error, detach.closed) == (None, True)
    assert peer.events.violations == ["amqp:link:message-size-exceeded"]


def test_a_settled_message_above_our_limit_has_no_outcome():
    peer, link = receiving(max_message_size=10)
    peer.send(transfer(0, b"m" * 11, settled=True))
    check_detached_with(peer, link, "amqp:link:message-size-exceeded")


@pytest.mark.parametrize("in_parts", [False, True])
def test_a_message_with_a_long_tag_is_rejected_where_only_that_is_asked(in_parts):
    peer = SessionPeer(takes_long_tags=True)
    link = peer.attached_receiver(credit=2)
    peer.send(transfer(0, b"one"), with_long_tag(1, b"two", more=in_parts))
    disposition, flow = peer.sent()
    error = Error(condition=Symbol("amqp:invalid-field"), description="a delivery-tag has 32 octets at most")
    assert (disposition.first, disposition.state, disposition.settled) == (1, Rejected(error=error), True)
    assert (flow.delivery_count, flow.link_credit, link.credit) == (2, 1, 1)
    if in_parts:
        peer.send(more(b"more", more=True), more(b"end"))
    peer.send(transfer(2, b"three", delivery_tag=b"3"))
    assert [arrival.octets for arrival in peer.events.arrivals] == [b"one", b"three"]
    assert peer.events.violations == []


def test_one_that_is_settled_is_passed_over():
    peer = SessionPeer(takes_long_tags=True)
    link = peer.attached_receiver(credit=1)
    peer.send(with_long_tag(0, b"one", settled=True))
    [flow] = peer.sent()
    assert (flow.delivery_count, flow.link_credit, link.unsettled_count) == (1, 1, 0)
    assert peer.events.arrivals == []


def test_elsewhere_the_connection_ends():
    peer, _ = receiving()
    peer.send(with_long_tag(0, b"one"))
    assert str(peer.sent()[-1].error.condition) == "amqp:invalid-field"
    assert peer.events.violations == ["amqp:invalid-field"]


# Resumed deliveries


def test_a_resumed_delivery_is_the_one_that_was_taken_over():
    peer, link = taken_over(b"a", b"b", unsettled={b"b": None})
    b = link.suspended[b"b"]
    b.update(Received(section_number=0, section_offset=2), False)
    peer.send(transfer(9, b"rest", delivery_tag=b"b", resume=True, rcv_settle_mode=0))
    assert peer.events.deliveries == [b]
    assert (b.id, b.is_resumed, b.is_tracked, b.size, b.link, b.rcv_settle_mode) == (9, True, True, 4, link, 0)
    assert (list(link.suspended), link.credit, link.delivery_count) == ([b"a"], 8, 1)
    b.accept()
    assert [(each.first, each.state, each.settled) for each in peer.sent()] == [(9, ACCEPTED, True)]


def test_a_resumed_delivery_may_be_settled_by_the_sender():
    peer, link = taken_over(b"a", unsettled={b"a": None})
    delivery = link.suspended[b"a"]
    peer.send(transfer(0, b"", delivery_tag=b"a", resume=True, settled=True, state=ACCEPTED))
    assert (delivery.remote_settled, delivery.remote_state, delivery.is_tracked) == (True, ACCEPTED, False)
    assert (peer.session.incoming.count, link.suspended) == (0, {})


def test_a_resumed_delivery_counts_its_size_anew():
    peer, link = taken_over(b"a", unsettled={b"a": None}, max_message_size=5)
    peer.send(transfer(0, b"body", delivery_tag=b"a", resume=True))
    assert (peer.events.violations, peer.events.deliveries[0].size, link.is_attached) == ([], 4, True)


def test_a_resumed_delivery_that_is_unknown_is_ignored_to_its_end():
    peer, link = taken_over()
    for end in ({}, {"aborted": True, "more": True}):
        peer.send(transfer(0, b"one", delivery_tag=b"x", resume=True, more=True), more(b"two", more=True), more(**end))
    peer.send(transfer(1, b"one", delivery_tag=b"y", resume=True), transfer(2, b"new"))
    assert ([each.octets for each in peer.events.arrivals], peer.events.violations) == ([b"new"], [])
    assert (link.credit, peer.session.incoming.count) == (5, 1)


def test_a_new_delivery_where_a_map_was_incomplete_detaches_the_link():
    peer, link = taken_over(b"a", unsettled={b"a": None}, incomplete_unsettled=True)
    peer.send(transfer(0, b"body", delivery_tag=b"a", resume=True))
    assert peer.sent() == []
    peer.send(transfer(1, b"new"))
    check_detached_with(peer, link, "amqp:invalid-field")
