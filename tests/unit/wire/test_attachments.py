"""The links of a session by their handles: attached, stolen, turned away, and limited in number."""

import pytest

from routerd.wire.amqp_error import Error
from routerd.wire.errors import StateError
from routerd.wire.outcomes import ACCEPTED
from routerd.wire.performatives import Attach, Begin, Detach, Disposition, End, Open
from routerd.wire.states import ConnectionState, LinkState
from routerd.wire.types import Symbol
from tests.calls import check_linear
from tests.conformance.raw_peer import AMQP_HEADER, SOURCE, TARGET, Peer, SessionPeer, framed, transfer
from tests.endpoints import Pair, Recorder
from tests.unit.wire.attached import attached, told


def attach(name="l", handle=0, *, role=True, **fields):
    """The peer's attach; as a receiver unless its role is False."""
    if not role:
        fields.setdefault("initial_delivery_count", 0)
    return Attach(name=name, handle=handle, role=role, source=SOURCE, target=TARGET, **fields)


def stolen(name="l"):
    return Error(condition=Symbol("amqp:link:stolen"), description=f"link '{name}' was attached elsewhere")


def answered(peer, link=None):
    """Answer the last attach of the peer, and forget what was sent for it."""
    link = link or peer.events.links[-1]
    link.attach(source=SOURCE, target=TARGET)
    peer.sent()
    return link


def unanswered(**config):
    """A peer whose session the engine has not answered yet."""
    peer = Peer(**config)
    peer.send(AMQP_HEADER, Open(container_id="peer"))
    peer.engine.open()
    peer.octets_sent()
    peer.send(Begin(next_outgoing_id=0, incoming_window=9, outgoing_window=9))
    return peer


# Handles


def test_a_link_is_found_by_the_handle_of_the_peer():
    peer = SessionPeer()
    peer.send(attach("a", 5), attach("b", 2))
    a, b = peer.events.links
    attachments = peer.session.attachments
    assert (attachments.link_at(5), attachments.link_at(2)) == (a, b)
    assert [(each.handle, each.remote_handle) for each in (a, b)] == [(0, 5), (1, 2)]
    assert set(peer.session.links()) == {a, b}


def test_our_links_stay_within_the_peers_handle_max():
    pair = Pair(server={"handle_max": 1}).open()
    session = pair.session()
    for name in ("a", "b"):
        attached(name, pair=pair, session=session)
    with pytest.raises(StateError, match=r"^the peer takes handles up to 1 on a session$"):
        session.sender("c").attach()
    assert (len(session.links()), len(pair.client.links)) == (2, 2)


def test_the_peers_handle_max_bounds_the_links_that_it_attaches():
    peer = SessionPeer(begin=Begin(next_outgoing_id=0, incoming_window=9, outgoing_window=9, handle_max=0))
    peer.send(attach("a", 0))
    answered(peer)
    peer.send(attach("b", 1))
    (end,) = peer.sent()
    assert str(end.error.condition) == "amqp:resource-limit-exceeded"
    assert [(name, error) for name, _, error in peer.events.detached] == []
    peer.send(End())
    assert [name for name, _, _ in peer.events.detached] == ["a"]


# Limits


def test_link_names_max_bounds_the_links_of_a_connection():
    peer = SessionPeer(link_names_max=2)
    peer.send(attach("a", 0), attach("a", 1, role=False))
    answered(peer, peer.events.links[0])
    answered(peer)
    peer.send(attach("b", 2))
    refused, detach = peer.sent()
    assert (refused.name, refused.source, refused.target) == ("b", None, TARGET)
    assert detach == Detach(
        handle=refused.handle,
        closed=True,
        error=Error(
            condition=Symbol("amqp:resource-limit-exceeded"),
            description="the connection has reached its limit of 2 links",
        ),
    )
    # The others go on, and when one of them has gone there is room for another.
    assert (peer.events.violations, len(peer.engine.links)) == (["amqp:resource-limit-exceeded"], 2)
    peer.send(Detach(handle=2, closed=True), Detach(handle=0, closed=True), attach("b", 0))
    assert [link.name for link in peer.events.links] == ["a", "a", "b"]
    assert [name for name, _, _ in peer.events.detached] == ["a"]


