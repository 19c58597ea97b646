"""The routing engine: joining, losing, forwarding, and telling of addresses."""

from itertools import pairwise

import pytest

from routerd.mesh import (
    AddressesMapped,
    ControlMessage,
    Hello,
    LinkStateRequest,
    LinkStateUpdate,
    MobileAddressRequest,
    MobileAddressUpdate,
    NodeState,
    NotAdvertisable,
    OriginsChanged,
    Remark,
    Route,
    RouterAdvertisement,
    RouterForgotten,
    Routes,
    RoutesChanged,
    SendControl,
)
from tests.unit.mesh.engines import TO, Fed, Joined, message_of, of_kind, sent


def own(control, to):
    """Return the message by which A says something."""
    return ControlMessage(to, control.OPCODE, control.to_body(), "0/A", ("0/A",))


def lsr(router):
    return own(LinkStateRequest("A"), f"amqp:/_topo/0/{router}/qdrouter")


def mar(router, have_seq):
    return own(MobileAddressRequest("A", have_seq), f"amqp:/_topo/0/{router}/qdrouter.ma")


def ra(ls_seq, mobile_seq, instance=11):
    return own(RouterAdvertisement("A", instance, ls_seq, mobile_seq), "amqp:/_topo/0/all/qdrouter")


def mau(*arguments, **keywords):
    return own(MobileAddressUpdate("A", *arguments, **keywords), "_topo/0/all/qdrouter.ma")


def hello(*seen):
    return own(Hello("A", 11, seen), "amqp:/_local/qdhello")


def is_routed(commands):
    """Return where routes lead by the last that were told: router to next hop, trunk, cost and hops."""
    routes = of_kind(commands, RoutesChanged)[-1].routes
    return {router: (one.next_hop, one.trunk, one.cost, one.hops) for router, one in routes.nodes.items()}


# --- neighbours


def test_two_routers_are_neighbours_within_milliseconds():
    joined = Joined("AB")
    joined.join("AB", cost=3)
    joined.run(0.003)
    assert of_kind(joined.take("A"), RoutesChanged) == [
        RoutesChanged(Routes(1, 1, {"B": Route("B", "B", 1, 3, 1)}, {"B": (1,)}))
    ]
    joined.run(0.05)
    assert [node.peers for node in joined.engines["A"].nodes()] == [{"B": 3}, {"A": 3}]


def test_a_neighbour_is_greeted_on_every_trunk():
    fed = Fed()
    assert fed.open(1) == [SendControl(1, hello())]
    assert fed.tell(1, Hello("B", 20, ())) == [SendControl(1, hello("B"))]
    assert fed.open(2) == [SendControl(2, hello("B"))]
    assert sent(fed.until(1.0), "HELLO") == [(1, hello("B")), (2, hello("B"))]


def test_a_new_neighbour_is_asked_for_its_links_and_then_ours_are_announced():
    fed = Fed()
    fed.open(1, 4)
    commands = fed.tell(1, Hello("B", 20, ("A",)))
    assert commands == [
        Remark("info", "router B is a neighbour, at cost 4"),
        RoutesChanged(Routes(1, 1, {"B": Route("B", "B", 1, 4, 1)}, {"B": (1,)})),
        OriginsChanged(1, {}),
        SendControl(1, lsr("B")),
    ]
    assert fed.engine.next_deadline() == 0.02
    assert fed.until(0.02) == [SendControl(1, ra(1, 0))]


def test_the_loss_of_a_neighbour_is_acted_on_at_once():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.adjoin(2, "C")
    assert fed.close(1) == [
        Remark("info", "router B is not a neighbour any more"),
        RoutesChanged(Routes(3, 1, {"C": Route("C", "C", 2, 1, 1)}, {"C": (2,)})),
        OriginsChanged(3, {}),
        SendControl(2, ra(3, 0)),
    ]
    assert fed.close(1) == []


def test_the_loss_of_a_trunk_is_known_in_the_mesh_after_the_time_on_the_way():
    joined = Joined("ABCD")
    (first, *_) = joined.join("AB BC CD DA")
    joined.run(1.0)
    assert joined.engines["C"].routes.nodes["A"].next_hop == "B"
    joined.cut("A", first[0])
    joined.run(0.006)
    routes = joined.engines["C"].routes.nodes
    assert (routes["A"].next_hop, routes["A"].cost, routes["B"].cost) == ("D", 2, 1)
    assert joined.engines["B"].routes.nodes["A"].hops == 3


