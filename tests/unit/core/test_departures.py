"""Which way to other routers a message takes: by cost and load, by where it entered, and by where it has been."""

import pytest

from routerd.core import AddressSettings, Distribution
from routerd.wire import ACCEPTED, RELEASED, Header, Rejected
from tests.routers import TREATMENTS, message, message_to, outcome
from tests.unit.core.joined_routers import Mesh, mapped, marked, neighbour, routes, to_router

ANY = frozenset({"P", "Q"})
URGENT = AddressSettings(pattern="urgent", distribution=Distribution.BALANCED, priority=8)


@pytest.fixture
def router():
    return Mesh("R", addresses=(*TREATMENTS, URGENT))["R"]


class Two:
    """A router, its client, and two neighbours that lead to P and Q, which have an address."""

    def __init__(self, router, address="orders", *, costs=(1, 1), through=None, radius=2, credit=250):
        self.router = router
        self.neighbours = [neighbour(router, id) for id in "NM"]
        for one in self.neighbours:
            one.data_in = [one.attach_in(credit=credit)]
            one.data_out = [one.attach_out()]
        self.costs = [{to: cost} for to, cost in zip("PQ", costs, strict=True)]
        self.address = address
        self.client = router.client()
        self.version = 0
        self.tell(through=through or {}, radius=radius, mapped=mapped(P=(f"M0{address}",), Q=(f"M0{address}",)))

    @property
    def routes(self):
        """The load of each way."""
        address = self.router.router.addresses[f"M0{self.address}"]
        return {route.next_hop: route.outstanding for route in address.routes}

    def tell(self, **news):
        known = {"routes": routes(*zip(self.neighbours, self.costs, strict=True)), "radius": 2}
        self.router.tell(**(known | news))
        self.router.pump()

    def send(self, count=1, *, settled=False):
        sender = self.client.producer(self.address)
        return [self.client.send(sender, message(str(number)), settled=settled) for number in range(count)]

    def counts(self):
        return [len(one.arrived()) for one in self.neighbours]

    def come(self, octets=None, **annotations):
        """Have a message come from another neighbour."""
        if not hasattr(self, "third"):
            self.third = neighbour(self.router, "T").attach(pairs=1)
        annotations = {"to": self.address} | annotations
        return self.third.pass_on(octets or to_router(annotations=annotations), priority=0)


