"""What the settings make of an address."""

import pytest

from routerd.core.directory.treatment import Treatment, Treatments
from routerd.core.errors import DuplicatePattern
from routerd.core.settings import AddressSettings, Distribution, RouterSettings

BALANCED, CLOSEST = Distribution.BALANCED, Distribution.CLOSEST
MULTICAST, UNAVAILABLE = Distribution.MULTICAST, Distribution.UNAVAILABLE

ADDRESSES = (
    AddressSettings(pattern="multicast/#", distribution=MULTICAST),
    AddressSettings(pattern="queue.*", distribution=CLOSEST, ingress_phase=0, egress_phase=1, priority=7),
    AddressSettings(pattern="closed/#", distribution=UNAVAILABLE),
    AddressSettings(pattern="_$closed/#", distribution=UNAVAILABLE, priority=3),
    AddressSettings(pattern="_local/#", distribution=UNAVAILABLE),
    AddressSettings(pattern="*.pat.com/#", distribution=MULTICAST, priority=0),
)


def treatments(default=BALANCED, addresses=ADDRESSES):
    return Treatments(RouterSettings(id="R1", default_distribution=default, addresses=addresses))


@pytest.mark.parametrize(
    ("address", "treatment"),
    [
        ("multicast.1", Treatment(MULTICAST, 0, 0, None)),
        ("amqp://host/multicast.1", Treatment(MULTICAST, 0, 0, None)),
        ("/multicast.", Treatment(MULTICAST, 0, 0, None)),
        ("queue/x", Treatment(CLOSEST, 0, 1, 7)),
        ("queue", Treatment(BALANCED, 0, 0, None)),
        ("other", Treatment(BALANCED, 0, 0, None)),
        ("", Treatment(BALANCED, 0, 0, None)),
        ("closed.x", Treatment(UNAVAILABLE, 0, 0, None)),
        ("a.pat.com/queue.x", Treatment(MULTICAST, 0, 0, 0)),
    ],
)
def test_an_address_has_the_treatment_of_its_pattern_or_the_default(address, treatment):
    assert treatments().of(address) == treatment


@pytest.mark.parametrize("default", list(Distribution))
def test_the_default_is_for_addresses_without_a_pattern(default):
    assert [treatments(default).of(address).distribution for address in ("other", "multicast")] == [default, MULTICAST]


@pytest.mark.parametrize(
    ("address", "distribution"),
    [
        ("_local/qdhello", CLOSEST),
        ("_topo/0/R1/temp.x", CLOSEST),
        ("_topo/0/R2/temp.x", CLOSEST),
        ("_topo/0", CLOSEST),
        ("_topo/0/all/qdrouter", MULTICAST),
        ("amqp:/_topo/all/all/qdrouter", MULTICAST),
        ("_edge/E1/temp.x", BALANCED),
    ],
)
def test_addresses_of_places_are_no_matter_of_configuration(address, distribution):
    assert treatments(UNAVAILABLE).of(address) == Treatment(distribution)


@pytest.mark.parametrize(
    ("address", "treatment"),
    [
        ("_$temp.x", Treatment(BALANCED)),
        ("_$closed.x", Treatment(BALANCED, priority=3)),
        ("_topo", Treatment(BALANCED)),
    ],
)
def test_no_address_with_an_underscore_is_unavailable(address, treatment):
    assert treatments(UNAVAILABLE).of(address) == treatment


def test_other_addresses_with_an_underscore_follow_the_settings():
    assert treatments(MULTICAST).of("_$temp.x") == Treatment(MULTICAST)


def test_two_settings_for_one_pattern_are_refused():
    with pytest.raises(DuplicatePattern):
        treatments(addresses=(AddressSettings(pattern="a/#"), AddressSettings(pattern="a.#")))
