"""Times at which something is due."""

from typing import Final

NEVER: Final = float("inf")
