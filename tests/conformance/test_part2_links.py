"""Part 2 of the standard: links, their handles, attaching, credit (2.6.1 to 2.6.10, 2.7.3, 2.7.4, 2.7.7)."""

import pytest

from routerd.wire.amqp_error import Error
from routerd.wire.errors import StateError
from routerd.wire.outcomes import ACCEPTED
from routerd.wire.performatives import Attach, Detach, Disposition, Flow, Transfer
from routerd.wire.terminus import Source, Target
from routerd.wire.types import Symbol, UInt
from tests.conformance.raw_peer import (
    SOURCE,
    TARGET,
    Frame,
    Peer,
    SessionPeer,
    check_closed_with,
    framed,
    octets,
    opened,
    transfer,
)
from tests.conformance.test_part2_sessions import begin, begun, check_ended_with, flow


def attach(name: str = "l", *, role: bool = True, **fields) -> Attach:
    """An attach of ours, as a receiver unless told otherwise."""
    if not role:
        fields.setdefault("initial_delivery_count", 0)
    return Attach(**{"name": name, "handle": 0, "role": role, "source": SOURCE, "target": TARGET, **fields})


def check_detached_with(peer: Peer, condition: str) -> None:
    """All that the engine sends is a closing detach with this condition."""
    (detach,) = peer.sent()
    assert isinstance(detach, Detach)
    assert detach.closed
    assert detach.error is not None
    assert detach.error.condition == condition


# 2.5, 2.6.1 and 2.6.2: names and handles


def test_a_name_may_serve_one_link_in_each_direction():
    peer = SessionPeer()
    sender = peer.attached_sender("l", handle=0)
    receiver = peer.attached_receiver("l", handle=1)
    assert (sender.is_attached, receiver.is_attached) == (True, True)
    with pytest.raises(StateError):
        peer.session.sender("l").attach(source=SOURCE, target=TARGET)
    with pytest.raises(StateError):
        peer.session.receiver("l").attach(source=SOURCE, target=TARGET)


@pytest.mark.parametrize("channel", [0, 1])
def test_a_second_attach_of_a_link_steals_it(channel):
    peer = SessionPeer()
    peer.send(begin(), channel=1)
    peer.events.sessions[-1].begin()
    first = peer.attached_sender("l", handle=0, credit=5)
    peer.send(attach("l", handle=1), channel=channel)
    second = peer.events.links[-1]
    second.attach(source=SOURCE, target=TARGET)
    stolen, answer = peer.frames_sent()
    assert (stolen.channel, answer.channel) == (0, channel)
    assert stolen.performative.closed
    assert stolen.performative.error.condition == "amqp:link:stolen"
    assert answer.performative.name == "l"
    assert (first.is_attached, second.is_attached) == (False, True)
    assert peer.events.detached[0][0] == "l"
    peer.send(Detach(handle=0, closed=True))
    peer.send(peer.credit(3, handle=1), channel=channel)
    assert second.credit == 3


def test_each_side_has_a_handle_of_its_own():
    peer = SessionPeer()
    sender = peer.attached_sender(handle=7, credit=2)
    assert sender.credit == 2
    sender.send(b"m")
    assert peer.sent()[0].handle == 0


def test_each_link_has_a_handle_of_its_own():
    peer = opened(is_client=True)
    session = begun(peer)
    for name in "abc":
        session.sender(name).attach(source=SOURCE, target=TARGET)
    assert [each.handle for each in peer.sent()] == [0, 1, 2]


def test_a_new_link_takes_the_lowest_free_handle():
    peer = SessionPeer()
    links = [peer.attached_sender(name, handle=number) for number, name in enumerate("abc")]
    links[1].detach()
    peer.send(Detach(handle=1, closed=True))
    peer.octets_sent()
    for name in "de":
        peer.session.sender(name).attach(source=SOURCE, target=TARGET)
    assert [each.handle for each in peer.sent()] == [1, 3]


