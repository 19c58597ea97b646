"""A link endpoint: how it attaches, is refused, detaches, and hands on what is unsettled."""

import pytest

from routerd.wire.amqp_error import Error
from routerd.wire.errors import FrameTooLarge, StateError
from routerd.wire.outcomes import ACCEPTED, RELEASED, Received
from routerd.wire.performatives import Attach, Detach, Open
from routerd.wire.states import LinkState
from routerd.wire.terminus import Source, Target
from routerd.wire.types import Symbol
from tests.conformance.raw_peer import SessionPeer, transfer
from tests.endpoints import Pair, Recorder
from tests.unit.wire.attached import SOURCE, TARGET, attached, told

BROKEN = Error(condition=Symbol("x:broken"), description="it broke")
TOO_LONG = Error(condition=Symbol("x:long"), description="d" * 600)


class Refusing(Recorder):
    """Refuses every link."""

    def on_link_attached(self, link, performative):
        self.events.append(("link attached", link.name))
        self.links[link.name] = link
        if link.state is LinkState.ATTACH_RCVD:
            link.refuse(BROKEN)


# Attaching


def test_both_ends_of_a_link_know_what_was_agreed():
    link = attached("orders", snd_settle_mode=0, rcv_settle_mode=1, initial_delivery_count=7, max_message_size=99)
    sender, receiver = link.sender, link.receiver
    assert (sender.name, sender.is_sender, sender.state, sender.is_attached) == (
        "orders",
        True,
        LinkState.ATTACHED,
        True,
    )
    assert (receiver.name, receiver.is_sender, receiver.state) == ("orders", False, LinkState.ATTACHED)
    assert (sender.source, sender.target, sender.remote_source, sender.remote_target) == (
        SOURCE,
        TARGET,
        SOURCE,
        TARGET,
    )
    assert [(each.snd_settle_mode, each.rcv_settle_mode) for each in (sender, receiver)] == [(0, 1)] * 2
    assert (sender.max_message_size, receiver.remote_max_message_size) == (99, 99)
    assert (sender.delivery_count, receiver.delivery_count, sender.credit, receiver.credit) == (7, 7, 0, 0)


@pytest.mark.parametrize("is_sender", [True, False])
@pytest.mark.parametrize("we_begin", [True, False])
def test_each_end_decides_on_its_own_settle_mode(is_sender, we_begin):
    peer = SessionPeer()
    theirs = Attach(name="l", handle=0, role=is_sender, snd_settle_mode=0, rcv_settle_mode=1, initial_delivery_count=0)
    if we_begin:
        link = peer.session.sender("l") if is_sender else peer.session.receiver("l")
        link.attach(snd_settle_mode=1, rcv_settle_mode=0)
        peer.send(theirs)
    else:
        peer.send(theirs)
        (link,) = peer.events.links
        link.attach(snd_settle_mode=1, rcv_settle_mode=0)
    assert (link.snd_settle_mode, link.rcv_settle_mode) == ((1, 1) if is_sender else (0, 0))
    (sent,) = peer.sent()
    assert (sent.snd_settle_mode, sent.rcv_settle_mode) == (1, 0)


def test_a_link_that_was_never_attached_is_in_no_table():
    pair = Pair().open()
    session = pair.session()
    link = session.sender("l")
    assert (link.state, link.handle, link.remote_handle, session.links(), len(pair.client.links)) == (
        LinkState.DETACHED,
        -1,
        -1,
        [],
        0,
    )


def test_a_name_in_use_cannot_be_attached_again():
    link = attached()
    session = link.sender.session
    with pytest.raises(StateError, match=r"^link 'l' exists already$"):
        session.sender("l").attach()
    other = session.receiver("l")
    other.attach(source=SOURCE, target=TARGET)
    link.pair.pump()
    assert other.state is LinkState.ATTACHED


def test_an_endpoint_attaches_once():
    link = attached()
    link.sender.detach(closed=False)
    link.pair.pump()
    with pytest.raises(
        StateError, match=r"^link 'l' was attached before; a new endpoint can take over its deliveries$"
    ):
        link.sender.attach()


def test_an_attach_on_a_session_that_is_over_is_refused():
    link = attached()
    session = link.sender.session
    session.end()
    with pytest.raises(StateError, match=r"^session on channel 0 is end sent$"):
        session.sender("m").attach()


def test_an_attach_that_does_not_fit_a_frame_leaves_nothing_behind():
    pair = Pair(server={"max_frame_size": 512}).open()
    session = pair.session()
    link = session.sender("l")
    with pytest.raises(FrameTooLarge, match=r"^attach takes a frame of [0-9]+ octets; the peer accepts 512$"):
        link.attach(source=Source(address="a" * 600), target=TARGET)
    assert (link.state, link.handle, session.links(), len(pair.client.links)) == (LinkState.DETACHED, -1, [], 0)
    link.attach(source=SOURCE, target=TARGET)
    pair.pump()
    assert link.state is LinkState.ATTACHED


