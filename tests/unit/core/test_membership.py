"""The messages between workers and their address table."""

import pickle

import pytest

from routerd.core.directory.membership import Changes, Delta, Interest, Sibling

SIBLINGS = (Sibling(0, 17, "/run/fabric/0"), Sibling(1, 18, "/run/fabric/1"))
INTERESTS = ((0, Interest("M0orders", 2)), (1, Interest("M0orders", 0)))


@pytest.mark.parametrize(
    "message",
    [
        Interest("M0orders", 3),
        SIBLINGS[0],
        Changes(1, ()),
        Changes(7, (Interest("M0orders", 1), Interest("Ltemp.x", 0))),
        Delta((1, 0), True, (), ()),
        Delta((1, 9), True, SIBLINGS, INTERESTS),
        Delta((2, 9), False, None, INTERESTS),
    ],
)
def test_a_message_is_the_same_after_pickling(message):
    assert pickle.loads(pickle.dumps(message, protocol=5)) == message


def test_a_hundred_interests_take_less_than_their_objects_would():
    interests = tuple(Interest(f"M0address.{number}", 1) for number in range(100))
    assert len(pickle.dumps(Changes(1, interests))) < len(pickle.dumps(interests)) * 0.75
