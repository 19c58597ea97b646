"""What a trunk took with it when it was lost is asked for again, where nobody can know that it was lost."""

import pytest

from routerd.mesh import Hello, LinkStateUpdate
from tests.unit.mesh.engines import TO, Fed, sent


def test_the_loss_of_one_of_two_trunks_to_a_neighbour_makes_questions():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1})
    fed.open(2)
    fed.tell(2, Hello("B", 20, ("A",)))
    fed.until(fed.now + 1.0)
    fed.engine.trunk_closed(2, fed.now)
    told = fed.until(fed.now + 0.3)
    asked = [(trunk, message.to) for trunk, message in sent(told, "LSR")]
    assert asked == [(1, TO["LSR"].replace("/A/", "/B/"))]
    assert [trunk for trunk, _ in sent(told, "MAR")] == [1]


@pytest.mark.parametrize(("away_s", "is_asked"), [(0.5, True), (2.9, True), (3.0, False)])
def test_all_routers_are_asked_when_a_neighbour_is_back_that_may_not_have_noticed(away_s, is_asked):
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1, "C": 1})
    fed.learn(1, "C", {"B": 1})
    fed.greet(8.0, (1, "B"))
    fed.close(1)
    fed.until(fed.now + away_s)
    # What B and C told in between went into the trunk that is gone.
    told = fed.adjoin(2, "B")
    told += fed.until(fed.now + 0.1)
    asked = {(message.opcode, message.to) for _, message in sent(told) if message.opcode in ("LSR", "MAR")}
    everything = {(opcode, TO[opcode].replace("/A/", f"/{router}/")) for opcode in ("LSR", "MAR") for router in "BC"}
    assert asked == (everything if is_asked else {("LSR", TO["LSR"].replace("/A/", "/B/"))})


@pytest.mark.parametrize(("answered_s", "asked"), [(0.1, [2]), (0.4, [2, 2])])
def test_who_answers_late_may_have_missed_the_other_question_too(answered_s, asked):
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1})
    fed.close(1)
    fed.open(2)
    told = fed.tell(2, Hello("B", 20, ("A",)))
    told += fed.until(fed.now + answered_s)
    told += fed.tell(2, LinkStateUpdate("B", 20, 1, {"A": 1}))
    # B has no news of addresses, so it says nothing to a question for them, and nobody knows whether one has come.
    told += fed.until(fed.now + 1.5)
    assert [trunk for trunk, _ in sent(told, "MAR")] == asked


def test_a_router_whose_announcements_were_lost_is_asked_and_its_answer_keeps_its_links():
    fed = Fed(hello_max_age_s=999.0)
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1, "C": 1})
    fed.learn(1, "C", {"B": 1})
    told = fed.until(fed.now + 44.0)
    assert sent(told, "LSR") == []
    told = fed.until(fed.now + 3.0)
    asked = {message.to for _, message in sent(told, "LSR")}
    assert asked == {TO["LSR"].replace("/A/", f"/{router}/") for router in "BC"}
    fed.tell(1, LinkStateUpdate("C", 20, 1, {"B": 1}))
    fed.until(fed.now + 30.0)
    # B has not answered.
    peers = {node.id: dict(node.peers) for node in fed.engine.nodes() if not node.is_self}
    assert peers == {"B": {}, "C": {"B": 1}}


def test_a_router_that_is_away_is_asked_a_few_times_before_its_links_are_void():
    fed = Fed(hello_max_age_s=999.0)
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1})
    told = fed.until(fed.now + 59.0)
    assert 2 <= len(sent(told, "LSR")) <= 6
