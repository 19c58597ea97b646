"""A message whose forwarding raised an error leaves nothing behind in the arrival that the next message uses.

The observer raises once a message has left. The next message must have its own priority and annotations.
"""

import pytest

from routerd.core import AddressSettings, Distribution, Observer
from routerd.wire import Header
from tests.routers import message
from tests.unit.core.joined_routers import Mesh, mapped, marked, neighbour, routes, to_router
from tests.unit.core.recorder_rows import record

COPIES = AddressSettings(pattern="copies", distribution=Distribution.MULTICAST)


class Fault(Exception):
    """What the observer raises."""


class Faulty(Observer):
    """Raises an error for the next message that leaves, if it is told to."""

    is_armed = False

    def message_sent(self, outlet, data, start, end, is_partial):
        if self.is_armed:
            self.is_armed = False
            raise Fault


class Ends:
    """A router with consumers behind a neighbour, and an observer that can fail."""

    def __init__(self, address, *, credit):
        self.observer = Faulty()
        self.router = Mesh("R", observer=lambda: self.observer, addresses=(COPIES,))["R"]
        record(self.router.router)
        self.far = neighbour(self.router).attach(credit=credit)
        self.far.peer.watch(True)
        self.learn_cost(1, mapped=mapped(P=(f"M0{address}",)))
        self.client = self.router.client()
        self.sender = self.client.producer(address)

    def learn_cost(self, cost, **news):
        """Have the router look again at messages that wait for the route."""
        self.router.tell(routes=routes((self.far, {"P": cost})), radius=1, **news)
        self.router.pump()

    def send(self, priority):
        self.client.send(self.sender, message(str(priority), header=Header(priority=priority)))

    def grant(self, priority, credit):
        self.far.data_in[priority].grant(credit)
        self.router.pump()

    def fails(self):
        """Have the next message fail that leaves."""
        self.observer.is_armed = True
        return pytest.raises(Fault)

    def came(self):
        """The messages that came, by priority."""
        found = {number: self.far.received(link) for number, link in enumerate(self.far.data_in)}
        return {number: [octets[-1:] for octets in several] for number, several in found.items() if several}


@pytest.mark.parametrize("address", ["orders", "copies"])
def test_the_next_message_of_a_client_has_its_own_priority(address):
    ends = Ends(address, credit=10)
    with ends.fails():
        ends.send(9)
    ends.router.pump()
    ends.send(0)
    assert ends.came() == {0: [b"0"], 9: [b"9"]}


def test_the_next_message_of_a_client_has_no_annotations_of_a_routers():
    ends = Ends("orders", credit=10)
    source = neighbour(ends.router, "S").attach(pairs=10)
    with ends.fails():
        source.pass_on(to_router("orders", annotations={"to": "orders", "ingress": "0/O", "trace": ["0/O", "0/S"]}))
    ends.router.pump()
    ends.send(0)
    first, second = sorted((marked(octets) for octets in ends.far.arrived()), key=lambda one: -len(one["trace"]))
    assert first == {"to": "orders", "ingress": "0/O", "trace": ["0/O", "0/S", "0/R"]}
    assert second == {"to": "orders", "ingress": "0/R", "trace": ["0/R"]}


@pytest.mark.parametrize("address", ["orders", "copies"])
def test_the_next_message_that_waited_has_its_own_priority(address):
    ends = Ends(address, credit=0)
    for priority in (9, 0):
        ends.send(priority)
    with ends.fails():
        ends.grant(9, 5)
    ends.grant(0, 1)
    ends.learn_cost(2)
    assert ends.came() == {0: [b"0"], 9: [b"9"]}
