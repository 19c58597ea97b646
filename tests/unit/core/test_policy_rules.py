"""Rules about names and hosts (10.2, 10.4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.core import HostRange, host_number, is_pattern_of_user
from routerd.core.policy import HostRules, NameRules, PatternRules, host_of


@pytest.mark.parametrize(
    ("rules", "user", "allowed", "refused"),
    [
        ((), "ann", (), ("", "a", "*")),
        (("*",), "ann", ("", "a", "a.b", "amqp:/x"), ()),
        (("a", "b.c"), "ann", ("a", "b.c", "/a", "amqp:/a", "amqps://host/b.c"), ("b", "ab", "a.", "A")),
        (("a b",), "ann", ("a b",), ("a", "b")),
        (("e.*",), "ann", ("e.", "e.x", "e.x.y", "/e.x"), ("e", "ex", "x.e.")),
        (("e*", "longer*"), "ann", ("e", "ex", "longer.one"), ("long", "x")),
        (("a*b",), "ann", ("a*b",), ("axb", "ab")),
        (("a*",), "ann", ("a", "ax"), ("amqp:/secret", "amqp://a/secret")),
        (("amqp:/_topo/0/*",), "ann", ("_topo/0/R/temp.x", "amqp:/_topo/0/R/temp.x"), ("_topo/1", "x")),
        (("${user}",), "ann", ("ann",), ("anna", "bob", "${user}", "")),
        (("q.${user}.in",), "ann", ("q.ann.in",), ("q.bob.in", "q.ann.out", "q..in", "r.ann.in")),
        (("q.${user}.*", "q.${user}*"), "ann", ("q.ann.", "q.ann.x", "q.ann", "q.annx"), ("q.bob", "p.ann")),
        (("q.${user}.*",), "ann", ("q.ann.x",), ("q.ann", "q.bob.x", "q.an.x")),
        (("${user}.a", "${user}.b"), "u", ("u.a", "u.b"), ("u.c", "v.a")),
        (("${user}",), "*", ("*",), ("a", "")),
        (("${user}*",), "a*", ("a*", "a*b"), ("a", "ab")),
        (("x${user}",), "*", ("x*",), ("x", "xy")),
        (("${user}.${user}",), "a", ("a.${user}",), ("a.a",)),
    ],
)
def test_a_list_allows_names_and_beginnings(
    rules: tuple[str, ...], user: str, allowed: tuple[str, ...], refused: tuple[str, ...]
) -> None:
    found = NameRules(rules)
    assert [name for name in allowed if not found.allow(name, user)] == []
    assert [name for name in refused if found.allow(name, user)] == []


@pytest.mark.parametrize(
    ("rules", "user", "allowed", "refused"),
    [
        ((), "ann", (), ("", "a")),
        (("#",), "ann", ("", "a", "a.b"), ()),
        (("a.*", "b/#"), "ann", ("a.x", "a/x", "b", "b.c.d", "amqp:/b"), ("a", "a.x.y", "c")),
        (("${user}.#",), "anonymous", ("anonymous.k", "anonymous", "anonymous/k"), ("anonymousk", "k.anonymous")),
        (("${user}.*",), "ann", ("ann.x",), ("ann", "ann.x.y", "bob.x")),
        (("${user}",), "ann", ("ann",), ("bob", "ann.x", "x.ann")),
        (("*.${user}", "#.q.${user}"), "ann", ("x.ann", "a.b.q.ann"), ("ann", "x.bob", "q.x.y.ann")),
        (("q.${user}",), "alice@a.com", ("q.alice@a.com", "q/alice@a/com"), ("q.alice@a", "q.com")),
        (("${user}.k",), "#", ("#.k",), ("k", "a.k", "a.b.k")),
        (("${user}.k",), "*", ("*.k",), ("a.k", "k")),
        (("${user}", "${user}.k"), "", (), ("", "k", ".k")),
        (("${user}.k",), "...", (), ("", "k", "....k")),
        (("a", "a", "."), "ann", ("a",), ("",)),
    ],
)
def test_patterns_allow_words(
    rules: tuple[str, ...], user: str, allowed: tuple[str, ...], refused: tuple[str, ...]
) -> None:
    found = PatternRules(rules)
    assert [name for name in allowed if not found.allow(name, user)] == []
    assert [name for name in refused if found.allow(name, user)] == []


@given(st.lists(st.text(alphabet="ab.*/${user}", max_size=8), max_size=6), st.text(max_size=8), st.text(max_size=12))
def test_nothing_that_a_peer_writes_fails(rules: list[str], user: str, name: str) -> None:
    assert NameRules(rules).allow(name, user) in (True, False)
    assert PatternRules(rules).allow(name, user) in (True, False)


@given(
    st.lists(st.sampled_from(["a", "a.", "b*", "a.*", "${user}", "${user}.x", "q.${user}*", "*", "/a*"]), max_size=5),
    st.sampled_from(["u", "a", "*", "a.b"]),
    st.text(alphabet="ab.uqx*/", max_size=8),
)
def test_a_list_says_what_its_rules_say_one_by_one(rules: list[str], user: str, name: str) -> None:
    def one(rule: str) -> bool:
        if rule == "*":
            return True
        is_prefix = rule.endswith("*")
        text = (rule[:-1] if is_prefix else rule).removeprefix("/").replace("${user}", user, 1)
        stripped = name[2:].partition("/")[2] if name.startswith("//") else name.removeprefix("/")
        return stripped.startswith(text) if is_prefix else stripped == text

    assert NameRules(rules).allow(name, user) == any(map(one, rules))


@pytest.mark.parametrize(
    ("pattern", "is_right"),
    [
        *(("a.#", True), ("${user}", True), ("${user}.#", True), ("a.${user}", True), ("/${user}/x", True)),
        *(("a.${user}.b", False), ("x${user}", False), ("${user}x.a", False), ("${user}.${user}", False)),
    ],
)
def test_the_user_is_the_first_or_the_last_word_of_a_pattern(pattern: str, is_right: bool) -> None:
    assert is_pattern_of_user(pattern) is is_right


def test_ranges_of_hosts_may_overlap_and_touch() -> None:
    rules = HostRules([HostRange(4, 5, 9), HostRange(4, 1, 2), HostRange(4, 7, 20), HostRange(6, 5, 5)])
    assert [number for number in range(25) if rules.allow(f"0.0.0.{number}")] == [1, 2, *range(5, 21)]
    assert [number for number in range(10) if rules.allow(f"::{number}")] == [5]
    assert HostRules([], from_any_host=True).allow("anything")


@pytest.mark.parametrize(
    ("text", "number"),
    [("0.0.0.9", (4, 9)), ("::9", (6, 9)), ("::ffff:0.0.0.9", (4, 9)), ("fe80::1%eth0", (6, (0xFE80 << 112) + 1))],
)
def test_addresses_are_numbers(text: str, number: tuple[int, int]) -> None:
    assert host_number(text) == number
    assert host_number(f"{text}x/") is None


@pytest.mark.parametrize(
    ("name", "host"),
    [
        *(("10.0.0.1:80", "10.0.0.1"), ("[::1]:80", "::1"), ("[0:0:0:0:0:0:0:1]:80", "::1")),
        *(("[::ffff:10.0.0.1]:80", "10.0.0.1"), ("somewhere:80", "somewhere"), ("", "")),
    ],
)
def test_the_host_of_a_peer_is_its_address(name: str, host: str) -> None:
    assert host_of(name) == host