class TestBalanced:
    def test_the_way_with_the_least_cost_and_load_is_taken(self, router):
        two = Two(router, costs=(1, 3))
        two.send(10)
        assert two.counts() == [6, 4]
        assert two.routes == {"N": 6, "M": 4}
        two.neighbours[0].settle_all()
        assert two.routes == {"N": 0, "M": 4}
        two.send(8)
        assert two.counts() == [13, 5]

    def test_settled_messages_are_no_load(self, router):
        two = Two(router, costs=(1, 3))
        two.send(20, settled=True)
        assert (two.counts(), two.routes) == ([20, 0], {"N": 0, "M": 0})

    def test_ways_with_equal_loads_take_turns(self, router):
        two = Two(router)
        two.send(10, settled=True)
        assert two.counts() == [5, 5]

    @pytest.mark.parametrize("what", ["accept", "release", "reject", "modify"])
    def test_whatever_is_decided_is_no_load_any_more(self, router, what):
        two = Two(router)
        two.send(10)
        for one in two.neighbours:
            one.settle_all(what)
        assert two.routes == {"N": 0, "M": 0}

    def test_what_is_only_decided_and_not_settled_is_no_load_either(self, router):
        two = Two(router)
        [delivery] = two.send(1)
        [came] = two.neighbours[0].unsettled[two.neighbours[0].data_in[0].name]
        came.update(ACCEPTED, False)
        router.pump()
        assert (outcome(delivery), two.routes) == ((ACCEPTED, False), {"N": 0, "M": 0})
        delivery.settle()
        router.pump()
        assert (came.remote_settled, two.routes) == (True, {"N": 0, "M": 0})

    def test_what_the_producer_settles_is_no_load(self, router):
        two = Two(router)
        [delivery] = two.send(1)
        delivery.settle()
        router.pump()
        assert two.routes == {"N": 0, "M": 0}

    def test_a_way_with_much_under_way_is_the_last_resort(self, router):
        two = Two(router, costs=(1, 1000), credit=2000)
        clients = [router.client() for _ in range(2)]
        for client in clients:
            sender = client.producer("orders")
            for _ in range(200):
                client.send(sender, message())
        assert two.counts() == [250, 150]
        two.neighbours[1].settle_all()
        two.neighbours[1].vanish()
        two.costs = two.costs[:1]
        two.neighbours = two.neighbours[:1]
        two.tell()
        two.send(5)
        assert two.counts() == [255]

    def test_a_free_consumer_of_this_router_comes_first(self, router):
        two = Two(router)
        near = two.client.consumer("orders", credit=1000)
        for _ in range(10):
            two.send(1)
            two.client.latest(near).accept()
            router.pump()
        assert (len(two.client.received(near)), two.counts()) == (10, [0, 0])

    def test_others_get_what_is_too_much_for_the_consumers_of_this_router(self, router):
        two = Two(router, costs=(3, 3))
        near = two.client.consumer("orders", credit=1000)
        two.send(4)
        assert (len(two.client.received(near)), two.counts()) == (4, [0, 0])
        two.send(9)
        assert (len(two.client.received(near)), two.counts()) == (7, [3, 3])

    def test_a_consumer_without_credit_leaves_messages_to_others(self, router):
        two = Two(router, costs=(9, 9))
        two.client.consumer("orders", credit=0)
        two.send(2)
        assert two.counts() == [1, 1]

    def test_a_way_that_is_full_is_passed_over(self, router):
        two = Two(router, costs=(1, 9), credit=3)
        two.send(5)
        assert two.counts() == [3, 2]

    def test_a_message_that_came_goes_where_the_path_from_its_origin_leads_over_us(self, router):
        two = Two(router, costs=(1, 9), through={"O": frozenset("Q")})
        two.costs[0] |= {"O": 5}
        two.tell()
        for _ in range(3):
            two.come(ingress="0/O", trace=["0/O"])
        assert two.counts() == [0, 3]
        [octets] = {*two.neighbours[1].arrived()}
        assert marked(octets) == {"to": "orders", "ingress": "0/O", "trace": ["0/O", "0/R"]}

    def test_it_takes_the_cheapest_way_where_no_such_path_does(self, router):
        two = Two(router, costs=(2, 1))
        two.costs[0] |= {"O": 5}
        two.tell()
        two.come(ingress="0/O", trace=["0/O"])
        assert two.counts() == [0, 1]
        two.come(ingress="0/O", trace=["0/O", "0/M"])
        assert two.counts() == [1, 1]

    def test_it_is_released_where_no_such_path_does_and_none_has_changed(self, router):
        two = Two(router)
        two.costs[0] |= {"O": 5}
        two.tell()
        router.let_pass(4)
        assert outcome(two.come(ingress="0/O", trace=["0/O"])) == (RELEASED, True)

    def test_it_waits_for_credit_of_that_way(self, router):
        two = Two(router, credit=1)
        two.costs[0] |= {"O": 5}
        two.tell()
        for _ in range(2):
            two.come(ingress="0/O", trace=["0/O", "0/M"])
        assert two.counts() == [1, 0]
        two.neighbours[0].data_in[0].grant(1)
        router.pump()
        assert two.counts() == [2, 0]

    def test_a_consumer_of_this_router_without_credit_is_waited_for(self, router):
        two = Two(router)
        two.costs[0] |= {"O": 5}
        two.tell()
        near = two.client.consumer("orders", credit=0)
        waiting = two.come(ingress="0/O", trace=["0/O"])
        assert (two.counts(), outcome(waiting)) == ([0, 0], (None, False))
        near.grant(1)
        router.pump()
        assert len(two.client.received(near)) == 1

    def test_it_goes_anywhere_when_nobody_knows_its_origin(self, router):
        two = Two(router)
        assert [outcome(two.come(**one)) for one in ({"ingress": "0/unknown"}, {}, {"ingress": "0/R"})] == [
            (None, False)
        ] * 3
        assert two.counts() == [2, 1]

    def test_it_does_not_go_back_to_where_it_has_been(self, router):
        two = Two(router, costs=(1, 9))
        two.come(trace=["0/N"])
        assert two.counts() == [0, 1]
        assert outcome(two.come(trace=["0/N", "0/M"])) == (RELEASED, True)

    def test_consumers_of_this_router_get_it_wherever_it_came_from(self, router):
        two = Two(router)
        two.costs[0] |= {"O": 5}
        two.tell()
        near = two.client.consumer("orders", credit=1)
        delivery = two.come(ingress="0/O", trace=["0/O", "0/N", "0/M"])
        assert two.client.received(near) == [message()]
        waiting = two.come(ingress="0/O", trace=["0/O", "0/N", "0/M"])
        two.client.latest(near).accept()
        router.pump()
        assert [outcome(one) for one in (delivery, waiting)] == [(ACCEPTED, True), (None, False)]
        two.client.detach(near)
        assert outcome(waiting) == (RELEASED, True)


