"""What waits at an address whose senders take turns."""

from types import SimpleNamespace
from typing import Any

import pytest

from routerd.core.inside.inner_endpoints import LoopBack
from routerd.core.links.fair_queue import MESSAGE_MAX, FairQueue
from routerd.wire import RELEASED, Rejected
from tests.routers import Client, Workers, message, message_to, outcome


class Letter:
    """Stands for a message that waits."""

    def __init__(self, peer: str, name: str, is_partial: bool = False) -> None:
        self.inlet = SimpleNamespace(peer=peer)
        self.delivery = SimpleNamespace(is_partial=is_partial)
        self.name = name


def queue_of(*letters: Letter) -> Any:
    queue: Any = FairQueue()
    for letter in letters:
        queue.append(letter)
    return queue


def names(queue: Any) -> list[str]:
    return [queue.popleft().name for _ in range(len(queue))]


def test_connections_take_turns() -> None:
    letters = [Letter("a", name) for name in "123"] + [Letter("b", "4"), Letter("c", "5"), Letter("b", "6")]
    queue = queue_of(*letters)
    assert (len(queue), queue[0].name, [one.name for one in queue]) == (6, "1", ["1", "2", "3", "4", "6", "5"])
    assert names(queue) == ["1", "4", "5", "2", "6", "3"]
    assert not queue


def test_what_has_not_come_as_a_whole_takes_no_part() -> None:
    slow = Letter("a", "slow", is_partial=True)
    queue = queue_of(slow)
    assert (queue.is_ready, len(queue)) == (False, 1)
    queue.append(Letter("b", "whole"))
    assert (queue.is_ready, queue[0].name) == (True, "whole")
    slow.delivery.is_partial = False
    assert (queue.complete(slow), queue.complete(slow)) == (True, False)
    assert names(queue) == ["whole", "slow"]


def test_when_nobody_takes_messages_any_more_all_go() -> None:
    assert names(queue_of(Letter("a", "slow", is_partial=True), Letter("a", "whole"))) == ["whole", "slow"]


def test_messages_leave_from_any_place() -> None:
    slow, first, second = Letter("a", "slow", is_partial=True), Letter("a", "1"), Letter("a", "2")
    other = Letter("b", "3")
    queue = queue_of(slow, first, second, other)
    queue.remove(slow)
    queue.remove(first)
    queue.remove(other)
    assert names(queue) == ["2"]


# At an endpoint inside the router


def standing(workers: Workers, capacity: int = 1) -> list[tuple[bytes, Any]]:
    """An endpoint at the first worker whose senders take turns; what it has taken, unanswered."""
    loop = LoopBack(workers[0].router, workers.now, is_fair=True)
    workers.lines.append(loop)  # type: ignore[arg-type]
    taken: list[tuple[bytes, Any]] = []
    loop.consume("requests", lambda octets, delivery: taken.append((octets, delivery)), capacity=capacity)
    workers.pump()
    return taken


def client(workers: Workers) -> tuple[Client, Any]:
    one = workers.client()
    return one, one.producer("requests")


def serve_all(workers: Workers, taken: list[tuple[bytes, Any]]) -> list[bytes]:
    """Answer each message that was taken, and those that come then; return them in their order."""
    for _, delivery in taken:
        delivery.accept()
        workers.pump()
    return [octets for octets, _ in taken]


def test_one_that_sends_many_does_not_keep_others_waiting(workers: Workers) -> None:
    taken = standing(workers)
    flooding, many = client(workers)
    for number in range(20):
        flooding.send(many, message(str(number)))
    other, link = client(workers)
    other.send(link, message("other"))
    # One is in hand and one more has its turn already.
    assert serve_all(workers, taken).index(message("other")) == 2


def test_messages_of_anonymous_links_take_turns_too(workers: Workers) -> None:
    taken = standing(workers)
    flooding = workers.client()
    many = flooding.producer(None)
    for number in range(20):
        flooding.send(many, message_to("requests", str(number)))
    other, link = client(workers)
    other.send(link, message("other"))
    assert serve_all(workers, taken).index(message("other")) == 2


def test_one_that_does_not_end_its_message_keeps_nobody_waiting(workers: Workers) -> None:
    taken = standing(workers)
    slow, slow_link = client(workers)
    delivery = slow.stream(slow_link, message("slow")[:5], ends=False)
    other, link = client(workers)
    other.send(link, message("other"))
    assert serve_all(workers, taken) == [message("other")]
    slow.go_on(delivery, message("slow")[5:], more=False)
    assert [octets for octets, _ in taken] == [message("other"), message("slow")]


def test_a_message_may_be_larger_than_the_window_of_its_session() -> None:
    workers = Workers()
    taken = standing(workers)
    octets = message(bytes(MESSAGE_MAX - 100))
    large = workers.client(max_frame_size=512)
    header_and_performative = 20
    assert len(octets) > large.server.config.incoming_window * (512 - header_and_performative)
    delivery = large.send(large.producer("requests"), octets)
    assert [each for each, _ in taken] == [octets]
    assert outcome(delivery) == (None, False)
    assert serve_all(workers, taken) == [octets]
    large.send(large.producer("requests"), octets)
    assert len(taken) == 2


@pytest.mark.parametrize("settled", [False, True])
def test_a_message_in_parts_that_is_too_large_is_rejected_before_it_is_all_there(settled: bool) -> None:
    workers = Workers()
    taken = standing(workers)
    large, link = client(workers)
    delivery = large.stream(link, message(bytes(10))[:-1], ends=False, settled=settled)
    for _ in range(MESSAGE_MAX >> 16):
        large.go_on(delivery, bytes(1 << 16))
    if not settled:
        assert isinstance(delivery.remote_state, Rejected)
        assert delivery.remote_state.error.condition == "amqp:link:message-size-exceeded"
    large.go_on(delivery, b"", more=False)
    other, another = client(workers)
    other.send(another, message("other"))
    assert [octets for octets, _ in taken] == [message("other")]
    [address] = [one for key, one in workers[0].router.addresses.items() if key == "M0requests"]
    assert (address.waiting, len(address.parked)) == (0, 0)


@pytest.mark.parametrize("is_partial", [False, True])
def test_what_waits_goes_with_its_producer_or_its_endpoint(workers: Workers, is_partial: bool) -> None:
    taken = standing(workers)
    holding, link = client(workers)
    holding.send(link, message("held"))
    waiting, other = client(workers)
    delivery = waiting.stream(other, message("waits")[:5], ends=False) if is_partial else None
    if delivery is None:
        waiting.send(other, message("waits"))
    waiting.vanish()
    [address] = [one for key, one in workers[0].router.addresses.items() if key == "M0requests"]
    assert (address.waiting, len(taken)) == (0, 1)


def test_what_is_aborted_is_forgotten(workers: Workers) -> None:
    taken = standing(workers)
    slow, link = client(workers)
    delivery = slow.stream(link, message("slow")[:5], ends=False)
    link.abort(delivery)
    workers.pump()
    slow.send(link, message("next"))
    assert serve_all(workers, taken) == [message("next")]


def test_what_waits_is_released_when_the_endpoint_ends() -> None:
    workers = Workers()
    loop = LoopBack(workers[0].router, workers.now, is_fair=True)
    workers.lines.append(loop)  # type: ignore[arg-type]
    consumer = loop.consume("requests", lambda octets, delivery: None, capacity=1)
    workers.pump()
    sender, link = client(workers)
    sender.send(link, message("held"))
    waiting = sender.send(link, message("waits"))
    consumer.close()
    workers.pump()
    assert outcome(waiting) == (RELEASED, True)