def test_a_neighbour_that_falls_silent_is_lost():
    fed = Fed()
    fed.adjoin(1, "B")
    commands = fed.until(3.0)
    assert of_kind(commands, RoutesChanged)[-1].routes.nodes == {}
    assert sent(fed.until(4.0), "HELLO") == [(1, hello())]


def test_several_trunks_make_one_neighbour_and_the_next_takes_over():
    fed = Fed()
    fed.open(1, 2)
    fed.open(2, 2)
    fed.open(3, 5)
    for trunk in (3, 2, 1):
        fed.tell(trunk, Hello("B", 20, ("A",)))
    assert fed.engine.routes.neighbours == {"B": (1, 2, 3)}
    assert sent(fed.until(0.1), "RA") == [(1, ra(1, 0))]
    assert fed.close(1) == [RoutesChanged(Routes(4, 1, {"B": Route("B", "B", 2, 2, 1)}, {"B": (2, 3)}))]
    commands = fed.close(2)
    assert is_routed(commands) == {"B": ("B", 3, 5, 1)}
    assert sent(commands) == [(3, ra(2, 0))]


def test_greetings_of_a_neighbour_over_several_trunks_change_nothing():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.adjoin(2, "B")
    version = fed.engine.routes.version
    assert [fed.tell(trunk, Hello("B", 20, ("A",))) for trunk in (1, 2, 1, 2)] == [[], [], [], []]
    assert fed.engine.routes.version == version


# --- link states


def test_who_has_announced_more_than_is_known_is_asked():
    fed = Fed()
    fed.adjoin(1, "B")
    assert sent(fed.tell(1, RouterAdvertisement("B", 20, 3, 0))) == [(1, lsr("B"))]
    assert fed.tell(1, RouterAdvertisement("B", 20, 3, 0)) == []
    commands = fed.tell(1, LinkStateUpdate("B", 20, 3, {"A": 1, "C": 2}))
    assert is_routed(commands) == {"B": ("B", 1, 1, 1), "C": ("B", 1, 3, 2)}
    assert sent(commands) == [(1, lsr("C"))]
    assert fed.tell(1, RouterAdvertisement("B", 20, 3, 0), LinkStateUpdate("B", 20, 3, {})) == []
    assert fed.tell(1, LinkStateUpdate("B", 20, 2, {})) == []


def test_a_router_that_is_new_is_asked_for_its_addresses_once_its_links_are_known():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1, "C": 1})
    assert sent(fed.tell(1, LinkStateUpdate("C", 30, 1, {"B": 1}))) == [(1, mar("C", 0))]


def test_a_router_that_can_not_be_reached_is_asked_once_it_can():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1})
    assert fed.tell(1, RouterAdvertisement("D", 40, 2, 1)) == []
    assert sent(fed.tell(1, LinkStateUpdate("B", 20, 2, {"A": 1, "D": 1}))) == [(1, lsr("D")), (1, mar("D", 0))]


def test_an_unanswered_question_is_asked_again_for_some_seconds():
    fed = Fed(hello_max_age_s=99.0)
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1})
    fed.tell(1, RouterAdvertisement("B", 20, 2, 0))
    assert sent(fed.until(10.0), "LSR") == [(1, lsr("B"))] * 5


def test_who_asks_for_our_links_gets_them_as_they_were_announced():
    fed = Fed()
    fed.open(1)
    answer = own(LinkStateUpdate("A", 11, 0, {}), "amqp:/_topo/0/B/qdrouter")
    assert sent(fed.tell(1, Hello("B", 20, ("A",)), LinkStateRequest("B")), "LSU") == [(1, answer)]
    fed.until(0.1)
    answer = own(LinkStateUpdate("A", 11, 1, {"B": 1}), "amqp:/_topo/0/B/qdrouter")
    assert sent(fed.tell(1, LinkStateRequest("B"))) == [(1, answer)]