class TestClosest:
    def test_the_way_with_the_least_cost_is_taken_whatever_is_under_way(self, router):
        two = Two(router, "closest", costs=(2, 1))
        two.send(20)
        assert two.counts() == [0, 20]

    def test_equally_near_ones_take_turns(self, router):
        two = Two(router, "closest")
        two.send(10)
        assert two.counts() == [5, 5]

    def test_a_way_has_as_many_turns_in_a_row_as_it_leads_to_routers_that_near(self, router):
        two = Two(router, "closest")
        two.costs = [{"P": 2, "P2": 2, "P3": 5}, {"Q": 2}]
        two.tell(mapped=mapped(P2=("M0closest",), P3=("M0closest",)))
        two.send(9)
        assert two.counts() == [6, 3]

    def test_turns_go_on_when_ways_come_and_go(self, router):
        two = Two(router, "closest")
        two.send(3)
        neighbours, costs = two.neighbours, two.costs
        two.neighbours, two.costs = neighbours[:1], costs[:1]
        two.tell()
        two.send(2)
        two.neighbours, two.costs = neighbours, costs
        two.tell()
        two.send(4)
        assert (sum(two.counts()), min(two.counts()) >= 3) == (9, True)

    def test_consumers_of_this_router_come_first_and_are_waited_for(self, router):
        two = Two(router, "closest")
        near = two.client.consumer("closest", credit=2)
        two.send(3)
        assert (len(two.client.received(near)), two.counts()) == (2, [0, 0])
        two.client.detach(near)
        assert two.counts() == [1, 0]

    def test_the_nearest_is_waited_for(self, router):
        two = Two(router, "closest", costs=(1, 2), credit=2)
        two.send(3)
        assert two.counts() == [2, 0]
        two.neighbours[0].data_in[0].grant(1)
        router.pump()
        assert two.counts() == [3, 0]

    def test_a_message_that_came_goes_on_wherever_it_entered(self, router):
        two = Two(router, "closest", costs=(1, 2))
        two.costs[0] |= {"O": 5}
        two.tell()
        for ingress in ("0/O", "0/R", "0/unknown"):
            two.come(ingress=ingress, trace=["0/O"])
        assert two.counts() == [3, 0]

    def test_it_does_not_go_back_to_where_it_has_been(self, router):
        two = Two(router, "closest", costs=(1, 2))
        two.come(trace=["0/N"])
        assert two.counts() == [0, 1]
        assert outcome(two.come(trace=["0/M", "0/N"])) == (RELEASED, True)

    def test_siblings_consumers_come_before_other_routers(self):
        router = Mesh("R", workers=2)["R"]
        two = Two(router, "closest")
        sibling = router.client(1)
        near = sibling.consumer("closest", credit=1)
        two.send(2)
        assert (len(sibling.received(near)), two.counts()) == (1, [0, 0])