def test_links_beyond_the_limit_are_reported_once_for_all():
    peer = SessionPeer(link_names_max=1)
    peer.send(*(attach(str(number), number) for number in range(20)))
    assert (peer.events.violations, len(peer.engine.links)) == (["amqp:resource-limit-exceeded"], 1)
    assert [str(each.error.condition) for each in peer.sent() if isinstance(each, Detach)] == 19 * [
        "amqp:resource-limit-exceeded"
    ]


def test_who_attaches_beyond_the_limit_without_a_look_at_the_answers_is_given_up():
    peer = SessionPeer(link_names_max=1)
    peer.send(*(attach(str(number), number) for number in range(1001)))
    peer.sent()
    for number in range(1, 500):
        peer.send(Detach(handle=number, closed=True))
    peer.send(*(attach(str(number), number) for number in range(1, 500)))
    assert set(peer.events.violations) == {"amqp:resource-limit-exceeded"}
    assert peer.engine.state is ConnectionState.OPENED
    peer.sent()
    peer.send(attach("more", 1001))
    (close,) = peer.sent()
    assert close.error.description == (
        "the connection has reached its limit of 1 links; 1000 more were refused and not detached"
    )


def test_link_names_max_does_not_bound_answers_and_thefts():
    peer = SessionPeer(link_names_max=1)
    link = peer.session.sender("l")
    link.attach(source=SOURCE, target=TARGET)
    peer.send(attach("l", 0))
    assert (peer.events.violations, link.state) == ([], LinkState.ATTACHED)
    peer.send(attach("l", 1))
    assert (peer.events.violations, len(peer.engine.links)) == ([], 1)


def test_a_name_is_free_when_the_link_is_detached():
    peer = SessionPeer(link_names_max=1)
    for handle in range(3):
        peer.send(attach(f"l{handle}", handle))
        answered(peer)
        peer.send(Detach(handle=handle, closed=True))
    assert (peer.events.violations, len(peer.engine.links)) == ([], 0)


def test_a_name_that_no_answer_could_carry_closes_the_connection():
    peer = SessionPeer(peers_open=Open(container_id="peer", max_frame_size=512))
    peer.send(attach("n" * 448, 0))
    answered(peer)
    peer.send(attach("é" * 224, 1))
    answered(peer)
    peer.send(attach("é" * 225, 2))
    assert peer.events.violations == ["amqp:frame-size-too-small"]


# Sessions and links that were not answered yet


def test_a_link_of_a_session_that_was_not_answered_can_be_detached():
    peer = unanswered()
    peer.send(attach(), Detach(handle=0, closed=True))
    assert [type(each) for each in peer.sent()] == [Begin, Attach, Detach]
    assert (peer.events.detached, peer.events.violations) == ([("l", True, None)], [])


def test_a_link_of_a_session_that_was_not_answered_can_be_stolen():
    peer = unanswered()
    peer.send(attach("l", 0), attach("l", 1))
    begin, answer, detach = peer.sent()
    assert (type(begin), type(answer), detach.error) == (Begin, Attach, stolen())
    assert peer.events.detached == [("l", False, stolen())]
    assert peer.events.names == ["opened", "begun", "attached", "detached", "attached"]


def test_a_relayed_link_whose_detach_waits_for_the_far_end_can_be_stolen():
    peer = SessionPeer()
    peer.send(attach("l", 0))
    link = answered(peer)
    link.is_relayed = True
    peer.send(Detach(handle=0))
    assert (peer.sent(), link.state) == ([], LinkState.DETACH_RCVD)
    peer.send(attach("l", 1))
    (detach,) = peer.sent()
    assert (detach, link.state) == (Detach(handle=0, closed=False), LinkState.DETACHED)
    assert peer.events.links[-1].state is LinkState.ATTACH_RCVD


def test_a_detach_of_a_link_that_was_not_answered_is_answered_by_attach_and_detach():
    peer = SessionPeer()
    peer.send(attach("l", 7), Detach(handle=7, closed=True))
    answer, detach = peer.sent()
    assert (answer.name, answer.role, answer.source, answer.target) == ("l", False, None, None)
    assert detach == Detach(handle=answer.handle, closed=True)
    assert (peer.events.detached, peer.session.links()) == ([("l", True, None)], [])
    with pytest.raises(StateError):
        peer.events.links[0].attach(source=SOURCE, target=TARGET)


# Stealing


