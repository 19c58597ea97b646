"""`address` sections: patterns, phases and priorities."""

import pytest

from routerd.core import AddressSettings, Distribution
from tests.unit.config.reading import JSON, errors_in, read, section


def settings(*lines: str) -> AddressSettings:
    [found] = read(section("address", *lines)).router.addresses
    return found


def test_a_prefix_is_a_pattern_with_any_words_behind_it() -> None:
    assert settings("prefix: a.b") == AddressSettings(pattern="a.b/#")
    assert settings("prefix: a/") == AddressSettings(pattern="a/#")


def test_all_attributes_arrive() -> None:
    found = settings(
        "name: n",
        "pattern: a.*/# # and more",
        "distribution: multicast",
        "ingressPhase: 2",
        "egressPhase: 3",
        "priority: 9",
        "resendReleased: yes",
    )
    assert found == AddressSettings(
        pattern="a.*/#",
        distribution=Distribution.MULTICAST,
        ingress_phase=2,
        egress_phase=3,
        priority=9,
        resends_released=True,
        name="n",
    )
    assert settings("prefix: a", "enableFallback: yes") == AddressSettings(pattern="a/#", has_fallback=True)


@pytest.mark.parametrize("distribution", list(Distribution))
def test_each_distribution_is_known(distribution: Distribution) -> None:
    assert settings("prefix: a", f"distribution: {distribution.value}").distribution is distribution


def test_a_waypoint_is_short_for_two_phases() -> None:
    expected = AddressSettings(pattern="a/#", ingress_phase=0, egress_phase=1)
    assert settings("prefix: a", "waypoint: yes") == expected
    assert settings("prefix: a", "waypoint: yes", "ingressPhase: 0", "egressPhase: 1") == expected


def test_addresses_keep_the_order_of_the_file() -> None:
    found = read(section("address", "prefix: b") + section("address", "prefix: a")).router.addresses
    assert [one.pattern for one in found] == ["b/#", "a/#"]


WRONG = [
    (
        ["prefix: a", "pattern: b"],
        "line 3: address.pattern: Cannot set both 'prefix' and 'pattern': configured address a, b;"
        " allowed: one of them; two addresses need two sections",
    ),
    (
        ["distribution: closest"],
        "line 1: address: Must set either 'prefix' or 'pattern'; allowed: prefix: NAME, pattern: NAME.*.NAME/#",
    ),
    (
        ["prefix: ./"],
        "line 2: address.prefix: names no address (got './'); allowed: words with `.` or `/` between them",
    ),
    (
        ["pattern: /"],
        "line 2: address.pattern: names no address (got '/'); allowed: words with `.` or `/` between them",
    ),
    (
        ["prefix: a", "ingressPhase: 1"],
        "line 3: address.ingressPhase: is given, and 'egressPhase' is not (got '1'); allowed: both of them, neither",
    ),
    (
        ["prefix: a", "egressPhase: 1"],
        "line 3: address.egressPhase: is given, and 'ingressPhase' is not (got '1'); allowed: both of them, neither",
    ),
    (["prefix: a", "ingressPhase: 10"], "line 3: address.ingressPhase: 10 is too large; allowed: 0 to 9"),
    (["prefix: a", "priority: -1"], "line 3: address.priority: -1 is too small; allowed: 0 to 9"),
    (["prefix: a", "priority: 10"], "line 3: address.priority: 10 is too large; allowed: 0 to 9"),
    (
        ["prefix: a", "waypoint: yes", "ingressPhase: 1", "egressPhase: 2"],
        "line 3: address.waypoint: is short for ingressPhase 0 and egressPhase 1, and the section has others"
        " (got 'yes'); allowed: no",
    ),
    (
        ["prefix: a", "enableFallback: yes", "waypoint: yes"],
        "line 3: address.enableFallback: is for addresses with phases 0 only, and the section has others (got 'yes');"
        " allowed: no",
    ),
    (
        ["prefix: a", "distribution: 7"],
        "line 3: address.distribution: Invalid value for enum['multicast', 'closest', 'balanced', 'unavailable']: '7';"
        " allowed: multicast, closest, balanced, unavailable",
    ),
]


@pytest.mark.parametrize(("lines", "error"), WRONG)
def test_a_wrong_section_is_told(lines: list[str], error: str) -> None:
    assert errors_in(section("address", *lines)) == [error]


def test_an_empty_prefix_is_told() -> None:
    assert errors_in('[["address", {"prefix": ""}]]', JSON) == [
        "line 1: address.prefix: names no address (got ''); allowed: words with `.` or `/` between them"
    ]


@pytest.mark.parametrize("second", ["pattern: a.b.#", "prefix: a.b", "prefix: /a/b/"])
def test_a_second_section_for_a_pattern_is_told(second: str) -> None:
    errors = errors_in(section("address", "prefix: a/b") + section("address", second))
    attribute, _, text = second.partition(": ")
    pattern = text if attribute == "pattern" else f"{text.rstrip('/')}/#"
    got = "" if text == pattern or text in pattern.split() else f" (got '{text}')"
    assert errors == [
        f"line 5: address.{attribute}: Already exists: Duplicate pattern '{pattern}', the same as in line 1{got};"
        " allowed: one section for each pattern"
    ]


def test_a_third_section_for_a_pattern_is_told_as_well() -> None:
    assert len(errors_in(section("address", "prefix: a") * 3)) == 2