def test_who_asks_from_afar_is_answered_even_if_the_way_to_it_is_not_known_yet():
    fed = Fed()
    fed.adjoin(1, "B")
    answer = own(LinkStateUpdate("A", 11, 1, {"B": 1}), "amqp:/_topo/0/Z/qdrouter")
    assert sent(fed.tell(1, LinkStateRequest("Z"), trace=("0/Z", "0/B"))) == [(1, answer)]


def test_a_router_that_starts_anew_is_known_anew():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1, "C": 1}, ls_seq=9, mobile_seq=1)
    fed.tell(1, MobileAddressUpdate("B", 1, ("M0a",), (), hints=(3,)))
    commands = fed.tell(1, RouterAdvertisement("B", 21, 1, 0))
    assert commands == [
        Remark("info", "router B has been started anew"),
        RouterForgotten("B"),
        RoutesChanged(Routes(3, 1, {"B": Route("B", "B", 1, 1, 1)}, {"B": (1,)})),
        SendControl(1, lsr("B")),
    ]
    assert is_routed(fed.tell(1, LinkStateUpdate("B", 21, 1, {"A": 1, "D": 1}))) == {
        "B": ("B", 1, 1, 1),
        "D": ("B", 1, 2, 2),
    }


def test_a_link_state_from_before_a_restart_is_of_no_account():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.tell(1, RouterAdvertisement("B", 21, 1, 0))
    assert fed.tell(1, LinkStateUpdate("B", 20, 9, {"A": 1, "X": 1})) == []
    assert [node.ls_seq for node in fed.engine.nodes()] == [1, 0]


def test_what_a_router_told_before_its_restart_and_comes_late_is_of_no_account():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1}, ls_seq=2, mobile_seq=1)
    fed.tell(1, RouterAdvertisement("B", 21, 1, 0), LinkStateUpdate("B", 21, 1, {"A": 1, "D": 1}))
    assert fed.tell(1, RouterAdvertisement("B", 20, 2, 1), Hello("B", 20, ("A",))) == []
    assert [(node.instance, node.ls_seq) for node in fed.engine.nodes()][1] == (21, 1)


def test_where_the_late_one_was_heard_of_first_the_other_one_counts():
    fed = Fed()
    fed.adjoin(1, "B", instance=21)
    # Whoever did not know a router before takes what comes, if only for a moment.
    restarted = Remark("info", "router B has been started anew")
    assert restarted in fed.tell(1, RouterAdvertisement("B", 20, 9, 0))
    assert restarted in fed.tell(1, RouterAdvertisement("B", 21, 2, 0))
    assert fed.tell(1, RouterAdvertisement("B", 20, 9, 0)) == []
    # A clock that was set back does not make a router a former one.
    assert restarted in fed.tell(1, RouterAdvertisement("B", 19, 1, 0))


def test_a_link_state_tells_the_instance_of_a_router_that_was_only_heard_of():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1, "C": 1})
    fed.tell(1, LinkStateUpdate("C", 30, 9, {"B": 1}))
    assert [node.instance for node in fed.engine.nodes()] == [11, 20, 30]
    assert Remark("info", "router C has been started anew") in fed.tell(1, RouterAdvertisement("C", 31, 1, 0))


def test_an_instance_that_was_not_told_is_no_other_one():
    fed = Fed()
    fed.adjoin(1, "B", instance=0)
    assert fed.tell(1, Hello("B", 20, ("A",)), Hello("B", 0, ("A",))) == []
    assert [node.instance for node in fed.engine.nodes()] == [11, 20]


def test_a_router_that_is_gone_is_unreachable_at_once_and_forgotten_after_a_minute():
    fed = Fed(hello_max_age_s=999.0)
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1, "C": 1})
    fed.learn(1, "C", {"B": 1}, instance=30)
    fed.tell(1, MobileAddressUpdate("C", 1, ("M0a",), (), hints=(3,)))
    assert is_routed(fed.learn(1, "B", {"A": 1}, ls_seq=2)) == {"B": ("B", 1, 1, 1)}
    assert fed.engine.addresses_of("C") == {"M0a": 3}
    for _ in range(5):
        fed.until(fed.now + 10.0)
        fed.tell(1, RouterAdvertisement("B", 20, 2, 0))
    assert of_kind(fed.until(60.0), RouterForgotten) == []
    assert of_kind(fed.until(64.0), RouterForgotten) == [RouterForgotten("C")]
    assert [node.id for node in fed.engine.nodes()] == ["A", "B"]
    assert fed.engine.addresses_of("C") == {}


