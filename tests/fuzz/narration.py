"""What happens in a run, told line by line when a failure is reproduced."""

from tests.fuzz.walker import Malformed, Walker, frames

lines: list[str] | None = None
"""Where the lines go; None tells nothing."""


def narrate(what: str, *subjects: object) -> None:
    """Tell one thing, if anybody listens: else nothing is even put into words."""
    if lines is not None:
        lines.append(" ".join((what, *map(repr, subjects))))


def narrate_octets(arrow: str, octets: bytes) -> None:
    """Tell of octets that go one way or the other: frame by frame, as long as they are frames."""
    if lines is None or not octets:
        return
    lines.append(f"{arrow} {octets.hex()}")
    try:
        for frame in frames(octets):
            shown = frame.body if frame.kind < 0 or not frame.body else Walker(frame.body).value(0, len(frame.body))[0]
            lines.append(f"     channel {frame.channel}: {shown!r}")
    except Malformed as error:
        lines.append(f"     {error}")
