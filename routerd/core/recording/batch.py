"""The context that a delivery batch keeps for the recorder."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.recording.rows import Rows


class RecordedBatch:
    """The flow of a delivery batch, and the rows of its sampled messages.

    The first sampled message follows `skip` others, and then every `every`-th message is sampled. `row` is the first
    row. Messages leave the batch from the front.
    """

    rows: "Rows | None"

    def __init__(self, flow: int, rows: "Rows | None", row: int, skip: int, every: int) -> None:
        self.flow = flow
        self.rows = rows
        self.row = row
        self.skip = skip
        self.every = every

    def pass_rows(self, count: int) -> int:
        """Return the number of rows for the next `count` messages in front, which leave the batch."""
        rows = 0
        if self.rows is not None:
            if count > self.skip:
                rows = 1 + (count - 1 - self.skip) // self.every
                self.row += rows
            self.skip += rows * self.every - count
        return rows
