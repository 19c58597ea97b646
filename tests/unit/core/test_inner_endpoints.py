"""Consumers and producers inside the router."""

import pytest

from routerd.core import (
    InnerProducer,
    LoopBack,
    Observer,
    QueueFull,
)
from routerd.core.inside import inner_endpoints
from routerd.wire import (
    ACCEPTED,
    RELEASED,
    Error,
    Message,
    Modified,
    Properties,
    Rejected,
    Source,
    Symbol,
)
from tests.routers import Workers, message, message_to, outcome

MAYBE_SEEN = Modified(delivery_failed=True)


def inside(workers):
    """The inside of the first worker."""
    loop = LoopBack(workers[0].router, workers.now)
    workers.lines.append(loop)
    workers.pump()
    return loop


def consuming(workers, address="orders", **options):
    """An endpoint that keeps messages and deliveries, unanswered."""
    taken = []
    consumer = inside(workers).consume(address, lambda octets, delivery: taken.append((octets, delivery)), **options)
    workers.pump()
    return consumer, taken


def producing(workers, address=None):
    producer = inside(workers).produce(address)
    workers.pump()
    return producer


def sender(workers, address="orders", **options):
    producer = workers.client(workers.last)
    return producer, producer.producer(address, **options)


class Failures(Observer):
    """Keeps what endpoints raised."""

    def __init__(self):
        self.failures = []

    def endpoint_failed(self, address, error):
        self.failures.append((address, error))


# Consumers


def test_a_function_takes_the_messages_of_an_address_and_answers_them(workers):
    _, taken = consuming(workers)
    producer, link = sender(workers)
    first, second, third = (producer.send(link, message(body)) for body in "123")
    assert [octets for octets, _ in taken] == [message("1"), message("2"), message("3")]
    assert outcome(second) == (None, False)
    taken[2][1].reject(Error(condition=Symbol("x:no")))
    taken[0][1].accept()
    workers.pump()
    assert [outcome(each) for each in (first, second, third)] == [
        (ACCEPTED, True),
        (None, False),
        (Rejected(error=Error(condition=Symbol("x:no"))), True),
    ]


def test_a_message_that_comes_in_parts_is_taken_once_it_is_whole(workers):
    _, taken = consuming(workers)
    producer, link = sender(workers)
    octets = message(bytes(range(256)) * 300)
    delivery = producer.stream(link, octets[:10], octets[10:40_000], ends=False)
    assert taken == []
    producer.go_on(delivery, octets[40_000:], more=False)
    assert [each for each, _ in taken] == [octets]


def test_a_message_that_is_aborted_is_not_taken(workers):
    _, taken = consuming(workers)
    producer, link = sender(workers)
    delivery = producer.stream(link, message("1")[:5], ends=False)
    link.abort(delivery)
    workers.pump()
    producer.send(link, message("2"))
    assert [octets for octets, _ in taken] == [message("2")]


def test_a_settled_message_needs_no_answer_and_may_have_one(workers):
    _, taken = consuming(workers, capacity=2)
    producer, link = sender(workers)
    for body in "123":
        producer.send(link, message(body), settled=True)
        taken[-1][1].accept()
        workers.pump()
    assert len(taken) == 3


def test_no_more_messages_come_than_may_be_unanswered(workers):
    consumer, taken = consuming(workers, capacity=2)
    producer, link = sender(workers)
    for body in "12345":
        producer.send(link, message(body))
    assert (len(taken), consumer.link.credit) == (2, 0)
    taken[0][1].accept()
    taken[1][1].accept()
    workers.pump()
    assert [octets for octets, _ in taken] == [message(body) for body in "1234"]


def test_a_message_that_is_too_large_for_an_endpoint_is_rejected(workers):
    _, taken = consuming(workers, message_size_max=1000)
    producer, link = sender(workers)
    delivery = producer.send(link, message(bytes(2000)))
    assert (taken, type(delivery.remote_state), delivery.remote_state.error.condition) == (
        [],
        Rejected,
        "amqp:link:message-size-exceeded",
    )


@pytest.mark.parametrize("answers", [False, True])
def test_what_an_endpoint_raises_costs_one_message(answers):
    workers = Workers(observer=Failures)
    faults = [ValueError("no good"), None]

    def take(octets, delivery):
        if answers:
            delivery.accept()
        fault = faults.pop(0)
        if fault is not None:
            raise fault

    inside(workers).consume("orders", take)
    workers.pump()
    producer, link = sender(workers)
    first, second = (producer.send(link, message(body)) for body in "12")
    failed = Rejected(
        error=Error(condition=Symbol("amqp:internal-error"), description="the endpoint inside the router failed")
    )
    assert outcome(first) == (ACCEPTED if answers else failed, True)
    assert outcome(second) == (ACCEPTED, True) if answers else (None, False)
    [(address, error)] = workers[0].router.observer.failures
    assert (address, str(error)) == ("orders", "no good")


