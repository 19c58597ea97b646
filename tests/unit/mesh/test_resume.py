"""An engine that takes the place of another: nobody loses anything, and everything is known again."""

import pickle

import pytest

from routerd.mesh import (
    AddressesMapped,
    Checkpoint,
    ControlMessage,
    ForeignCheckpoint,
    Hello,
    LinkStateRequest,
    LinkStateUpdate,
    MeshConfig,
    MobileAddressRequest,
    MobileAddressUpdate,
    NodeCheckpoint,
    Route,
    RouterAdvertisement,
    RouterForgotten,
    Routes,
    RoutesChanged,
    RoutingEngine,
    SendControl,
)
from tests.unit.mesh.engines import TO, Fed, Joined, of_kind, sent


def checkpoint_of(fed):
    return pickle.loads(pickle.dumps(fed.engine.checkpoint()))


@pytest.fixture
def before():
    """A with neighbour B over two trunks, C behind B, and addresses at all of them."""
    fed = Fed()
    fed.adjoin(1, "B", cost=2)
    fed.adjoin(2, "B", cost=5)
    fed.learn(1, "B", {"A": 2, "C": 1}, ls_seq=4, mobile_seq=3)
    fed.tell(1, MobileAddressUpdate("B", 3, exist=("M0b",), hints=(3,)))
    fed.learn(1, "C", {"B": 1}, ls_seq=2, instance=30)
    fed.engine.want("M0a", 3, fed.now)
    fed.until(fed.now + 1.0)
    return fed


def resumed_from(before, **config):
    fed = Fed(checkpoint_of(before), now=500.0, **config)
    fed.engine.restore_mapping("B", before.engine.addresses_of("B"))
    return fed


def test_a_checkpoint_is_small_and_has_no_times(before):
    checkpoint = checkpoint_of(before)
    assert checkpoint == Checkpoint(
        router_id="A",
        instance=11,
        version=before.engine.routes.version,
        ls_seq=1,
        mobile_seq=1,
        trunks={1: ("B", 2), 2: ("B", 5)},
        nodes=(
            NodeCheckpoint("B", 20, 4, 3, {"A": 2, "C": 1}, checkpoint.nodes[0].addresses),
            NodeCheckpoint("C", 30, 2, 0, {"B": 1}, 0),
        ),
    )
    assert len(pickle.dumps(checkpoint)) < 600


def test_routes_are_at_once_as_they_were(before):
    fed = Fed(checkpoint_of(before), now=500.0)
    routes = before.engine.routes
    assert of_kind(fed.take(), RoutesChanged) == [
        RoutesChanged(Routes(routes.version + 1001, 2, routes.nodes, routes.neighbours))
    ]
    assert routes.nodes == {"B": Route("B", "B", 1, 2, 1), "C": Route("C", "B", 1, 3, 2)}


def test_nothing_is_sent_on_trunks_that_are_not_open_again(before):
    fed = resumed_from(before)
    assert sent(fed.take() + fed.until(502.9)) == []
    fed.open(2, 5)
    assert sent(fed.take() + fed.until(502.99), "LSR") == []


def test_neighbours_whose_trunks_open_again_stay(before):
    fed = resumed_from(before)
    fed.take()
    assert sent(fed.open(1, 2) + fed.open(2, 5), "HELLO") == [
        (trunk, ControlMessage(TO["HELLO"], "HELLO", Hello("A", 11, ("B",)).to_body(), "0/A", ("0/A",)))
        for trunk in (1, 2)
    ]
    commands = fed.greet(520.0, (1, "B"), (2, "B"))
    assert of_kind(commands, RoutesChanged) == []
    assert of_kind(commands, RouterForgotten) == []


def test_a_trunk_that_opens_again_at_another_cost_changes_our_links(before):
    fed = resumed_from(before)
    fed.take()
    assert of_kind(fed.open(1, 3), RoutesChanged)[-1].routes.nodes["C"] == Route("C", "B", 1, 4, 2)


