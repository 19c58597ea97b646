"""The one clock of a router."""


class Clock:
    """What time it is for all parts. The shell sets it at each entry, before anything else is done."""

    def __init__(self) -> None:
        self.now = 0.0
