"""The tables of states: which moves there are, and where they lead."""

import pytest

from routerd.wire.errors import StateError
from routerd.wire.session import Session
from routerd.wire.states import (
    CONNECTION_TRANSITIONS,
    LINK_TRANSITIONS,
    SESSION_TRANSITIONS,
    ConnectionMove,
    ConnectionState,
    LinkMove,
    LinkState,
    SessionMove,
    SessionState,
)
from tests.endpoints import Pair
from tests.unit.wire.attached import attached

TABLES = {
    "connection": (CONNECTION_TRANSITIONS, ConnectionState.START, ConnectionState, ConnectionMove),
    "session": (SESSION_TRANSITIONS, SessionState.UNMAPPED, SessionState, SessionMove),
    "link": (LINK_TRANSITIONS, LinkState.DETACHED, LinkState, LinkMove),
}


def reached(table, start):
    found = {start}
    while True:
        further = {after for (before, _), after in table.items() if before in found} - found
        if not further:
            return found
        found |= further


@pytest.mark.parametrize("name", TABLES)
def test_every_state_can_be_reached_from_the_first(name):
    table, start, states, _ = TABLES[name]
    assert reached(table, start) == set(states)


@pytest.mark.parametrize("name", TABLES)
def test_every_move_has_a_row(name):
    table, _, _, moves = TABLES[name]
    assert {move for _, move in table} == set(moves)


@pytest.mark.parametrize("name", TABLES)
def test_every_state_leads_to_the_end(name):
    table, start, states, _ = TABLES[name]
    end = ConnectionState.END if name == "connection" else start
    assert all(end in reached(table, state) for state in states)


def test_nothing_leads_out_of_the_end_of_a_connection():
    assert [move for before, move in CONNECTION_TRANSITIONS if before is ConnectionState.END] == []


@pytest.mark.parametrize("send_error", [False, True])
def test_a_connection_that_is_opened_and_closed_passes_these_states(send_error):
    close = ConnectionMove.SEND_CLOSE_ERROR if send_error else ConnectionMove.SEND_CLOSE
    moves = (
        ConnectionMove.SEND_HEADER,
        ConnectionMove.RECV_HEADER,
        ConnectionMove.SEND_OPEN,
        ConnectionMove.RECV_OPEN,
        close,
        ConnectionMove.RECV_CLOSE,
    )
    state, passed = ConnectionState.START, []
    for move in moves:
        state = CONNECTION_TRANSITIONS[state, move]
        passed.append(state)
    assert passed == [
        ConnectionState.HDR_SENT,
        ConnectionState.HDR_EXCH,
        ConnectionState.OPEN_SENT,
        ConnectionState.OPENED,
        ConnectionState.DISCARDING if send_error else ConnectionState.CLOSE_SENT,
        ConnectionState.END,
    ]


def test_a_move_without_a_row_leaves_the_state():
    pair = Pair().open()
    session = pair.client.session()
    with pytest.raises(StateError, match=r"^session on channel 0: can't send end when unmapped$"):
        session.end()
    assert session.state is SessionState.UNMAPPED
    with pytest.raises(StateError, match=r"^can't open on a connection in the state 'opened'$"):
        pair.client.open()
    assert pair.client.state is ConnectionState.OPENED
    link = attached().sender
    with pytest.raises(StateError, match=r"^link 'l': can't send attach when attached$"):
        link.attach()
    assert link.state is LinkState.ATTACHED


def test_the_states_of_a_session_follow_its_table():
    pair = Pair().open()
    session = pair.client.session()
    passed = [session.state]

    def step(do):
        do()
        passed.append(session.state)

    for do in (session.begin, pair.pump, session.end, pair.pump):
        step(do)
    assert passed == [
        SessionState.UNMAPPED,
        SessionState.BEGIN_SENT,
        SessionState.MAPPED,
        SessionState.END_SENT,
        SessionState.UNMAPPED,
    ]
    assert isinstance(session, Session)