def test_an_endpoint_that_is_closed_leaves_its_address(workers):
    consumer, taken = consuming(workers)
    producer, link = sender(workers)
    delivery = producer.send(link, message())
    consumer.close()
    consumer.close()
    workers.pump()
    assert (consumer.is_attached, link.credit, outcome(delivery)) == (False, 0, (MAYBE_SEEN, True))
    assert len(taken) == 1


def test_an_endpoint_shares_an_address_with_clients(workers):
    _, taken = consuming(workers)
    other = workers.client(workers.last)
    consumer = other.consumer("orders", credit=10)
    producer, link = sender(workers)
    for body in "1234":
        producer.send(link, message(body))
    assert (len(taken), len(other.received(consumer))) == (2, 2)


# Producers


def test_a_message_waits_inside_until_there_is_a_consumer(workers):
    producer = producing(workers, "orders")
    told = []
    producer.send(message("1"), decided=told.append)
    producer.send(message("2"), settled=True)
    workers.pump()
    assert (producer.is_attached, producer.credit, told) == (True, 0, [])
    consumer = workers.client(workers.last)
    link = consumer.consumer("orders", credit=10)
    assert consumer.received(link) == [message("1"), message("2")]
    consumer.unsettled[link.name][0].release()
    workers.pump()
    assert told == [RELEASED]


def test_a_large_message_goes_in_pieces_one_in_a_turn_and_others_behind_it(workers):
    consumer = workers.client(workers.last)
    link = consumer.consumer("orders", credit=5)
    loop = inside(workers)
    producer = loop.produce("orders")
    workers.pump()
    large = message(bytes(range(256)) * 1024)
    told = []
    producer.send(large, decided=told.append)
    producer.send(message("behind"), decided=told.append)
    delivery = producer.link.current
    sizes = []
    for turn in range(3):
        for _ in range(3):
            loop.flush(workers.now + turn)
        sizes.append(delivery.size)
    assert sizes == [inner_endpoints.PIECE * count for count in (2, 3, 4)]
    workers.pump(3.0)
    assert consumer.received(link) == [large, message("behind")]
    for each in consumer.unsettled[link.name]:
        each.accept()
    workers.pump()
    assert told == [ACCEPTED, ACCEPTED]


def test_of_a_large_message_that_is_cut_off_nobody_can_tell(workers):
    consumer = workers.client(workers.last)
    link = consumer.consumer("orders", credit=5)
    loop = inside(workers)
    producer = loop.produce("orders")
    workers.pump()
    told = []
    producer.send(message(bytes(1 << 20)), decided=told.append)
    producer.send(message("behind"), decided=told.append)
    loop.flush(workers.now)
    producer.close()
    workers.pump()
    assert told == [MAYBE_SEEN, RELEASED]
    assert consumer.received(link) == []
    other = loop.produce("orders")
    workers.pump()
    other.send(message("next"))
    workers.pump()
    assert consumer.received(link) == [message("next")]


def test_messages_go_where_their_to_says(workers):
    consumer = workers.client(workers.last)
    orders, offers = consumer.consumer("orders", credit=5), consumer.consumer("offers", credit=5)
    producer = producing(workers)
    told = []
    for to in ("offers", "orders", "nobody"):
        producer.send(message_to(to), decided=told.append)
    workers.pump()
    assert (consumer.received(orders), consumer.received(offers)) == ([message_to("orders")], [message_to("offers")])
    assert told == [RELEASED]


def test_no_more_messages_wait_than_may(workers, monkeypatch):
    monkeypatch.setattr(inner_endpoints, "QUEUED_MAX", 2)
    producer = producing(workers, "orders")
    producer.send(message("1"))
    producer.send(message("2"))
    with pytest.raises(QueueFull, match="2 messages to orders wait for credit already"):
        producer.send(message("3"))


def test_what_becomes_of_messages_is_said_when_the_link_ends(workers):
    consumer = workers.client(workers.last)
    consumer.consumer("orders", credit=1)
    producer = producing(workers, "orders")
    told = []
    producer.send(message("1"), decided=lambda state: told.append(("1", state)))
    workers.pump()
    consumer.leave()
    producer.send(message("2"), decided=lambda state: told.append(("2", state)))
    producer.send(message("3"))
    assert told == [("1", MAYBE_SEEN)]
    producer.close()
    producer.close()
    workers.pump()
    assert (producer.is_attached, told) == (False, [("1", MAYBE_SEEN), ("2", RELEASED)])


def test_of_what_is_under_way_when_all_ends_nobody_can_tell(workers):
    consumer = workers.client(workers.last)
    consumer.consumer("orders", credit=1)
    loop = inside(workers)
    producer = loop.produce("orders")
    workers.pump()
    told = []
    producer.send(message(), decided=told.append)
    workers.pump()
    loop.abort()
    assert told == [MAYBE_SEEN]


def test_what_is_sent_on_a_link_that_is_over_is_released(workers):
    producer = producing(workers, "orders")
    producer.close()
    workers.pump()
    told = []
    producer.send(message(), decided=told.append)
    workers.pump()
    assert (producer.is_attached, producer.credit, told) == (False, 0, [RELEASED])


def test_who_makes_messages_as_they_are_wanted_is_told_of_credit(workers):
    sent = []

    def use(producer: InnerProducer) -> None:
        for _ in range(min(producer.credit, 3 - len(sent))):
            sent.append(None)
            producer.send(message(str(len(sent))))

    inside(workers).produce("orders", use)
    consumer = workers.client(workers.last)
    assert sent == []
    link = consumer.consumer("orders", credit=10)
    assert consumer.received(link) == [message("1"), message("2"), message("3")]


# Requests and replies


def test_a_client_gets_the_reply_to_its_request(workers):
    loop = inside(workers)
    replies = loop.produce()

    def take(octets, delivery):
        properties = Message.decode(octets).properties
        replies.send(message_to(properties.reply_to, "reply"), settled=True)
        delivery.accept()

    loop.consume("requests", take)
    workers.pump()
    requester, link = sender(workers, "requests")
    receiver = requester.consumer(None, credit=1, source=Source(dynamic=True))
    reply_to = receiver.remote_source.address
    delivery = requester.send(link, message("request", properties=Properties(reply_to=reply_to)))
    assert requester.received(receiver) == [message_to(reply_to, "reply")]
    assert outcome(delivery) == (ACCEPTED, True)


def test_an_endpoint_gets_the_reply_to_its_request(workers):
    loop = inside(workers)
    taken = []
    consumer = loop.consume(None, lambda octets, delivery: taken.append(octets))
    assert (consumer.address, consumer.is_attached) == ("", False)
    producer = loop.produce("requests")
    workers.pump()
    assert consumer.address.startswith("amqp:/_topo/0/R/temp.")
    responder = workers.client(workers.last)
    requests = responder.consumer("requests", credit=1)
    anonymous = responder.producer(None)
    request = message("request", properties=Properties(reply_to=consumer.address))
    producer.send(request)
    workers.pump()
    assert responder.received(requests) == [request]
    responder.send(anonymous, message_to(consumer.address, "reply"))
    assert taken == [message_to(consumer.address, "reply")]


# The connection


def test_it_is_counted_apart_from_clients(workers):
    _, taken = consuming(workers)
    producer, link = sender(workers)
    producer.send(link, message())
    taken[0][1].accept()
    workers.pump()
    totals = workers[0].router.totals.copy()
    for peer in workers[0].router.peers.values():
        for end in (*peer.inlets, *peer.outlets):
            totals.add(end)
    assert (totals.inner_out["deliveries"], totals.inner_out["accepted"], totals.egress["deliveries"]) == (1, 1, 0)


def test_when_the_router_drains_endpoints_may_answer_and_nothing_else(workers):
    consumer = workers.client(workers.last)
    link = consumer.consumer("orders", credit=10)
    loop = inside(workers)
    orders, answers = loop.produce("orders"), loop.produce()
    workers.pump()
    workers[0].router.leaving.drain()
    workers.pump()
    assert (orders.credit, answers.credit) == (0, 250)
    assert workers[0].router.leaving.is_drained()
    workers.pump()
    assert (orders.is_attached, answers.is_attached) == (False, True)
    answers.send(message_to("orders", "answer"), settled=True)
    workers.pump()
    assert consumer.received(link) == [message_to("orders", "answer")]


def test_it_ends_with_the_router_and_leaves_nothing():
    workers = Workers()
    consumer, _ = consuming(workers)
    workers[0].router.leaving.close_all()
    workers.pump()
    assert (consumer.is_attached, workers.left_over()) == (False, {})


def test_it_can_be_cut():
    workers = Workers()
    loop = inside(workers)
    loop.consume("orders", print)
    workers.pump()
    loop.abort()
    loop.abort()
    loop.flush(workers.now)
    assert workers.left_over() == {}


def test_the_shell_is_told_when_an_endpoint_has_something_to_say():
    workers = Workers()
    router = workers[0].router
    consumer, taken = consuming(workers)
    producer, link = sender(workers)
    producer.send(link, message())
    router.awake = []
    taken[0][1].accept()
    [awake] = router.awake
    assert awake.context is consumer.link.session.connection.handler.peer


def test_annotations_of_routers_are_left_to_endpoints():
    workers = Workers()
    _, taken = consuming(workers)
    producer = workers.client(peer={"strips_in": False})
    octets = message(message_annotations={Symbol("x-opt-qd.to"): "orders"})
    producer.send(producer.producer("orders"), octets)
    assert taken[0][0] == octets


def test_an_endpoint_opens_an_address_that_is_closed_to_clients(workers):
    refused, _ = sender(workers, "unavailable/orders")
    assert [event[-1] for event in refused.take() if event[0] == "link detached"] == ["amqp:not-found"]
    _, taken = consuming(workers, "unavailable/orders")
    producer, link = sender(workers, "unavailable/orders")
    producer.send(link, message())
    assert [octets for octets, _ in taken] == [message()]
