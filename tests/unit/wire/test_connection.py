"""A connection: how it opens and closes in either role, its channels, its clock, and what it does with bad input."""

import sys

import pytest

from routerd.wire.amqp_error import Error
from routerd.wire.connection import Connection
from routerd.wire.connection_config import ConnectionConfig
from routerd.wire.errors import (
    DecodeError,
    FrameTooLarge,
    MessageSizeExceeded,
    Scope,
    SessionLimitExceeded,
    StateError,
)
from routerd.wire.performatives import Attach, Begin, Close, Disposition, End, Flow, Open
from routerd.wire.states import ConnectionState, SessionState
from routerd.wire.types import Symbol
from tests.conformance.raw_peer import (
    AMQP_HEADER,
    EMPTY_FRAME,
    OPEN,
    Peer,
    SessionPeer,
    framed,
    octets,
    opened,
    parsed,
    split,
    transfer,
)
from tests.endpoints import Pair, Recorder
from tests.unit.wire.attached import attached, told

FOREVER = float("inf")
WRONG = Error(condition=Symbol("x:wrong"), description="it went wrong")
TOO_LONG = Error(condition=Symbol("x:long"), description="d" * 600)


def begin(channel=None):
    return Begin(remote_channel=channel, next_outgoing_id=0, incoming_window=9, outgoing_window=9)


def client(*, sasl=None, **config):
    """An engine in the role of a client, not started."""
    handler = Recorder()
    return Connection(ConnectionConfig(container_id="c", **config), handler, is_client=True, sasl=sasl), handler


# Opening


def test_both_ends_open():
    pair = Pair()
    assert [end.state for end in (pair.client, pair.server)] == [ConnectionState.START] * 2
    pair.open()
    assert [end.state for end in (pair.client, pair.server)] == [ConnectionState.OPENED] * 2
    assert [end.remote_open.container_id for end in (pair.client, pair.server)] == ["server", "client"]
    assert [end.is_finished for end in (pair.client, pair.server)] == [False, False]


def test_a_client_may_open_before_it_starts():
    engine, _ = client()
    engine.open()
    assert (engine.state, engine.data_to_send(0.0)) == (ConnectionState.START, b"")
    engine.start(0.0)
    sent = engine.data_to_send(0.0)
    assert (sent[:8], type(parsed(bytes(sent[8:])).performative)) == (AMQP_HEADER, Open)


def test_the_memory_of_what_was_sent_is_taken_back_unless_it_waits():
    engine, _ = client()
    engine.start(0.0)
    sent = engine.data_to_send(0.0)
    with memoryview(sent):
        assert not engine.written(sent)
    assert engine.written(sent)


def test_a_server_may_open_before_its_peer_does():
    peer = Peer()
    peer.engine.open()
    peer.send(AMQP_HEADER)
    sent = peer.octets_sent()
    assert (sent[:8], type(parsed(sent[8:]).performative)) == (AMQP_HEADER, Open)
    assert peer.engine.state is ConnectionState.OPEN_SENT
    peer.send(OPEN)
    assert (peer.engine.state, peer.events.names) == (ConnectionState.OPENED, ["opened"])


def test_an_open_is_sent_once():
    engine, _ = client()
    engine.start(0.0)
    engine.open()
    with pytest.raises(StateError, match="open sent before the peer's header"):
        engine.open()


def test_an_open_too_large_for_any_peer_is_refused():
    engine, _ = client(properties={Symbol("p"): "x" * 600})
    engine.start(0.0)
    with pytest.raises(FrameTooLarge, match=r"^open takes a frame of [0-9]+ octets; the peer accepts 512$"):
        engine.open()
    assert engine.state is ConnectionState.HDR_SENT


def test_an_open_that_is_awaited_goes_out_with_what_needs_it():
    peer = Peer()
    peer.send(AMQP_HEADER, OPEN, begin())
    peer.events.sessions[0].begin()
    sent = peer.octets_sent()
    assert [type(parsed(each).performative) for each in split(sent[8:])] == [Open, Begin]


def test_sessions_need_an_open():
    engine, _ = client()
    session = engine.session()
    with pytest.raises(StateError, match=r"^a connection in the state 'start' has no sessions$"):
        session.begin()


# Closing


