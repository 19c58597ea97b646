"""The recorded beginning of a mesh of two existing routers, with us as either of them, field by field.

Routers A and B of section 7 of the protocol's description: what the one says that is not us comes in as it was
recorded, with the times of routers that work by the second. What we say is what was recorded of the other, but for
the times, and for link states that have not been announced, which we do not tell.
"""

from routerd.mesh import (
    NO_HINT,
    AddressesMapped,
    ControlMessage,
    MeshConfig,
    RoutingEngine,
    SendControl,
)
from routerd.wire import Int, Symbol, decode, encode

A_INSTANCE, B_INSTANCE = 1795176291, 1795176293
HELLO = "amqp:/_local/qdhello"
RA = "amqp:/_topo/0/all/qdrouter"
MAU = "_topo/0/all/qdrouter.ma"


def to(router, endpoint="qdrouter"):
    return f"amqp:/_topo/0/{router}/{endpoint}"


def fields(router, **others):
    """Return a body as routers write most of them."""
    return {"id": router, "pv": Int(1), "area": "0", **others}


def mobile_fields(router, **others):
    """Return a body as routers write those about addresses."""
    body = {"id": router, "pv": 1, "area": "0", **others}
    return {Symbol(name.rstrip("_")): value for name, value in body.items()}


def hello(router, instance, *seen):
    return HELLO, "HELLO", fields(router, instance=Int(instance), seen=[*seen])


def advertisement(router, instance, ls_seq, mobile_seq):
    body = fields(router, instance=Int(instance), ls_seq=Int(ls_seq), mobile_seq=Int(mobile_seq))
    return RA, "RA", body


def request(router, of):
    return to(of), "LSR", fields(router)


def update(router, of, instance, ls_seq, peers):
    state = fields(router, ls_seq=Int(ls_seq), peers={peer: Int(cost) for peer, cost in peers.items()})
    del state["pv"]
    return to(of), "LSU", fields(router, instance=Int(instance), ls_seq=Int(ls_seq), ls=state)


class Replayed:
    """Us in the place of one of the two routers."""

    def __init__(self, id, instance):
        self.id = id
        self.other = "B" if id == "A" else "A"
        self.engine = RoutingEngine(MeshConfig(router_id=id), instance, 0.0)
        self.engine.trunk_opened(1, 1, 0.0)
        self.now = 0.0

    def hears(self, now, said, *passed):
        """Take, at a time, what the other router says, or passes on."""
        self.until(now)
        address, opcode, body = said
        trace = tuple(f"0/{router}" for router in (*passed, self.other))
        self.engine.receive(1, ControlMessage(address, opcode, decode(encode(body)), trace[0], trace), now)

    def until(self, now):
        """Let time pass."""
        while self.engine.next_deadline() <= now:
            self.now = max(self.now, self.engine.next_deadline())
            self.engine.tick(self.now)
        self.now = now

    def says(self, *trace):
        """Return what it says, in octets where bodies are concerned; and check how it is signed."""
        messages = [one.message for one in self.engine.take_commands() if isinstance(one, SendControl)]
        marks = tuple(f"0/{router}" for router in trace or (self.id,))
        assert {(one.ingress, one.trace) for one in messages} <= {(marks[0], marks)}
        return [(one.to, one.opcode, encode(one.body)) for one in messages]


def octets(*said):
    return [(address, opcode, encode(body)) for address, opcode, body in said]


def test_as_router_a():
    us = Replayed("A", A_INSTANCE)
    assert us.says() == octets(hello("A", A_INSTANCE))
    # The other has heard us, and we are neighbours.
    us.hears(0.9, hello("B", B_INSTANCE, "A"))
    us.until(1.0)
    assert us.says() == octets(
        request("A", "B"),
        advertisement("A", A_INSTANCE, 1, 0),
        hello("A", A_INSTANCE, "B"),
    )
    # What it has not announced yet is not stored.
    us.hears(1.1, update("B", "A", B_INSTANCE, 0, {"A": 1}))
    us.hears(1.1, request("B", "A"))
    assert us.says() == octets(update("A", "B", A_INSTANCE, 1, {"B": 1}))
    us.hears(1.9, request("B", "A"))
    us.hears(1.9, advertisement("B", B_INSTANCE, 1, 0))
    assert us.says() == octets(update("A", "B", A_INSTANCE, 1, {"B": 1}), request("A", "B"))
    us.hears(1.95, update("B", "A", B_INSTANCE, 1, {"A": 1}))
    assert us.says() == []
    assert [(node.id, node.ls_seq, node.peers) for node in us.engine.nodes()] == [
        ("A", 1, {"B": 1}),
        ("B", 1, {"A": 1}),
    ]
    # A consumer of "foo" comes and goes at B.
    us.hears(2.5, (MAU, "MAU", mobile_fields("B", mobile_seq=1, hints=[Int(3)], add=["M0foo"], del_=[])))
    us.hears(2.5, advertisement("B", B_INSTANCE, 1, 1))
    commands = us.engine.take_commands()
    assert [one for one in commands if not isinstance(one, SendControl)] == [
        AddressesMapped("B", {"M0foo": 3}, ()),
    ]
    us.hears(2.9, (MAU, "MAU", mobile_fields("B", mobile_seq=2, hints=[], add=[], del_=["M0foo"])))
    us.hears(2.9, advertisement("B", B_INSTANCE, 1, 2))
    assert us.engine.take_commands() == [AddressesMapped("B", {}, ("M0foo",))]