def test_a_router_that_was_only_heard_of_is_still_asked_for_its_links(before):
    before.learn(1, "B", {"A": 2, "C": 1, "D": 1}, ls_seq=5)
    fed = resumed_from(before)
    fed.open(1, 2)
    assert "amqp:/_topo/0/D/qdrouter" in [message.to for _, message in sent(fed.until(500.3), "LSR")]
    assert fed.engine.routes.nodes["D"].cost == 3


def test_neighbours_without_a_trunk_are_lost_when_they_would_be_unheard(before):
    fed = resumed_from(before)
    fed.take()
    assert of_kind(fed.until(502.9), RoutesChanged) == []
    assert of_kind(fed.until(503.1), RoutesChanged)[-1].routes.nodes == {}


def test_a_trunk_that_is_lost_meanwhile_leaves_its_neighbour_to_the_next(before):
    fed = resumed_from(before)
    fed.take()
    fed.open(2, 5)
    assert of_kind(fed.close(1), RoutesChanged)[-1].routes.nodes["B"] == Route("B", "B", 2, 5, 1)


def test_addresses_of_a_router_that_keeps_telling_that_it_has_none_are_forgotten(before):
    fed = Fed(checkpoint_of(before), now=500.0)
    fed.engine.restore_mapping("B", before.engine.addresses_of("B"))
    # What the routers there have been told after the checkpoint, and by an earlier instance.
    fed.engine.restore_mapping("C", ["M0late"])
    fed.open(1, 2)
    told = RouterAdvertisement("C", 30, 2, 0)
    commands = fed.tell(1, told) + fed.greet(502.9, (1, "B")) + fed.tell(1, told)
    assert of_kind(commands, AddressesMapped) == []
    fed.greet(503.9, (1, "B"))
    assert of_kind(fed.tell(1, told), AddressesMapped) == [AddressesMapped("C", {}, ("M0late",))]


def test_all_routers_are_asked_for_what_was_missed(before):
    fed = resumed_from(before)
    fed.open(1, 2)
    fed.engine.set_addresses({"M0a": 3}, fed.now)
    fed.take()
    commands = fed.until(500.3)
    assert [(message.to, message.body.get("have_seq")) for _, message in sent(commands, "MAR")] == [
        ("amqp:/_topo/0/B/qdrouter.ma", 3),
        ("amqp:/_topo/0/C/qdrouter.ma", 0),
    ]
    assert [message.to for _, message in sent(commands, "LSR")] == [
        "amqp:/_topo/0/B/qdrouter",
        "amqp:/_topo/0/C/qdrouter",
    ]
    advertised = RouterAdvertisement("A", 11, 1001, 1002).to_body()
    assert [message.body for _, message in sent(commands, "RA")] == [advertised]


def test_our_links_are_told_with_a_sequence_that_is_ahead_of_what_anybody_knows(before):
    fed = resumed_from(before)
    fed.open(1, 2)
    fed.take()
    ((_, answer),) = sent(fed.tell(1, LinkStateRequest("B")))
    assert answer.body == LinkStateUpdate("A", 11, 1001, {"B": 2}).to_body()


def test_our_addresses_are_told_to_nobody_before_they_are_known_and_then_asked_for_by_all(before):
    fed = resumed_from(before)
    fed.open(1, 2)
    fed.take()
    assert fed.tell(1, MobileAddressRequest("B", 1)) == []
    fed.engine.want("M0x", 3, fed.now)
    assert sent(fed.until(500.1), "MAU") == []
    fed.engine.set_addresses({"M0a": 3, "M0x": 3}, fed.now)
    assert sent(fed.take()) == [
        (1, ControlMessage(TO["RA"], "RA", RouterAdvertisement("A", 11, 1001, 1002).to_body(), "0/A", ("0/A",)))
    ]
    ((_, answer),) = sent(fed.tell(1, MobileAddressRequest("B", 1)))
    assert answer.body == MobileAddressUpdate("A", 1002, exist=("M0x", "M0a"), hints=(3, 3)).to_body()
    fed.engine.want("M0y", 3, fed.now)
    ((_, told),) = sent(fed.until(500.2), "MAU")
    assert told.body == MobileAddressUpdate("A", 1003, ("M0y",), (), hints=(3,)).to_body()


