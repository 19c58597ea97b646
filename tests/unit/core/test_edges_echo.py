"""Messages that an edge router has sent up although it has consumers itself: it gets them back as a last resort."""

import pytest

from tests.routers import message
from tests.unit.core.edge_routers import CAPACITY, EdgeMesh, far_edge, interior_router
from tests.unit.core.joined_routers import to_router

ADDRESSES = ["orders", "closest/a"]


def sends(far, address, count):
    """Have an edge router send messages to an address."""
    for number in range(count):
        far.send(far.uplink, to_router(address, body=str(number)))


@pytest.mark.parametrize("address", ADDRESSES)
class TestAnInteriorRouter:
    def test_sends_them_to_others_while_these_have_credit(self, address):
        router = interior_router()
        far, client = far_edge(router).attach(), router.client()
        own = far.consumer(address, credit=CAPACITY)
        other = client.consumer(address, credit=5)
        sends(far, address, 5)
        assert (len(far.received(own)), len(client.received(other))) == (0, 5)
        sends(far, address, 3)
        assert (len(far.received(own)), len(client.received(other))) == (3, 5)

    def test_sends_them_to_other_edge_routers(self, address):
        router = interior_router()
        far, another = far_edge(router).attach(), far_edge(router).attach()
        own = far.consumer(address, credit=CAPACITY)
        other = another.consumer(address, credit=CAPACITY)
        sends(far, address, 20)
        assert (len(far.received(own)), len(another.received(other))) == (0, 20)
        # Each edge router is a destination for all others.
        client = router.client()
        sender = client.producer(address)
        for _ in range(20):
            client.send(sender, message())
        assert len(far.received(own)) > 5

    def test_sends_them_to_other_routers(self, address):
        mesh = EdgeMesh("I", "P")
        mesh.join("I", "P")
        far, client = far_edge(mesh["I"]).attach(), mesh["P"].client()
        own = far.consumer(address, credit=CAPACITY)
        other = client.consumer(address, credit=CAPACITY)
        sends(far, address, 20)
        assert (len(far.received(own)), len(client.received(other))) == (0, 20)

    def test_sends_them_back_if_there_is_nobody_else(self, address):
        router = interior_router()
        far = far_edge(router).attach()
        own = far.consumer(address, credit=CAPACITY)
        sends(far, address, 20)
        assert len(far.received(own)) == 20