def test_an_attach_of_a_name_in_use_steals_the_link():
    peer = SessionPeer()
    old = peer.attached_sender("l", credit=5)
    old.send(b"m", b"a")
    peer.sent()
    peer.send(attach("l", 1))
    new = peer.events.links[-1]
    assert peer.sent() == [Detach(handle=0, closed=True, error=stolen())]
    assert (peer.events.detached, new is old, old.is_attached) == ([("l", False, stolen())], False, False)
    new.take_over(old)
    new.attach(source=SOURCE, target=TARGET)
    assert [each.unsettled for each in peer.sent()] == [{b"a": None}]
    peer.send(Detach(handle=0, closed=True))
    assert (peer.events.detached, peer.session.links(), len(peer.engine.links)) == ([("l", False, stolen())], [new], 1)


def test_what_a_stolen_link_left_unsettled_waits_for_the_answer_to_the_thief():
    peer = SessionPeer()
    old = peer.attached_sender("l", credit=5)
    old.send(b"m", b"a")
    peer.send(attach("l", 1), Detach(handle=0, closed=True))
    assert list(old.suspended) == [b"a"]
    new = peer.events.links[-1]
    new.take_over(old)
    assert (list(new.suspended), old.suspended) == ([b"a"], None)


def test_a_link_can_be_stolen_over_and_over():
    peer = SessionPeer()
    for handle in range(4):
        peer.send(attach("l", handle))
        answered(peer)
    for handle in range(3):
        peer.send(Detach(handle=handle, closed=True))
    (left,) = peer.session.links()
    assert (left, left.remote_handle, len(peer.engine.links)) == (peer.events.links[-1], 3, 1)
    assert peer.events.detached == [("l", False, stolen())] * 3


def test_a_link_is_stolen_by_another_session():
    peer = SessionPeer()
    old = peer.attached_receiver("l")
    peer.send(Begin(next_outgoing_id=0, incoming_window=9, outgoing_window=9), channel=1)
    other = peer.events.sessions[-1]
    other.begin()
    peer.sent()
    peer.send(attach("l", 0, role=False), channel=1)
    assert [(type(frame.performative), frame.channel) for frame in peer.frames_sent()] == [(Detach, 0)]
    assert (old.state, other.links()) == (LinkState.DETACH_SENT, [peer.events.links[-1]])


def test_a_link_that_we_are_detaching_can_be_stolen():
    peer = SessionPeer()
    old = peer.attached_sender("l")
    old.detach(closed=False)
    peer.sent()
    peer.send(attach("l", 1))
    assert peer.events.detached == [("l", False, stolen())]
    new = answered(peer)
    peer.send(Detach(handle=0))
    assert (peer.events.detached, peer.session.links()) == ([("l", False, stolen())], [new])


def test_a_link_of_a_session_that_we_ended_can_be_stolen():
    peer = SessionPeer()
    old = peer.attached_sender("l")
    peer.session.end()
    peer.sent()
    peer.send(Begin(next_outgoing_id=0, incoming_window=9, outgoing_window=9), channel=1)
    peer.events.sessions[-1].begin()
    peer.sent()
    peer.send(attach("l", 0), channel=1)
    assert (peer.sent(), peer.events.detached) == ([], [("l", False, stolen())])
    peer.send(End())
    assert (peer.events.detached, len(peer.engine.links), old.is_attached) == ([("l", False, stolen())], 1, False)


class Clinging(Recorder):
    """Attaches at once again what was stolen from it."""

    def on_link_detached(self, link, closed, error):
        super().on_link_detached(link, closed, error)
        if error is not None:
            try:
                link.session.receiver(link.name).attach(source=SOURCE, target=TARGET)
            except StateError as refused:
                self.events.append(("refused", str(refused)))


def test_what_was_stolen_cannot_be_attached_again_before_the_thief_has_it():
    handler = Clinging()
    link = attached(pair=Pair(server_handler=handler).open())
    link.pair.server.receive_data(framed(attach("l", 1, role=False)), 0.0)
    assert handler.take() == [
        ("link detached", "l", False, "amqp:link:stolen"),
        ("refused", "link 'l' exists already"),
        ("link attached", "l"),
    ]


class Leaving(Recorder):
    """Ends the session, or closes the connection, when a link is stolen."""

    def __init__(self, leave):
        super().__init__()
        self.leave = leave

    def on_link_detached(self, link, closed, error):
        super().on_link_detached(link, closed, error)
        if error is not None:
            self.leave(link.session)


