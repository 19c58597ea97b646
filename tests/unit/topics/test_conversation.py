"""Conversations: operations arrive in order and once, over a network that loses frames and mixes them up."""

from random import Random

import pytest

from routerd.topics.claims import Stamp
from routerd.topics.conversation import Conversation
from routerd.topics.messages import IsSettled
from routerd.topics.octets import decode_frame
from routerd.topics.settings import ACKNOWLEDGE_FRAMES, FRAMES_UNACKNOWLEDGED_MAX, OPERATIONS_PER_FRAME

STAMP = Stamp(1, 0)


def pair():
    return Conversation(1, 1), Conversation(2, 1)


def say(conversation, *numbers):
    for number in numbers:
        conversation.say("news", IsSettled(number))


def numbers(operations):
    return [operation.question for _, operation in operations]


def passed(sender, receiver, now=0.0):
    """Let all that is due arrive; return the numbers that were told."""
    told = []
    for data in sender.frames(now, STAMP):
        told += numbers(receiver.receive(decode_frame(data))[1])
    return told


def test_what_is_said_in_one_turn_goes_in_one_frame():
    one, other = pair()
    say(one, 1, 2, 3)
    (data,) = one.frames(0.0, STAMP)
    expected = [("news", IsSettled(number)) for number in (1, 2, 3)]
    assert (one.has_pending, other.receive(decode_frame(data))) == (False, (True, expected))


def test_many_operations_go_in_several_frames():
    one, _ = pair()
    say(one, *range(OPERATIONS_PER_FRAME + 1))
    assert len(one.frames(0.0, STAMP)) == 2


def test_a_lost_frame_is_sent_again_as_soon_as_a_later_one_came():
    one, other = pair()
    say(one, 1)
    one.frames(0.0, STAMP)
    say(one, 2)
    assert passed(one, other) == []
    assert passed(other, one) == []
    assert (one.has_pending, passed(one, other)) == (True, [1, 2])


def test_the_last_frame_is_sent_again_when_it_was_not_acknowledged_for_a_while():
    one, other = pair()
    say(one, 1)
    one.frames(0.0, STAMP)
    assert one.late_frames(0.1, 0.2, STAMP) == []
    (data,) = one.late_frames(0.3, 0.2, STAMP)
    assert numbers(other.receive(decode_frame(data))[1]) == [1]
    say(other, 9)
    passed(other, one)
    assert (one.unacknowledged, one.late_frames(9.0, 0.2, STAMP)) == (0, [])


def test_frames_are_acknowledged_without_anything_to_say():
    one, other = pair()
    for number in range(ACKNOWLEDGE_FRAMES):
        say(one, number)
        passed(one, other)
    passed(other, one)
    assert one.unacknowledged == 0


def test_a_conversation_that_begins_anew_is_noticed_and_the_old_one_is_void():
    one, other = pair()
    say(one, 1)
    (old,) = one.frames(0.0, STAMP)
    again = Conversation(1, 2)
    say(again, 5)
    (new,) = again.frames(0.0, STAMP)
    assert (other.receive(decode_frame(new))[0], other.receive(decode_frame(old))) == (True, (False, []))
    say(again, 6)
    assert passed(again, other) == [6]


def test_a_router_that_acknowledges_nothing_is_told_anew_in_the_end():
    one, _ = pair()
    for number in range(FRAMES_UNACKNOWLEDGED_MAX + 1):
        assert not one.is_overrun
        say(one, number)
        one.frames(0.0, STAMP)
    assert one.is_overrun


@pytest.mark.parametrize("seed", range(10))
def test_everything_arrives_once_and_in_order(seed):
    random = Random(seed)
    one, other = pair()
    told, under_way = [], []
    for turn in range(400):
        now = turn / 10
        if turn < 200:
            say(one, turn)
        if random.random() < 0.3:
            say(other, turn)
        for sender, receiver in ((one, other), (other, one)):
            for data in [*sender.frames(now, STAMP), *sender.late_frames(now, 0.5, STAMP)]:
                if random.random() > 0.2:
                    under_way.append((receiver, data))
        random.shuffle(under_way)
        for receiver, data in [under_way.pop() for _ in range(min(len(under_way), 3))]:
            operations = numbers(receiver.receive(decode_frame(data))[1])
            if receiver is other:
                told += operations
    assert told == list(range(200))


def test_when_one_side_has_lost_its_end_the_other_begins_anew_once():
    one, other = pair()
    say(one, 1)
    say(other, 2)
    passed(one, other)
    passed(other, one)
    say(one, 3)
    passed(one, other)
    again = Conversation(2, 7)
    say(again, 4)
    assert (passed(again, one), one.is_forgotten) == ([4], True)
    one.begin_anew(8)
    say(one, 5)
    assert (passed(one, again), again.is_forgotten) == ([5], False)
    say(again, 6)
    assert (passed(again, one), one.is_forgotten) == ([6], False)
