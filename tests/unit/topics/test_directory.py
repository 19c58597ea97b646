"""The directory: what is known of a topic's clients, and what is remembered of those that have ended."""

import pytest

from routerd.topics.claims import Claim, Stamp
from routerd.topics.directory import Directory
from routerd.topics.errors import InvalidSetting
from routerd.topics.names import ClientName, Place
from routerd.topics.settings import TopicSettings
from routerd.topics.subscriptions import Homes, Subscription
from routerd.topics.tags import publisher_key

SETTINGS = TopicSettings(subscribers_max=1, publishers_max=1)
NAME = ClientName("S", "link")
HOST = Place("A", 1)


def claim(ms):
    return Claim(1, ms, 0, "A")


def subscription(name=NAME, ms=5, host=HOST):
    return Subscription(name, claim(ms), claim(ms), host, True, 60.0, True, False)


def directory(*subscriptions):
    made = Directory(SETTINGS, Homes())
    for each in subscriptions:
        made.subscriptions.put(each)
    return made


def test_an_end_is_of_one_epoch():
    made = directory(subscription(ms=9))
    assert made.end(NAME, claim(5), 0.0)
    assert not made.end(NAME, claim(5), 1.0)
    assert (made.has_ended(NAME, claim(5)), made.has_ended(NAME, claim(9)), NAME in made.subscriptions) == (
        *(True, False, True),
    )
    made.end(NAME, claim(9), 1.0)
    assert len(made.subscriptions) == 0


def test_the_horizon_is_raised_by_later_stamps_only():
    made = directory()
    made.raise_horizon(Stamp(5, 0), 1.0)
    made.raise_horizon(Stamp(5, 0), 2.0)
    made.raise_horizon(Stamp(4, 0), 3.0)
    assert (made.horizon, made.accepted_at) == (Stamp(5, 0), 1.0)


def test_a_drop_line_only_rises_and_by_more_than_delays():
    made = directory()
    assert [made.raise_drop_line(b"key", line) for line in (5.0, 5.3, 4.0, 6.0)] == [True, False, False, True]
    assert (made.drop_line(b"key"), made.drop_line(b"other")) == (6.0, float("-inf"))


def test_what_has_ended_is_remembered_within_limits():
    made = directory()
    for number in range(10):
        made.end(ClientName(str(number), "link"), claim(1), 0.0)
        made.raise_drop_line(b"%d" % number, 1.0)
        made.publisher(ClientName(str(number), "link")).is_closed = True
    kept = {publisher_key(ClientName(str(number), "link")) for number in range(6, 10)}
    assert (len(made.endings()), made.publishers.keys(), len(made.drop_lines())) == (4, kept, 4)
    made.forget_before(1.0, 2.0)
    assert made.is_empty


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"unsettled_per_publisher_max": 0}, "unsettled_per_publisher_max is 0, and must be from 1 to 20000"),
        ({"publisher_timeout_s": 10.0, "subscription_timeout_s": 8.0}, "publisher_timeout_s is 10.0, and must be"),
    ],
)
def test_settings_that_break_the_promise_are_refused(settings, text):
    with pytest.raises(InvalidSetting, match=text):
        TopicSettings(**settings)
