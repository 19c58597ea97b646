"""`linkRoute` and `autoLink`: what sections say, and what is wrong with them."""

import pytest

from routerd.core import AutoLinkSettings, LinkDirection, LinkRouteSettings
from tests.unit.config.reading import errors_in, read, section

IN, OUT = LinkDirection.IN, LinkDirection.OUT


def routes(*lines: str) -> tuple[LinkRouteSettings, ...]:
    return read(section("linkRoute", *lines)).others["linkRoute"]


def links(text: str) -> tuple[AutoLinkSettings, ...]:
    return read(text).others["autoLink"]


def test_a_link_route_has_all_that_its_section_says() -> None:
    found = routes(
        *("name: r", "prefix: a.b.", "direction: in", "containerId: c", "addExternalPrefix: x.", "distribution: 0"),
        "delExternalPrefix: y.",
    )
    assert found == (
        LinkRouteSettings(
            name="r", direction=IN, pattern="a.b/#", container_id="c", add_prefix="x.", del_prefix="y."
        ),
    )


def test_a_pattern_stays_as_it_is_but_for_separators_around_it() -> None:
    assert routes("pattern: /a.*.c/#", "direction: out", "connection: broker") == (
        LinkRouteSettings(name="linkRoute/0", direction=OUT, pattern="a.*.c/#", connection="broker"),
    )


def test_an_auto_link_has_all_that_its_section_says() -> None:
    text = section(
        "autoLink",
        *("name: x", "address: a", "direction: in", "phase: 3", "externalAddress: b", "connection: c"),
        "fallback: yes",
    )
    assert links(text) == (
        AutoLinkSettings(
            name="x", address="a", direction=IN, phase=3, external_address="b", connection="c", is_fallback=True
        ),
    )


def test_an_auto_link_has_the_phase_of_its_direction() -> None:
    text = "".join(
        section("autoLink", "address: a", *lines)
        for lines in (["direction: in"], ["direction: out"], ["direction: in", "fallback: yes"])
    )
    assert [(one.name, one.phase) for one in links(text)] == [("autoLink/0", 1), ("autoLink/1", 0), ("autoLink/2", 0)]


def test_old_names_are_warned_of() -> None:
    config = read(section("autoLink", "addr: a", "dir: in", "externalAddr: b"))
    start = "of entity 'autoLink' has been deprecated."
    assert config.warnings == (
        f"r.conf: line 2: Attribute 'addr' {start} Use 'address' instead",
        f"r.conf: line 3: Attribute 'dir' {start} Use 'direction' instead",
        f"r.conf: line 4: Attribute 'externalAddr' {start} Use 'externalAddress' instead",
    )
    assert "Use 'direction' instead" in read(section("linkRoute", "prefix: a", "dir: in")).warnings[0]


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        (
            ["direction: in"],
            "line 1: linkRoute: Must set either 'prefix' or 'pattern'; allowed: prefix: NAME, pattern: NAME.*.NAME/#",
        ),
        (
            ["direction: in", "prefix: a", "pattern: b"],
            "line 4: linkRoute.pattern: Cannot set both 'prefix' and 'pattern': link route a, b;"
            " allowed: one of them; two patterns need two sections",
        ),
        (
            ["direction: in", "prefix: /"],
            "line 3: linkRoute.prefix: names no address (got '/'); allowed: words with `.` or `/` between them",
        ),
        (
            ["direction: in", "prefix: a", "connection: b", "containerId: c"],
            "line 5: linkRoute.containerId: Both connection and containerId cannot be specified. Specify only one"
            " (got 'c'); allowed: one of them",
        ),
        (["prefix: a"], "line 1: linkRoute.direction: Missing required attribute 'direction'; allowed: in, out"),
        (
            ["prefix: a", "direction: up"],
            "line 3: linkRoute.direction: Invalid value for enum['in', 'out']: 'up'; allowed: in, out",
        ),
    ],
)
def test_a_link_route_that_is_wrong_is_told(lines: list[str], error: str) -> None:
    assert errors_in(section("linkRoute", *lines)) == [error]


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        (["direction: in"], "line 1: autoLink.address: Missing required attribute 'address'"),
        (["address: a"], "line 1: autoLink.direction: Missing required attribute 'direction'; allowed: in, out"),
        (["address: a", "direction: in", "phase: 10"], "line 4: autoLink.phase: 10 is too large; allowed: 0 to 9"),
        (
            ["address: _local/a", "direction: in"],
            "line 2: autoLink.address: is the address of a place (got '_local/a');"
            " allowed: an address that can be anywhere",
        ),
        (
            ["address: a", "direction: in", "connection: b", "containerId: c"],
            "line 5: autoLink.containerId: Both connection and containerId cannot be specified. Specify only one"
            " (got 'c'); allowed: one of them",
        ),
    ],
)
def test_an_auto_link_that_is_wrong_is_told(lines: list[str], error: str) -> None:
    assert errors_in(section("autoLink", *lines)) == [error]
