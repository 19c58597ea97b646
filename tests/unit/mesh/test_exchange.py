"""What peers do wrong: each is told once, and nothing that is known suffers."""

import pytest

from routerd.mesh import (
    AddressesMapped,
    ControlMessage,
    Hello,
    LinkStateRequest,
    LinkStateUpdate,
    MobileAddressUpdate,
    Remark,
    RouterAdvertisement,
    RoutesChanged,
)
from tests.unit.mesh.engines import TO, Fed, of_kind, sent


@pytest.fixture
def fed():
    """A with its neighbour B."""
    made = Fed()
    made.adjoin(1, "B")
    made.learn(1, "B", {"A": 1})
    made.until(made.now + 0.1)
    return made


def known(fed):
    return [(node.id, node.ls_seq, node.mobile_seq, dict(node.peers)) for node in fed.engine.nodes()]


def raw(fed, opcode, body, to=None):
    fed.engine.receive(1, ControlMessage(to or TO[opcode], opcode, body, "0/B", ("0/B",)), fed.now)
    return fed.take()


def test_a_second_router_with_our_id_is_told_once_and_is_no_neighbour(fed):
    fed.open(2)
    text = "another router has the id A, too; it is at the other end of trunk 2"
    assert fed.tell(2, Hello("A", 99, ("A",))) == [Remark("warning", text)]
    assert fed.tell(2, Hello("A", 99, ("A",))) == []
    assert fed.engine.routes.neighbours == {"B": (1,)}


def test_a_trunk_to_ourselves_is_told_once(fed):
    fed.open(2)
    assert fed.tell(2, Hello("A", 11, ()), Hello("A", 11, ())) == [
        Remark("warning", "trunk 2 leads to this router itself")
    ]


def test_what_another_router_tells_in_our_name_is_of_no_account(fed):
    before = known(fed)
    for control in (RouterAdvertisement("A", 99, 9, 9), LinkStateUpdate("A", 99, 9, {"X": 1})):
        assert fed.tell(1, control, to=TO["LSU"], trace=("0/B",)) == []
    raw(fed, "LSU", LinkStateUpdate("A", 99, 9, {"X": 1}).to_body())
    assert known(fed) == before


def test_a_later_version_of_the_protocol_is_told_once_for_each_router(fed):
    texts = [f"router {router} speaks version 2 of the protocol, and only 1 is known" for router in "BC"]
    commands = []
    for router in "BBCC":
        commands += raw(fed, "HELLO", {"id": router, "pv": 2, "seen": ["A"]})
    assert commands == [Remark("warning", text) for text in texts]


@pytest.mark.parametrize(
    ("opcode", "body", "reason"),
    [
        ("HELLO", {"id": "B"}, "seen is not a list"),
        ("RA", {"id": "B", "ls_seq": 1}, "mobile_seq is not an integer"),
        ("LSR", {}, "id is not text"),
        (
            "LSU",
            {"id": "B", "ls_seq": 9, "ls": {"id": "B", "ls_seq": 9, "peers": {"A": -1}}},
            "peers is -1, not from 1 to 2147483647",
        ),
        ("MAR", {"id": "B"}, "have_seq is not an integer"),
        ("MAU", {"id": "B", "mobile_seq": 1}, "add is not a list"),
        ("MAU", None, "the body is not a map"),
    ],
)
def test_a_malformed_message_is_told_once(fed, opcode, body, reason):
    before = known(fed)
    told = Remark("warning", f"a malformed {opcode} came on trunk 1: {reason}")
    assert of_kind(raw(fed, opcode, body), Remark) == [told]
    assert of_kind(raw(fed, opcode, body), Remark) == []
    assert known(fed) == before


