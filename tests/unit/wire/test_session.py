"""A session: its windows, what waits for them, its limits, and how it begins and ends."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.wire.amqp_error import Error
from routerd.wire.errors import FrameTooLarge, StateError
from routerd.wire.outcomes import ACCEPTED
from routerd.wire.performatives import Attach, Begin, Close, Detach, Disposition, End, Flow, Open, Transfer
from routerd.wire.session import Session
from routerd.wire.states import LinkState, SessionState
from routerd.wire.types import Symbol
from tests.conformance.raw_peer import (
    AMQP_HEADER,
    SOURCE,
    TARGET,
    Peer,
    SessionPeer,
    framed,
    parsed,
    split,
    transfer,
)
from tests.endpoints import Pair, Recorder
from tests.unit.wire.attached import attached, told

CIRCLE = 2**32
WRONG = Error(condition=Symbol("x:wrong"), description="it went wrong")
def test_a_flow_of_a_link_that_opens_the_window_is_one_of_the_session_too():
    peer = SessionPeer()
    peer.send(Attach(name="l", handle=0, role=True, source=SOURCE, target=TARGET))
    peer.events.links[-1].attach(source=SOURCE, target=TARGET)
    told = []
    for window in (0, 0, 3, 4, 0):
        del peer.events.names[:]
        peer.send(session_flow(window, handle=0, delivery_count=0, link_credit=5))
        told.append(peer.events.names[:])
    assert told == [["link flow"]] * 2 + [["link flow", "session flow"]] + [["link flow"]] * 2


TOO_LONG = Error(condition=Symbol("x:long"), description="d" * 600)


def session_flow(window=9, *, seen=0, count=0, **fields):
    """The peer's flow, without a link."""
    return Flow(next_incoming_id=seen, incoming_window=window, next_outgoing_id=count, outgoing_window=9, **fields)


def windows_told(peer):
    """The incoming windows in the flows that the engine has to send."""
    return [each.incoming_window for each in peer.sent() if isinstance(each, Flow)]


# Beginning and ending


def test_a_session_begins_with_the_limits_that_it_is_given():
    pair = Pair().open()
    session = pair.client.session()
    session.begin(next_outgoing_id=CIRCLE - 1, incoming_window=3, handle_max=4, properties={Symbol("p"): 1})
    pair.pump()
    begin = pair.at_server.begins[0]
    assert (begin.next_outgoing_id, begin.incoming_window, begin.outgoing_window) == (CIRCLE - 1, 3, 3)
    assert (begin.handle_max, begin.properties, begin.remote_channel) == (4, {Symbol("p"): 1}, None)
    (other,) = pair.at_server.sessions
    assert (other.remote_incoming_window, other.remote_handle_max, other.next_incoming_id) == (3, 4, CIRCLE - 1)
    assert told(pair) == ([("session begun", 0)], [("session begun", 0)])


def test_the_defaults_of_a_session_are_those_of_the_connection():
    pair = Pair(client={"incoming_window": 7, "handle_max": 8}).open()
    pair.session()
    begin = pair.at_server.begins[0]
    assert (begin.next_outgoing_id, begin.incoming_window, begin.outgoing_window, begin.handle_max) == (0, 7, 7, 8)


def test_beginning_twice_changes_nothing():
    link = attached(credit=2)
    session = link.sender.session
    link.sender.send(b"m")
    with pytest.raises(StateError, match=r"^session on channel 0: can't send begin when mapped$"):
        session.begin(next_outgoing_id=77, incoming_window=1, handle_max=0)
    assert (session.next_outgoing_id, session.incoming_window, session.handle_max) == (1, 2048, 65_535)
    assert link.sender.send(b"m").id == 1


def test_a_session_that_has_ended_does_not_begin_again():
    pair = Pair().open()
    session = pair.session()
    session.end()
    pair.pump()
    with pytest.raises(StateError, match=r"^session on channel 0 has ended; begin a new one$"):
        session.begin()


def test_a_begin_that_does_not_fit_a_frame_can_be_tried_again():
    pair = Pair(server={"max_frame_size": 512}).open()
    session = pair.client.session()
    with pytest.raises(FrameTooLarge, match=r"^begin takes a frame"):
        session.begin(properties={Symbol("p"): "x" * 600})
    assert (session.state, session.is_open) == (SessionState.UNMAPPED, False)
    session.begin()
    pair.pump()
    assert session.state is SessionState.MAPPED


