"""Where siblings find each other, and which of two connects."""

import pytest

from routerd.io.connections.fabric_endpoint import FabricEndpoint

HERE = FabricEndpoint("one", "/run/0-1")
BESIDE = FabricEndpoint("one", "/run/1-1")
AWAY = FabricEndpoint("two", "/tmp/1-1", "10.0.0.2", 4000)
FAR_AWAY = FabricEndpoint("three", "/tmp/2-1", "10.0.0.3", 4000)


@pytest.mark.parametrize("endpoint", [HERE, AWAY, FabricEndpoint(path="/run/with [ and blank"), FabricEndpoint()])
def test_what_siblings_are_told_is_what_they_read(endpoint: FabricEndpoint) -> None:
    assert FabricEndpoint.of(endpoint.text()) == endpoint


def test_without_a_node_it_is_the_path() -> None:
    assert FabricEndpoint(path="/run/0-1").text() == "/run/0-1"


@pytest.mark.parametrize(
    ("one", "other", "connects"),
    [
        (HERE, BESIDE, (False, True)),
        (HERE, AWAY, (True, True)),
        (AWAY, HERE, (False, False)),
        (AWAY, FAR_AWAY, (False, True)),
        (HERE, FabricEndpoint("two", "/tmp/1-1"), (False, False)),
    ],
    ids=["on one node", "to a port", "from a port", "both have a port", "none has a port"],
)
def test_who_connects(one: FabricEndpoint, other: FabricEndpoint, connects: tuple[bool, bool]) -> None:
    assert tuple(one.connects_to(other, is_higher=is_higher) for is_higher in (False, True)) == connects


@pytest.mark.parametrize("is_higher", [False, True])
@pytest.mark.parametrize(("one", "other"), [(HERE, BESIDE), (HERE, AWAY), (AWAY, FAR_AWAY)])
def test_exactly_one_of_two_connects(one: FabricEndpoint, other: FabricEndpoint, is_higher: bool) -> None:
    assert one.connects_to(other, is_higher=is_higher) != other.connects_to(one, is_higher=not is_higher)