class TestMulticast:
    def test_each_way_gets_one_copy_for_all_that_are_behind_it(self, router):
        two = Two(router, "multicast")
        two.costs = [{"P": 1, "P2": 2, "P3": 3}, {"Q": 1}]
        two.tell(mapped=mapped(P2=("M0multicast",), P3=("M0multicast",)))
        near = two.client.consumer("multicast", credit=9)
        [delivery] = two.send(1)
        assert (len(two.client.received(near)), two.counts()) == (1, [1, 1])
        two.client.latest(near).release()
        two.neighbours[0].settle_all()
        assert outcome(delivery) == (None, False)
        two.neighbours[1].settle_all("reject")
        assert outcome(delivery) == (Rejected(), True)

    def test_settled_copies_stay_settled(self, router):
        two = Two(router, "multicast")
        two.send(3, settled=True)
        for one in two.neighbours:
            [deliveries] = one.unsettled.values()
            assert [delivery.remote_settled for delivery in deliveries] == [True] * 3

    def test_a_copy_goes_where_the_path_from_the_origin_leads_over_us(self, router):
        two = Two(router, "multicast", through={"O": frozenset("Q")})
        two.costs[0] |= {"O": 5}
        two.tell()
        delivery = two.come(ingress="0/O", trace=["0/O"])
        assert two.counts() == [0, 1]
        two.neighbours[1].settle_all()
        assert outcome(delivery) == (ACCEPTED, True)

    @pytest.mark.parametrize("ingress", ["0/unknown", "0/R"])
    def test_none_goes_on_when_its_origin_is_not_known_or_ourselves(self, router, ingress):
        two = Two(router, "multicast", through={"R": ANY, "unknown": ANY})
        assert (outcome(two.come(ingress=ingress)), two.counts()) == ((RELEASED, True), [0, 0])
        near = two.client.consumer("multicast", credit=9)
        delivery = two.come(ingress=ingress)
        assert (len(two.client.received(near)), two.counts(), outcome(delivery)) == (1, [0, 0], (None, False))

    def test_what_says_nothing_of_where_it_entered_enters_here(self, router):
        two = Two(router, "multicast")
        two.come()
        assert [marked(octets) for one in two.neighbours for octets in one.arrived()] == [
            {"to": "multicast", "ingress": "0/R", "trace": ["0/R"]}
        ] * 2

    def test_none_goes_back_to_where_it_has_been(self, router):
        two = Two(router, "multicast")
        two.come(trace=["0/M"])
        assert two.counts() == [1, 0]

    @pytest.mark.parametrize(
        "links",
        [("AB", "BC", "CD", "DA"), ("AB", "BC", "CD", "DA", "AC", "BD"), ("AB", "AC", "AD"), ("AB", "BC", "CD")],
    )
    def test_each_consumer_gets_one_copy_whatever_the_topology(self, links):
        mesh = Mesh("A", "B", "C", "D")
        for first, second in links:
            mesh.join(first, second)
        consumers = [mesh[id].client() for id in "ABCD"]
        receivers = [client.consumer("multicast", credit=100) for client in consumers]
        for id in "ABCD":
            client = mesh[id].client()
            client.send(client.producer("multicast"), message(id))
            client.send(client.producer(None), message_to("multicast", id))
        for client, receiver in zip(consumers, receivers, strict=True):
            bodies = [octets[-1:] for octets in client.received(receiver)]
            assert sorted(bodies) == [b"A", b"A", b"B", b"B", b"C", b"C", b"D", b"D"]