@pytest.mark.parametrize("error", [None, WRONG])
def test_a_close_is_told_once_at_each_end_after_all_else(error):
    link = attached()
    link.pair.client.close(error)
    link.pair.pump()
    heard = None if error is None else "x:wrong"
    assert told(link.pair) == (
        [("link detached", "l", False, None), ("session ended", 0, None), ("closed", None)],
        [("link detached", "l", False, heard), ("session ended", 0, heard), ("closed", heard)],
    )
    assert [end.state for end in (link.pair.client, link.pair.server)] == [ConnectionState.END] * 2
    assert [end.sessions() for end in (link.pair.client, link.pair.server)] == [[], []]


def test_nothing_is_said_behind_a_close():
    link = attached(credit=5)
    link.sender.send(b"m")
    link.pair.pump()
    (received,) = link.pair.at_server.deliveries
    link.pair.server.close()
    link.pair.server.data_to_send(0.0)
    received.accept()
    link.receiver.grant(1)
    assert link.pair.server.data_to_send(0.0) == b""
    for use in (link.pair.server.close, link.pair.server.open, link.pair.server.session, link.receiver.session.end):
        with pytest.raises(StateError):
            use()


def test_a_close_that_does_not_fit_a_frame_leaves_the_connection_as_it_was():
    link = attached(pair=Pair(server={"max_frame_size": 512}).open(), credit=1)
    with pytest.raises(FrameTooLarge, match=r"^close takes a frame"):
        link.pair.client.close(TOO_LONG)
    assert (link.pair.client.state, link.sender.is_attached) == (ConnectionState.OPENED, True)
    link.pair.client.close(WRONG)
    link.pair.pump()
    assert told(link.pair)[1][-1] == ("closed", "x:wrong")


def test_a_connection_is_not_closed_before_it_is_opened():
    peer = Peer()
    peer.send(AMQP_HEADER)
    with pytest.raises(StateError, match=r"^can't close on a connection in the state 'headers exchanged'$"):
        peer.engine.close()


@pytest.mark.parametrize("error", [None, WRONG])
def test_open_and_close_may_be_pipelined(error):
    pair = Pair()
    pair.server.start(0.0)
    pair.client.start(0.0)
    pair.client.open()
    pair.client.close(error)
    assert pair.client.state is ConnectionState.OC_PIPE
    pair.pump()
    assert told(pair) == ([("closed", None)], [("opened", "client"), ("closed", "x:wrong" if error else None)])


def test_a_peer_that_closes_before_we_open_gets_our_open_first():
    peer = Peer()
    peer.send(AMQP_HEADER, OPEN, Close())
    sent = peer.octets_sent()
    assert [type(parsed(each).performative) for each in split(sent[8:])] == [Open, Close]
    assert (peer.events.names, peer.engine.state) == (["opened", "closed"], ConnectionState.END)


def test_after_our_close_all_but_the_peers_close_is_dropped():
    peer = SessionPeer()
    peer.attached_receiver(credit=5)
    peer.engine.close()
    peer.events.names.clear()
    peer.send(transfer(0), begin(), End(), OPEN, EMPTY_FRAME, framed(octets("00 53 77 45")))
    assert peer.events.names == []
    peer.send(Close(error=WRONG))
    assert peer.events.names == ["detached", "ended", "closed"]
    assert peer.events.closed == [WRONG]


def test_when_the_transport_breaks_all_is_told_as_over_once():
    link = attached()
    for _ in range(2):
        link.pair.client.transport_closed()
    assert link.pair.at_client.take() == [
        ("link detached", "l", False, None),
        ("session ended", 0, None),
        ("closed", None),
    ]
    assert (link.pair.client.is_finished, link.pair.client.sessions(), len(link.pair.client.links)) == (True, [], 0)
    link.pair.client.receive_data(framed(begin()), 1.0)
    assert (link.pair.at_client.take(), link.pair.client.data_to_send(1.0)) == ([], b"")


# Channels


def test_before_the_peers_open_channel_zero_alone_is_sure():
    engine, _ = client()
    engine.start(0.0)
    engine.open()
    engine.session().begin()
    with pytest.raises(StateError, match=r"^the connection has channels up to 0$"):
        engine.session()


@pytest.mark.parametrize("config", [{"client": {"channel_max": 1}}, {"server": {"channel_max": 1}}])
def test_the_lower_channel_max_bounds_our_sessions(config):
    pair = Pair(**config).open()
    for _ in range(2):
        pair.session()
    with pytest.raises(StateError, match=r"^the connection has channels up to 1$"):
        pair.client.session()