def test_a_router_that_comes_back_in_time_still_has_its_addresses():
    fed = Fed(hello_max_age_s=999.0)
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1, "C": 1})
    fed.learn(1, "C", {"B": 1}, instance=30)
    fed.tell(1, MobileAddressUpdate("C", 1, ("M0a",), (), hints=(3,)))
    fed.learn(1, "B", {"A": 1}, ls_seq=2)
    fed.until(30.0)
    assert is_routed(fed.learn(1, "B", {"A": 1, "C": 1}, ls_seq=3))["C"] == ("B", 1, 2, 2)
    assert fed.engine.addresses_of("C") == {"M0a": 3}


def test_a_router_that_keeps_telling_less_than_is_known_of_it_is_asked_again():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1, "X": 1}, ls_seq=9)
    fed.tell(1, MobileAddressUpdate("B", 1, ("M0a",), (), hints=(3,)))
    assert fed.tell(1, RouterAdvertisement("B", 20, 2, 0)) == []
    fed.greet(fed.now + 2.9, (1, "B"))
    assert fed.tell(1, RouterAdvertisement("B", 20, 2, 0)) == []
    fed.greet(fed.now + 1.0, (1, "B"))
    assert fed.tell(1, RouterAdvertisement("B", 20, 2, 0)) == [
        Remark("debug", "what is known of router B is ahead of it, and asked for again"),
        AddressesMapped("B", {}, ("M0a",)),
        SendControl(1, lsr("B")),
    ]
    assert "X" not in is_routed(fed.tell(1, LinkStateUpdate("B", 20, 2, {"A": 1})))


def test_addresses_that_a_router_keeps_telling_less_of_are_asked_for_again():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1})
    fed.tell(1, MobileAddressUpdate("B", 5, exist=("M0a",), hints=(3,)))
    fed.tell(1, RouterAdvertisement("B", 20, 1, 2))
    fed.greet(fed.now + 4.0, (1, "B"))
    assert sent(fed.tell(1, RouterAdvertisement("B", 20, 1, 2)), "MAR") == [(1, mar("B", 0))]
    commands = fed.tell(1, MobileAddressUpdate("B", 2, exist=("M0b",), hints=(3,)))
    assert commands == [AddressesMapped("B", {"M0b": 3}, ("M0a",))]


def test_links_that_a_router_keeps_telling_less_of_are_asked_for_again():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1, "X": 1}, ls_seq=9)
    fed.tell(1, RouterAdvertisement("B", 20, 2, 0))
    fed.greet(fed.now + 4.0, (1, "B"))
    assert sent(fed.tell(1, RouterAdvertisement("B", 20, 2, 0))) == [(1, lsr("B"))]
    assert is_routed(fed.tell(1, LinkStateUpdate("B", 20, 2, {"A": 1}))) == {"B": ("B", 1, 1, 1)}


def test_what_comes_of_a_question_may_be_less_than_was_announced():
    fed = Fed(hello_max_age_s=99.0)
    fed.adjoin(1, "B")
    fed.tell(1, RouterAdvertisement("B", 20, 3, 3))
    fed.tell(1, LinkStateUpdate("B", 20, 2, {"A": 1}))
    fed.tell(1, MobileAddressUpdate("B", 2, exist=("M0a",), hints=(3,)), to=TO["MAR"])
    assert sent(fed.until(fed.now + 0.9), "LSR") == []
    told = fed.until(fed.now + 0.2)
    assert (sent(told, "LSR"), sent(told, "MAR")) == ([(1, lsr("B"))], [(1, mar("B", 2))])


def test_an_advertisement_that_was_overtaken_on_its_way_changes_nothing():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1}, ls_seq=9)
    fed.tell(1, RouterAdvertisement("B", 20, 2, 0))
    fed.greet(fed.now + 9.0, (1, "B"))
    fed.tell(1, RouterAdvertisement("B", 20, 9, 0))
    assert fed.tell(1, RouterAdvertisement("B", 20, 2, 0)) == []