@pytest.mark.parametrize("by_client", [True, False])
@pytest.mark.parametrize("error", [None, WRONG])
def test_an_end_is_told_once_at_each_end_after_the_links(by_client, error):
    link = attached()
    ends = (link.sender.session, link.receiver.session)
    ends[0 if by_client else 1].end(error)
    link.pair.pump()
    heard = "x:wrong" if error else None
    by_error = [("link detached", "l", False, heard), ("session ended", 0, heard)]
    plain = [("link detached", "l", False, None), ("session ended", 0, None)]
    assert told(link.pair) == ((plain, by_error) if by_client else (by_error, plain))
    for end in ends:
        assert (end.state, end.is_open, end.remote_channel, end.links()) == (SessionState.UNMAPPED, False, -1, [])
        assert end.connection.sessions() == []


def test_an_end_that_does_not_fit_a_frame_leaves_the_session_as_it_was():
    link = attached(pair=Pair(server={"max_frame_size": 512}).open(), credit=1)
    session = link.sender.session
    with pytest.raises(FrameTooLarge, match=r"^end takes a frame"):
        session.end(TOO_LONG)
    assert (session.state, session.is_open, link.sender.is_attached) == (SessionState.MAPPED, True, True)
    link.sender.send(b"m")
    session.end(WRONG)
    link.pair.pump()
    assert told(link.pair)[1][-1] == ("session ended", 0, "x:wrong")


def test_a_session_that_is_over_says_nothing_more():
    link = attached(credit=5)
    sent = link.sender.send(b"m")
    link.pair.pump()
    (received,) = link.pair.at_server.deliveries
    other = link.receiver.session
    other.end()
    link.pair.server.data_to_send(0.0)
    received.accept()
    link.receiver.grant(1)
    other.give_back(1)
    other.flush()
    assert link.pair.server.data_to_send(0.0) == b""
    assert (received.settled, received.is_tracked, sent.settled) == (True, False, False)
    for use in (lambda: other.send_flow(None), lambda: other.end(), lambda: other.sender("m").attach()):
        with pytest.raises(StateError):
            use()


def test_what_is_left_to_say_goes_out_before_the_end():
    peer = SessionPeer()
    receiver = peer.attached_receiver(credit=2)
    peer.send(transfer(0))
    peer.events.deliveries[0].accept()
    receiver.grant(1)
    peer.session.end()
    assert [type(each) for each in peer.sent()] == [Disposition, Flow, End]


def test_what_is_left_to_say_goes_out_before_the_answer_to_an_end():
    class Accepting(Recorder):
        def on_transfer(self, receiver, delivery, data, start, end):
            delivery.accept()
            receiver.grant(1)

    link = attached(pair=Pair(server_handler=Accepting()).open(), credit=1)
    link.sender.send(b"m")
    link.sender.session.end()
    link.pair.pump()
    assert [type(parsed(each).performative) for each in split(link.pair.to_client)] == [Disposition, Flow, End]


def test_the_window_of_a_session_that_is_over_stays_as_it_is():
    peer = SessionPeer(incoming_window=2)
    peer.attached_receiver(credit=2)
    peer.session.withhold(2)
    peer.send(transfer(0), transfer(1))
    peer.session.end()
    peer.octets_sent()
    peer.session.give_back(2)
    assert (peer.session.incoming_window, peer.engine.is_awake, peer.octets_sent()) == (0, False, b"")


def test_when_the_session_is_over_its_rings_are_empty_and_its_links_keep_the_deliveries():
    link = attached(credit=2)
    detached = attached("m", pair=link.pair, session=link.sender.session, credit=1)
    for each in (link, detached):
        each.sender.send(b"m")
    link.pair.pump()
    detached.sender.detach(closed=False)
    link.pair.pump()
    session, other = link.sender.session, link.receiver.session
    assert (session.outgoing.count, other.incoming.count) == (2, 2)
    session.end()
    link.pair.pump()
    assert (session.outgoing.count, other.incoming.count) == (0, 0)
    for end in (link.sender, link.receiver, detached.sender, detached.receiver):
        assert [each.is_tracked for each in end.suspended.values()] == [False]


