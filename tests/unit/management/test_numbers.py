"""Numbers have the AMQP types that clients are used to, whatever they are."""

from typing import Any

import pytest

from routerd.management.agent.numbers import as_general, uint, ulong, whole
from routerd.wire import Int, UInt, ULong, encode


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (uint(0), UInt(0)),
        (uint(1023.9), UInt(1023)),
        (uint(1024), UInt(1024)),
        (uint(-1), UInt(0)),
        (uint(2**40), UInt(UInt.HIGH)),
        (ulong(5), ULong(5)),
        (ulong(2**40), ULong(2**40)),
        (ulong(-1), ULong(0)),
        (ulong(2**70), ULong(ULong.HIGH)),
        (whole(5), Int(5)),
        (whole(-1), Int(-1)),
        (whole(2**31), 2**31),
        (whole(2**70), 2**63 - 1),
        (whole(-(2**70)), -(2**63)),
        (as_general(7), Int(7)),
        (as_general(True), True),
        (as_general("7"), "7"),
        (as_general(None), None),
    ],
)
def test_a_number_has_its_type_and_fits_it(number: Any, expected: Any) -> None:
    assert (type(number), number) == (type(expected), expected)
    encode(number)