def test_advertisements_are_repeated_often_while_the_topology_changes_and_seldom_else():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1})
    told = []
    while fed.now < 80.0:
        commands = fed.greet(fed.now + 1.0, (1, "B")) + fed.tell(1, RouterAdvertisement("B", 20, 1, 0))
        told += [(round(fed.now), message) for _, message in sent(commands, "RA")]
    assert told == [(second, ra(1, 0)) for second in (4, 8, 38, 68)]


def test_advertisements_are_repeated_also_while_changes_follow_each_other():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1})
    fed.greet(30.0, (1, "B"))
    told = []
    for change in range(1, 160):
        commands = fed.greet(30.0 + change / 4, (1, "B"), every=0.25)
        told += [fed.now for _, _ in sent(commands, "RA")]
        fed.tell(1, LinkStateUpdate("B", 20, 1 + change, {"A": 1, "C": change}))
    assert len(told) >= 9
    assert max(later - earlier for earlier, later in pairwise(told)) <= 4.25


def test_nothing_is_told_while_nobody_can_be_reached():
    fed = Fed()
    fed.open(1)
    fed.engine.want("M0a", 3, fed.now)
    assert {message.opcode for _, message in sent(fed.until(70.0))} == {"HELLO"}


# --- forwarding


@pytest.fixture
def star():
    """A with neighbours B, C and D; E is behind D."""
    fed = Fed()
    for trunk, router in enumerate("BCD", 1):
        fed.adjoin(trunk, router)
        fed.learn(trunk, router, {"A": 1, "E": 1} if router == "D" else {"A": 1})
    fed.until(1.0)
    return fed


def passed_on(commands):
    return [(trunk, message.ingress, message.trace) for trunk, message in sent(commands)]


def test_a_message_to_one_router_is_passed_on_towards_it(star):
    message = message_of(LinkStateRequest("B"), "amqp:/_topo/0/E/qdrouter")
    star.engine.receive(1, message, star.now)
    assert sent(star.take()) == [
        (3, ControlMessage(message.to, "LSR", message.body, "0/B", ("0/B", "0/A"))),
    ]


def test_a_message_whose_way_leads_back_takes_another_one_each_time(star):
    detours = []
    for _ in range(4):
        commands = star.tell(1, LinkStateRequest("B"), to="amqp:/_topo/0/E/qdrouter", trace=("0/D", "0/B"))
        detours += [trunk for trunk, _ in sent(commands)]
    # D has sent it here, and C is the only one that may know better.
    assert detours == [2, 2, 2, 2]
    star.adjoin(4, "F")
    star.learn(4, "F", {"A": 1})
    commands = [star.tell(1, LinkStateRequest("B"), to="amqp:/_topo/0/E/qdrouter", trace=("0/D", "0/B")) for _ in "12"]
    assert sorted(trunk for each in commands for trunk, _ in sent(each)) == [2, 4]


def test_a_message_to_a_router_that_has_only_been_heard_of_looks_for_a_way(star):
    star.tell(2, RouterAdvertisement("G", 70, 1, 0), trace=("0/G", "0/C"))
    [(trunk, message)] = sent(star.tell(1, LinkStateRequest("B"), to="amqp:/_topo/0/G/qdrouter", trace=("0/B",)))
    assert (trunk in (2, 3), message.trace) == (True, ("0/B", "0/A"))


@pytest.mark.parametrize(
    ("to", "trace"),
    [
        ("amqp:/_topo/0/X/qdrouter", ("0/B",)),
        ("amqp:/_topo/1/E/qdrouter", ("0/B",)),
        ("amqp:/_topo/0/E/qdrouter", ("0/B", "0/A")),
        ("amqp:/_topo/0/E/qdrouter", ("0/E", "0/D", "0/B")),
        ("amqp:/_topo/0/E/qdrouter", ("0/1", "0/2", "0/3", "0/4", "0/5", "0/B")),
        ("orders", ("0/B",)),
    ],
)
def test_a_message_that_would_go_round_in_circles_or_nowhere_is_dropped(star, to, trace):
    assert star.tell(1, LinkStateRequest("B"), to=to, trace=trace) == []


