"""Streams: numbers given, copies put in order, and gaps."""

from routerd.topics.claims import Claim
from routerd.topics.ranges import Ranges
from routerd.topics.records import Copy, new_entry
from routerd.topics.settings import MISSING_ASKED_MAX, WINDOW_MAX
from routerd.topics.streams import ReceiveStream, SendStream

CLAIM = Claim(1, 1, 0, "A")


def copy(number, payload="message"):
    made = Copy(number, CLAIM, b"tag%d" % number, 0.0)
    if payload is not None:
        made.put(payload, 1)
    return made


def taken(stream):
    """Return the numbers of the copies that can be taken."""
    numbers = []
    while (first := stream.first()) is not None:
        stream.step()
        numbers.append(first.number)
    return numbers


def missing(stream, *held):
    return list(stream.missing(lambda tag: tag in held))


def test_the_base_is_the_lowest_number_that_is_not_done():
    stream = SendStream(7)
    entries = [new_entry(b"key", b"t", b"tag", 0.0) for _ in range(2)]
    for entry in entries:
        stream.number(entry)
    assert ([entry.number for entry in entries], stream.notice(), stream.base, stream.next) == ([7, 8], 9, 7, 10)
    stream.forget(Ranges([7]))
    stream.forget(Ranges([9]))
    assert (stream.base, list(stream.entries)) == (8, [8])
    stream.forget(Ranges([8]))
    assert stream.base == stream.next == 10


def test_copies_are_taken_in_order():
    stream = ReceiveStream()
    for number in (2, 1, 4, 2):
        assert stream.offer(copy(number))
    assert (taken(stream), missing(stream)) == ([1, 2], [3])
    stream.offer(copy(3))
    assert (taken(stream), missing(stream)) == ([3, 4], [])


def test_a_copy_that_comes_next_need_not_wait():
    stream = ReceiveStream()
    stream.cancel(Ranges([2]))
    assert [stream.pass_by(number) for number in (1, 2, 3, 3, 5)] == [True, False, True, False, False]
    assert (stream.expected, stream.next, missing(stream)) == (4, 4, [])
    stream.offer(copy(3))
    assert taken(stream) == []


def test_a_copy_that_comes_next_takes_the_place_of_its_name():
    stream = ReceiveStream()
    stream.offer(copy(1, None))
    stream.offer(copy(2))
    assert stream.pass_by(1)
    assert (taken(stream), stream.waiting) == ([2], {})


def test_an_idle_stream_is_known_to_be_further():
    stream = ReceiveStream()
    stream.learn(1, 3)
    assert missing(stream) == [1, 2]


def test_what_is_below_the_base_is_not_waited_for():
    stream = ReceiveStream()
    stream.offer(copy(2))
    stream.offer(copy(5))
    assert [each.number for each in stream.learn(4, 6)] == [2]
    assert (missing(stream), taken(stream)) == ([4], [])
    stream.offer(copy(4))
    assert taken(stream) == [4, 5]


def test_a_cancelled_number_becomes_no_record_even_if_its_copy_comes_later():
    stream = ReceiveStream()
    waiting = copy(3)
    stream.offer(waiting)
    assert (stream.cancel(Ranges([3])), stream.cancel(Ranges([1]))) == ([waiting], [])
    stream.offer(copy(1))
    stream.offer(copy(2))
    assert (taken(stream), stream.expected, missing(stream)) == ([2], 4, [])


def test_a_number_that_was_settled_stays_void_if_all_are_expected_anew():
    stream = ReceiveStream()
    stream.offer(copy(1))
    assert taken(stream) == [1]
    stream.cancel(Ranges([1]))
    stream.begin_anew()
    stream.offer(copy(1))
    assert (taken(stream), stream.expected) == ([], 2)


def test_a_name_is_completed_by_its_message_and_not_the_other_way():
    stream = ReceiveStream()
    stream.offer(copy(1, None))
    assert (missing(stream), missing(stream, b"tag1")) == ([1], [])
    stream.offer(copy(1))
    stream.offer(copy(1, None))
    assert (missing(stream), stream.first().payload) == ([], "message")


def test_the_window_and_questions_have_limits():
    stream = ReceiveStream()
    assert all(stream.offer(copy(number)) for number in range(2, WINDOW_MAX + 2))
    assert not stream.offer(copy(WINDOW_MAX + 2))
    assert stream.offer(copy(2))
    other = ReceiveStream()
    other.learn(1, 1 << 60)
    assert other.missing(lambda tag: False) == Ranges(range(1, MISSING_ASKED_MAX + 1))