def test_an_answer_that_does_not_fit_a_frame_may_be_followed_by_one_that_does():
    peer = SessionPeer(peers_open=Open(container_id="peer", max_frame_size=512))
    peer.send(Attach(name="l", handle=3, role=True, source=SOURCE, target=TARGET))
    (link,) = peer.events.links
    with pytest.raises(FrameTooLarge):
        link.attach(source=SOURCE, target=TARGET, properties={Symbol("p"): "x" * 600})
    assert (link.state, link.remote_handle) == (LinkState.ATTACH_RCVD, 3)
    link.attach(source=SOURCE, target=TARGET)
    assert [type(each) for each in peer.sent()] == [Attach]
    assert link.state is LinkState.ATTACHED


def test_credit_granted_before_the_link_is_attached_is_told_behind_the_attach():
    pair = Pair().open()
    session = pair.session()
    receiver = session.receiver("l")
    receiver.grant(3)
    receiver.attach(source=SOURCE, target=TARGET)
    pair.pump()
    assert pair.at_server.links["l"].credit == 3
    assert pair.at_server.take()[-1] == ("link flow", "l", 3)


# Refusing


def test_a_refused_link_is_attached_and_closed_with_the_reason():
    for is_sender in (True, False):
        pair = Pair(server_handler=Refusing()).open()
        session = pair.session()
        link = session.sender("l") if is_sender else session.receiver("l")
        link.attach(source=SOURCE, target=TARGET)
        pair.pump()
        assert told(pair) == (
            [("link attached", "l"), ("link detached", "l", True, "x:broken")],
            [("link attached", "l"), ("link detached", "l", True, None)],
        )
        assert (link.remote_source, link.remote_target) == ((SOURCE, None) if is_sender else (None, TARGET))
        assert (session.links(), len(pair.client.links), len(pair.server.links)) == ([], 0, 0)


def test_termini_too_large_to_be_said_again_are_left_out_of_a_refusal():
    peer = SessionPeer(peers_open=Open(container_id="peer", max_frame_size=512))
    peer.send(Attach(name="l", handle=0, role=True, source=SOURCE, target=Target(address="a" * 600)))
    peer.events.links[0].refuse(BROKEN)
    answer, detach = peer.sent()
    assert (answer.source, answer.target, detach) == (None, None, Detach(handle=0, closed=True, error=BROKEN))


def test_what_was_not_answered_is_refused_and_not_detached():
    peer = SessionPeer()
    peer.send(Attach(name="l", handle=0, role=True))
    (link,) = peer.events.links
    with pytest.raises(StateError, match=r"^link 'l' can't be detached before it is attached; refuse it$"):
        link.detach()
    assert (link.state, peer.sent()) == (LinkState.ATTACH_RCVD, [])


# Detaching


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("error", [None, BROKEN])
@pytest.mark.parametrize("by_sender", [True, False])
def test_a_detach_is_told_once_at_each_end(closed, error, by_sender):
    link = attached()
    (link.sender if by_sender else link.receiver).detach(closed=closed, error=error)
    link.pair.pump()
    heard = ("link detached", "l", closed, None if error is None else "x:broken")
    own = ("link detached", "l", closed, None)
    assert told(link.pair) == (([own], [heard]) if by_sender else ([heard], [own]))
    for end in (link.sender, link.receiver):
        assert (end.state, end.is_attached, end.handle, end.remote_handle) == (LinkState.DETACHED, False, -1, -1)
        assert (end.session.links(), len(end.session.connection.links)) == ([], 0)


def test_detaches_that_cross_end_the_link():
    link = attached()
    link.sender.detach()
    link.receiver.detach()
    link.pair.pump()
    assert told(link.pair) == ([("link detached", "l", True, None)], [("link detached", "l", True, None)])


def test_a_link_is_not_detached_twice():
    link = attached()
    link.sender.detach()
    with pytest.raises(StateError, match=r"^link 'l': can't send detach when detach sent$"):
        link.sender.detach()


def test_a_detach_that_does_not_fit_a_frame_leaves_the_link_attached():
    link = attached(pair=Pair(server={"max_frame_size": 512}).open(), credit=1)
    with pytest.raises(FrameTooLarge, match=r"^detach takes a frame of [0-9]+ octets; the peer accepts 512$"):
        link.sender.detach(error=TOO_LONG)
    assert link.sender.is_attached
    link.sender.send(b"m")
    link.sender.detach(error=BROKEN)
    link.pair.pump()
    assert told(link.pair)[1] == [("transfer", "l", b"m", False), ("link detached", "l", True, "x:broken")]


def test_a_link_detached_before_it_is_answered_is_told_as_detached_only():
    pair = Pair().open()
    session = pair.session()
    link = session.sender("l")
    link.attach(source=SOURCE, target=TARGET)
    link.detach()
    assert link.state is LinkState.DETACH_PIPE
    pair.pump()
    assert told(pair)[0] == [("link detached", "l", True, None)]
    assert (link.state, session.links()) == (LinkState.DETACHED, [])


