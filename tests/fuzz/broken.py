"""What a target raises when something does not hold that must hold for every input."""


class Broken(Exception):
    """A property of the engine that an input has disproved."""


def check(holds: object, what: str) -> None:
    """Raise Broken unless it holds."""
    if not holds:
        raise Broken(what)
