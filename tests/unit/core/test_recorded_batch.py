"""The rows of messages that left together."""

import pytest

from routerd.core import Recorder
from routerd.core.recording.batch import RecordedBatch


@pytest.mark.parametrize("steps", [[10], [1] * 10, [3, 4, 3], [2, 8], [0, 5, 5]])
@pytest.mark.parametrize(("skip", "every"), [(0, 1), (0, 3), (2, 3), (4, 5), (9, 100), (30, 100)])
def test_each_message_has_the_row_that_is_its_own(steps, skip, every):
    batch = RecordedBatch(8, Recorder("R", 1, 0.0).rows, 700, skip, every)
    numbers = list(range(skip, 10, every))
    at = 0
    for count in steps:
        rows = batch.pass_rows(count)
        gone = range(batch.row - rows, batch.row)
        assert list(gone) == [700 + index for index, number in enumerate(numbers) if at <= number < at + count]
        at += count


def test_those_that_are_not_sampled_have_no_rows():
    batch = RecordedBatch(8, None, 0, 0, 1)
    assert (batch.pass_rows(5), batch.row) == (0, 0)
