"""Which delivery states are outcomes."""

from routerd.wire.outcomes import ACCEPTED, RELEASED, Modified, Received, Rejected, is_outcome
from routerd.wire.types import Described, ULong


def test_every_state_but_received_is_an_outcome():
    outcomes = [ACCEPTED, Rejected(), RELEASED, Modified(), Described(ULong(0x34), [b"txn"])]
    assert all(map(is_outcome, outcomes))
    assert not is_outcome(Received(section_number=0, section_offset=0))
    assert not is_outcome(None)
