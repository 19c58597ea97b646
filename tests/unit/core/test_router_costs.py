"""What a peer makes a router do is in proportion to what it sends and has, counted in calls."""

from collections.abc import Callable
from typing import Any

import pytest

from routerd.core import Router
from routerd.core.links.peer import Peer
from routerd.wire import Connection, ConnectionConfig, Properties, Source, Target
from routerd.wire.performatives import Attach, Begin, Detach, End, Flow, Open, Transfer
from tests.calls import calls_of, check_linear
from tests.conformance.raw_peer import AMQP_HEADER, framed, parsed, split, transfer
from tests.routers import message, message_to, settings

WIDE = 0x7FFFFFFF


class Raw:
    """A connection to a router, with a session, whose frames are made by hand."""

    def __init__(self, router: Router, *, window: int = WIDE, capacity: int = 0) -> None:
        self.router = router
        self.peer: Peer = router.connections.new_peer(capacity=capacity)
        self.engine = Connection(ConnectionConfig(container_id="R", incoming_window=1 << 20), router, is_client=False)
        self.peer.connection = self.engine
        self.engine.context = self.peer
        self.engine.start(0.0)
        self.take(AMQP_HEADER, framed(Open(container_id="raw")))
        self.take(framed(Begin(next_outgoing_id=0, incoming_window=window, outgoing_window=WIDE)))
        self.window = window
        self.sent()

    def take(self, *frames: bytes) -> None:
        """Have the router take frames, and its turn end."""
        self.engine.receive_data(b"".join(frames), 0.0)
        self.router.end_turn()

    def sent(self) -> list[Any]:
        """What the router has sent."""
        octets = self.engine.data_to_send(0.0)
        frames = [] if octets.startswith(b"AMQP") else split(octets)
        return [parsed(frame).performative for frame in frames]

    def flow(self, handle: int | None = None, credit: int | None = None, **fields: Any) -> bytes:
        """A flow, of a link or not."""
        count = None if handle is None else 0
        return framed(
            Flow(
                next_incoming_id=0,
                incoming_window=self.window,
                next_outgoing_id=0,
                outgoing_window=WIDE,
                handle=handle,
                delivery_count=count,
                link_credit=credit,
                **fields,
            )
        )


def router_of(**options: Any) -> Router:
    return Router(settings(**options), lambda: "token")


def receiver(handle: int, address: str = "q") -> bytes:
    return framed(Attach(name=f"r{handle}", handle=handle, role=True, source=Source(address=address), target=Target()))


def sender(handle: int, address: str | None = "q") -> bytes:
    terminus = Target(address=address)
    return framed(
        Attach(
            name=f"s{handle}", handle=handle, role=False, source=Source(), target=terminus, initial_delivery_count=0
        )
    )


def more(handle: int, payload: bytes = b"") -> bytes:
    return framed(Transfer(handle=handle, more=True), payload)


def detach(handle: int) -> bytes:
    return framed(Detach(handle=handle, closed=True))


Prepared = Callable[[], object]


def waiting(count: int, messages: int) -> tuple[Raw, Raw]:
    """Producers of one address with so many messages each that wait, and the consumer that gives no credit."""
    router = router_of(forgets_of_lost_producers=True)
    consumer, producers = Raw(router), Raw(router)
    consumer.take(receiver(0))
    producers.take(*map(sender, range(count)))
    frames = []
    for handle in range(count):
        frames += [transfer(messages * handle + each, message(), handle=handle) for each in range(messages)]
    producers.take(*frames)
    [address] = router.addresses.values()
    assert address.waiting == count * messages
    return producers, consumer


@pytest.mark.parametrize("messages", [1, 6], ids=["one each", "several together"])
@pytest.mark.parametrize("is_reverse", [False, True])
def test_producers_that_end_cost_what_they_have_waiting(messages: int, is_reverse: bool) -> None:
    def ending(count: int) -> Prepared:
        producers, _ = waiting(count, messages)
        handles = list(range(count))
        octets = b"".join(map(detach, reversed(handles) if is_reverse else handles))

        def work() -> None:
            producers.take(octets)
            assert [address.waiting for address in producers.router.addresses.values()] == [0]

        return work

    check_linear(ending, 25)


def test_a_session_that_ends_costs_what_its_producers_have_waiting() -> None:
    def ending(count: int) -> Prepared:
        producers, _ = waiting(count, 3)
        return lambda: producers.take(framed(End()))

    check_linear(ending, 25)


def test_what_producers_leave_behind_does_not_pile_up() -> None:
    producers, consumer = waiting(2, 1)
    [address] = producers.router.addresses.values()
    for number in range(2, 400):
        producers.take(sender(2), transfer(number, message(), handle=2), detach(2))
        assert (len(address.parked), len(list(address.parked))) == (2, 2)
    producers.sent()
    consumer.take(consumer.flow(0, 5))
    assert [each.delivery_id for each in consumer.sent() if isinstance(each, Transfer)] == [0, 1]


@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("waits", [False, True])
def test_consumers_of_one_address_that_end_cost_the_same_however_many_there_are(is_reverse: bool, waits: bool) -> None:
    def ending(count: int) -> Prepared:
        router = router_of()
        consumers, producer = Raw(router), Raw(router)
        consumers.take(*map(receiver, range(count)))
        producer.take(sender(0))
        if waits:
            producer.take(transfer(0, message()))
        handles = list(range(1, count))
        octets = b"".join(map(detach, reversed(handles) if is_reverse else handles))
        return lambda: consumers.take(octets)

    check_linear(ending, 25)


