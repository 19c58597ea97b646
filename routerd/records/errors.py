"""What can be wrong with records."""


class RecordsError(Exception):
    """The root of all errors of this package."""


class NotARecordFile(RecordsError):
    """A file is not what a recorder writes, or not all of it is there."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason
