"""A producer has credit while there is a consumer at any router, and nothing is left of one that vanishes."""

import pytest

from tests.system.mesh import Mesh, Span
from tests.system.proton_links import Producer
from tests.system.test_credit import exchange


@pytest.mark.parametrize("kind", ["closest", "balanced", "multicast"])
def test_a_producer_has_credit_while_there_is_a_consumer_anywhere(line: Mesh, address: str, kind: str) -> None:
    address = f"{kind}.{address}"
    client = line.connect("A")
    producer = client.producer(address)
    exchange(client, address)
    assert producer.credit == 0
    for name in "CBA":
        for does_vanish in (False, True):
            consumer = line.connect(name).consumer(address)
            assert producer.send("one").outcome() == "accepted"
            if does_vanish:
                consumer.client.cut()
            else:
                consumer.close()
            producer.wait_for_no_credit()


def test_a_producer_that_vanishes_leaves_nothing_behind(span: Span, address: str) -> None:
    consumer = span.there().consumer(address, outcome=None)
    vanishing = span.here()
    vanishing.producer(address).send_all(list(range(5)))
    received = [consumer.take() for _ in range(5)]
    vanishing.cut()
    for one in received:
        one.decide("accepted")

    def unsettled() -> list[int]:
        return [
            row["identity"]
            for name in (span.near, span.far)
            for row in span.mesh.query(name, "router.link")
            if row["unsettledCount"] and row["linkType"] != "endpoint"
        ]

    producer: Producer = span.here().producer(address)
    sent = producer.send("next")
    consumer.take().decide("accepted")
    assert sent.outcome() == "accepted"
    assert unsettled() == []