def test_a_handle_is_free_again_after_detach():
    peer = SessionPeer()
    peer.attached_sender("a")
    peer.send(Detach(handle=0, closed=True), attach("b", handle=0))
    peer.events.links[-1].attach(source=SOURCE, target=TARGET)
    assert [(type(each), each.handle) for each in peer.sent()] == [(Detach, 0), (Attach, 0)]
    assert peer.events.violations == []


@pytest.mark.parametrize("handle", [4, 0xFFFFFFFF])
def test_a_handle_above_ours_is_a_framing_error(handle):
    peer = SessionPeer(handle_max=3)
    peer.send(attach("a", handle=3))
    assert peer.events.violations == []
    peer.octets_sent()
    peer.send(attach("b", handle=handle))
    check_closed_with(peer, "amqp:connection:framing-error")


def test_an_attach_with_a_handle_in_use_is_answered_with_handle_in_use():
    peer = SessionPeer()
    peer.attached_sender("a")
    peer.send(attach("b", handle=0))
    check_closed_with(peer, "amqp:session:handle-in-use")
    assert [name for name, _, _ in peer.events.detached] == ["a"]


@pytest.mark.parametrize("frame", [flow(handle=1, delivery_count=0, link_credit=1), flow(handle=0xFFFFFFFF)])
def test_a_flow_for_an_unattached_handle_ends_the_session(frame):
    peer = SessionPeer()
    peer.attached_sender("a")
    peer.send(frame)
    check_ended_with(peer, "amqp:session:unattached-handle")


def test_a_detach_for_an_unattached_handle_ends_the_session():
    peer = SessionPeer()
    peer.attached_sender("a")
    peer.send(Detach(handle=1))
    check_ended_with(peer, "amqp:session:unattached-handle")


# 2.6.3 and 2.7.3: attaching


@pytest.mark.parametrize("text", ["45", "c0 04 03 40 43 41", "c0 06 03 a1 01 6c 40 41", "c0 05 02 a1 01 6c 43"])
def test_an_attach_without_its_mandatory_fields_is_refused(text):
    peer = SessionPeer()
    peer.send(framed(octets("00 53 12" + text)))
    check_closed_with(peer, "amqp:decode-error")


def test_every_field_of_attach_has_its_default():
    peer = SessionPeer()
    peer.send(framed(octets("00 53 12 c0 06 03 a1 01 6c 43 41")))
    assert peer.events.attaches == [
        Attach(
            name="l",
            handle=0,
            role=True,
            snd_settle_mode=2,
            rcv_settle_mode=0,
            source=None,
            target=None,
            unsettled=None,
            incomplete_unsettled=False,
            initial_delivery_count=None,
            max_message_size=None,
            offered_capabilities=(),
            desired_capabilities=(),
            properties=None,
        )
    ]


def test_every_field_of_attach_reaches_the_other_side():
    filters = {Symbol("f"): None}
    full = attach(
        "l",
        role=False,
        handle=0,
        snd_settle_mode=1,
        rcv_settle_mode=1,
        source=Source(address="a", durable=2, expiry_policy=Symbol("never"), timeout=60, filter=filters),
        target=Target(address="b", dynamic=True, dynamic_node_properties={Symbol("k"): UInt(1)}),
        unsettled={b"tag": ACCEPTED},
        incomplete_unsettled=True,
        initial_delivery_count=7,
        max_message_size=1 << 40,
        offered_capabilities=("x",),
        desired_capabilities=("y", "z"),
        properties={Symbol("p"): "v"},
    )
    peer = SessionPeer()
    peer.send(full)
    assert peer.events.attaches == [full]
    peer = SessionPeer()
    sender = peer.session.sender("l")
    sender.attach(
        source=full.source,
        target=full.target,
        snd_settle_mode=1,
        rcv_settle_mode=1,
        unsettled={b"tag": ACCEPTED},
        incomplete_unsettled=True,
        initial_delivery_count=7,
        max_message_size=1 << 40,
        offered_capabilities=("x",),
        desired_capabilities=("y", "z"),
        properties={Symbol("p"): "v"},
    )
    assert peer.frames_sent() == [Frame(full)]


