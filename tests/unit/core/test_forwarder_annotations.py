"""Annotations of routers, which clients neither send nor get unless their listener lets them through."""

import itertools

import pytest

from routerd.wire import ACCEPTED, AmqpValue, Header, Message, Properties, Symbol
from routerd.wire.section_scan import may_carry_annotations
from tests.routers import Workers, message, outcome

OURS = Symbol("x-opt-qd.trace")
THEIRS = Symbol("x-opt-mine")


def annotated(*keys, **sections):
    return message("hello", message_annotations=dict.fromkeys(keys, "value"), **sections)


def passed(workers, octets, *, strips_in=True, strips_out=True, settled=False, cuts=(), address="orders"):
    """What becomes of a message on its way, sent in one frame or cut at some offsets."""
    producer = workers.client(0, peer={"strips_in": strips_in})
    consumer = workers.client(workers.last, peer={"strips_out": strips_out})
    receiver = consumer.consumer(address, credit=1)
    sender = producer.producer(address)
    places = [0, *cuts, len(octets)]
    parts = [octets[start:end] for start, end in itertools.pairwise(places)]
    producer.stream(sender, *parts, settled=settled)
    [received] = consumer.received(receiver)
    return received


BEFORE_AND_AFTER = [
    ((OURS,), ()),
    ((THEIRS,), (THEIRS,)),
    ((OURS, THEIRS), (THEIRS,)),
    ((THEIRS, OURS, Symbol("x-opt-qd.to"), Symbol("x-opt-q")), (THEIRS, Symbol("x-opt-q"))),
]


@pytest.mark.parametrize("address", ["orders", "multicast"])
@pytest.mark.parametrize("strips_in", [True, False])
@pytest.mark.parametrize(("before", "after"), BEFORE_AND_AFTER)
def test_annotations_of_routers_are_taken_out(workers, before, after, strips_in, address):
    sections = {"header": Header(durable=True), "properties": Properties(subject="s")}
    octets = passed(workers, annotated(*before, **sections), strips_in=strips_in, address=address)
    expected = annotated(*after, **sections) if after else message(**sections)
    assert octets == expected


ENTERED = {"x-opt-qd.ingress": "0/R", "x-opt-qd.trace": ["0/R"]}


def said(octets):
    return {str(key): value for key, value in Message.decode(octets).message_annotations.items()}


@pytest.mark.parametrize("address", ["orders", "multicast"])
@pytest.mark.parametrize("strips_in", [True, False])
@pytest.mark.parametrize("keys", [(), (THEIRS,)])
def test_a_consumer_of_a_listener_that_strips_nothing_is_told_the_path(workers, keys, strips_in, address):
    octets = annotated(*keys) if keys else message()
    received = passed(workers, octets, strips_in=strips_in, strips_out=False, address=address)
    assert said(received) == dict.fromkeys(map(str, keys), "value") | {"x-opt-qd.to": address} | ENTERED
    assert Message.decode(received).body == Message.decode(octets).body


def test_a_consumer_is_told_of_the_path_of_a_message_that_names_its_address_itself(workers):
    consumer = workers.client(workers.last, peer={"strips_out": False})
    receiver = consumer.consumer("orders", credit=1)
    producer = workers.client(0)
    producer.send(producer.producer(None), message(properties=Properties(to="orders")))
    [octets] = consumer.received(receiver)
    assert said(octets).items() >= ENTERED.items()


@pytest.mark.parametrize(("strips_in", "path"), [(True, ["0/R"]), (False, ["0/X", "0/R"])])
def test_the_path_that_a_client_claims_counts_where_its_listener_strips_nothing(workers, strips_in, path):
    claimed = {Symbol("x-opt-qd.ingress"): "0/X", Symbol("x-opt-qd.trace"): ["0/X"]}
    received = passed(workers, message(message_annotations=claimed), strips_in=strips_in, strips_out=False)
    assert said(received) == {
        "x-opt-qd.to": "orders",
        "x-opt-qd.ingress": path[0],
        "x-opt-qd.trace": path,
    }


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("cut", [0, 1, 2, 3, 5, 8, 12, 20, 30, 40])
@pytest.mark.parametrize("strips_in", [True, False])
def test_they_are_taken_out_wherever_a_message_is_cut(cut, strips_in, settled):
    octets = annotated(OURS, THEIRS, header=Header(priority=3))
    workers = Workers()
    if strips_in:
        received = passed(workers, octets, cuts=[cut], settled=settled)
        assert received == annotated(THEIRS, header=Header(priority=3))
    else:
        # On the way out nothing is put together: annotations that are cut stay.
        received = passed(workers, octets, cuts=[cut], settled=settled, strips_in=False)
        assert received in (octets, annotated(THEIRS, header=Header(priority=3)))


