"""A message that is kept after it was sent, because another destination gets it if this one releases it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from routerd.core.links.parked import Parked


class Kept:
    """A message as it came, and the destinations that have had it."""

    def __init__(self, message: "Parked") -> None:
        self.message = message
        # Outlets, and the next hops of routes.
        self.tried: set[Any] = set()
        self.is_over = False