@pytest.mark.parametrize(
    ("opcode", "to"),
    [
        ("XYZ", "amqp:/_topo/0/A/qdrouter"),
        ("RA", "amqp:/_local/qdhello"),
        ("MAU", "_topo/0/A/qdrouter"),
        ("HELLO", "_local/x"),
    ],
)
def test_a_message_that_is_not_understood_is_told_once(fed, opcode, to):
    assert [raw(fed, opcode, {"id": "B"}, to), raw(fed, opcode, {"id": "B"}, to)] == [
        [Remark("debug", f"a control message {opcode!r} to {to!r} is not understood")],
        [],
    ]


def test_the_links_of_another_router_than_the_sender_are_refused(fed):
    before = known(fed)
    assert fed.tell(1, LinkStateUpdate("B", 20, 9, {"X": 1}, "C"), LinkStateUpdate("B", 20, 9, {"X": 1}, "D")) == [
        Remark("warning", "router B told the links of C, which only that one may tell")
    ]
    assert known(fed) == before


def test_a_link_that_costs_another_price_from_there_is_told_once_nothing_changes_any_more(fed):
    fed.learn(1, "B", {"A": 7}, ls_seq=2)
    commands = []
    while fed.now < 80.0:
        commands += fed.greet(fed.now + 1.0, (1, "B")) + fed.tell(1, RouterAdvertisement("B", 20, 2, 0))
    assert of_kind(commands, Remark) == [Remark("warning", "the link to router B costs 1, and from there 7")]
    assert fed.engine.routes.nodes["B"].cost == 1


def test_a_neighbour_with_too_many_neighbours_is_told_once():
    fed = Fed(peers_max=2)
    fed.adjoin(1, "B")
    fed.learn(1, "B", {"A": 1, "C": 1})
    before = known(fed)
    for ls_seq in (2, 3):
        commands = fed.tell(1, LinkStateUpdate("B", 20, ls_seq, {"A": 1, "C": 1, "D": 1}))
        told = [Remark("warning", "router B has 3 neighbours, and no more than 2 may be")] if ls_seq == 2 else []
        assert commands == told
    assert known(fed) == before


def test_too_many_routers_are_told_once_and_not_known():
    fed = Fed(routers_max=2)
    fed.adjoin(1, "B")
    commands = fed.learn(1, "B", {"A": 1, "C": 1, "D": 1, "E": 1})
    assert of_kind(commands, Remark) == [
        Remark("warning", "router D is ignored: 2 routers are known, and no more may be")
    ]
    assert [*fed.engine.routes.nodes] == ["B", "C"]
    fed.open(2)
    for control in (Hello("F", 60, ("A",)), LinkStateUpdate("F", 60, 1, {}), LinkStateRequest("F")):
        assert fed.tell(2, control) == []
    # It still is a message to all.
    assert [message.ingress for _, message in sent(fed.tell(2, RouterAdvertisement("F", 60, 1, 1)))] == ["0/F"]
    assert [node.id for node in fed.engine.nodes()] == ["A", "B", "C"]


def test_keys_that_are_none_are_told_once_and_left_out(fed):
    fed.learn(1, "B", {"A": 1}, mobile_seq=1)
    text = "2 addresses of router B are ignored: they are no such keys, too long, or too many"
    assert fed.tell(1, MobileAddressUpdate("B", 1, ("M0a", "L_x", "M0" + "x" * 4095), (), hints=(3, 3, 3))) == [
        AddressesMapped("B", {"M0a": 3}, ()),
        Remark("warning", text),
    ]
    assert fed.tell(1, MobileAddressUpdate("B", 2, ("L_y",), (), hints=(3,))) == []


def test_a_sequence_that_jumps_far_ahead_is_as_good_as_any(fed):
    far = 2**62
    assert of_kind(fed.learn(1, "B", {"A": 1, "C": 1}, ls_seq=far), RoutesChanged) != []
    assert known(fed)[1] == ("B", far, 0, {"A": 1, "C": 1})


def test_a_router_that_lists_itself_has_no_link_to_itself(fed):
    fed.learn(1, "B", {"A": 1, "B": 1, "C": 2}, ls_seq=2)
    assert {router: route.cost for router, route in fed.engine.routes.nodes.items()} == {"B": 1, "C": 3}