def test_the_peers_channel_max_bounds_the_sessions_that_it_begins():
    peer = Peer()
    peer.send(AMQP_HEADER, Open(container_id="peer", channel_max=0))
    peer.engine.open()
    peer.send(begin(), framed(begin(), channel=1))
    assert peer.events.violations == ["amqp:resource-limit-exceeded"]


def test_a_session_that_the_peer_begins_is_on_its_channel():
    peer = opened()
    peer.send(begin(), channel=7)
    (session,) = peer.events.sessions
    session.begin()
    (frame,) = peer.frames_sent()
    assert (session.channel, session.remote_channel, frame.channel, frame.performative.remote_channel) == (0, 7, 0, 7)
    assert peer.engine.sessions() == [session]


@pytest.mark.parametrize(
    ("frames", "condition"),
    [
        ([begin(3)], "amqp:invalid-field"),
        ([begin(), begin()], "amqp:illegal-state"),
        ([End()], "amqp:illegal-state"),
        ([Disposition(role=True, first=0)], "amqp:illegal-state"),
        ([OPEN], "amqp:illegal-state"),
        ([begin(), framed(Error(condition=Symbol("x:y")))], "amqp:decode-error"),
        ([framed(octets("00 53 77 45"))], "amqp:decode-error"),
        ([framed(Close(), b"!")], "amqp:decode-error"),
        ([b"\x00\x00\x00\x07\x02\x00\x00\x00"], "amqp:connection:framing-error"),
        ([b"\xff\xff\xff\xff\x02\x00\x00\x00"], "amqp:connection:framing-error"),
        ([b"\x00\x00\x00\x08\x01\x00\x00\x00"], "amqp:connection:framing-error"),
        ([b"\x00\x00\x00\x08\x03\x00\x00\x00"], "amqp:connection:framing-error"),
        ([b"\x00\x00\x00\x08\x02\x01\x00\x00"], "amqp:connection:framing-error"),
    ],
)
def test_what_the_protocol_does_not_allow_closes_the_connection(frames, condition):
    peer = opened()
    peer.send(*frames)
    close = peer.sent()[-1]
    assert (type(close), str(close.error.condition)) == (Close, condition)
    assert peer.events.violations == [condition]
    peer.send(Close())
    assert (peer.engine.state, peer.events.closed) == (ConnectionState.END, [None])


@pytest.mark.parametrize(
    ("first", "condition"),
    [
        (begin(), "amqp:illegal-state"),
        (Close(), "amqp:illegal-state"),
        (Open(container_id="peer", max_frame_size=511), "amqp:invalid-field"),
        (Open(container_id="peer", idle_time_out=99), "amqp:invalid-field"),
        (framed(OPEN, channel=1), "amqp:connection:framing-error"),
    ],
)
def test_a_first_frame_that_is_no_good_open_is_answered_by_open_and_close(first, condition):
    peer = Peer()
    peer.send(AMQP_HEADER, first)
    sent = peer.octets_sent()
    performatives = [parsed(each).performative for each in split(sent[8:])]
    assert [type(each) for each in performatives] == [Open, Close]
    assert (str(performatives[1].error.condition), peer.events.violations) == (condition, [condition])


def test_a_size_that_is_no_size_ends_the_connection_at_once():
    peer = opened()
    peer.send_octets(b"\x00\x00\x00\x00" + framed(Close()))
    assert [type(each) for each in peer.sent()] == [Close]
    assert (peer.engine.state, peer.events.names[-2:]) == (ConnectionState.END, ["violation", "closed"])


@pytest.mark.parametrize("at", range(1, 20))
def test_what_follows_a_violation_is_read_from_the_next_frame_on(at):
    peer = opened()
    stream = framed(End()) + EMPTY_FRAME + framed(Close(error=WRONG))
    peer.send_octets(stream[:at])
    peer.send_octets(stream[at:])
    assert (peer.events.violations, peer.events.closed) == (["amqp:illegal-state"], [WRONG])


def test_a_violation_behind_our_close_is_not_told():
    peer = opened()
    peer.engine.close()
    peer.send(b"\x00\x00\x00\x08\x03\x00\x00\x00", b"\x00\x00\x00\x07\x02\x00\x00\x00")
    assert (peer.events.violations, peer.events.names[-1], peer.engine.is_finished) == ([], "closed", True)