def test_as_router_a_with_an_edge_router_and_a_third_router_behind_b():
    us = Replayed("A", A_INSTANCE)
    us.hears(1.0, hello("B", B_INSTANCE, "A"))
    us.hears(1.1, advertisement("B", B_INSTANCE, 1, 0))
    us.hears(1.1, update("B", "A", B_INSTANCE, 1, {"A": 1}))
    us.until(1.2)
    us.engine.want("HE", 3, 1.2)
    us.until(1.25)
    assert us.says()[-2:] == octets(
        (MAU, "MAU", mobile_fields("A", mobile_seq=1, hints=[Int(3)], add=["HE"], del_=[])),
        advertisement("A", A_INSTANCE, 1, 1),
    )
    us.hears(1.3, advertisement("B", B_INSTANCE, 2, 0))
    us.hears(1.3, update("B", "A", B_INSTANCE, 2, {"A": 1, "C": 1}))
    assert us.says() == octets(request("A", "B"), request("A", "C"))
    us.hears(1.4, request("C", "A"), "C")
    us.hears(1.4, (to("A", "qdrouter.ma"), "MAR", mobile_fields("C", have_seq=0)), "C")
    assert us.says() == octets(
        update("A", "C", A_INSTANCE, 1, {"B": 1}),
        (to("C", "qdrouter.ma"), "MAU", mobile_fields("A", mobile_seq=1, exist=["HE"], hints=[Int(3)])),
    )


def test_as_router_b():
    us = Replayed("B", B_INSTANCE)
    assert us.says() == octets(hello("B", B_INSTANCE))
    us.hears(0.5, hello("A", A_INSTANCE))
    assert us.says() == octets(hello("B", B_INSTANCE, "A"))
    us.hears(1.0, hello("A", A_INSTANCE, "B"))
    us.hears(1.0, request("A", "B"))
    us.hears(1.0, advertisement("A", A_INSTANCE, 1, 0))
    routes = us.engine.routes
    assert (routes.radius, [(one.next_hop, one.cost) for one in routes.nodes.values()]) == (1, [("A", 1)])
    assert us.says() == octets(
        request("B", "A"),
        # What has not been announced yet is not told.
        update("B", "A", B_INSTANCE, 0, {}),
        request("B", "A"),
    )
    us.until(1.02)
    assert us.says() == octets(advertisement("B", B_INSTANCE, 1, 0))
    us.hears(1.03, update("A", "B", A_INSTANCE, 1, {"B": 1}))
    us.hears(1.03, request("A", "B"))
    assert us.says() == octets(update("B", "A", B_INSTANCE, 1, {"A": 1}))
    # A consumer of "foo" comes and goes here.
    us.until(2.0)
    us.says()
    us.engine.want("M0foo", 3, 2.0)
    us.until(2.1)
    assert us.says() == octets(
        (MAU, "MAU", mobile_fields("B", mobile_seq=1, hints=[Int(3)], add=["M0foo"], del_=[])),
        advertisement("B", B_INSTANCE, 1, 1),
    )
    us.engine.unwant("M0foo", 2.2)
    us.until(2.3)
    assert us.says() == octets(
        (MAU, "MAU", mobile_fields("B", mobile_seq=2, hints=[], add=[], del_=["M0foo"])),
        advertisement("B", B_INSTANCE, 1, 2),
    )


def test_as_router_b_between_a_and_c():
    us = Replayed("B", B_INSTANCE)
    us.hears(0.5, hello("A", A_INSTANCE, "B"))
    us.engine.trunk_opened(2, 1, 0.5)
    body = fields("C", instance=Int(7), seen=["B"])
    us.engine.receive(2, ControlMessage(HELLO, "HELLO", body, "0/C", ("0/C",)), 0.5)
    us.until(1.9)
    us.engine.take_commands()
    asked = (to("A", "qdrouter.ma"), "MAR", mobile_fields("C", have_seq=0))
    us.engine.receive(2, ControlMessage(*asked, "0/C", ("0/C",)), 1.9)
    assert us.says("C", "B") == octets(asked)
    answer = (to("C", "qdrouter.ma"), "MAU", mobile_fields("A", mobile_seq=1, exist=["HE"], hints=[Int(NO_HINT)]))
    us.hears(1.9, answer)
    assert us.says("A", "B") == octets(answer)
