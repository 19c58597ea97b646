"""The state table of SASL, in both roles."""

import pytest

from routerd.wire.errors import IllegalState, StateError
from routerd.wire.sasl.negotiation import CLIENT, ENDED, SERVER, Event, Negotiation, State


def test_a_server_may_go_through_any_number_of_challenges():
    negotiation = Negotiation(SERVER)
    negotiation.move(Event.SEND_MECHANISMS)
    negotiation.receive(Event.RECV_INIT)
    for _ in range(3):
        negotiation.move(Event.SEND_CHALLENGE)
        negotiation.receive(Event.RECV_RESPONSE)
    negotiation.move(Event.SEND_OK)
    assert negotiation.state is State.SUCCEEDED


def test_a_step_of_the_peer_without_a_row_breaks_the_protocol_and_moves_nothing():
    negotiation = Negotiation(CLIENT)
    with pytest.raises(IllegalState, match=r"^sasl-challenge: not in the state 'start' \(5\.3\.2\)$"):
        negotiation.receive(Event.RECV_CHALLENGE)
    assert negotiation.state is State.START


def test_a_step_of_our_own_without_a_row_is_our_mistake():
    negotiation = Negotiation(SERVER)
    with pytest.raises(StateError, match=r"^send sasl-outcome ok: not in the state 'start'$"):
        negotiation.move(Event.SEND_OK)
    assert negotiation.state is State.START


@pytest.mark.parametrize("table", [SERVER, CLIENT])
def test_nothing_leads_out_of_an_ended_exchange(table):
    onward = {(before, after) for (before, _), after in table.items() if before in ENDED}
    assert onward == {(state, state) for state in ENDED}


@pytest.mark.parametrize("table", [SERVER, CLIENT])
def test_every_exchange_that_has_not_ended_can_be_abandoned(table):
    assert {table[state, Event.ABANDON] for state in State if state not in ENDED} == {State.ABANDONED}


@pytest.mark.parametrize("state", State)
def test_only_ended_states_are_over(state):
    negotiation = Negotiation(SERVER)
    negotiation.state = state
    assert negotiation.is_over is (state in ENDED)