def test_addresses_that_are_handed_back_are_known_again(before):
    fed = resumed_from(before)
    fed.open(1, 2)
    fed.take()
    assert fed.engine.addresses_of("B") == {"M0b": 3}
    assert of_kind(fed.tell(1, MobileAddressUpdate("B", 4, ("M0c",), ("M0b",), hints=(3,))), AddressesMapped) == [
        AddressesMapped("B", {"M0c": 3}, ("M0b",))
    ]


def test_addresses_may_be_handed_back_without_hints(before):
    fed = Fed(checkpoint_of(before), now=500.0)
    fed.engine.restore_mapping("B", ["M0b"])
    assert fed.engine.addresses_of("B") == {"M0b": -1}


@pytest.mark.parametrize("handed_back", [(), ("M0b", "M0c"), ("M0c",)])
def test_addresses_that_are_not_those_of_the_checkpoint_are_asked_for(before, handed_back):
    fed = Fed(checkpoint_of(before), now=500.0)
    fed.engine.restore_mapping("B", handed_back)
    fed.open(1, 2)
    asked = {message.to: message.body["have_seq"] for _, message in sent(fed.until(500.3), "MAR")}
    assert asked["amqp:/_topo/0/B/qdrouter.ma"] == 0
    (mapped,) = of_kind(fed.tell(1, MobileAddressUpdate("B", 3, exist=("M0b",), hints=(3,))), AddressesMapped) or [None]
    added, removed = {"M0b": 3}.keys() - {*handed_back}, {*handed_back} - {"M0b"}
    assert mapped == AddressesMapped("B", dict.fromkeys(added, 3), tuple(removed))


def test_addresses_of_a_router_that_came_after_the_checkpoint_go_unless_it_is_heard_of(before):
    fed = resumed_from(before)
    fed.engine.restore_mapping("Z", ["M0z"])
    fed.open(1, 2)
    fed.take()
    assert of_kind(fed.greet(505.0, (1, "B")), RouterForgotten) == [RouterForgotten("Z")]


def test_a_checkpoint_of_another_router_is_our_callers_mistake(before):
    with pytest.raises(ForeignCheckpoint, match="router Z can't be resumed from a checkpoint of A") as caught:
        RoutingEngine(MeshConfig(router_id="Z"), 1, 0.0, checkpoint_of(before))
    assert (caught.value.router, caught.value.other) == ("Z", "A")


def test_in_a_mesh_nobody_notices():
    joined = Joined("ABC")
    numbers = joined.join("AB BC CA")
    for id, engine in joined.engines.items():
        engine.want(f"M0{id}", 3, joined.now)
    joined.run(2.0)
    checkpoint, mapped = joined.engines["B"].checkpoint(), {id: joined.engines["B"].addresses_of(id) for id in "AC"}
    for id in "ABC":
        joined.take(id)
    joined.start("B", resumed=checkpoint)
    joined.run(0.5)
    for id, keys in mapped.items():
        joined.engines["B"].restore_mapping(id, keys)
    joined.engines["B"].trunk_opened(numbers[0][1], 1, joined.now)
    joined.engines["B"].trunk_opened(numbers[1][0], 1, joined.now)
    joined.engines["B"].set_addresses({"M0B": 3, "M0new": 3}, joined.now)
    joined.run(10.0)
    for id in "AC":
        commands = [command for command in joined.take(id) if not isinstance(command, SendControl)]
        assert commands == [AddressesMapped("B", {"M0new": 3}, ())]
    commands = joined.take("B")
    assert of_kind(commands, AddressesMapped) == []
    assert [command.routes.nodes.keys() for command in of_kind(commands, RoutesChanged)] == [{"A", "C"}]
