"""The limits of the codec."""

import pytest

from routerd.wire.errors import ValueRangeError
from routerd.wire.limits import DEFAULT_LIMITS, CodecLimits


def test_the_defaults_are_those_of_the_page():
    assert CodecLimits(depth=32, count=65_536, size_bytes=2_147_483_647) == DEFAULT_LIMITS


@pytest.mark.parametrize(
    ("name", "low", "high"), [("depth", 1, 128), ("count", 0, 4_294_967_295), ("size_bytes", 0, 2_147_483_647)]
)
def test_a_limit_is_checked_once_it_is_made(name, low, high):
    for allowed in (low, high):
        assert getattr(CodecLimits(**{name: allowed}), name) == allowed
    for wrong in (low - 1, high + 1):
        with pytest.raises(ValueRangeError, match=f"{name} is {wrong}, which is not from {low} to {high}"):
            CodecLimits(**{name: wrong})
