"""Questions to other routers: when they are asked, and how often."""

from math import inf

from routerd.mesh.node import Node
from routerd.mesh.questions import Questions


def everybody(router):
    return True


def nobody(router):
    return False


def node_of(router="B"):
    return Node(router, 1, 0.0)


def test_a_question_is_asked_once():
    questions, node = Questions(), node_of()
    questions.ask_links(node, 5.0)
    assert (questions.deadline, questions.take_due(4.9, everybody)) == (5.0, ([], []))
    assert (questions.deadline, questions.take_due(5.0, everybody)) == (5.0, ([node], []))
    node.ls_seq = 1
    node.ls_question.answered(5.1)
    assert questions.take_due(7.0, everybody) == ([], [])
    assert questions.deadline == inf


def test_both_questions_to_a_router_have_their_own_times():
    questions, node = Questions(), node_of()
    questions.ask_addresses(node, 6.0)
    questions.ask_links(node, 5.0)
    assert questions.take_due(5.0, everybody) == ([node], [])
    node.ls_seq = 1
    node.ls_question.answered(5.1)
    assert questions.take_due(6.0, everybody) == ([], [node])


def test_a_question_waits_until_its_router_can_be_reached():
    questions, node = Questions(), node_of()
    questions.ask_links(node, 5.0)
    assert (questions.take_due(5.0, nobody), questions.deadline) == (([], []), inf)
    assert questions.take_due(9.0, everybody) == ([], [])
    questions.try_again(9.5)
    assert questions.deadline == 9.5
    assert questions.take_due(9.5, everybody) == ([node], [])


def test_what_is_announced_again_is_not_asked_for_while_the_answer_may_be_under_way():
    questions, node = Questions(), node_of()
    for now, ls_seq, asks in ((1.0, 3, True), (1.05, 3, False), (1.06, 4, True), (1.3, 4, False), (1.32, 3, True)):
        questions.want_links(node, ls_seq, now)
        assert questions.take_due(now, everybody) == ([node] if asks else [], []), now
    assert node.ls_wanted == 4
    for now, mobile_seq, asks in ((1.0, 3, True), (1.05, 3, False), (1.06, 4, True), (1.32, 4, True)):
        questions.want_addresses(node, mobile_seq, now, now)
        assert questions.take_due(now, everybody) == ([], [node] if asks else []), now


def test_a_question_without_an_answer_is_repeated_less_and_less_often_and_not_for_ever():
    questions, node = Questions(), node_of()
    questions.want_links(node, 3, 1.0)
    asked = []
    while questions.deadline < inf:
        now = questions.deadline
        asked += [now for _ in questions.take_due(now, everybody)[0]]
    assert asked == [1.0, 1.25, 1.75, 2.75, 4.75, 8.75]
    questions.want_links(node, 3, 10.0)
    assert questions.take_due(10.0, everybody) == ([node], [])


def test_a_question_that_is_answered_is_not_repeated():
    questions, node = Questions(), node_of()
    questions.want_links(node, 3, 1.0)
    questions.want_addresses(node, 2, 1.0, 1.0)
    questions.take_due(1.0, everybody)
    node.ls_seq, node.mobile_seq, node.is_mobile_known = 3, 2, True
    node.ls_question.answered(1.1)
    assert questions.take_due(3.0, everybody) == ([], [])


def test_who_is_asked_though_nothing_is_known_to_be_missing_is_asked_until_there_is_an_answer():
    questions, node = Questions(), node_of()
    node.ls_seq, node.is_mobile_known = 3, True
    questions.ask_links(node, 1.0)
    questions.ask_addresses(node, 1.0)
    assert questions.take_due(1.0, everybody) == ([node], [node])
    # A router that has never had addresses does not answer the other question.
    assert questions.take_due(1.25, everybody) == ([node], [])
    node.ls_question.answered(1.3)
    assert questions.take_due(9.0, everybody) == ([], [])
    assert questions.deadline == inf


def test_a_question_may_be_dropped_and_a_router_forgotten():
    questions, node, other = Questions(), node_of(), node_of("C")
    questions.ask_links(node, 1.0)
    questions.ask_links(other, 1.0)
    node.ls_question.drop()
    questions.forget("C")
    assert questions.take_due(1.0, everybody) == ([], [])
