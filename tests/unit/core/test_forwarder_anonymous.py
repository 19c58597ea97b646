"""Anonymous producers, whose messages say themselves where they go."""

import pytest

from routerd.core import Distribution
from routerd.wire import ACCEPTED, RELEASED, AmqpValue, Error, Message, Properties, Rejected, Symbol
from tests.routers import Workers, message, message_to, outcome

PRECONDITION = Rejected(
    error=Error(
        condition=Symbol("amqp:precondition-failed"),
        description="the message says in no `to` property where it goes",
    )
)
UNAVAILABLE = Rejected(
    error=Error(
        condition=Symbol("amqp:not-found"), description="Deliveries cannot be sent to an unavailable address"
    )
)

NOWHERE = ("nobody", "/", "multicast/nobody", "_local/nobody", "_topo/0/R/nobody", "_topo/0/Q/x")


def ends(workers, *addresses, credit=10):
    """An anonymous producer at the first worker, and consumers at the last."""
    producer, consumer = workers.ends()
    return producer, producer.producer(None), consumer, [consumer.consumer(each, credit=credit) for each in addresses]


@pytest.mark.parametrize("empty", [None, ""])
def test_it_has_credit_whoever_is_there(workers, empty):
    client = workers.client(0)
    assert client.producer(empty).credit == 250


def test_each_message_goes_where_it_says(workers):
    producer, sender, consumer, (orders, offers) = ends(workers, "orders", "offers")
    deliveries = [
        producer.send(sender, message_to(to, body))
        for to, body in (("orders", "1"), ("offers", "2"), ("/orders", "3"), ("amqp://host/offers", "4"))
    ]
    assert consumer.received(orders) == [message_to("orders", "1"), message_to("/orders", "3")]
    assert consumer.received(offers) == [message_to("offers", "2"), message_to("amqp://host/offers", "4")]
    consumer.latest(orders).accept()
    consumer.latest(offers).release()
    workers.pump()
    assert [outcome(each) for each in deliveries[2:]] == [(ACCEPTED, True), (RELEASED, True)]


@pytest.mark.parametrize("settled", [False, True])
def test_a_message_to_where_nobody_is_is_released(workers, settled):
    producer, sender, _, _ = ends(workers)
    deliveries = [producer.send(sender, message_to(to), settled=settled) for to in NOWHERE]
    assert [outcome(each) for each in deliveries] == [(None, False) if settled else (RELEASED, True)] * len(NOWHERE)
    assert workers[0].router.addresses == {}


@pytest.mark.parametrize("octets", [message(), message(properties=Properties(subject="x")), message_to("")])
def test_a_message_that_does_not_say_where_it_goes_is_rejected(octets):
    producer, sender, _, _ = ends(Workers())
    assert outcome(producer.send(sender, octets)) == (PRECONDITION, True)


def test_a_message_to_an_unavailable_address_is_rejected():
    producer, sender, _, _ = ends(Workers())
    deliveries = [producer.send(sender, message_to(to)) for to in ("unavailable/x", "unavailable/x")]
    assert [outcome(each) for each in deliveries] == [(UNAVAILABLE, True)] * 2


def test_where_addresses_are_unavailable_unless_configured_no_message_goes_elsewhere():
    workers = Workers(default_distribution=Distribution.UNAVAILABLE)
    producer, sender, consumer, (receiver,) = ends(workers, "closest/x")
    assert outcome(producer.send(sender, message_to("nobody"))) == (UNAVAILABLE, True)
    producer.send(sender, message_to("closest/x"))
    assert consumer.received(receiver) == [message_to("closest/x")]


def test_a_message_that_is_malformed_is_rejected():
    producer, sender, _, _ = ends(Workers())
    state, is_settled = outcome(producer.send(sender, b"\x00\x53\x73\xff\xff\xff\xff"))
    assert (state.error.condition, is_settled) == ("amqp:decode-error", True)


def test_it_goes_on_with_credit_after_any_number_of_messages(workers):
    producer, sender, consumer, (receiver,) = ends(workers, "orders", credit=1000)
    for number in range(600):
        producer.send(sender, message_to(("orders", "nobody", "")[number % 3]))
        for delivery in consumer.unsettled.pop(receiver.name, []):
            delivery.accept()
    workers.pump()
    assert len(consumer.received(receiver)) == 200
    assert sender.credit >= 125


def test_messages_wait_where_consumers_have_no_credit(workers):
    producer, sender, consumer, (receiver,) = ends(workers, "orders", credit=0)
    for number in range(3):
        producer.send(sender, message_to("orders", str(number)))
    receiver.grant(3)
    workers.pump()
    assert consumer.received(receiver) == [message_to("orders", str(number)) for number in range(3)]


