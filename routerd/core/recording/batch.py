"""What the outcome of messages that left together is to be told with."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.recording.rows import Rows


class RecordedBatch:
    """Their flow, and the rows of those that are sampled: after `skip` messages the first, then one in `every`.

    `row` is the first of these rows. It is the context of a `DeliveryBatch`, whose messages leave it from the front.
    """

    rows: "Rows | None"

    def __init__(self, flow: int, rows: "Rows | None", row: int, skip: int, every: int) -> None:
        self.flow = flow
        self.rows = rows
        self.row = row
        self.skip = skip
        self.every = every

    def pass_rows(self, count: int) -> int:
        """Return how many of so many messages in front have a row; they leave, or have just left."""
        rows = 0
        if self.rows is not None:
            if count > self.skip:
                rows = 1 + (count - 1 - self.skip) // self.every
                self.row += rows
            self.skip += rows * self.every - count
        return rows