def test_a_violation_says_what_it_ends():
    scopes = []
    for frames in (
        [OPEN],
        [Flow(incoming_window=1, next_outgoing_id=0, outgoing_window=1, handle=9)],
        [transfer(0)],
    ):
        link = attached()
        for each in frames:
            link.pair.client.receive_data(each if isinstance(each, bytes) else framed(each), 0.0)
        (error,) = link.pair.at_client.violations
        scopes.append(error.scope)
    assert scopes == [Scope.CONNECTION, Scope.SESSION, Scope.LINK]


def test_a_violation_is_told_after_what_it_ends():
    link = attached()
    link.pair.client.receive_data(framed(OPEN), 0.0)
    assert link.pair.at_client.take() == [
        ("link detached", "l", False, "amqp:illegal-state"),
        ("session ended", 0, "amqp:illegal-state"),
        ("violation", "amqp:illegal-state"),
    ]
    link.pair.pump()
    assert link.pair.at_client.take() == [("closed", None)]


class Raising(Recorder):
    """Raises an error for each message, after doing something else."""

    def __init__(self, error, first=lambda receiver: None):
        super().__init__()
        self.error, self.first = error, first

    def on_transfer(self, receiver, delivery, data, start, end):
        self.first(receiver)
        raise self.error


@pytest.mark.parametrize(
    ("error", "told_of"),
    [
        (MessageSizeExceeded("no"), [("violation", "amqp:link:message-size-exceeded")]),
        (SessionLimitExceeded("no"), [("violation", "amqp:resource-limit-exceeded")]),
        (
            DecodeError("no"),
            [
                ("link detached", "l", False, "amqp:decode-error"),
                ("session ended", 0, "amqp:decode-error"),
                ("violation", "amqp:decode-error"),
            ],
        ),
    ],
)
def test_what_a_handler_raises_as_the_peers_fault_ends_what_it_concerns(error, told_of):
    handler = Raising(error)
    link = attached(pair=Pair(server_handler=handler).open(), credit=1)
    link.sender.send(b"m")
    link.pair.server.receive_data(link.pair.client.data_to_send(0.0), 0.0)
    assert handler.take() == told_of
    link.pair.pump()
    assert told(link.pair)[0][0] == ("link detached", "l", error.scope is Scope.LINK, error.condition)


@pytest.mark.parametrize(
    ("error", "leave", "is_told", "frames"),
    [
        (MessageSizeExceeded("no"), lambda receiver: receiver.detach(), True, 1),
        (SessionLimitExceeded("no"), lambda receiver: receiver.session.end(), True, 1),
        (DecodeError("no"), lambda receiver: receiver.session.connection.close(), False, 1),
        (DecodeError("no"), lambda receiver: receiver.session.connection.transport_closed(), False, 0),
    ],
)
def test_what_has_been_left_already_is_not_ended_again(error, leave, is_told, frames):
    handler = Raising(error, leave)
    link = attached(pair=Pair(server_handler=handler).open(), credit=1)
    link.sender.send(b"m")
    link.pair.pump()
    assert handler.violations == ([error] if is_told else [])
    assert (link.pair.at_client.violations, len(split(link.pair.to_client))) == ([], frames)


# Frame sizes


def test_frames_up_to_our_limit_are_taken():
    for size, is_taken in ((600, True), (601, False)):
        peer = opened(max_frame_size=600)
        peer.send(begin())
        peer.events.sessions[0].begin()
        link = Attach(name="l", handle=0, role=False, initial_delivery_count=0)
        peer.send(link)
        peer.events.links[0].attach()
        peer.events.links[0].grant(1)
        empty = len(transfer(0, b""))
        peer.send(transfer(0, b"m" * (size - empty)))
        assert (len(peer.events.arrivals), peer.events.violations == []) == (is_taken, is_taken)


@pytest.mark.parametrize(("theirs", "ours", "expected"), [(512, 9000, 512), (9000, 512, 512), (2**32 - 1, 777, 777)])
def test_frames_of_ours_stay_within_both_limits(theirs, ours, expected):
    peer = Peer(send_frame_size=ours)
    peer.send(AMQP_HEADER, Open(container_id="peer", max_frame_size=theirs))
    assert peer.engine.send_frame_size == expected


# Time


def test_without_time_outs_nothing_is_ever_due():
    pair = Pair().open()
    assert pair.client.next_deadline() == FOREVER
    pair.client.tick(10.0**9)
    assert (pair.client.data_to_send(0.0), pair.client.state) == (b"", ConnectionState.OPENED)