def test_role_is_false_for_senders_and_true_for_receivers():
    peer = SessionPeer()
    peer.session.sender("s").attach(source=SOURCE, target=TARGET)
    peer.session.receiver("r").attach(source=SOURCE, target=TARGET)
    assert [(each.name, each.role) for each in peer.sent()] == [("s", False), ("r", True)]
    peer.send(attach("x", role=True, handle=5), attach("y", role=False, handle=6))
    assert [(link.name, link.is_sender) for link in peer.events.links] == [("x", True), ("y", False)]


@pytest.mark.parametrize("modes", ["50 03", "50 ff", "50 00 50 02"])
def test_a_settle_mode_outside_of_its_choices_is_an_invalid_field(modes):
    peer = SessionPeer()
    fields = octets("a1 01 6c 43 41" + modes)
    peer.send(framed(octets("00 53 12 c0") + bytes([len(fields) + 1, 3 + len(modes.split()) // 2]) + fields))
    check_closed_with(peer, "amqp:invalid-field")


def test_settle_modes_asked_for_are_adopted():
    peer = SessionPeer()
    peer.send(
        attach("out", role=True, handle=0, snd_settle_mode=1), attach("in", role=False, handle=1, rcv_settle_mode=1)
    )
    for link in peer.events.links:
        link.attach(source=SOURCE, target=TARGET)
    sender, receiver = peer.sent()
    assert sender.snd_settle_mode == 1
    assert receiver.rcv_settle_mode == 1


def test_a_refused_link_is_attached_without_terminus_and_detached():
    error = Error(condition="amqp:not-found", description="no such node")
    peer = SessionPeer()
    peer.send(attach("out", role=True, handle=0), attach("in", role=False, handle=1))
    for link in peer.events.links:
        link.refuse(error)
    refused_sender, detach_0, refused_receiver, detach_1 = peer.sent()
    assert (refused_sender.role, refused_sender.source, refused_sender.target) == (False, None, TARGET)
    assert (refused_receiver.role, refused_receiver.source, refused_receiver.target) == (True, SOURCE, None)
    assert [detach_0, detach_1] == [Detach(handle=n, closed=True, error=error) for n in (0, 1)]
    with pytest.raises(StateError):
        peer.events.links[0].send(b"never")
    peer.send(peer.credit(5, handle=0), Detach(handle=0, closed=True), Detach(handle=1, closed=True))
    assert peer.octets_sent() == b""
    assert peer.events.violations == []
    assert peer.session.links() == []


def test_the_answer_states_the_actual_terminus():
    peer = SessionPeer()
    peer.send(attach("l", role=True, source=Source(address="wish", durable=2), target=Target(address="theirs")))
    (link,) = peer.events.links
    link.attach(source=Source(address="actual"), target=Target(address="theirs"))
    (answer,) = peer.sent()
    assert answer.source == Source(address="actual")
    assert (link.source, link.remote_target) == (Source(address="actual"), Target(address="theirs"))
    ours = peer.session.receiver("r")
    ours.attach(source=Source(address="wish"), target=Target(address="ours"))
    peer.send(attach("r", role=False, handle=3, source=Source(address="got"), target=Target(address="ignored")))
    assert (ours.remote_source, ours.target) == (Source(address="got"), Target(address="ours"))


def test_a_sender_that_says_no_initial_delivery_count_begins_at_0():
    # 2.7.3 demands it; clients exist that leave it out.
    peer = SessionPeer()
    peer.send(attach("l", role=False, initial_delivery_count=None))
    (receiver,) = peer.events.links
    receiver.attach(source=SOURCE, target=TARGET)
    receiver.grant(5)
    answer, flow = peer.sent()
    assert answer.role is True
    assert (flow.delivery_count, flow.link_credit) == (0, 5)
    assert peer.events.violations == []


def test_a_receivers_initial_delivery_count_is_ignored():
    peer = SessionPeer()
    sender = peer.attached_sender(initial_delivery_count=50)
    assert sender.delivery_count == 0
    peer.send(peer.credit(4, delivery_count=None))
    assert sender.credit == 4


# 2.6.4 to 2.6.6, 2.7.7: detaching


def test_detaching_sends_detach_and_keeps_the_link_for_reattaching():
    peer = SessionPeer()
    sender = peer.attached_sender("l", credit=1)
    delivery = sender.send(b"m", b"tag")
    peer.octets_sent()
    sender.detach(closed=False)
    assert peer.sent() == [Detach(handle=0, closed=False)]
    peer.send(Detach(handle=0, closed=False))
    assert peer.events.detached == [("l", False, None)]
    again = peer.session.sender("l")
    again.take_over(sender)
    assert again.suspended == {b"tag": delivery}


def test_a_detached_link_is_attached_again_with_new_properties():
    peer = SessionPeer()
    peer.attached_sender("l").detach(closed=False)
    peer.send(Detach(handle=0, closed=False))
    peer.octets_sent()
    again = peer.session.sender("l")
    again.attach(source=Source(address="other"), target=TARGET)
    (answer,) = peer.sent()
    assert (answer.name, answer.source, answer.unsettled) == ("l", Source(address="other"), None)
    peer.send(attach("l", source=Source(address="other")))
    assert again.is_attached


def test_a_link_error_is_sent_in_a_detach():
    error = Error(condition="amqp:link:detach-forced", description="by the operator", info={Symbol("k"): UInt(1)})
    peer = SessionPeer()
    peer.attached_sender().detach(error=error)
    assert peer.frames_sent() == [Frame(Detach(handle=0, closed=True, error=error))]


def test_the_error_of_a_detach_reaches_the_other_side():
    error = Error(condition="amqp:link:redirect", info={Symbol("address"): "elsewhere"})
    peer = SessionPeer()
    peer.attached_sender("l")
    peer.send(Detach(handle=0, closed=True, error=error))
    assert peer.events.detached == [("l", True, error)]
    assert peer.sent() == [Detach(handle=0, closed=True)]


def test_after_a_link_error_the_endpoint_is_gone():
    peer = SessionPeer()
    sender = peer.attached_sender("l", credit=5)
    sender.detach(error=Error(condition="x:broken"))
    peer.send(Detach(handle=0, closed=True))
    peer.octets_sent()
    for attempt in (lambda: sender.send(b"m"), sender.detach, lambda: sender.attach(source=SOURCE, target=TARGET)):
        with pytest.raises(StateError):
            attempt()
    assert peer.session.links() == []
    assert peer.octets_sent() == b""


@pytest.mark.parametrize("frame", [transfer(0), flow(handle=0, delivery_count=0, available=1)])
def test_input_for_a_link_detached_with_an_error_is_dropped(frame):
    peer = SessionPeer()
    peer.attached_receiver(credit=5).detach(error=Error(condition="x:broken"))
    peer.octets_sent()
    told = list(peer.events.names)
    peer.send(frame)
    assert peer.octets_sent() == b""
    assert peer.events.names == told


def test_an_attach_pipelined_behind_a_link_error_makes_a_new_link():
    peer = SessionPeer()
    old = peer.attached_receiver("l", credit=5)
    old.detach(error=Error(condition="x:broken"))
    peer.octets_sent()
    peer.send(Detach(handle=0, closed=False), attach("l", role=False))
    assert peer.events.links[-1] is not old
    assert peer.session.links() == [peer.events.links[-1]]
    assert peer.events.violations == []


def test_a_closing_detach_is_answered_with_a_closing_detach():
    peer = SessionPeer()
    peer.attached_sender("l")
    peer.send(Detach(handle=0, closed=True))
    assert peer.sent() == [Detach(handle=0, closed=True)]
    assert peer.events.detached == [("l", True, None)]
    peer.attached_sender("m")
    peer.send(Detach(handle=0, closed=False))
    assert peer.sent() == [Detach(handle=0, closed=False)]


def test_a_closing_detach_that_crosses_a_plain_one_is_answered_by_attach_and_close():
    peer = SessionPeer()
    peer.attached_sender("l").detach(closed=False)
    assert peer.sent() == [Detach(handle=0, closed=False)]
    peer.send(Detach(handle=0, closed=True))
    again, detach = peer.sent()
    assert (type(again), again.name, again.role) == (Attach, "l", False)
    assert detach == Detach(handle=again.handle, closed=True)
    peer.send(attach("l", handle=0), Detach(handle=0, closed=True))
    assert peer.octets_sent() == b""
    assert peer.session.links() == []


def test_a_disposition_for_a_detached_link_is_applied():
    peer = SessionPeer()
    sender = peer.attached_sender("l", credit=2)
    delivery = sender.send(b"m")
    peer.octets_sent()
    sender.detach(closed=False)
    peer.send(Disposition(role=True, first=0, state=ACCEPTED))
    assert delivery.remote_state == ACCEPTED
    peer.send(Detach(handle=0, closed=False), Disposition(role=True, first=0, settled=True, state=ACCEPTED))
    assert delivery.remote_settled
    assert [each.tag for each in peer.events.dispositions] == [delivery.tag] * 2


# 2.6.7 to 2.6.10, 2.7.4: credit


def test_a_fresh_link_has_no_credit():
    peer = SessionPeer()
    sender = peer.attached_sender("out", handle=0)
    peer.send(flow(handle=0, echo=True))
    (state,) = peer.sent()
    assert (state.delivery_count, state.link_credit, state.available, state.drain) == (0, 0, 0, False)
    with pytest.raises(StateError):
        sender.send(b"m")
    receiver = peer.attached_receiver("in", handle=1, initial_delivery_count=77)
    peer.send(flow(handle=1, delivery_count=77, echo=True))
    (state,) = peer.sent()
    assert (state.delivery_count, state.link_credit, state.drain) == (77, 0, False)
    assert receiver.credit == 0


def test_each_message_takes_one_credit_and_one_count():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=5)
    for _ in range(2):
        sender.send(b"x" * 2000)
    assert (sender.delivery_count, sender.credit) == (2, 3)
    peer.octets_sent()
    peer.send(peer.credit(5, echo=True))
    (state,) = peer.sent()
    assert (state.delivery_count, state.link_credit) == (2, 3)


def test_the_senders_credit_follows_the_receivers_limit():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=5)
    for _ in range(3):
        sender.send(b"m")
    for count, credit, left in ((1, 5, 3), (3, 5, 5), (3, 0, 0), (0, 2, 0), (3, 1, 1), (3, 2**32 - 1, 2**32 - 1)):
        peer.send(peer.credit(credit, delivery_count=count))
        assert sender.credit == left


def test_a_flow_without_delivery_count_counts_from_the_initial_one():
    peer = SessionPeer()
    peer.send(attach("l"))
    (sender,) = peer.events.links
    sender.attach(source=SOURCE, target=TARGET, initial_delivery_count=100)
    peer.send(peer.credit(5, delivery_count=None))
    for _ in range(3):
        sender.send(b"m")
    peer.send(peer.credit(5, delivery_count=None))
    assert sender.credit == 2
    peer.send(peer.credit(5, delivery_count=102))
    assert sender.credit == 4


def test_without_credit_no_message_is_sent():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=1)
    sender.send(b"m")
    for attempt in (lambda: sender.send(b"n"), sender.begin):
        with pytest.raises(StateError, match=r"^link 'out' has no credit$"):
            attempt()
    assert [frame.payload for frame in peer.frames_sent()] == [b"m"]


def test_available_never_falls_below_zero():
    peer = SessionPeer()
    receiver = peer.attached_receiver(credit=9)
    peer.send(flow(handle=0, delivery_count=0, available=1))
    assert receiver.available == 1
    peer.send(transfer(0))
    assert receiver.available == 0
    peer.send(transfer(1))
    assert receiver.available == 0


def test_a_drained_sender_uses_up_its_credit_and_says_so():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=5)
    peer.send(peer.credit(5, drain=True))
    assert sender.drain
    assert peer.events.names[-1] == "link flow"
    sender.send(b"last")
    sender.drained()
    sent, state = peer.sent()
    assert isinstance(sent, Transfer)
    assert (state.delivery_count, state.link_credit, state.drain) == (5, 0, True)
    peer.send(peer.credit(3, delivery_count=5, drain=True))
    sender.drained()
    (state,) = peer.sent()
    assert (state.delivery_count, state.link_credit, state.drain) == (8, 0, True)