@pytest.mark.parametrize("leave", [lambda session: session.end(), lambda session: session.connection.close()])
def test_a_theft_may_be_answered_by_leaving(leave):
    handler = Leaving(leave)
    link = attached(pair=Pair(server_handler=handler).open())
    link.pair.server.receive_data(framed(attach("l", 1, role=False)), 0.0)
    link.pair.server.transport_closed()
    assert handler.take() == [
        ("link detached", "l", False, "amqp:link:stolen"),
        ("session ended", 0, None),
        ("closed", None),
    ]
    assert (link.pair.server.sessions(), len(link.pair.server.links)) == ([], 0)


# Both ends at once


def crossing(client_is_sender):
    """A pair whose ends both attach the same link at once, on two sessions."""
    pair = Pair().open()
    first, second = pair.session(), pair.session()
    other = {session.remote_channel: session for session in pair.server.sessions()}[second.channel]
    ours = first.sender("l") if client_is_sender else first.receiver("l")
    theirs = other.receiver("l") if client_is_sender else other.sender("l")
    ours.attach(source=SOURCE, target=TARGET)
    theirs.attach(source=SOURCE, target=TARGET)
    return pair, ours, theirs


def rounds(pair):
    """Carry octets until there are none, but not for ever."""
    for count in range(20):
        upward, downward = pair.client.data_to_send(0.0), pair.server.data_to_send(0.0)
        if not upward and not downward:
            return count
        pair.server.receive_data(upward, 0.0)
        pair.client.receive_data(downward, 0.0)
    raise AssertionError("the two never fall silent")


@pytest.mark.parametrize("client_is_sender", [True, False])
def test_of_two_attaches_at_once_the_servers_stays(client_is_sender):
    pair, ours, theirs = crossing(client_is_sender)
    rounds(pair)
    assert told(pair) == (
        [("link detached", "l", False, "amqp:link:stolen"), ("link attached", "l")],
        [("link attached", "l")],
    )
    assert (ours.state, theirs.state) == (LinkState.DETACHED, LinkState.ATTACHED)
    assert [len(session.links()) for session in [*pair.client.sessions(), *pair.server.sessions()]] == [0, 1, 0, 1]
    assert (len(pair.client.links), len(pair.server.links)) == (1, 1)


def test_on_one_session_two_attaches_at_once_make_one_link():
    pair = Pair().open()
    session = pair.session()
    (other,) = pair.server.sessions()
    ours, theirs = session.sender("l"), other.receiver("l")
    ours.attach(source=SOURCE, target=TARGET)
    theirs.attach(source=SOURCE, target=TARGET)
    rounds(pair)
    assert told(pair) == ([("link attached", "l")], [("link attached", "l")])
    assert (ours.state, theirs.state) == (LinkState.ATTACHED, LinkState.ATTACHED)


def test_a_link_that_is_turned_away_before_the_session_is_answered():
    peer = unanswered()
    session = peer.events.sessions[-1]
    own = peer.engine.session()
    own.begin()
    peer.send(Begin(remote_channel=own.channel, next_outgoing_id=0, incoming_window=9, outgoing_window=9), channel=1)
    own.sender("l").attach(source=SOURCE, target=TARGET)
    peer.sent()
    peer.send(attach("l", 0))
    assert [(type(frame.performative), frame.channel) for frame in peer.frames_sent()] == [
        (Begin, session.channel),
        (Attach, session.channel),
        (Detach, session.channel),
    ]
    peer.send(Detach(handle=0, closed=True))
    assert (session.links(), peer.events.violations, peer.events.detached) == ([], [], [])


def test_a_link_stolen_before_it_was_answered_twice_over_gets_its_answers_in_order():
    peer = client_peer()
    abandoned = []
    for number in range(2):
        link = peer.session.sender("l")
        link.attach(source=SOURCE, target=TARGET)
        abandoned.append(link)
        peer.send(attach("l", number), channel=1)
        answered(peer)
        peer.send(Detach(handle=number, closed=True), channel=1)
        peer.sent()
    assert [each.state for each in abandoned] == [LinkState.DETACH_PIPE] * 2
    peer.send(attach("l", 0), Detach(handle=0, closed=True), attach("l", 1), Detach(handle=1, closed=True))
    assert [each.state for each in abandoned] == [LinkState.DETACHED] * 2
    assert (peer.session.links(), peer.events.violations, peer.sent()) == ([], [], [])


