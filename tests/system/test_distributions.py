"""How consumers share the messages of an address, whichever connections and actors they are on."""

import pytest

from tests.system.conftest import Connect
from tests.waiting import eventually


@pytest.mark.parametrize("kind", ["closest", "balanced", "multicast"])
@pytest.mark.parametrize("is_settled", [False, True], ids=["unsettled", "settled"])
def test_several_producers_and_consumers_lose_double_and_reorder_nothing(
    connect: Connect, address: str, kind: str, is_settled: bool
) -> None:
    address = f"{kind}.{address}"
    consumers = [connect().consumer(address) for _ in range(4)]
    producers = [connect().producer(address) for _ in range(4)]
    copies = len(consumers) if kind == "multicast" else 1
    # Of settled copies, 250 wait for a consumer that cannot take them; those beyond are dropped.
    for turns in (range(50), range(50, 100)):
        sent = [
            producer.send([number, turn], settled=is_settled)
            for turn in turns
            for number, producer in enumerate(producers)
        ]
        if not is_settled:
            assert {one.outcome() for one in sent} == {"accepted"}
        arrived = 4 * turns.stop * copies
        eventually(lambda: sum(len(one.received) for one in consumers) >= arrived, "all arrive")  # noqa: B023
    bodies = [consumer.bodies for consumer in consumers]
    received = [body for some in bodies for body in some]
    assert sorted(received) == [[number, turn] for number in range(4) for turn in range(100) for _ in range(copies)]
    assert all(bodies)
    by_producer = [[turn for number, turn in some if number == one] for some in bodies for one in range(4)]
    assert by_producer == [sorted(turns) for turns in by_producer]