class TestArrivals:
    def test_a_message_goes_where_its_annotation_says_and_else_where_its_properties_do(self, router):
        far = neighbour(router).attach(pairs=1)
        client = router.client()
        receivers = [client.consumer(address, credit=9) for address in ("orders", "others")]
        far.pass_on(to_router("others", "a", annotations={"to": "orders"}), priority=0)
        far.pass_on(to_router("others", "b"), priority=0)
        far.pass_on(to_router("amqp:/others", "c", annotations={"trace": ["0/N"], "phase": 0}), priority=0)
        assert [len(client.received(receiver)) for receiver in receivers] == [1, 2]

    def test_its_phase_counts(self, router):
        far = neighbour(router).attach(pairs=1)
        client = router.client()
        receiver = client.consumer("waypoint/x", credit=9)
        early = far.pass_on(to_router(annotations={"to": "waypoint/x"}), priority=0)
        far.pass_on(to_router(annotations={"to": "waypoint/x", "phase": 1}), priority=0)
        router.let_pass(2)
        assert (outcome(early), len(client.received(receiver))) == ((RELEASED, True), 1)

    @pytest.mark.parametrize("settled", [False, True])
    def test_what_says_nowhere_where_it_goes_is_rejected(self, router, settled):
        far = neighbour(router).attach(pairs=1)
        for octets in (to_router(), to_router(annotations={"to": ""}), to_router("", annotations={"trace": ["0/N"]})):
            delivery = far.pass_on(octets, priority=0, settled=settled)
            if not settled:
                assert delivery.remote_state.error.condition == "amqp:precondition-failed"
        [inlet] = [inlet for inlet in far.peer.inlets if not inlet.is_control]
        assert (inlet.rejected, inlet.dropped_presettled) == ((0, 3) if settled else (3, 0))

    @pytest.mark.parametrize("annotations", [{"trace": "0/N"}, {"to": 1}, {"phase": 30}])
    def test_what_routers_cannot_have_written_is_rejected(self, router, annotations):
        far = neighbour(router).attach(pairs=1)
        router.client().consumer("orders", credit=9)
        delivery = far.pass_on(to_router("orders", annotations=annotations), priority=0)
        assert (delivery.remote_state.error.condition, delivery.remote_settled) == ("amqp:invalid-field", True)

    @pytest.mark.parametrize(
        "octets",
        [b"", b"x", bytes.fromhex("005372c100"), bytes.fromhex("005372c10201a1"), bytes.fromhex("005373c0030140a1")],
    )
    def test_what_is_no_message_is_rejected(self, router, octets):
        far = neighbour(router).attach(pairs=1)
        delivery = far.pass_on(octets, priority=0)
        assert delivery.remote_settled
        assert delivery.remote_state.error.condition in ("amqp:decode-error", "amqp:precondition-failed")

    @pytest.mark.parametrize("address", ["nobody", "unavailable", "unavailable/x", "", "_topo/0/elsewhere/x"])
    def test_what_nobody_wants_is_released(self, router, address):
        far = neighbour(router).attach(pairs=1)
        for _ in range(2):
            delivery = far.pass_on(to_router(address if address else "/"), priority=0)
            router.let_pass(2)
            assert outcome(delivery) == (RELEASED, True)
        assert router.router.addresses == {}

    @pytest.mark.parametrize("is_marked", [False, True])
    def test_an_address_that_is_not_unavailable_any_more_can_be_reached(self, router, is_marked):
        far = neighbour(router).attach(pairs=1)
        octets = to_router(annotations={"to": "unavailable/x"}) if is_marked else to_router("unavailable/x")
        assert outcome(far.pass_on(octets, priority=0)) == (RELEASED, True)
        router.router.configured_addresses.remove("unavailable/#")
        client = router.client()
        receiver = client.consumer("unavailable/x", credit=1)
        far.pass_on(octets, priority=0)
        assert len(client.received(receiver)) == 1

    @pytest.mark.parametrize("is_marked", [False, True])
    def test_an_address_that_has_become_unavailable_is_closed(self, router, is_marked):
        far = neighbour(router).attach(pairs=1)
        octets = to_router(annotations={"to": "closed"}) if is_marked else to_router("closed")
        early = far.pass_on(octets, priority=0)
        router.let_pass(2)
        assert outcome(early) == (RELEASED, True)
        client = router.client()
        receiver = client.consumer("closed", credit=1)
        router.router.configured_addresses.add(AddressSettings(pattern="closed", distribution=Distribution.UNAVAILABLE))
        assert outcome(far.pass_on(octets, priority=0)) == (RELEASED, True)
        assert client.received(receiver) == []

    @pytest.mark.parametrize(("more", "is_taken"), [(-2, True), (0, True), (1, True), (2, False), (9, False)])
    def test_what_has_passed_more_routers_than_there_are_is_released(self, router, more, is_taken):
        # Whatever the radius is: of two paths with the same cost another router may take the longer one.
        two = Two(router, radius=1)
        steps = len(router.router.directory.network.routes) + more
        delivery = two.come(trace=[f"0/X{number}" for number in range(steps)])
        assert outcome(delivery) == ((None, False) if is_taken else (RELEASED, True))
        assert sum(two.counts()) == is_taken

    def test_what_has_passed_us_is_released(self, router):
        two = Two(router)
        assert outcome(two.come(trace=["0/R"])) == (RELEASED, True)
        assert two.counts() == [0, 0]

    @pytest.mark.parametrize("cut", [0, 1, 3, 6, 12, 30, 45, 60])
    @pytest.mark.parametrize("settled", [False, True])
    def test_a_message_is_read_wherever_it_is_cut(self, router, cut, settled):
        far = neighbour(router).attach(pairs=1)
        client = router.client()
        receiver = client.consumer("orders", credit=1)
        octets = to_router("nobody", annotations={"to": "orders", "trace": ["0/N"], "ingress": "0/N"}, header=Header())
        far.stream(far.data_out[0], octets[:cut], octets[cut:], settled=settled)
        assert client.received(receiver) == [message_to("nobody", header=Header())]

    def test_a_message_whose_rest_is_no_message_is_rejected(self, router):
        far = neighbour(router).attach(pairs=1)
        delivery = far.stream(far.data_out[0], bytes.fromhex("005372c104"), b"\x02\xa1\x09x")
        assert delivery.remote_state.error.condition == "amqp:decode-error"

    def test_a_message_with_endless_annotations_is_given_up(self, router):
        far = neighbour(router, max_frame_size=1 << 20, send_frame_size=1 << 20).attach(pairs=1)
        start = bytes.fromhex("005372d1") + (1 << 30).to_bytes(4, "big") + bytes.fromhex("00000002a30178b0")
        delivery = far.stream(far.data_out[0], start + (1 << 29).to_bytes(4, "big"), ends=False)
        for _ in range(40):
            far.go_on(delivery, bytes(1 << 15))
        assert delivery.remote_state.error.condition == "amqp:link:message-size-exceeded"

    @pytest.mark.parametrize("strips", [True, False])
    def test_a_consumer_sees_the_annotations_of_users_alone(self, router, strips):
        far = neighbour(router).attach(pairs=1)
        client = router.client(peer={"strips_out": strips})
        receiver = client.consumer("orders", credit=1)
        far.pass_on(to_router(annotations={"to": "orders", "ingress": "0/N", "trace": ["0/N"]}), priority=0)
        [octets] = client.received(receiver)
        assert marked(octets) == ({} if strips else {"to": "orders", "ingress": "0/N", "trace": ["0/N", "0/R"]})


