"""Remarks for the log, once for each cause."""

from collections import OrderedDict
from collections.abc import Hashable

from routerd.mesh.commands import Remark

CAUSES_REMEMBERED = 4096
"""Peers name routers and addresses as they like; a forgotten cause is logged again."""


class Remarks:
    """Remembers the causes that were logged."""

    def __init__(self) -> None:
        self._told: OrderedDict[Hashable, None] = OrderedDict()

    def once(self, remark: Remark, *cause: Hashable) -> list[Remark]:
        """Return the remark, or nothing if its cause was logged before."""
        if cause in self._told:
            return []
        self._told[cause] = None
        if len(self._told) > CAUSES_REMEMBERED:
            self._told.popitem(last=False)
        return [remark]
