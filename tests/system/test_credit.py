"""Credit is there while a consumer is, and what it was used for in vain comes back."""

from tests.system.conftest import Connect
from tests.system.proton_client import ProtonClient


def exchange(client: ProtonClient, address: str) -> None:
    """Have a message go through the router, so that what the router had to say before is here."""
    consumer = client.consumer(f"{address}.exchange")
    assert client.producer(f"{address}.exchange").send("there").outcome() == "accepted"
    consumer.close()


def test_a_producer_has_credit_while_there_is_a_consumer(connect: Connect, address: str) -> None:
    client = connect()
    producer = client.producer(address)
    exchange(client, address)
    assert producer.credit == 0
    for _ in range(3):
        first, second = connect().consumer(address), connect().consumer(address)
        producer.wait_for_credit()
        first.close()
        exchange(client, address)
        assert producer.credit > 0
        assert producer.send("one").outcome() == "accepted"
        second.close()
        producer.wait_for_no_credit()


def test_what_a_consumer_may_have_seen_is_modified_when_it_vanishes(connect: Connect, address: str) -> None:
    vanishing = connect()
    consumer = vanishing.consumer(address, outcome=None, credit=5, is_renewed=False)
    producer = connect().producer(address)
    sent = producer.send_all(list(range(8)))
    assert consumer.wait_for(5) == list(range(5))
    vanishing.cut()
    assert [one.outcome() for one in sent] == ["modified"] * 5 + ["released"] * 3
    assert [(one.is_failed, one.is_undeliverable) for one in sent[:5]] == [(True, False)] * 5
    producer.wait_for_no_credit()
