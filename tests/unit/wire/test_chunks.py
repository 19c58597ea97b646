"""How octets are cut on their way never changes what an engine tells and sends.

Both ends of a conversation do only what events make them do, so that either can be played against the recorded octets
of the other, cut in whatever way.
"""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.wire.connection import Connection
from routerd.wire.connection_config import ConnectionConfig
from routerd.wire.errors import LocalError
from routerd.wire.frames import EMPTY_FRAME
from routerd.wire.input import WORK_MAX
from routerd.wire.sasl import AnonymousClient, AnonymousServer, SaslClient, SaslServer
from routerd.wire.states import ConnectionState, LinkState
from tests.endpoints import Pair, Recorder
from tests.unit.wire.attached import SOURCE, TARGET

FRAME_SIZE = 512
OUTCOMES = ("accept", "release", "reject", "modify")


class Player(Recorder):
    """Plays its part of a conversation: sessions of links of messages, as the plan has them."""

    def __init__(self, plan):
        super().__init__()
        self.plan = plan
        self.left = {}
        self.begun = 0

    def link_plan(self, link):
        session, name = link.name.split("/")
        return self.plan[int(session)][int(name)]

    def is_done(self, link):
        """Whether the client has nothing more to do on a link."""
        return link.session.connection.is_client and self.left[link] == 0

    def settle_one(self, link):
        self.left[link] -= 1
        if self.is_done(link) and link.is_attached:
            link.detach(closed=self.link_plan(link)["closed"])

    # Events. A damaged conversation may ask for what cannot be done; nothing is done then.

    def on_opened(self, connection, performative):
        super().on_opened(connection, performative)
        if connection.is_client:
            for _ in self.plan:
                with suppress(LocalError):
                    connection.session().begin()

    def on_session_begun(self, session, performative):
        with suppress(LocalError):
            super().on_session_begun(session, performative)
            if session.connection.is_client:
                for number, link_plan in enumerate(self.plan[self.begun]):
                    name = f"{self.begun}/{number}"
                    link = session.sender(name) if link_plan["is_sender"] else session.receiver(name)
                    link.attach(source=SOURCE, target=TARGET, rcv_settle_mode=link_plan["mode"])
                self.begun += 1
                self.check_over(session)

    def on_link_attached(self, link, performative):
        self.events.append(("link attached", link.name, performative))
        with suppress(LocalError, LookupError, ValueError):
            messages = self.link_plan(link)["messages"]
            self.left[link] = len(messages)
            if link.state is LinkState.ATTACH_RCVD:
                link.attach(source=performative.source, target=performative.target)
            if not link.is_sender:
                link.grant(len(messages))

    def on_link_flow(self, link):
        super().on_link_flow(link)
        with suppress(LocalError, LookupError, ValueError):
            messages = self.link_plan(link)["messages"]
            while link.is_sender and link.credit and link.delivery_count < len(messages):
                self.send(link, link.delivery_count, *messages[link.delivery_count])

    def send(self, link, number, size, how, settled):
        body = bytes([65 + number]) * size
        delivery = link.begin(None, settled and how != "abort")
        for start in range(0, size, 300):
            link.write(delivery, body, start, min(start + 300, size), True)
        if how == "abort" and not delivery.is_queued:
            link.abort(delivery)
        else:
            link.write(delivery, b"", 0, 0, False)
        if delivery.settled:
            self.settle_one(link)

    def on_transfer(self, receiver, delivery, data, start, end):
        super().on_transfer(receiver, delivery, data, start, end)
        with suppress(LocalError, LookupError):
            if not delivery.is_partial:
                if not delivery.is_aborted:
                    getattr(delivery, OUTCOMES[delivery.id % 4])()
                if delivery.settled or delivery.remote_settled:
                    self.settle_one(receiver)

    def on_disposition(self, delivery):
        super().on_disposition(delivery)
        with suppress(LocalError, LookupError):
            if not delivery.settled:
                delivery.settle()
                self.settle_one(delivery.link)

    def on_link_detached(self, link, closed, error):
        super().on_link_detached(link, closed, error)
        with suppress(LocalError):
            self.left.pop(link, None)
            self.check_over(link.session)

    def check_over(self, session):
        if session.connection.is_client and session.is_open and not session.links():
            session.end()

    def on_session_ended(self, session, error):
        super().on_session_ended(session, error)
        connection = session.connection
        with suppress(LocalError):
            if connection.is_client and not connection.sessions():
                connection.close()


def sasl_for(is_client):
    return SaslClient([AnonymousClient("me")]) if is_client else SaslServer([AnonymousServer()])


