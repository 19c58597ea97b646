"""Patterns: which match, which of them best, and how much work that is."""

import pickle
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.core.directory.pattern_tree import PatternTree, simplest, tokens_of
from routerd.core.errors import DuplicatePattern, InvalidPattern, UnknownPattern


def tree_of(*patterns):
    tree = PatternTree()
    for pattern in patterns:
        tree.add(pattern, pattern)
    return tree


@pytest.mark.parametrize(
    ("pattern", "address", "does_match"),
    [
        ("multicast/#", "multicast", True),
        ("multicast/#", "multicast.1", True),
        ("multicast/#", "multicast/2", True),
        ("multicast/#", "/multicast.4", True),
        ("multicast/#", "multicast.", True),
        ("multicast/#", "multicast1", False),
        ("multicast/#", "Multicast.5", False),
        ("multicast/#", "x.multicast", False),
        ("a.*.b/#", "a.x.b", True),
        ("a.*.b/#", "a/x/b/c", True),
        ("a.*.b/#", "a.b", False),
        ("a.*.b/#", "a.x.y.b", False),
        ("/a.b.", "a/b", True),
        ("a", "a", True),
        ("a", "a.b", False),
        ("a.b", "a", False),
        ("*", "a", True),
        ("*", "", False),
        ("*", "a.b", False),
        ("#", "", True),
        ("#", "a", True),
        ("#", "a.b.c", True),
        ("#.b", "b", True),
        ("#.b", "a.b.b", True),
        ("#.b", "b.a", False),
        ("a.#.b", "a.b", True),
        ("a.#.b", "a.x.y.b", True),
        ("a.#.b", "a.x.y", False),
        ("#.#", "", True),
        ("#.*", "", False),
        ("#.*", "a.b", True),
        ("a.*.#.*", "a.b", False),
        ("a.*.#.*", "a.b.c.d", True),
        ("a*", "ab", False),
        ("a*", "a*", True),
        ("a#.b", "a#.b", True),
        ("a#.b", "ax.b", False),
        ("a", "*", False),
        ("a", "#", False),
        ("*", "#", True),
        ("#", "*.#", True),
        ("*", "*.b", False),
        ("#.b", "#.b", True),
        ("#.b", "#.c", False),
        ("a.b", "a..b", False),
        ("a.*.b", "a..b", True),
        ("a..b", "a..b", True),
    ],
)
def test_a_pattern_matches_by_whole_tokens(pattern, address, does_match):
    assert tree_of(pattern).match(address) == (pattern if does_match else None)


@pytest.mark.parametrize(
    ("address", "best", "patterns"),
    [
        ("a.b", "a.b", ["a.b", "a.*", "*.b", "#"]),
        ("a.b", "a.*", ["a.*", "*.b", "a.#", "#"]),
        ("a.b", "a.#", ["a.#", "*.b", "*.*"]),
        ("a.b", "*.b", ["*.b", "*.*", "#.b"]),
        ("a", "a", ["a", "a.#", "#"]),
        ("a", "a.#", ["a.#", "*", "#.a"]),
        ("a.b.c", "a.#.c", ["a.#.c", "a.#", "#.c"]),
        ("b.a", "#.b.a", ["#.b.a", "#.a", "#"]),
        ("x.a", "#.*", ["#.a", "#.*", "#.a.#"]),
        ("a.b", "#.a.#", ["#.a.#", "#.b.#"]),
        ("b.a", "#.a.#", ["#.a.#", "#.b.#"]),
    ],
)
def test_the_most_specific_pattern_wins_whatever_the_order(address, best, patterns):
    assert tree_of(*patterns).match(address) == best
    assert tree_of(*reversed(patterns)).match(address) == best


@pytest.mark.parametrize("pattern", ["", ".", "/", "./."])
def test_a_pattern_needs_a_token(pattern):
    with pytest.raises(InvalidPattern):
        PatternTree().add(pattern, 1)


@pytest.mark.parametrize(
    ("tokens", "simple"),
    [("#", "#"), ("#.#", "#"), ("#.*", "*.#"), ("a.#.*.#.*.b", "a.*.*.#.b"), ("#.a.#", "#.a.#"), ("a#.#", "a#.#")],
)
def test_patterns_that_say_the_same_are_the_same(tokens, simple):
    assert simplest(tokens_of(tokens)) == tokens_of(simple)
    tree = tree_of(simple)
    with pytest.raises(DuplicatePattern):
        tree.add(tokens, "again")
    assert tree.remove(tokens) == simple