@pytest.mark.parametrize("settled", [False, True])
def test_what_waits_is_released_when_the_last_consumer_leaves(workers, settled):
    producer, sender, consumer, (receiver,) = ends(workers, "orders", credit=0)
    delivery = producer.send(sender, message_to("orders"), settled=settled)
    consumer.detach(receiver)
    assert outcome(delivery) == ((None, False) if settled else (RELEASED, True))
    producer.leave()
    consumer.leave()
    assert workers.left_over() == {}


def test_an_address_that_only_anonymous_producers_send_to_is_forgotten_with_its_consumers(workers):
    producer, sender, consumer, (receiver,) = ends(workers, "orders")
    producer.send(sender, message_to("orders"))
    consumer.latest(receiver).accept()
    consumer.detach(receiver)
    assert [worker.router.addresses for worker in workers.workers.values()] == [{}] * len(workers.workers)
    assert outcome(producer.send(sender, message_to("orders"))) == (RELEASED, True)


def test_a_multicast_message_goes_to_all(workers):
    producer, sender, consumer, receivers = ends(workers, "multicast/x", "multicast/x")
    delivery = producer.send(sender, message_to("multicast/x"))
    assert [consumer.received(each) for each in receivers] == [[message_to("multicast/x")]] * 2
    for receiver in receivers:
        consumer.latest(receiver).accept()
    workers.pump()
    assert outcome(delivery) == (ACCEPTED, True)


class TestSplitOverFrames:
    OCTETS = message_to("orders", "x" * 100, application_properties={"a": "b" * 50})

    @pytest.mark.parametrize("cut", [0, 1, 3, 4, 8, 10, 12, 60, 120])
    def test_the_address_may_come_in_a_later_frame(self, workers, cut):
        producer, sender, consumer, (receiver,) = ends(workers, "orders")
        delivery = producer.stream(sender, self.OCTETS[:cut], self.OCTETS[cut:])
        assert consumer.received(receiver) == [self.OCTETS]
        consumer.latest(receiver).accept()
        workers.pump()
        assert outcome(delivery) == (ACCEPTED, True)

    def test_it_may_come_octet_by_octet(self, workers):
        producer, sender, consumer, (receiver,) = ends(workers, "orders")
        producer.stream(sender, *[bytes((octet,)) for octet in self.OCTETS])
        assert consumer.received(receiver) == [self.OCTETS]

    def test_what_follows_the_address_is_passed_on_as_it_comes(self):
        workers = Workers()
        producer, sender, consumer, _ = ends(workers, "orders")
        producer.stream(sender, self.OCTETS[:2], self.OCTETS[2:60], self.OCTETS[60:70], ends=False)
        assert consumer.bodies == [self.OCTETS[:60], self.OCTETS[60:70]]

    def test_a_message_that_ends_without_it_is_rejected(self):
        producer, sender, _, _ = ends(Workers())
        octets = bytes(Message(properties=Properties(subject="x"), body=AmqpValue("x" * 50)).encode())
        assert outcome(producer.stream(sender, octets[:3], octets[3:])) == (PRECONDITION, True)

    def test_an_address_too_deep_in_a_message_is_not_waited_for(self):
        producer, sender, _, _ = ends(Workers())
        octets = message_to("orders", message_annotations={Symbol("x-opt-long"): "x" * (1 << 20)})
        delivery = producer.stream(sender, octets[:100], octets[100:], ends=True)
        state, is_settled = outcome(delivery)
        assert (state.error.condition, is_settled) == ("amqp:link:message-size-exceeded", True)
        assert state.error.description == "address and annotations are not within the first 1048576 octets"

    def test_the_producer_may_vanish_in_the_middle(self):
        workers = Workers()
        producer, sender, consumer, _ = ends(workers, "orders")
        producer.stream(sender, self.OCTETS[:2], ends=False)
        producer.vanish()
        consumer.leave()
        assert (consumer.bodies, workers.left_over()) == ([], {})


def test_no_more_destinations_are_remembered_than_there_is_room_for():
    producer, sender, consumer, (receiver,) = ends(Workers(), "orders", credit=10)
    for number in range(10_050):
        sender.send(message_to(f"nobody/{number}"), settled=True)
        if sender.credit < 10:
            producer._workers.pump()
    producer.send(sender, message_to("orders"))
    assert consumer.received(receiver) == [message_to("orders")]