# Taking over


def test_a_later_endpoint_takes_over_what_is_unsettled():
    link = attached(credit=3)
    sent = [link.sender.send(b"m", tag) for tag in (b"a", b"b", b"c")]
    link.pair.pump()
    sent[0].update(ACCEPTED, False)
    link.pair.at_server.deliveries[1].update(Received(section_number=0, section_offset=1), False)
    link.pair.pump()
    link.sender.detach(closed=False)
    link.pair.pump()
    session = link.sender.session
    later = session.sender("l")
    later.take_over(link.sender)
    assert later.unsettled_map() == {b"a": ACCEPTED, b"b": Received(section_number=0, section_offset=1), b"c": None}
    assert (link.sender.suspended, link.sender.unsettled_map()) == (None, {})
    assert {each.link for each in sent} == {later}
    assert session.outgoing.count == 0
    later.attach(source=SOURCE, target=TARGET)
    link.pair.pump()
    assert link.pair.at_server.attaches[-1].unsettled == later.unsettled_map()


def test_a_receiver_tells_of_its_own_states_alone():
    link = attached(credit=2)
    link.sender.send(b"m", b"a")
    link.sender.begin(b"b", state=RELEASED)
    link.pair.pump()
    (received,) = link.pair.at_server.deliveries
    received.remote_state = ACCEPTED
    link.sender.detach(closed=False)
    link.pair.pump()
    assert link.receiver.unsettled_map() == {b"a": None}


def test_taking_over_from_a_link_without_deliveries_takes_nothing():
    link = attached()
    link.sender.detach(closed=False)
    link.pair.pump()
    later = link.sender.session.sender("l")
    later.take_over(link.sender)
    assert (later.suspended, later.unsettled_map()) == (None, {})


@pytest.mark.parametrize("other", ["m", "receiver"])
def test_only_the_same_link_can_be_taken_over(other):
    link = attached()
    session = link.sender.session
    earlier = session.sender("m") if other == "m" else session.receiver("l")
    with pytest.raises(StateError, match=rf"^link '{earlier.name}' is not an earlier endpoint of 'l'$"):
        session.sender("l").take_over(earlier)


def test_nothing_is_taken_over_once_attached():
    link = attached()
    with pytest.raises(StateError, match=r"^link 'l' is attached already$"):
        link.sender.take_over(link.sender.session.sender("l"))


def test_a_closed_link_keeps_no_delivery():
    link = attached(credit=2)
    sent = [link.sender.send(b"m") for _ in range(2)]
    link.pair.pump()
    link.receiver.detach(closed=True)
    link.pair.pump()
    assert (link.sender.suspended, link.receiver.suspended) == (None, None)
    assert (link.sender.session.outgoing.count, link.receiver.session.incoming.count) == (0, 0)
    assert [each.is_tracked for each in sent] == [False, False]


@pytest.mark.parametrize("by_sender", [True, False])
def test_after_an_error_deliveries_are_kept_but_not_spoken_of(by_sender):
    link = attached(credit=1)
    link.sender.send(b"m", b"a")
    link.pair.pump()
    (link.sender if by_sender else link.receiver).detach(closed=False, error=BROKEN)
    link.pair.pump()
    assert (list(link.sender.suspended), list(link.receiver.suspended)) == ([b"a"], [b"a"])
    assert (link.sender.session.outgoing.count, link.receiver.session.incoming.count) == (0, 0)
    link.receiver.suspended[b"a"].accept()
    link.pair.pump()
    assert (link.receiver.suspended, list(link.sender.suspended)) == ({}, [b"a"])


def test_a_delivery_settled_while_the_link_is_detached_is_forgotten_at_both_ends():
    link = attached(credit=2)
    link.sender.send(b"m", b"a")
    link.sender.send(b"m", b"b")
    link.pair.pump()
    link.sender.detach(closed=False)
    link.pair.pump()
    link.receiver.suspended[b"a"].accept()
    link.pair.pump()
    assert (list(link.sender.suspended), list(link.receiver.suspended)) == ([b"b"], [b"b"])


# What an endpoint of the other direction is not for


def test_a_transfer_to_a_sender_detaches_the_link():
    peer = SessionPeer()
    link = peer.attached_sender()
    peer.send(transfer(0))
    (detach,) = peer.sent()
    assert (str(detach.error.condition), detach.error.description) == (
        "amqp:not-allowed",
        "a transfer on link 'out', of which the peer is the receiver",
    )
    assert (peer.events.violations, link.state) == (["amqp:not-allowed"], LinkState.DETACH_SENT)


def test_a_receiver_sends_no_delivery():
    link = attached(credit=1)
    delivery = link.sender.begin()
    with pytest.raises(StateError, match=r"^link 'l' does not send$"):
        link.receiver.emit(delivery, b"", 0, 0, False)