def test_late_answers_find_the_endpoints_that_they_are_for():
    peer = client_peer()
    ours = [peer.session.sender("a"), peer.session.sender("b"), peer.session.receiver("b")]
    for number, link in enumerate(ours):
        link.attach(source=SOURCE, target=TARGET)
        peer.send(attach(link.name, number, role=link.is_sender), channel=1)
    peer.sent()
    peer.send(attach("b", 7, role=False), attach("b", 8), attach("a", 9))
    assert [each.remote_handle for each in ours] == [9, 8, 7]
    assert [each.state for each in ours] == [LinkState.DETACH_SENT] * 3


def client_peer():
    """A peer of an engine in the role of a client, with two sessions of ours."""
    peer = Peer(is_client=True)
    peer.engine.open()
    peer.send(AMQP_HEADER, Open(container_id="peer"))
    for channel in (0, 1):
        session = peer.engine.session()
        session.begin()
        peer.send(
            Begin(remote_channel=channel, next_outgoing_id=0, incoming_window=9, outgoing_window=9), channel=channel
        )
        if channel == 0:
            peer.session = session
    peer.octets_sent()
    return peer


# Detaches that are not of one mind


def test_a_closing_detach_that_crosses_a_plain_one_closes_the_link():
    link = attached(credit=1)
    link.sender.send(b"m")
    link.pair.settle_down()
    link.sender.detach(closed=False)
    link.receiver.detach(closed=True)
    rounds(link.pair)
    assert (link.sender.is_closed, link.sender.suspended, link.receiver.suspended) == (True, None, None)
    assert [session.links() for session in (link.sender.session, link.receiver.session)] == [[], []]
    assert (len(link.pair.client.links), len(link.pair.server.links)) == (0, 0)


def test_a_receiver_closes_again_as_a_sender_does():
    peer = SessionPeer()
    link = peer.attached_receiver("l")
    link.detach(closed=False)
    peer.sent()
    peer.send(Detach(handle=0, closed=True))
    assert [type(each) for each in peer.sent()] == [Attach, Detach]
    assert peer.events.detached == [("l", True, None)]
    peer.send(attach("l", 0, role=False), Detach(handle=0, closed=True))
    assert (peer.session.links(), peer.events.detached) == ([], [("l", True, None)])


def test_a_disposition_reaches_what_a_plain_detach_left_unsettled():
    peer = SessionPeer()
    receiver = peer.attached_receiver("l", credit=1, rcv_settle_mode=1)
    peer.send(transfer(0))
    peer.events.deliveries[0].accept()
    peer.send(Detach(handle=0))
    peer.sent()
    assert list(receiver.suspended) == [b"0"]
    peer.send(Disposition(role=False, first=0, settled=True, state=ACCEPTED))
    assert (receiver.suspended, peer.session.incoming.count, len(peer.events.dispositions)) == ({}, 0, 1)


# What ends cost


def linked(count):
    """A pair with so many links one way, each with a delivery that is not settled."""
    pair = Pair().open()
    session = pair.session()
    links = [attached(str(number), pair=pair, session=session, credit=1) for number in range(count)]
    for link in links:
        link.sender.send(b"x")
    pair.settle_down()
    return pair, links


@pytest.mark.parametrize("how", ["end", "close", "loss", "detach", "detach without close", "detach from the last"])
@pytest.mark.parametrize("is_sending", [False, True], ids=["incoming", "outgoing"])
def test_links_that_end_cost_what_they_leave_unsettled(how, is_sending):
    def ending(count):
        pair, links = linked(count)
        far = pair.client if is_sending else pair.server
        near = pair.server if is_sending else pair.client
        ends = [link.receiver if is_sending else link.sender for link in links]
        if how == "end":
            ends[0].session.end()
        elif how == "close":
            near.close()
        elif how.startswith("detach"):
            for end in ends if how != "detach from the last" else reversed(ends):
                end.detach(closed=how != "detach without close")
        octets = near.data_to_send(0.0)

        def work():
            if how == "loss":
                far.transport_closed()
            else:
                far.receive_data(octets, 0.0)
            assert all((link.sender if is_sending else link.receiver).is_reported for link in links)

        return work

    check_linear(ending, 20)