def test_a_consumer_without_credit_makes_nobody_look_at_the_others() -> None:
    def flowing(count: int) -> Prepared:
        router = router_of()
        consumers, producer = Raw(router), Raw(router)
        consumers.take(*map(receiver, range(count)))
        producer.take(sender(0), transfer(0, message()))
        frames = [consumers.flow(handle % count, 0) for handle in range(100)]
        return lambda: consumers.take(*frames)

    assert calls_of(flowing(100)) <= calls_of(flowing(10)) + 200


@pytest.mark.parametrize("is_of_link", [False, True])
def test_a_window_that_stays_closed_makes_nobody_look_at_what_waits_for_it(is_of_link: bool) -> None:
    def flowing(count: int) -> Prepared:
        router = router_of()
        consumers, producer = Raw(router, window=0), Raw(router)
        consumers.take(*(receiver(handle, f"q{handle}") + consumers.flow(handle, 9) for handle in range(count)))
        producer.take(sender(0, None), *(transfer(each, message_to(f"q{each}")) for each in range(count)))
        assert sum(map(len, consumers.peer.starved.values())) == count
        frames = 50 * [consumers.flow(0, 9) if is_of_link else consumers.flow()]
        return lambda: consumers.take(*frames)

    assert calls_of(flowing(80)) <= calls_of(flowing(20)) + 20


def test_a_window_that_opens_a_little_lets_as_much_leave_and_leaves_the_others_their_turn() -> None:
    router = router_of()
    consumers, producer = Raw(router, window=0), Raw(router)
    consumers.take(*(receiver(handle, f"q{handle}") + consumers.flow(handle, 9) for handle in range(6)))
    producer.take(sender(0, None), *(transfer(each, message_to(f"q{each % 6}")) for each in range(12)))
    order = []
    for window in range(1, 13):
        consumers.window = window
        consumers.take(consumers.flow())
        order += [each.handle for each in consumers.sent() if isinstance(each, Transfer)]
    assert order == [*range(6), *range(6)]
    assert consumers.peer.starved == {}


def test_the_outlets_of_a_connection_wait_no_more_when_they_are_gone() -> None:
    router = router_of()
    consumers, producer = Raw(router, window=0), Raw(router)
    consumers.take(*(receiver(handle, f"q{handle}") + consumers.flow(handle, 9) for handle in range(3)))
    producer.take(sender(0, None), *(transfer(each, message_to(f"q{each}")) for each in range(3)))
    consumers.take(detach(1))
    assert [len(waiting) for waiting in consumers.peer.starved.values()] == [2]
    consumers.take(detach(0), detach(2))
    assert consumers.peer.starved == {}


def test_producers_in_step_are_looked_at_once_a_turn() -> None:
    def flowing(count: int) -> Prepared:
        router = router_of()
        consumers, producers = Raw(router), Raw(router, capacity=16)
        consumers.take(*(receiver(handle) + consumers.flow(handle, 2 * count) for handle in (0, 1)))
        producers.take(*map(sender, range(count)))
        producers.take(*(transfer(each, message(), handle=each % count, settled=True) for each in range(4 * count)))
        [address] = router.addresses.values()
        assert (len(address.in_step), address.credit()) == (count, 0)
        frames = [consumers.flow(each % 2, 2 * count) for each in range(50)]
        return lambda: consumers.take(*frames)

    few, many = calls_of(flowing(4)), calls_of(flowing(16))
    # Once each is some 10 calls.
    assert many <= few + 12 * 20


def partial(router: Router, address: str | None, beginning: bytes, copies: int = 0) -> Raw:
    """A producer in the midst of a message, and so many consumers of it."""
    raw = Raw(router)
    raw.take(*(receiver(handle, "multicast/q") + raw.flow(handle, 9) for handle in range(1, copies + 1)))
    raw.take(sender(0, address), transfer(0, beginning, more=True))
    raw.sent()
    return raw


def test_a_transfer_without_octets_in_the_midst_of_a_message_costs_nothing_for_each_copy() -> None:
    def streaming(copies: int) -> Raw:
        return partial(router_of(), "multicast/q", message(), copies)

    few, many = streaming(5), streaming(50)
    octets = 20 * more(0)
    assert calls_of(lambda: many.take(octets)) <= calls_of(lambda: few.take(octets)) + 10
    assert [many.sent(), few.sent()] == [[], []]
    # The message goes on as if they had not been.
    few.take(framed(Transfer(handle=0), b""))
    assert [(each.more, each.handle) for each in few.sent() if isinstance(each, Transfer)] == [
        (False, handle) for handle in range(5)
    ]


def test_copies_count_as_work() -> None:
    raw = partial(router_of(), "multicast/q", message(), 200)
    octets = 300 * more(0, b"x")
    assert 0 < raw.engine.receive_some(octets, 0.0, 0, len(octets), len(octets)) < len(octets)


def test_a_message_whose_address_comes_octet_by_octet_is_not_looked_at_for_each() -> None:
    octets = message(properties=Properties(to="q", subject="s" * 30_000))
    beginning, rest = octets[:20_000], octets[20_000:20_300]
    raw = partial(router_of(), None, beginning)
    frames = [more(0, rest[at : at + 1]) for at in range(len(rest))]
    [inlet] = raw.peer.inlets
    calls = calls_of(lambda: raw.take(*frames))
    assert inlet.collected is not None
    assert len(inlet.collected.octets) == 20_300
    assert calls < 45 * len(frames)