def played(plan, is_client, chunks, *, step=0, is_taken_meanwhile=False):
    """What an engine in a role tells, and what it sends, when octets arrive in these chunks, and are taken in steps."""
    player = Player(plan)
    connection = Connection(
        ConnectionConfig(container_id="c" if is_client else "s", max_frame_size=FRAME_SIZE, incoming_window=3),
        player,
        is_client=is_client,
        sasl=sasl_for(is_client),
    )
    connection.start(0.0)
    if is_client:
        connection.open()
    for chunk in chunks:
        if step:
            take_in_steps(connection, chunk, step)
        else:
            connection.receive_data(chunk, 0.0)
        if is_taken_meanwhile:
            connection.data_to_send(0.0)
    return player.events, connection.state, bytes(connection.data_to_send(0.0))


def take_in_steps(connection, chunk, step):
    """Have octets taken step by step, each of which ends behind a frame, or where there is no more."""
    at = 0
    while at < len(chunk):
        stop = connection.receive_some(chunk, 0.0, at, len(chunk), step)
        assert min(at + step, len(chunk)) <= stop <= len(chunk)
        at = stop


def recorded(plan):
    """The octets that a conversation sends to the client, and those that it sends to the server."""
    config = {"max_frame_size": FRAME_SIZE, "incoming_window": 3}
    pair = Pair(
        client=config,
        server=config,
        client_handler=Player(plan),
        server_handler=Player(plan),
        client_sasl=sasl_for(True),
        server_sasl=sasl_for(False),
    )
    pair.server.start(0.0)
    pair.client.start(0.0)
    pair.client.open()
    pair.pump()
    assert (pair.client.state, pair.server.state) == (ConnectionState.END, ConnectionState.END)
    assert pair.at_client.violations == pair.at_server.violations == []
    return {True: bytes(pair.to_client), False: bytes(pair.to_server)}


def cut(octets, places):
    """The octets in pieces that end at these places."""
    ends = [*sorted(place % (len(octets) + 1) for place in places), len(octets)]
    return [octets[start:end] for start, end in zip([0, *ends], ends, strict=False)]


messages = st.tuples(st.integers(0, 40) | st.integers(0, 1200), st.sampled_from(["whole", "abort"]), st.booleans())
links = st.fixed_dictionaries(
    {
        "is_sender": st.booleans(),
        "mode": st.integers(0, 1),
        "closed": st.booleans(),
        "messages": st.lists(messages, min_size=1, max_size=4),
    }
)
plans = st.lists(st.lists(links, max_size=3), min_size=1, max_size=3)
places = st.lists(st.integers(0, 10**6), max_size=40)
roles = pytest.mark.parametrize("is_client", [True, False])

SHORT = [
    [
        {"is_sender": True, "mode": 1, "closed": True, "messages": [(30, "whole", False), (500, "abort", False)]},
        {"is_sender": False, "mode": 0, "closed": False, "messages": [(5, "whole", True), (600, "whole", False)]},
    ]
]


def test_a_conversation_is_told_from_the_first_event_to_the_last():
    octets = recorded(SHORT)
    for is_client in (True, False):
        events, state, _ = played(SHORT, is_client, [octets[is_client]])
        assert [events[0], events[-1]] == [("authenticated",), ("closed", None)]
        assert {"transfer", "disposition", "link detached", "session ended"} < {event[0] for event in events}
        assert state is ConnectionState.END


@roles
def test_octets_one_by_one_make_the_same_conversation(is_client):
    octets = recorded(SHORT)[is_client]
    assert played(SHORT, is_client, [octets[at : at + 1] for at in range(len(octets))]) == played(
        SHORT, is_client, [octets]
    )


@roles
def test_a_cut_at_any_octet_changes_nothing(is_client):
    octets = recorded(SHORT)[is_client]
    whole = played(SHORT, is_client, [octets])
    assert [at for at in range(len(octets)) if played(SHORT, is_client, [octets[:at], octets[at:]]) != whole] == []


@roles
@pytest.mark.parametrize("step", [1, 7, 64, 600])
def test_a_buffer_can_be_taken_in_steps(is_client, step):
    octets = recorded(SHORT)[is_client]
    assert played(SHORT, is_client, [octets], step=step) == played(SHORT, is_client, [octets])


def test_a_step_ends_behind_the_frame_in_which_it_has_enough():
    connection = Connection(ConnectionConfig(container_id="s"), Recorder(), is_client=False)
    connection.start(0.0)
    frame = bytes.fromhex("00000008 02000000")
    octets = b"AMQP\x00\x01\x00\x00" + 3 * frame
    assert connection.receive_some(octets, 0.0, 0, len(octets), 1) == 8
    assert connection.receive_some(octets, 0.0, 8, len(octets), 9) == 24
    # Of a frame that is cut it takes what there is.
    assert connection.receive_some(octets, 0.0, 24, 30, 1) == 30
    assert connection.cut_frame == frame[:6]
    assert connection.receive_some(octets, 0.0, 30, len(octets), 1) == len(octets)
    assert connection.cut_frame == b""


