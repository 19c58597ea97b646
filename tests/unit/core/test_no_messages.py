"""Octets that are no AMQP message, at routers that carry them as qdrouterd does."""

import pytest

from routerd.wire import ACCEPTED
from tests.routers import Workers, outcome
from tests.unit.core.joined_routers import Mesh

OCTETS = b"0123456789" * 5


class Ends:
    """Three routers in a line, with a producer at one end and a consumer at the other."""

    def __init__(self, **options):
        self.mesh = Mesh("A", "B", "C", **{"carries_anything": True} | options)
        self.mesh.join("A", "B")
        self.mesh.join("B", "C")
        self.there, self.client = self.mesh["C"].client(), self.mesh["A"].client()
        self.receiver = self.there.consumer("orders", credit=10)
        self.sender = self.client.producer("orders")

    def outcome_of(self, octets):
        delivery = self.client.send(self.sender, octets)
        for one in list(self.there.unsettled.get(self.receiver.name, ())):
            one.accept()
        self.mesh.pump()
        return outcome(delivery)


@pytest.mark.parametrize("octets", [OCTETS, OCTETS * 100, b"S"])
def test_they_come_out_as_they_went_in(octets):
    ends = Ends()
    assert ends.outcome_of(octets) == (ACCEPTED, True)
    assert ends.there.received(ends.receiver) == [octets]


def test_so_they_do_in_parts_and_without_a_change_by_their_listener():
    ends = Ends()
    client = ends.mesh["A"].client(peer={"strips_in": False, "strips_out": False})
    client.stream(client.producer("orders"), OCTETS[:20], OCTETS[20:])
    assert ends.there.received(ends.receiver) == [OCTETS]


def test_elsewhere_they_are_rejected():
    state, is_settled = Ends(carries_anything=False).outcome_of(OCTETS)
    assert (state.error.condition, is_settled) == ("amqp:decode-error", True)


def test_a_message_that_is_malformed_is_rejected_all_the_same():
    state, is_settled = Ends().outcome_of(bytes.fromhex("005372c1050202a1"))
    assert (state.error.condition, is_settled) == ("amqp:decode-error", True)


def test_they_say_in_no_field_where_they_go():
    client = Workers(carries_anything=True).client()
    client.consumer("orders", credit=1)
    state, is_settled = outcome(client.send(client.producer(None), OCTETS))
    assert (state.error.condition, is_settled) == ("amqp:decode-error", True)
