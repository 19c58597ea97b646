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
def test_the_first_section_for_a_pattern_counts(second: str) -> None:
    config = read(section("address", "prefix: a/b", "distribution: multicast") + section("address", second))
    assert [one.distribution for one in config.router.addresses] == [Distribution.MULTICAST]
    assert [name for name, _ in config.sections if name == "router.config.address"] == ["router.config.address"]
    [warning] = config.warnings
    attribute = second.partition(":")[0]
    reason = "Already exists: Duplicate pattern 'a.b.#'; the section of line 1 counts"
    assert warning.endswith(f"line 6: address.{attribute}: {reason}"), warning


def test_a_third_section_for_a_pattern_is_passed_over_as_well() -> None:
    config = read(section("address", "prefix: a") * 3)
    assert (len(config.router.addresses), len(config.warnings)) == (1, 2)


def test_what_else_is_wrong_with_a_second_section_is_told() -> None:
    [error] = errors_in(section("address", "pattern: a") + section("address", "pattern: a", "prefix: b"))
    assert "Cannot set both 'prefix' and 'pattern'" in error