class TestPriorities:
    @pytest.mark.parametrize(
        ("header", "priority"),
        [
            (b"", 4),
            (bytes.fromhex("00537045"), 4),
            (bytes.fromhex("005370c00101"), 4),
            (bytes.fromhex("005370c0020141"), 4),
            (bytes.fromhex("005370c00402415000"), 0),
            (bytes.fromhex("005370c00402405009"), 9),
            (bytes.fromhex("005370c0050256015007"), 7),
            (bytes.fromhex("005370c004024050ff"), 9),
            (bytes.fromhex("005370c003024040"), 4),
            (bytes.fromhex("005370d00000000700000002415003"), 3),
            (bytes.fromhex("0080000000000000007045"), 4),
            (bytes.fromhex("00800000000000000070c00402415006"), 6),
            (bytes.fromhex("00a310") + b"amqp:header:list" + bytes.fromhex("c00402415002"), 2),
            (bytes.fromhex("005370d00000000600000002415f"), 4),
            (bytes.fromhex("005370d0000000080000000241810000"), 4),
        ],
    )
    def test_the_link_is_that_of_the_messages_priority(self, router, header, priority):
        far = neighbour(router).attach()
        router.tell(routes=routes((far, {"P": 1})), radius=1, mapped=mapped(P=("M0orders",)))
        client = router.client()
        client.send(client.producer("orders"), header + message())
        assert far.priorities() == [number == priority for number in range(10)]
        [octets] = far.arrived()
        assert octets.startswith(header + bytes.fromhex("005372"))

    def test_a_header_that_ends_too_early_has_no_priority(self, router):
        far = neighbour(router).attach()
        router.tell(routes=routes((far, {"P": 1})), radius=1, mapped=mapped(P=("M0orders",)))
        client = router.client()
        client.send(client.producer("orders"), bytes.fromhex("005370c003024150"))
        assert far.priorities() == [number == 4 for number in range(10)]

    def test_an_address_may_have_a_priority_of_its_own(self, router):
        far = neighbour(router).attach()
        router.tell(routes=routes((far, {"P": 1})), radius=1, mapped=mapped(P=("M0urgent",)))
        client = router.client()
        for priority in (0, 9, None):
            client.send(client.producer("urgent"), message(header=Header(priority=priority)))
        assert far.priorities() == [3 * (number == 8) for number in range(10)]

    def test_a_message_of_multicast_has_one_too(self, router):
        far = neighbour(router).attach()
        router.tell(routes=routes((far, {"P": 1})), radius=1, mapped=mapped(P=("M0multicast",)))
        client = router.client()
        client.send(client.producer("multicast"), message(header=Header(priority=2)))
        assert far.priorities() == [number == 2 for number in range(10)]

    @pytest.mark.parametrize("pairs", [1, 3])
    def test_a_neighbour_with_fewer_links_gets_it_on_the_next_lower_one(self, router, pairs):
        far = neighbour(router).attach(pairs=pairs)
        router.tell(routes=routes((far, {"P": 1})), radius=1, mapped=mapped(P=("M0orders",)))
        client = router.client()
        sender = client.producer("orders")
        for priority in (9, 0, 1, 4):
            client.send(sender, message(header=Header(priority=priority)))
        assert far.priorities() == ([4] if pairs == 1 else [1, 1, 2])

    def test_a_link_that_is_gone_leaves_its_messages_to_the_next_lower_one(self, router):
        far = neighbour(router).attach()
        router.tell(routes=routes((far, {"P": 1})), radius=1, mapped=mapped(P=("M0orders",)))
        far.detach(far.data_in[4])
        client = router.client()
        sender = client.producer("orders")
        for priority in (9, 4, 3):
            client.send(sender, message(header=Header(priority=priority)))
        assert far.priorities() == [0, 0, 0, 2, 0, 0, 0, 0, 0, 1]

    def test_messages_wait_for_a_neighbour_without_a_link_that_low(self, router):
        far = neighbour(router).attach()
        router.tell(routes=routes((far, {"P": 1})), radius=1, mapped=mapped(P=("M0orders",)))
        for link in far.data_in[:3]:
            far.detach(link)
        client = router.client()
        sender = client.producer("orders")
        delivery = client.send(sender, message(header=Header(priority=1)))
        assert (far.arrived(), outcome(delivery)) == ([], (None, False))

    def test_a_link_that_stalls_stops_no_other_priority(self, router):
        far = neighbour(router).attach(pairs=0)
        far.data_in = [far.attach_in(credit=0) for _ in range(4)] + [far.attach_in() for _ in range(6)]
        router.tell(routes=routes((far, {"P": 1})), radius=1, mapped=mapped(P=("M0low", "M0high")))
        client = router.client()
        client.send(client.producer("low"), message(header=Header(priority=0)))
        client.send(client.producer("high"), message(header=Header(priority=9)))
        assert far.priorities() == [0] * 9 + [1]
        far.data_in[0].grant(1)
        router.pump()
        assert far.priorities() == [1] + [0] * 8 + [1]