@pytest.mark.parametrize("control", [RouterAdvertisement("B", 20, 1, 0), MobileAddressUpdate("B", 9, (), (), hints=())])
def test_a_message_to_all_routers_goes_to_all_but_those_who_have_it(star, control):
    assert [one for one in passed_on(star.tell(1, control)) if one[2] != ("0/A",)] == [
        (2, "0/B", ("0/B", "0/A")),
        (3, "0/B", ("0/B", "0/A")),
    ]
    assert star.tell(2, control, trace=("0/B", "0/C")) == []


def test_a_message_to_all_routers_does_not_go_to_those_whom_its_trace_names(star):
    assert passed_on(star.tell(1, RouterAdvertisement("B", 20, 1, 0), trace=("0/C", "0/B"))) == [
        (3, "0/B", ("0/C", "0/B", "0/A"))
    ]


def test_a_message_without_annotations_begins_here(star):
    control = RouterAdvertisement("B", 20, 1, 0)
    star.engine.receive(1, ControlMessage("_topo/0/all/qdrouter", "RA", control.to_body()), star.now)
    assert passed_on(star.take()) == [(2, "0/A", ("0/A",)), (3, "0/A", ("0/A",))]


def test_a_message_of_our_own_that_comes_back_is_dropped(star):
    for ingress, trace in (("0/A", ("0/A", "0/B")), ("0/B", ("0/B", "0/A", "0/C")), ("0/A", ())):
        body = RouterAdvertisement("B", 20, 8, 0).to_body()
        star.engine.receive(1, ControlMessage("_topo/0/all/qdrouter", "RA", body, ingress, trace), star.now)
    assert star.take() == []


def test_a_message_that_has_come_further_than_there_are_routers_is_taken_and_not_passed_on(star):
    trace = ("0/1", "0/2", "0/3", "0/4", "0/5", "0/6")
    assert sent(star.tell(1, RouterAdvertisement("B", 20, 2, 0), trace=trace)) == [(1, lsr("B"))]


def test_a_greeting_to_all_routers_is_none(star):
    assert star.tell(1, Hello("E", 50, ("A",)), to="amqp:/_topo/0/all/qdhello") == []
    assert star.engine.routes.neighbours == {"B": (1,), "C": (2,), "D": (3,)}


def test_messages_of_a_trunk_that_is_not_there_are_dropped(star):
    assert star.tell(9, RouterAdvertisement("B", 20, 2, 0)) == []


def test_many_addresses_of_messages_are_not_remembered():
    fed = Fed()
    fed.adjoin(1, "B")
    for number in range(9000):
        fed.engine.receive(1, ControlMessage(f"_topo/0/X{number}/qdrouter", "LSR", {}, "0/B", ("0/B",)), fed.now)
    assert (fed.take(), len(fed.engine._places) < 8193) == ([], True)


def test_long_addresses_of_messages_are_not_remembered():
    fed = Fed()
    fed.adjoin(1, "B")
    before = len(fed.engine._places)
    fed.engine.receive(1, ControlMessage(f"_topo/0/{'X' * 2048}/qdrouter", "LSR", {}, "0/B", ("0/B",)), fed.now)
    assert (fed.take(), len(fed.engine._places)) == ([], before)


# --- addresses


def test_addresses_are_told_to_all_before_the_advertisement():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1})
    fed.engine.want("M0a", 3, fed.now)
    fed.engine.want("Clr", 4, fed.now)
    assert fed.until(fed.now + 0.02) == [
        SendControl(1, mau(1, ("M0a", "Clr"), (), hints=(3, 4))),
        SendControl(1, ra(1, 1)),
    ]
    fed.engine.unwant("M0a", fed.now)
    assert sent(fed.until(fed.now + 0.019), "MAU") == []
    assert sent(fed.until(fed.now + 0.001), "MAU") == [(1, mau(2, (), ("M0a",), hints=()))]