def test_a_message_beyond_the_credit_detaches_with_transfer_limit_exceeded():
    peer = SessionPeer()
    peer.attached_receiver(credit=2)
    peer.send(transfer(0), transfer(1), transfer(2))
    check_detached_with(peer, "amqp:link:transfer-limit-exceeded")
    assert len(peer.events.arrivals) == 2
    assert peer.events.violations == ["amqp:link:transfer-limit-exceeded"]


def test_delivery_count_wraps_around():
    peer = SessionPeer()
    peer.send(attach("out", handle=0))
    (sender,) = peer.events.links
    sender.attach(source=SOURCE, target=TARGET, initial_delivery_count=0xFFFFFFFE)
    peer.octets_sent()
    peer.send(peer.credit(4, delivery_count=0xFFFFFFFE))
    for _ in range(3):
        sender.send(b"m")
    peer.octets_sent()
    peer.send(peer.credit(4, delivery_count=0xFFFFFFFF, echo=True))
    (state,) = peer.sent()
    assert (state.delivery_count, state.link_credit) == (1, 2)
    receiver = peer.attached_receiver("in", handle=1, credit=3, initial_delivery_count=0xFFFFFFFF)
    peer.send(transfer(0, handle=1), transfer(1, handle=1))
    receiver.flow()
    (state,) = peer.sent()
    assert (state.delivery_count, state.link_credit) == (1, 1)


