"""What somebody who mistyped a name probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return `; did you mean ...?` for the closest of the names, or nothing if none is close."""
    # The dashes of options are all alike, and would make them seem close.
    folded = {one.casefold().lstrip("-"): one for one in names}
    found = get_close_matches(name.casefold().lstrip("-"), folded, n=1, cutoff=0.6)
    return f"; did you mean {folded[found[0]]}?" if found else ""


def among(names: Iterable[str]) -> str:
    """Return the names there are, to go on with behind a complaint."""
    return f"; there are {', '.join(names)}"
