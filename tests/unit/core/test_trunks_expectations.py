"""Messages of other routers that come before the news of whoever they are for."""

import gc

import pytest

from routerd.core.directory.expectations import EXPECTED_MAX, GONE_MAX, GONE_S
from routerd.core.directory.path_rules import UNSETTLED_S
from routerd.core.links.address import Address
from routerd.wire import RELEASED
from tests.routers import outcome
from tests.unit.core.edge_routers import EdgeMesh, far_edge
from tests.unit.core.joined_routers import Mesh, mapped, neighbour, routes, to_router

FROM_ELSEWHERE = {"ingress": "0/N", "trace": ["0/N"]}


@pytest.fixture
def router():
    return Mesh("R")["R"]


@pytest.fixture
def far(router):
    return neighbour(router).attach(pairs=1)


def come(far, address="orders", **options):
    return far.pass_on(to_router(annotations=FROM_ELSEWHERE | {"to": address}), priority=0, **options)


@pytest.mark.parametrize("address", ["orders", "closest", "multicast"])
@pytest.mark.parametrize("settled", [False, True])
def test_they_wait_for_a_consumer_of_this_router(router, far, address, settled):
    waiting = come(far, address, settled=settled)
    client = router.client()
    consumer = client.consumer(address, credit=2)
    assert len(client.received(consumer)) == 1
    client.latest(consumer).accept()
    router.pump()
    assert waiting.remote_settled is not settled
    come(far, address)
    assert len(client.received(consumer)) == 2


class TestSiblings:
    """News of the other worker's consumers is under way: the worker with the trunk asks the address table."""

    @pytest.fixture
    def router(self):
        return Mesh("R", workers=2)["R"]

    @pytest.fixture
    def told_late(self, router, far):
        """A client of the other worker, whose consumers the worker with the trunk does not learn of yet."""
        client = router.client(1)
        consumer = client.consumer("orders", "before", credit=1)
        come(far)
        client.detach(consumer)
        router.holds_deltas.add(0)
        return client

    @pytest.mark.parametrize(("address", "at"), [("orders", "orders"), ("_topo/0/R/here", "_local/here")])
    def test_one_for_a_consumer_that_is_news_waits(self, router, far, told_late, address, at):
        consumer = told_late.consumer(at, "now", credit=1)
        waiting = come(far, address)
        assert outcome(waiting) == (None, False)
        router.holds_deltas.clear()
        router.pump()
        consumer.grant(1)
        router.pump()
        assert len(told_late.received(consumer)) == 1

    @pytest.mark.parametrize("address", ["orders", "_topo/0/R/here", "_topo/0/R/temp.client"])
    def test_one_for_nobody_is_released_as_soon_as_that_is_known(self, router, far, told_late, address):
        router.holds_deltas.clear()
        assert outcome(come(far, address)) == (RELEASED, True)

    def test_it_waits_for_a_second_where_nobody_answers(self, router, far, told_late):
        router.holds_confirmations = True
        waiting = come(far)
        assert outcome(waiting) == (None, False)
        router.let_pass(2)
        assert outcome(waiting) == (RELEASED, True)
        router.holds_confirmations = False
        assert outcome(come(far)) == (RELEASED, True)

    def test_an_address_of_a_client_for_answers_does_not_wait(self, router, far, told_late):
        router.holds_confirmations = True
        assert outcome(come(far, "_topo/0/R/temp.client")) == (RELEASED, True)


def test_they_do_not_wait_for_a_local_consumer_where_there_is_one_worker(router, far):
    assert outcome(come(far, "_topo/0/R/here")) == (RELEASED, True)


@pytest.mark.parametrize("address", ["orders", "closest", "multicast"])
def test_they_wait_for_a_consumer_of_another_router(router, far, address):
    other = neighbour(router, "M").attach(pairs=1)
    router.tell(routes=routes((other, {"P": 1}), (far, {"N": 1})), radius=1, through={"N": frozenset("P")})
    waiting = come(far, address)
    assert (outcome(waiting), other.arrived()) == ((None, False), [])
    router.tell(mapped=mapped(P=(f"M0{address}",)))
    router.pump()
    assert len(other.arrived()) == 1


def test_they_wait_for_a_router(router, far):
    other = neighbour(router, "M").attach(pairs=1)
    router.tell(routes=routes((far, {"N": 1})), radius=1)
    waiting = come(far, "_topo/0/P/x")
    router.tell(routes=routes((other, {"P": 1}), (far, {"N": 1})), radius=1)
    router.pump()
    assert (outcome(waiting), len(other.arrived())) == ((None, False), 1)


def test_one_whose_ways_lead_back_is_released_at_once(router, far):
    router.tell(routes=routes((far, {"N": 1, "P": 2})), radius=2, mapped=mapped(P=("M0orders",)))
    assert outcome(come(far)) == (RELEASED, True)


def test_a_large_one_waits_as_well(router, far):
    octets = to_router(body="x" * 50_000, annotations=FROM_ELSEWHERE | {"to": "orders"})
    far.pass_on(octets, priority=0)
    client = router.client()
    consumer = client.consumer("orders", credit=1)
    [came] = client.received(consumer)
    assert len(came) > 50_000


@pytest.mark.parametrize("address", ["orders", "multicast"])
def test_when_no_news_comes_they_are_released(router, far, address):
    waiting = come(far, address)
    router.pump(0.5)
    assert outcome(waiting) == (None, False)
    router.let_pass(1)
    assert (outcome(waiting), router.router.addresses) == ((RELEASED, True), {})