@pytest.mark.parametrize("again", ["a/#", "a.#", "/a/#/"])
def test_the_same_tokens_twice_are_refused_and_change_nothing(again):
    tree = PatternTree()
    tree.add("a/#", "first")
    with pytest.raises(DuplicatePattern):
        tree.add(again, "second")
    assert tree.match("a.b") == "first"


def test_a_pattern_that_was_removed_matches_no_more():
    tree = tree_of("a.b", "a.b.c", "a.*")
    assert tree.remove("a/b") == "a.b"
    assert [tree.match(address) for address in ("a.b", "a.b.c")] == ["a.*", "a.b.c"]


@pytest.mark.parametrize("pattern", ["", "a", "a.b.c", "a.c", "x.y.z"])
def test_only_a_pattern_that_is_there_can_be_removed(pattern):
    with pytest.raises(UnknownPattern):
        tree_of("a.b").remove(pattern)


def test_none_of_many_long_patterns_leaves_a_trace_once_removed():
    tree = PatternTree()
    patterns = [".".join(str(number)) + ".#" for number in range(1000)]
    for pattern in patterns:
        tree.add(pattern, pattern)
    for pattern in reversed(patterns):
        tree.remove(pattern)
    assert pickle.dumps(tree) == pickle.dumps(PatternTree())


def matches(pattern, tokens):
    """Whether a pattern matches, by its definition."""
    if not pattern:
        return not tokens
    if pattern[0] == "#":
        return any(matches(pattern[1:], tokens[count:]) for count in range(len(tokens) + 1))
    return bool(tokens) and pattern[0] in ("*", tokens[0]) and matches(pattern[1:], tokens[1:])


KINDS = {"*": 1, "": 2, "#": 3}


def goes_before(pattern, other):
    """Whether a pattern is more specific than another, by its definition."""
    kinds, other_kinds = ([KINDS.get(token, 0) for token in (*each, "")] for each in (pattern, other))
    return (kinds, pattern) < (other_kinds, other)


tokens = st.lists(st.sampled_from("abc"), max_size=7)
patterns = st.lists(st.sampled_from(["a", "b", "*", "#"]), min_size=1, max_size=6).map(simplest)


@given(st.lists(patterns, max_size=12, unique_by=tuple), tokens)
def test_the_match_is_the_first_of_all_patterns_that_match(patterns, address):
    tree = PatternTree()
    for pattern in patterns:
        tree.add("/".join(pattern), pattern)
    best = None
    for pattern in patterns:
        if matches(pattern, address) and (best is None or goes_before(pattern, best)):
            best = pattern
    assert tree.match(".".join(address)) == best


@given(st.lists(patterns, min_size=1, max_size=8, unique_by=tuple), st.data())
def test_removing_leaves_the_tree_that_adding_the_others_makes(patterns, data):
    gone = data.draw(st.lists(st.sampled_from(patterns), unique_by=tuple))
    tree = tree_of(*map(".".join, patterns))
    for pattern in gone:
        tree.remove(".".join(pattern))
    other = tree_of(*(".".join(pattern) for pattern in patterns if pattern not in gone))
    address = ".".join(data.draw(tokens))
    assert tree.match(address) == other.match(address)


def calls_of(function):
    """Count the Python calls that a function makes: work without a clock."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(
    "pattern",
    ["#.a" * 20 + ".#.b", ".".join("#" * 40) + ".b", ".".join("*#" * 20) + ".b", "a.#." * 20 + "b"],
)
def test_no_address_makes_a_match_expensive(pattern):
    tree = tree_of(pattern.lstrip("."))
    address = ".".join("a" * 5000)
    found = []
    assert calls_of(lambda: found.append(tree.match(address))) < 20 * len(pattern.split("."))
    assert found == [None]


def test_a_pattern_may_have_more_tokens_than_calls_can_nest():
    pattern = "a.*.#." * sys.getrecursionlimit() + "b"
    tree = tree_of(pattern)
    assert tree.match("a.x." * sys.getrecursionlimit() + "b") == pattern
    assert tree.remove(pattern) == pattern