def test_a_peer_that_is_silent_for_too_long_is_given_up():
    pair = Pair(client={"idle_timeout_s": 10})
    pair.now = 100.0
    pair.open()
    assert pair.client.next_deadline() == 110.0
    pair.client.tick(109.9)
    assert (pair.at_client.take(), pair.client.next_deadline()) == ([], 110.0)
    pair.client.receive_data(EMPTY_FRAME, 105.0)
    pair.client.tick(110.0)
    assert (pair.at_client.take(), pair.client.next_deadline()) == ([], 115.0)
    pair.client.tick(115.0)
    assert pair.at_client.take() == [("violation", "amqp:resource-limit-exceeded"), ("closed", None)]
    (close,) = split(pair.client.data_to_send(115.0))
    assert parsed(close).performative.error.description == "nothing was received for 10 s"
    assert pair.client.next_deadline() == FOREVER
    pair.client.tick(999.0)
    assert pair.at_client.take() == []


@pytest.mark.parametrize("until", ["start", "header", "open", "close"])
def test_a_peer_may_fall_silent_at_any_time(until):
    peer = Peer(idle_timeout_s=1)
    if until != "start":
        peer.send(AMQP_HEADER)
    if until in ("open", "close"):
        peer.send(OPEN)
        peer.engine.open()
    if until == "close":
        peer.engine.close()
    assert peer.engine.next_deadline() == 1.0
    peer.engine.tick(1.0)
    expected = {"start": ["violation"], "header": ["violation"], "open": ["opened", "violation"], "close": ["opened"]}
    assert peer.events.names == [*expected[until], "closed"]
    assert peer.engine.is_finished


def test_a_peer_that_would_give_us_up_hears_of_us_in_time():
    pair = Pair(server={"idle_timeout_s": 10}).open()
    assert pair.client.remote_open.idle_time_out == 5000
    assert pair.client.next_deadline() == 2.5
    pair.client.tick(2.4)
    assert pair.client.data_to_send(2.4) == b""
    pair.client.tick(2.5)
    assert (pair.client.data_to_send(2.5), pair.client.next_deadline()) == (EMPTY_FRAME, 5.0)
    pair.client.session().begin()
    pair.client.data_to_send(4.0)
    assert pair.client.next_deadline() == 6.5


def test_an_empty_frame_is_written_in_an_opened_connection_alone():
    pair = Pair(server={"idle_timeout_s": 10}).open()
    pair.client.close()
    pair.client.data_to_send(0.0)
    assert pair.client.next_deadline() == FOREVER
    pair.client.tick(1000.0)
    assert pair.client.data_to_send(1000.0) == b""


def test_two_engines_that_listen_to_their_clocks_never_give_each_other_up():
    pair = Pair(client={"idle_timeout_s": 3}, server={"idle_timeout_s": 10}).open()
    for _ in range(200):
        pair.now = min(pair.client.next_deadline(), pair.server.next_deadline())
        pair.client.tick(pair.now)
        pair.server.tick(pair.now)
        pair.pump()
    assert pair.now > 100
    assert (pair.at_client.events, pair.at_server.events) == ([], [])


def test_any_short_time_out_is_kept_when_none_is_too_short():
    peer = Peer(shortest_idle_timeout_s=0)
    peer.send(AMQP_HEADER, Open(container_id="peer", idle_time_out=1))
    assert peer.events.violations == []


# Memory


def test_what_was_received_is_let_go_of():
    link = attached(credit=5)
    link.sender.send(b"m" * 1000)
    data = link.pair.client.data_to_send(0.0)
    before = sys.getrefcount(data)
    link.pair.server.receive_data(data, 0.0)
    assert (len(link.pair.at_server.bodies), sys.getrefcount(data)) == (1, before)


def test_a_session_of_a_connection_that_is_over_is_not_made():
    pair = Pair().open()
    session = pair.client.session()
    pair.client.transport_closed()
    with pytest.raises(StateError, match=r"^a connection in the state 'ended' takes no new session$"):
        pair.client.session()
    assert (session.state, pair.client.sessions()) == (SessionState.UNMAPPED, [])


def test_the_beginning_of_a_frame_that_is_cut_can_be_seen():
    pair = Pair().open()
    cut = framed(begin())
    seen = []
    for at in range(len(cut)):
        pair.server.receive_data(cut[at : at + 1], 0.0)
        seen.append(pair.server.cut_frame)
    assert seen == [*(cut[: at + 1] for at in range(len(cut) - 1)), b""]
