"""What can be wrong with a question: always a sentence that says what was found and what to do."""

from collections.abc import Sequence


class AnalyticsError(Exception):
    """The root of all errors of this package."""


class NoRecords(AnalyticsError):
    """There is nothing to read."""


class WrongPeriod(AnalyticsError):
    """The period that was asked for is none, or there are no records of it."""


class UnknownName(AnalyticsError):
    """An address, router or trunk that does not occur in the records."""

    def __init__(self, what: str, name: str, known: Sequence[str]) -> None:
        some = ", ".join(known[:10]) + (f" and {len(known) - 10} more" if len(known) > 10 else "")
        super().__init__(f"no {what} {name!r} in these records; there is {some or 'none at all'}")


class WrongChange(AnalyticsError):
    """A change of the network that is not written as one, or can not be made."""


class SparkFailed(AnalyticsError):
    """Spark can not be started, or gave a job up."""
