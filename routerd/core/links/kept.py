"""A message that is kept after it was sent, because another destination gets it if this one releases it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.parked import Parked


class Kept:
    """A message as it came, and the destinations that have had it."""

    def __init__(self, message: "Parked") -> None:
        self.message = message
        # Outlets, the numbers of siblings, and the next hops of routes.
        self.tried: set[Any] = set()
        self.is_over = False

    def goes_to(self, outlet: "Outlet") -> None:
        """Note a destination of this router. A sibling stays the same if its link is made anew."""
        self.tried.add(outlet.peer.sibling if outlet.is_fabric else outlet)

    def had(self, outlet: "Outlet") -> bool:
        """Whether the message went there before."""
        return (outlet.peer.sibling if outlet.is_fabric else outlet) in self.tried