def test_a_session_may_be_answered_later():
    peer = Peer()
    peer.send(AMQP_HEADER, Open(container_id="peer"))
    peer.engine.open()
    peer.octets_sent()
    peer.send(Begin(next_outgoing_id=0, incoming_window=9, outgoing_window=9))
    peer.send(Attach(name="l", handle=0, role=True), session_flow(3, handle=0, delivery_count=0, link_credit=5))
    (session,) = peer.events.sessions
    (link,) = peer.events.links
    assert (peer.sent(), session.state, link.state, link.credit) == (
        [],
        SessionState.BEGIN_RCVD,
        LinkState.ATTACH_RCVD,
        5,
    )
    session.begin()
    link.attach(source=SOURCE, target=TARGET)
    link.send(b"m")
    assert [type(each) for each in peer.sent()] == [Begin, Attach, Transfer]


@pytest.mark.parametrize("last", [End(), Detach(handle=4), session_flow(3, handle=4)])
def test_a_session_that_was_not_answered_is_answered_where_it_ends(last):
    peer = Peer()
    peer.send(AMQP_HEADER, Open(container_id="peer"))
    peer.engine.open()
    peer.octets_sent()
    peer.send(Begin(next_outgoing_id=0, incoming_window=9, outgoing_window=9), last)
    assert [type(each) for each in peer.sent()] == [Begin, End]
    assert peer.events.violations == ([] if isinstance(last, End) else ["amqp:session:unattached-handle"])


# The peer's window


def test_the_window_is_what_the_peer_has_room_for_less_what_it_has_not_seen():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=9)
    for _ in range(3):
        sender.send(b"m")
    for window, seen, expected in ((5, 3, 5), (5, 1, 3), (2, 0, 0), (1, 0, 0), (CIRCLE - 1, 3, CIRCLE - 1)):
        peer.send(session_flow(window, seen=seen))
        assert peer.session.remote_incoming_window == expected


def test_a_flow_before_the_peer_saw_anything_counts_from_our_first_id():
    pair = Pair().open()
    session = pair.session(next_outgoing_id=CIRCLE - 2)
    link = attached(pair=pair, session=session, credit=9)
    for _ in range(4):
        link.sender.send(b"m")
    assert session.next_outgoing_id == 2
    pair.client.receive_data(
        framed(Flow(next_incoming_id=None, incoming_window=10, next_outgoing_id=0, outgoing_window=0)), 0.0
    )
    assert session.remote_incoming_window == 6


def test_ids_of_transfers_and_deliveries_wrap_around():
    pair = Pair().open()
    session = pair.session(next_outgoing_id=CIRCLE - 2, incoming_window=2)
    link = attached(pair=pair, session=session, credit=5)
    sent = [link.sender.send(b"m") for _ in range(5)]
    pair.pump()
    assert [each.id for each in sent] == [CIRCLE - 2, CIRCLE - 1, 0, 1, 2]
    received = list(pair.at_server.deliveries)
    assert [each.id for each in received] == [each.id for each in sent]
    for each in received:
        each.accept()
    pair.to_client.clear()
    pair.pump()
    assert [each.remote_settled for each in sent] == [True] * 5
    assert (session.outgoing.count, link.receiver.session.incoming.count) == (0, 0)
    assert (session.next_outgoing_id, link.receiver.session.next_incoming_id) == (3, 3)


# Our window


def test_the_window_opens_again_when_half_of_it_is_used():
    peer = SessionPeer(incoming_window=4)
    peer.attached_receiver(credit=20)
    told_at = []
    for number in range(6):
        peer.send(transfer(number, settled=True))
        told_at.append(windows_told(peer))
    assert told_at == [[], [4], [], [4], [], [4]]


@pytest.mark.parametrize("window", [1, 2, 3])
def test_a_small_window_never_stays_closed(window):
    peer = SessionPeer(incoming_window=window)
    peer.attached_receiver(credit=20)
    for number in range(10):
        assert peer.session.incoming_window > 0
        peer.send(transfer(number, settled=True))
    assert (len(peer.events.arrivals), peer.events.violations) == (10, [])


def test_withheld_frames_close_the_window_until_they_are_given_back():
    peer = SessionPeer(incoming_window=4)
    peer.attached_receiver(credit=20)
    for number in range(4):
        peer.send(transfer(number, settled=True))
        peer.session.withhold(1)
    assert (peer.session.incoming_window, windows_told(peer)) == (1, [1])
    peer.send(transfer(4, settled=True))
    assert (peer.session.incoming_window, windows_told(peer)) == (0, [])
    peer.session.give_back(1)
    assert windows_told(peer) == [1]
    peer.session.give_back(100)
    assert windows_told(peer) == [4]


