"""The keys of bindings, against a plain matcher."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.core import BindingTree, MatchMethod, key_fault

AMQP, MQTT = MatchMethod.AMQP, MatchMethod.MQTT


def plainly(key: str, subject: str, method: MatchMethod) -> bool:
    """Whether a subject matches a key, word by word."""
    separator, any_word = (".", "*") if method is AMQP else ("/", "+")
    words, given_words = key.split(separator), subject.split(separator)

    @cache
    def fits(at: int, given_at: int) -> bool:
        if at == len(words):
            return given_at == len(given_words)
        if words[at] == "#":
            return any(fits(at + 1, rest) for rest in range(given_at, len(given_words) + 1))
        if given_at == len(given_words):
            return False
        return words[at] in (any_word, given_words[given_at]) and fits(at + 1, given_at + 1)

    return fits(0, 0)


def tree(*keys: str, method: MatchMethod = AMQP) -> BindingTree:
    found = BindingTree(method)
    for key in keys:
        found.add(key, key)
    return found


@pytest.mark.parametrize(
    ("key", "subject", "matches"),
    [
        ("a.b", "a.b", True),
        ("a.b", "a.c", False),
        ("a.*", "a.b", True),
        ("a.*", "a", False),
        ("a.*", "a.b.c", False),
        ("a.#", "a", True),
        ("a.#", "a.b.c", True),
        ("#.c", "a.b.c", True),
        ("#.c", "c", True),
        ("a.#.c", "a.c", True),
        ("a.#.c", "a.b.b.c.c", True),
        ("a.#.c", "a.c.b", False),
        ("#", "", True),
        ("#.#", "a", True),
        ("a*.b", "ax.b", False),
        ("a*.b", "a*.b", True),
        ("a/b", "a/b", True),
        ("a..b", "a..b", True),
        ("a.*.b", "a..b", True),
    ],
)
def test_a_key_of_amqp_matches_words_between_dots(key: str, subject: str, matches: bool) -> None:
    assert tree(key).match(subject) == [key] * matches
    assert plainly(key, subject, AMQP) is matches


@pytest.mark.parametrize(
    ("key", "subject", "matches"),
    [
        ("a/b", "a/b", True),
        ("a/+", "a/b", True),
        ("a/+", "a", False),
        ("a/#", "a", True),
        ("a/#", "a/b/c", True),
        ("+/b", "a/b", True),
        ("a+/b", "ax/b", False),
        ("a.*", "a.b", False),
        ("#", "a", True),
    ],
)
def test_a_key_of_mqtt_matches_words_between_slashes(key: str, subject: str, matches: bool) -> None:
    assert tree(key, method=MQTT).match(subject) == [key] * matches
    assert plainly(key, subject, MQTT) is matches


def words(*signs: str, separator: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(("a", "b", "", "aa", *signs)), min_size=1, max_size=6).map(separator.join)


@given(
    keys=st.lists(words("*", "#", separator="."), max_size=30),
    gone=st.sets(st.integers(0, 29)),
    subjects=st.lists(words("*", "#", separator="."), min_size=1, max_size=8),
)
def test_the_tree_agrees_with_a_plain_matcher(keys: list[str], gone: set[int], subjects: list[str]) -> None:
    found = BindingTree(AMQP)
    for number, key in enumerate(keys):
        found.add(key, number)
    for number in gone:
        if number < len(keys):
            found.remove(keys[number], number)
    left = {number: key for number, key in enumerate(keys) if number not in gone}
    for subject in subjects:
        expected = [number for number, key in left.items() if plainly(key, subject, AMQP)]
        assert sorted(found.match(subject)) == expected


@given(
    keys=st.lists(words("+", separator="/"), max_size=20),
    ends=st.lists(st.booleans(), min_size=20, max_size=20),
    subjects=st.lists(words("+", separator="/"), min_size=1, max_size=8),
)
def test_the_tree_agrees_by_the_rules_of_mqtt(keys: list[str], ends: list[bool], subjects: list[str]) -> None:
    keys = [f"{key}/#" if has_end else key for key, has_end in zip(keys, ends, strict=False)]
    found = BindingTree(MQTT)
    for number, key in enumerate(keys):
        found.add(key, number)
    for subject in subjects:
        assert sorted(found.match(subject)) == [n for n, key in enumerate(keys) if plainly(key, subject, MQTT)]


def test_a_tree_without_keys_has_nothing_left_of_them() -> None:
    found = tree("a.*.#", "a.b")
    found.remove("a.*.#", "a.*.#")
    assert (found.match("a.x"), found.match("a.b")) == ([], ["a.b"])
    found.remove("a.b", "a.b")
    assert found.match("a.b") == []


def test_many_wildcards_do_not_make_a_long_subject_dear() -> None:
    """With a plain search this would take longer than anybody waits."""
    key = ".".join(["#", "a"] * 30)
    assert tree(f"{key}.b").match(".".join(["a"] * 500)) == []


@pytest.mark.parametrize(
    ("key", "method", "fault"),
    [
        ("", AMQP, "is empty"),
        ("", MQTT, "is empty"),
        ("#", AMQP, None),
        ("a.#.b", AMQP, None),
        ("#", MQTT, None),
        ("a/#", MQTT, None),
        ("a/#/b", MQTT, "has a `#` that is not its last word"),
        ("a.#.b", MQTT, None),
    ],
)
def test_a_key_is_right_or_wrong_by_its_method(key: str, method: MatchMethod, fault: str | None) -> None:
    assert key_fault(key, method) == fault
