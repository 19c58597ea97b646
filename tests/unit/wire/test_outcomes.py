"""Which delivery states are outcomes."""

from routerd.wire.outcomes import ACCEPTED, RELEASED, Modified, Received, Rejected, is_outcome
from routerd.wire.types import Described, ULong


def test_four_states_are_outcomes():
    outcomes = [ACCEPTED, Rejected(), RELEASED, Modified()]
    assert all(map(is_outcome, outcomes))
    others = [Received(section_number=0, section_offset=0), Described(ULong(0x34), [b"txn"]), None]
    assert not any(map(is_outcome, others))
