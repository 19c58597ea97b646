"""What a connection may be made with."""

from dataclasses import FrozenInstanceError, asdict, replace

import pytest

from routerd.wire.connection_config import ConnectionConfig
from routerd.wire.errors import ValueRangeError
from routerd.wire.limits import CodecLimits

UINT_MAX = 2**32 - 1
INT_MAX = 2**31 - 1

RANGES = [
    ("max_frame_size", 512, UINT_MAX),
    ("send_frame_size", 512, UINT_MAX),
    ("sasl_frame_size", 512, UINT_MAX),
    ("channel_max", 0, 65_535),
    ("handle_max", 0, UINT_MAX),
    ("incoming_window", 1, INT_MAX),
    ("unsettled_per_session", 1, INT_MAX),
    ("link_names_max", 1, INT_MAX),
]


def test_only_the_container_id_has_no_default():
    assert asdict(ConnectionConfig(container_id="c")) == {
        "container_id": "c",
        "hostname": None,
        "max_frame_size": 65_536,
        "send_frame_size": 65_536,
        "sasl_frame_size": 512,
        "channel_max": 32_767,
        "handle_max": 65_535,
        "incoming_window": 2_048,
        "idle_timeout_s": 0.0,
        "shortest_idle_timeout_s": 0.1,
        "unsettled_per_session": 1_000_000,
        "link_names_max": 100_000,
        "takes_long_tags": False,
        "limits": asdict(CodecLimits()),
        "offered_capabilities": (),
        "desired_capabilities": (),
        "outgoing_locales": (),
        "incoming_locales": (),
        "properties": None,
    }


def test_a_configuration_is_not_changed_afterwards():
    config = ConnectionConfig(container_id="c")
    with pytest.raises(FrozenInstanceError):
        config.channel_max = 1


@pytest.mark.parametrize(("name", "low", "high"), RANGES)
def test_the_ends_of_a_range_are_allowed(name, low, high):
    assert [getattr(ConnectionConfig(container_id="c", **{name: value}), name) for value in (low, high)] == [low, high]


@pytest.mark.parametrize(("name", "low", "high"), RANGES)
def test_a_number_out_of_its_range_is_refused(name, low, high):
    config = ConnectionConfig(container_id="c")
    for value in (low - 1, high + 1):
        with pytest.raises(ValueRangeError, match=rf"^{name} is {value}, and must be {low} to {high}$"):
            replace(config, **{name: value})


@pytest.mark.parametrize("name", ["idle_timeout_s", "shortest_idle_timeout_s"])
def test_a_negative_time_is_refused(name):
    with pytest.raises(ValueRangeError, match=rf"^{name} is -0\.5, and must not be negative$"):
        ConnectionConfig(container_id="c", **{name: -0.5})
    assert getattr(ConnectionConfig(container_id="c", **{name: 0}), name) == 0
