"""The clock of a router."""


class Clock:
    """The present time, for all parts. The shell sets it first at each entry."""

    def __init__(self) -> None:
        self.now = 0.0