@pytest.mark.parametrize("frames", [4, 5, 1000])
def test_withholding_more_than_the_window_keeps_it_closed(frames):
    peer = SessionPeer(incoming_window=4)
    peer.attached_receiver(credit=20)
    peer.session.withhold(frames)
    peer.send(*(transfer(number, settled=True) for number in range(4)))
    assert (peer.session.incoming_window, windows_told(peer)) == (0, [])
    peer.send(transfer(4))
    assert peer.events.violations == ["amqp:session:window-violation"]


class Holding(Recorder):
    """Holds every frame that it is given, until it is told to let go of some."""

    def __init__(self, window):
        super().__init__()
        self.window, self.held, self.most = window, 0, 0

    def on_session_begun(self, session, performative):
        session.begin(incoming_window=self.window)

    def on_transfer(self, receiver, delivery, data, start, end):
        self.held += 1
        self.most = max(self.most, self.held)
        receiver.session.withhold(1)


@settings(max_examples=60)
@given(st.integers(1, 9), st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 5)), max_size=20))
def test_a_peer_never_makes_us_hold_more_frames_than_the_window(window, steps):
    handler = Holding(window)
    link = attached(pair=Pair(server={"max_frame_size": 512}, server_handler=handler).open(), credit=100)
    total = 0
    for size, frames in steps:
        link.sender.send(b"m" * size, settled=True)
        total += size
        link.pair.pump()
        assert handler.held + link.receiver.session.incoming_window <= window
        assert link.sender.session.remote_incoming_window == link.receiver.session.incoming_window
        frames = min(frames, handler.held)
        handler.held -= frames
        link.receiver.session.give_back(frames)
    while link.sender.session.has_backlog:
        link.receiver.session.give_back(handler.held)
        handler.held = 0
        link.pair.pump()
    assert handler.most <= window
    assert (handler.violations, link.receiver.delivery_count) == ([], len(steps))


def test_transfers_of_links_that_are_gone_count_against_the_window_as_well():
    peer = SessionPeer(incoming_window=4)
    link = peer.attached_receiver(credit=9)
    link.detach()
    peer.send(transfer(0), transfer(1))
    assert (peer.events.arrivals, peer.session.next_incoming_id, windows_told(peer)) == ([], 2, [4])


# Flow of the session


def test_a_session_flow_is_told_and_its_properties_kept():
    peer = SessionPeer()
    peer.send(session_flow(3, count=7, properties={Symbol("p"): 1}))
    session = peer.session
    assert (session.flow_properties, session.next_incoming_id, session.remote_outgoing_window) == (
        {Symbol("p"): 1},
        7,
        9,
    )
    assert peer.events.names[-1] == "session flow"


def test_the_peers_outgoing_window_counts_down():
    peer = SessionPeer()
    peer.attached_receiver(credit=9)
    peer.send(Flow(next_incoming_id=0, incoming_window=9, next_outgoing_id=0, outgoing_window=1))
    peer.send(transfer(0), transfer(1))
    assert peer.session.remote_outgoing_window == 0


def test_echoes_are_answered_once_for_all_that_came_together():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=2)
    receiver = peer.attached_receiver(credit=3, handle=1)
    frames = [
        session_flow(echo=True),
        session_flow(handle=0, echo=True, link_credit=2, delivery_count=0),
        session_flow(handle=1, echo=True, delivery_count=0),
    ]
    peer.send(*50 * frames)
    assert [(each.handle, each.link_credit) for each in peer.sent()] == [(sender.handle, 2), (receiver.handle, 3)]


def test_what_was_told_meanwhile_is_not_told_again():
    peer = SessionPeer()
    receiver = peer.attached_receiver(credit=3)
    peer.send(session_flow(handle=0, echo=True, delivery_count=0))
    receiver.flow()
    assert [(each.handle, each.link_credit) for each in peer.sent()] == [(receiver.handle, 3)]


def test_a_flow_of_the_session_can_carry_properties():
    peer = SessionPeer()
    peer.session.send_flow(None, True, {Symbol("p"): 1})
    assert peer.sent() == [
        Flow(
            next_incoming_id=0,
            incoming_window=2048,
            next_outgoing_id=0,
            outgoing_window=2048,
            echo=True,
            properties={Symbol("p"): 1},
        )
    ]