def test_a_neighbour_that_was_not_announced_is_told_no_changes_and_may_ask_for_addresses():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1})
    fed.engine.want("M0a", 3, fed.now)
    fed.until(fed.now + 0.01)
    fed.open(2)
    fed.tell(2, Hello("C", 20, ("A",)))
    commands = fed.until(fed.now + 0.015)
    assert sent(commands, "MAU") == [(1, mau(1, ("M0a",), (), hints=(3,)))]
    assert sent(commands, "RA") == [(1, ra(1, 1)), (2, ra(1, 1))]
    assert sent(fed.until(fed.now + 0.3), "RA") == [(1, ra(2, 1)), (2, ra(2, 1))]
    fed.learn(2, "C", {"A": 1})
    fed.engine.unwant("M0a", fed.now)
    assert [trunk for trunk, _ in sent(fed.until(fed.now + 0.1), "MAU")] == [1, 2]


def test_a_neighbour_that_has_not_announced_us_is_told_no_changes_and_may_ask_for_addresses():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.engine.want("M0a", 3, fed.now)
    assert sent(fed.until(fed.now + 0.02)) == [(1, ra(1, 1))]
    answer = own(MobileAddressUpdate("A", 1, exist=("M0a",), hints=(3,)), "amqp:/_topo/0/B/qdrouter.ma")
    assert sent(fed.tell(1, MobileAddressRequest("B", 0)), "MAU") == [(1, answer)]
    fed.learn(1, "B", {"A": 1})
    fed.engine.unwant("M0a", fed.now)
    assert sent(fed.until(fed.now + 0.1), "MAU") == [(1, mau(2, (), ("M0a",), hints=()))]


def test_addresses_from_before_we_were_known_are_counted_and_not_told():
    fed = Fed()
    fed.engine.want("M0a", 3, 0.0)
    fed.until(1.0)
    commands = fed.adjoin(1, "B")
    assert sent(commands, "MAU") == []
    assert sent(commands, "RA") == [(1, ra(1, 1))]
    answer = own(MobileAddressUpdate("A", 1, exist=("M0a",), hints=(3,)), "amqp:/_topo/0/B/qdrouter.ma")
    assert sent(fed.tell(1, MobileAddressRequest("B", 0))) == [(1, answer)]


def test_who_knows_our_addresses_or_is_not_known_gets_no_answer():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.engine.want("M0a", 3, fed.now)
    fed.until(fed.now + 1.0)
    assert fed.tell(1, MobileAddressRequest("B", 1), MobileAddressRequest("Z", 0)) == []


def test_all_addresses_may_be_set():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1})
    fed.engine.set_addresses({"M0a": 3, "M0b": 3}, fed.now)
    fed.until(fed.now + 1.0)
    fed.engine.set_addresses({"M0b": 3, "M0c": 3}, fed.now)
    assert sent(fed.until(fed.now + 1.0), "MAU") == [(1, mau(2, ("M0c",), ("M0a",), hints=(3,)))]


def test_an_address_that_may_not_be_told_is_our_callers_mistake():
    with pytest.raises(NotAdvertisable):
        Fed().engine.want("L_x", 3, 0.0)


@pytest.fixture
def pair():
    """A with its neighbour B, of whose addresses the first set is known."""
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1}, mobile_seq=1)
    assert fed.tell(1, MobileAddressUpdate("B", 1, ("M0a",), (), hints=(3,))) == [
        AddressesMapped("B", {"M0a": 3}, ()),
    ]
    fed.until(fed.now + 0.2)
    return fed


def test_changes_of_addresses_follow_each_other(pair):
    assert pair.tell(1, MobileAddressUpdate("B", 2, ("M0b",), ("M0a",), hints=(1,))) == [
        AddressesMapped("B", {"M0b": 1}, ("M0a",)),
    ]
    assert pair.tell(1, MobileAddressUpdate("B", 2, ("M0b",), ("M0a",), hints=(1,))) == []
    assert pair.tell(1, MobileAddressUpdate("B", 3, (), (), hints=())) == []
    pair.until(pair.now + 1.0)
    assert pair.tell(1, MobileAddressUpdate("B", 2, ("M0b",), ("M0a",), hints=(1,))) == []
    assert [node.mobile_seq for node in pair.engine.nodes()] == [0, 3]