def test_a_get_with_a_time_limit_ends_by_draining():
    peer = SessionPeer()
    receiver = peer.attached_receiver()
    receiver.grant(1)
    (state,) = peer.sent()
    assert (state.link_credit, state.drain) == (1, False)
    receiver.set_credit(1, drain=True)
    (state,) = peer.sent()
    assert (state.link_credit, state.drain) == (1, True)
    peer.send(flow(handle=0, delivery_count=1, link_credit=0, drain=True))
    assert receiver.credit == 0
    assert peer.events.names[-1] == "link flow"


def test_echo_is_answered_with_the_state_of_the_link():
    peer = SessionPeer()
    peer.attached_sender("out", handle=0)
    peer.attached_receiver("in", handle=1)
    peer.send(peer.credit(3, handle=0, echo=True), flow(handle=1, delivery_count=0, echo=True))
    answers = peer.sent()
    assert [(type(each), each.handle, each.echo) for each in answers] == [(Flow, 0, False), (Flow, 1, False)]


def test_a_senders_flow_has_its_delivery_count():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=4)
    sender.send(b"m")
    peer.octets_sent()
    peer.session.send_flow(sender)
    (state,) = peer.sent()
    assert (state.handle, state.delivery_count, state.link_credit) == (0, 1, 3)


def test_a_receivers_flow_has_the_last_known_delivery_count():
    peer = SessionPeer()
    receiver = peer.attached_receiver(credit=4, initial_delivery_count=10)
    peer.send(transfer(0))
    receiver.grant(1)
    (state,) = peer.sent()
    assert (state.handle, state.delivery_count, state.link_credit) == (0, 11, 4)
    peer.send(flow(handle=0, delivery_count=13, link_credit=2))
    receiver.flow()
    (state,) = peer.sent()
    assert (state.delivery_count, state.link_credit) == (13, 2)


def test_a_receivers_flow_before_the_senders_attach_has_no_delivery_count():
    peer = SessionPeer()
    receiver = peer.session.receiver("l")
    receiver.attach(source=SOURCE, target=TARGET)
    receiver.grant(5)
    attached, state = peer.sent()
    assert isinstance(attached, Attach)
    assert (state.handle, state.delivery_count, state.link_credit) == (0, None, 5)
    peer.send(attach("l", role=False, handle=4, initial_delivery_count=90))
    receiver.flow()
    (state,) = peer.sent()
    assert (state.delivery_count, state.link_credit) == (90, 5)