class Leaving(Recorder):
    """Leaves as soon as it is told of a flow."""

    def __init__(self, leave):
        super().__init__()
        self.leave = leave

    def on_session_flow(self, session):
        super().on_session_flow(session)
        self.leave(session)

    def on_link_flow(self, link):
        super().on_link_flow(link)
        self.leave(link.session)


@pytest.mark.parametrize("leave", [Session.end, lambda session: session.connection.close()])
@pytest.mark.parametrize("is_of_link", [True, False])
def test_an_echo_is_not_answered_by_who_leaves(leave, is_of_link):
    handler = Leaving(leave)
    link = attached(pair=Pair(server_handler=handler).open())
    fields = {"handle": 0, "link_credit": 1, "delivery_count": 0} if is_of_link else {}
    link.pair.server.receive_data(framed(session_flow(echo=True, **fields)), 0.0)
    assert len(handler.take()) == 1
    link.pair.pump()
    assert handler.violations == link.pair.at_client.violations == []
    sent = [type(parsed(each).performative) for each in split(link.pair.to_client)]
    assert sent == ([End] if leave is Session.end else [Close])


# Limits


def test_unsettled_per_session_bounds_what_the_peer_leaves_unsettled():
    peer = SessionPeer(unsettled_per_session=2)
    peer.attached_receiver("a", credit=9)
    peer.attached_receiver("b", credit=9, handle=1)
    peer.send(transfer(0), transfer(1, handle=1), transfer(2, settled=True))
    assert peer.events.violations == []
    peer.events.deliveries[0].accept()
    peer.octets_sent()
    peer.send(transfer(3))
    assert (peer.events.violations, peer.session.incoming.count) == ([], 2)
    peer.send(transfer(4))
    (end,) = peer.sent()
    assert (str(end.error.condition), end.error.description) == (
        "amqp:resource-limit-exceeded",
        "a session may leave 2 deliveries unsettled at most",
    )
    assert (peer.events.violations, peer.session.state) == (["amqp:resource-limit-exceeded"], SessionState.DISCARDING)


def test_after_a_violation_the_session_waits_for_the_peers_end():
    peer = SessionPeer(unsettled_per_session=1)
    peer.attached_receiver(credit=9)
    peer.send(transfer(0), transfer(1), transfer(2), session_flow(handle=77), Detach(handle=5))
    assert (len(peer.events.arrivals), peer.events.violations) == (1, ["amqp:resource-limit-exceeded"])
    assert peer.events.ended == []
    peer.send(End())
    assert (peer.events.ended, peer.engine.sessions()) == ([None], [])


class Settling(Recorder):
    """Settles what it is told of, and all that was sent besides if it is eager."""

    def __init__(self, *, is_eager=False):
        super().__init__()
        self.is_eager = is_eager

    def on_disposition(self, delivery):
        super().on_disposition(delivery)
        for each in delivery.link.session.outgoing.all() if self.is_eager else [delivery]:
            each.settle()


@pytest.mark.parametrize("last", [3, 2**31 - 1])
def test_what_is_settled_amid_a_disposition_is_not_told_of_any_more(last):
    handler = Settling(is_eager=True)
    link = attached(pair=Pair(client_handler=handler).open(), credit=4)
    for _ in range(4):
        link.sender.send(b"m")
    link.pair.pump()
    link.pair.client.receive_data(framed(Disposition(role=True, first=0, last=last, state=ACCEPTED)), 0.0)
    assert [each.id for each in handler.dispositions] == [0]
    assert link.sender.session.outgoing.count == 0


def test_settling_in_the_middle_of_a_disposition_is_possible():
    handler = Settling()
    link = attached(pair=Pair(client_handler=handler).open(), credit=20, rcv_settle_mode=1)
    for _ in range(20):
        link.sender.send(b"m")
    link.pair.pump()
    for each in link.pair.at_server.deliveries:
        each.accept()
    link.pair.pump()
    assert [each.state for each in handler.dispositions] == [None] * 20
    assert [each.remote_state for each in handler.dispositions] == [ACCEPTED] * 20
    assert [each.remote_settled for each in link.pair.at_server.deliveries] == [True] * 20
    assert (link.sender.session.outgoing.count, link.receiver.session.incoming.count) == (0, 0)