def test_when_changes_are_missing_all_addresses_are_asked_for(pair):
    assert sent(pair.tell(1, MobileAddressUpdate("B", 3, ("M0c",), (), hints=(3,)))) == [(1, mar("B", 1))]
    assert sent(pair.tell(1, MobileAddressUpdate("B", 4, ("M0d",), (), hints=(3,)))) == [(1, mar("B", 1))]
    answer = MobileAddressUpdate("B", 4, exist=("M0c", "M0d"), hints=(3, 3))
    assert pair.tell(1, answer, to=TO["MAR"]) == [AddressesMapped("B", {"M0c": 3, "M0d": 3}, ("M0a",))]
    assert pair.tell(1, MobileAddressUpdate("B", 3, exist=("M0a",), hints=(3,)), to=TO["MAR"]) == []
    assert sent(pair.until(pair.now + 2.0), "MAR") == []


def test_addresses_that_were_announced_are_asked_for_if_they_do_not_come(pair):
    assert pair.tell(1, RouterAdvertisement("B", 20, 1, 2)) == []
    assert sent(pair.until(pair.now + 0.02)) == [(1, mar("B", 1))]
    pair.tell(1, MobileAddressUpdate("B", 2, (), (), hints=()))
    assert pair.tell(1, RouterAdvertisement("B", 20, 1, 3), MobileAddressUpdate("B", 3, (), (), hints=())) == []
    assert sent(pair.until(pair.now + 0.1), "MAR") == []


def test_addresses_without_hints_have_none(pair):
    assert pair.tell(1, MobileAddressUpdate("B", 2, exist=("M0a", "M0b"))) == [AddressesMapped("B", {"M0b": -1}, ())]


def test_addresses_of_a_router_that_is_not_known_wait_until_it_is(pair):
    assert pair.tell(1, MobileAddressUpdate("Z", 1, ("M0z",), (), hints=(3,))) == [
        Remark("debug", "router Z told addresses before it was known; they will be asked for")
    ]


# --- management


def test_the_nodes_are_told_with_what_is_known_of_them():
    fed = Fed()
    fed.adjoin(1, "B", cost=2)
    fed.learn(1, "B", {"A": 2, "C": 3}, mobile_seq=1)
    fed.tell(1, MobileAddressUpdate("B", 1, ("M0a",), (), hints=(3,)))
    fed.adjoin(2, "D")
    fed.learn(1, "X", {})
    fed.engine.want("M0b", 3, fed.now)
    fed.until(fed.now)
    a, b, c, d, x = fed.engine.nodes()
    assert a == NodeState("A", True, 11, 1, 2, 0, {"B": 2, "D": 1}, True, None, None, None, (), 1, 0.6, None)
    assert b == NodeState("B", False, 20, 1, 1, 1, {"A": 2, "C": 3}, True, None, 1, 2, ("D",), 1, 0.3, 0.3)
    assert (c.id, c.instance, c.is_reachable, c.next_hop, c.trunk, c.cost, c.valid_origins) == (
        *("C", 0, True, "B", None, 5, ("D",)),
    )
    assert (d.id, d.valid_origins, d.trunk, d.last_seen) == ("D", ("B", "C"), 2, 0.3)
    assert (x.id, x.is_reachable, x.next_hop, x.cost) == ("X", False, None, None)


def test_paths_through_us_are_told():
    fed = Fed()
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1})
    fed.until(fed.now + 1.0)
    commands = fed.adjoin(2, "C")
    assert of_kind(commands, OriginsChanged) == [OriginsChanged(2, {"B": frozenset("C"), "C": frozenset("B")})]


def test_in_a_large_mesh_the_paths_of_others_are_computed_tick_by_tick():
    fed = Fed()
    fed.adjoin(1, "B")
    names = [f"N{number}" for number in range(100)]
    commands = fed.learn(1, "B", {"A": 1, **dict.fromkeys(names, 1)})
    commands += [command for name in names for command in fed.learn(1, name, {"B": 1})]
    assert fed.engine.next_deadline() <= fed.now + 0.05
    commands = fed.until(fed.now + 0.1)
    assert len(fed.engine.routes.nodes) == 101
    assert of_kind(commands, OriginsChanged) == []