def test_messages_that_waited_are_stripped_on_their_way_out():
    workers = Workers()
    producer, consumer = workers.client(peer={"strips_in": False}), workers.client()
    receiver = consumer.consumer("orders")
    producer.send(producer.producer("orders"), annotated(OURS, THEIRS))
    receiver.grant(1)
    workers.pump()
    assert consumer.received(receiver) == [annotated(THEIRS)]


def test_malformed_annotations_are_refused_on_the_way_in():
    workers = Workers()
    producer, consumer = workers.client(), workers.client()
    consumer.consumer("orders", credit=1)
    delivery = producer.send(producer.producer("orders"), b"\x00\x53\x72\xc1\x03\x03\x40\x40" + message())
    state, is_settled = outcome(delivery)
    assert (state.error.condition, is_settled) == ("amqp:decode-error", True)
    producer.leave()
    consumer.leave()
    assert workers.left_over() == {}


def test_malformed_annotations_are_left_alone_on_the_way_out():
    octets = b"\x00\x53\x72\xc1\x03\x03\x40\x40" + message()
    assert passed(Workers(), octets, strips_in=False) == octets


def test_annotations_that_never_end_are_refused():
    workers = Workers()
    producer, consumer = workers.client(), workers.client()
    receiver = consumer.consumer("orders", credit=10)
    sender = producer.producer("orders")
    delivery = producer.stream(sender, annotated(THEIRS)[:8], ends=False)
    for _ in range(20):
        producer.go_on(delivery, b"x" * 60_000)
    producer.go_on(delivery, b"", more=False)
    assert outcome(delivery)[1]
    assert consumer.bodies == []
    producer.send(sender, message())
    assert consumer.received(receiver) == [message()]


def test_a_message_of_any_other_kind_is_passed_on_by_a_listener_that_strips_nothing(workers):
    octets = b"no message at all"
    assert passed(workers, octets, strips_in=False, strips_out=False) == octets


def test_outcomes_of_stripped_messages_reach_their_producer(workers):
    producer, consumer = workers.ends()
    receiver = consumer.consumer("orders", credit=1)
    delivery = producer.send(producer.producer("orders"), annotated(OURS))
    consumer.latest(receiver).accept()
    workers.pump()
    assert outcome(delivery) == (ACCEPTED, True)


@pytest.mark.parametrize(
    ("octets", "may"),
    [
        (message("a longer text"), False),
        (message(header=Header()), False),
        (message(header=Header(durable=True, ttl=70_000)), False),
        (message(properties=Properties(subject="s")), False),
        (message(header=Header(priority=1), properties=Properties(subject="s")), False),
        (annotated(THEIRS), True),
        (annotated(THEIRS, header=Header()), True),
        (annotated(THEIRS, header=Header(durable=True)), True),
        (message(delivery_annotations={THEIRS: 1}), True),
        (b"", True),
        (b"\x00Sw@", True),
        (b"\x00\x80\x00\x00\x00\x00\x00\x00\x00\x77\x40", True),
        (b"\x00Sp\xd0\x00\x00\x00\x04\x00\x00\x00\x00" + message(), True),
        (b"\x00Sp\xc0\x01\x00", True),
        (b"\x00SpE\x00S", True),
        (b"\x00SpE\x00\x80\x00\x00", True),
    ],
)
def test_a_look_at_the_first_octets_tells_whether_there_may_be_annotations(octets, may):
    assert may_carry_annotations(octets, 0, len(octets)) == may
    assert may_carry_annotations(b"##" + octets + b"#", 2, 2 + len(octets)) == may


def test_a_message_of_one_value_has_the_octets_that_these_tests_take_it_for():
    assert bytes(Message(body=AmqpValue("hello")).encode()) == b"\x00Sw\xa1\x05hello"