def test_a_step_ends_where_its_frames_have_cost_enough():
    connection = Connection(ConnectionConfig(container_id="s"), Recorder(), is_client=False)
    connection.start(0.0)
    connection.receive_data(b"AMQP\x00\x01\x00\x00", 0.0)
    octets = (2 * WORK_MAX + 1) * EMPTY_FRAME
    end = len(octets)
    stops = [connection.receive_some(octets, 0.0, at * WORK_MAX * 8, end, end) for at in range(3)]
    assert stops == [WORK_MAX * 8, 2 * WORK_MAX * 8, end]


def test_a_frame_that_is_cut_waits_for_the_next_step_when_this_one_has_cost_enough():
    connection = Connection(ConnectionConfig(container_id="s"), Recorder(), is_client=False)
    connection.start(0.0)
    connection.receive_data(b"AMQP\x00\x01\x00\x00", 0.0)
    octets = WORK_MAX * EMPTY_FRAME + EMPTY_FRAME[:6]
    assert connection.receive_some(octets, 0.0, 0, len(octets), len(octets)) == len(octets) - 6
    assert connection.cut_frame == b""
    assert connection.receive_some(octets, 0.0, len(octets) - 6, len(octets), len(octets)) == len(octets)
    assert connection.cut_frame == EMPTY_FRAME[:6]


def test_links_cost_more_than_other_frames():
    pair = Pair().open()
    session = pair.session()
    for number in range(WORK_MAX // 4):
        session.sender(str(number)).attach(source=SOURCE, target=TARGET)
    octets = pair.client.data_to_send(0.0)
    at = pair.server.receive_some(octets, 0.0, 0, len(octets), len(octets))
    attached = len(pair.at_server.links)
    assert (at < len(octets), WORK_MAX // 20 < attached < WORK_MAX // 4) == (True, True)
    pair.server.receive_data(octets, 0.0, at)
    assert len(pair.at_server.links) == WORK_MAX // 4


class Toiler(Recorder):
    """Has much to do for each session, and says so."""

    def on_session_begun(self, session, performative):
        super().on_session_begun(session, performative)
        session.connection.work += WORK_MAX


def test_a_step_ends_behind_a_frame_that_costs_its_handler_much():
    pair = Pair(server_handler=Toiler()).open()
    for _ in range(3):
        pair.client.session().begin()
    octets = pair.client.data_to_send(0.0)
    at, counts = 0, []
    while at < len(octets):
        at = pair.server.receive_some(octets, 0.0, at, len(octets), len(octets))
        counts.append(len(pair.at_server.sessions))
    assert counts == [1, 2, 3]


@roles
@settings(max_examples=60)
@given(plan=plans, places=places, step=st.integers(1, 2000))
def test_in_what_steps_octets_are_taken_never_changes_the_events(is_client, plan, places, step):
    octets = recorded(plan)[is_client]
    assert played(plan, is_client, cut(octets, places), step=step) == played(plan, is_client, [octets])


@roles
@settings(max_examples=60)
@given(plan=plans, places=places)
def test_how_octets_are_chunked_never_changes_the_events(is_client, plan, places):
    octets = recorded(plan)[is_client]
    whole = played(plan, is_client, [octets])
    assert played(plan, is_client, cut(octets, places)) == whole
    events, state, _ = played(plan, is_client, cut(octets, places), is_taken_meanwhile=True)
    assert (events, state) == whole[:2]


@roles
@settings(max_examples=100)
@given(
    plan=plans,
    places=places,
    damage=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 2), st.binary(max_size=2)), min_size=1, max_size=3),
    step=st.integers(0, 2000),
)
def test_nor_does_it_when_the_octets_are_damaged(is_client, plan, places, damage, step):
    octets = bytearray(recorded(plan)[is_client])
    for at, size, put_in in damage:
        at %= len(octets)
        octets[at : at + size] = put_in
    assert played(plan, is_client, cut(bytes(octets), places), step=step) == played(plan, is_client, [bytes(octets)])


@roles
def test_a_part_of_a_buffer_can_be_received(is_client):
    octets = recorded(SHORT)[is_client]
    player = Player(SHORT)
    connection = Connection(
        ConnectionConfig(container_id="c" if is_client else "s", max_frame_size=FRAME_SIZE, incoming_window=3),
        player,
        is_client=is_client,
        sasl=sasl_for(is_client),
    )
    connection.start(0.0)
    if is_client:
        connection.open()
    middle = len(octets) // 2
    connection.receive_data(bytearray(b"before" + octets), 0.0, 6, 6 + middle)
    connection.receive_data(octets + b"behind", 0.0, middle, len(octets))
    assert player.events == played(SHORT, is_client, [octets])[0]
