"""What sections and entities have become: frozen configurations, by kind."""

from collections.abc import Mapping
from typing import Any, TypeVar

from routerd.config.configurable import Configurable

C = TypeVar("C")


class Configurations:
    """Those of a whole router; each kind is taken once, and what nobody takes by its name is left."""

    def __init__(self, found: Mapping[str, tuple[Any, ...]]) -> None:
        """`found` has them by section."""
        self._found = dict(found)

    def take(self, kind: type[Configurable[C]]) -> tuple[C, ...]:
        """Return those of a kind."""
        return self._found.pop(str(kind.type.section), ())

    @property
    def left(self) -> dict[str, tuple[Any, ...]]:
        """Those that nobody has taken, by section."""
        return {section: some for section, some in self._found.items() if some}