@pytest.mark.parametrize("address", ["orders", "closest", "multicast"])
@pytest.mark.parametrize("leads_back", [False, True])
def test_when_no_news_comes_they_are_released_though_nothing_else_has_come_since(router, far, address, leads_back):
    waiting = come(far, address)
    if leads_back:
        router.tell(routes=routes((far, {"N": 1, "P": 2})), radius=2, mapped=mapped(P=(f"M0{address}",)))
    router.router.each_second(router.router.now + 1.5)
    router.pump()
    assert outcome(waiting) == (RELEASED, True)


def test_those_that_come_behind_one_do_not_make_it_wait_longer(router, far):
    waiting = come(far)
    router.pump(1.1)
    behind = come(far)
    assert outcome(waiting) == (None, False)
    router.router.each_second(router.router.now + 0.5)
    router.pump()
    assert [outcome(one) for one in (waiting, behind)] == [(RELEASED, True)] * 2


def test_the_look_after_edge_routers_sets_the_clock(router):
    router.router.look_after_edges(router.now + 5)
    assert router.router.now == router.now + 5


def test_one_with_a_detour_is_released_when_the_network_is_at_rest(router, far):
    other = neighbour(router, "M").attach(pairs=1, credit=0)
    router.tell(routes=routes((other, {"P": 1}), (far, {"N": 1})), radius=1, mapped=mapped(P=("M0orders",)))
    waiting = come(far)
    router.let_pass(int(UNSETTLED_S))
    assert outcome(waiting) == (None, False)
    router.let_pass(1)
    assert (outcome(waiting), other.arrived()) == ((RELEASED, True), [])


def test_nothing_is_left_of_the_addresses_of_those_that_were_released(router, far):
    def addresses():
        gc.collect()
        return sum(isinstance(one, Address) for one in gc.get_objects())

    before = addresses()
    for number in range(120):
        come(far, f"gone/{number}")
    assert addresses() == before + 120
    router.let_pass(2)
    assert (addresses(), router.router.addresses) == (before, {})


def test_addresses_without_links_are_forgotten_when_they_are_many(monkeypatch):
    monkeypatch.setattr("routerd.core.directory.directory.PASSING_MAX", 10)
    router = Mesh("R")["R"]
    far, other = neighbour(router).attach(pairs=1), neighbour(router, "M").attach(pairs=1)
    keys = tuple(f"M0orders/{number}" for number in range(35))
    told = {"routes": routes((other, {"P": 1}), (far, {"N": 1})), "through": {"N": frozenset("P")}}
    router.tell(**told, radius=1, mapped=mapped(P=keys))
    for number in range(35):
        come(far, f"orders/{number}")
    assert (len(other.arrived()), len(router.router.addresses)) == (35, 5)


def test_addresses_at_which_messages_wait_are_not_forgotten_when_they_are_many(monkeypatch):
    monkeypatch.setattr("routerd.core.directory.directory.PASSING_MAX", 10)
    router = Mesh("R")["R"]
    far, other = neighbour(router).attach(pairs=1), neighbour(router, "M").attach(pairs=1, credit=0)
    keys = tuple(f"M0orders/{number}" for number in range(35))
    told = {"routes": routes((other, {"P": 1}), (far, {"N": 1})), "through": {"N": frozenset("P")}}
    router.tell(**told, radius=1, mapped=mapped(P=keys))
    for number in range(35):
        come(far, f"orders/{number}")
    assert len(router.router.addresses) == 35
    other.data_in[0].grant(100)
    router.pump()
    assert (len(other.arrived()), router.router.addresses) == (35, {})


def test_one_for_a_consumer_that_has_just_left_is_released_at_once(router, far):
    client = router.client()
    client.consumer("orders", credit=1)
    client.leave()
    assert outcome(come(far)) == (RELEASED, True)
    router.pump(GONE_S)
    assert outcome(come(far)) == (None, False)


def test_one_that_waits_for_credit_is_released_when_the_consumer_leaves(router, far):
    for _ in range(2):
        client = router.client()
        client.consumer("orders", credit=0)
        waiting = come(far)
        client.leave()
        assert outcome(waiting) == (RELEASED, True)


def test_one_that_has_no_way_any_more_is_released_at_once(router, far):
    other = neighbour(router, "M").attach(pairs=1)
    known = {"mapped": mapped(P=("M0orders",)), "through": {"N": frozenset("P")}, "radius": 1}
    router.tell(routes=routes((other, {"P": 1}), (far, {"N": 1})), **known)
    come(far)
    router.tell(routes=routes((far, {"N": 1, "P": 5})), radius=1)
    assert outcome(come(far)) == (RELEASED, True)
    router.tell(routes=routes((far, {"N": 1})), radius=1)
    assert outcome(come(far, "_topo/0/P/x")) == (RELEASED, True)


def test_what_is_kept_has_a_bound(router, far):
    kept = [come(far, f"orders/{number}") for number in range(EXPECTED_MAX)]
    assert outcome(come(far, "orders/more")) == (RELEASED, True)
    assert [outcome(one) for one in kept] == [(None, False)] * EXPECTED_MAX
    router.let_pass(2)
    assert [outcome(one) for one in kept] == [(RELEASED, True)] * EXPECTED_MAX
    assert outcome(come(far, "orders/more")) == (None, False)


def test_what_is_remembered_has_a_bound(router, far):
    client = router.client()
    for number in range(GONE_MAX + 1):
        client.detach(client.consumer(f"orders/{number}"), closed=True)
    assert outcome(come(far, "orders/0")) == (None, False)
    assert outcome(come(far, f"orders/{GONE_MAX}")) == (RELEASED, True)


def test_those_of_edge_routers_do_not_wait():
    edge = far_edge(EdgeMesh("R")["R"]).attach()
    assert outcome(edge.send(edge.uplink, to_router("orders"))) == (RELEASED, True)
