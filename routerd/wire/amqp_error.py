"""The composite type `error` (2.8.14), carried by detach, end, close and rejected."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from routerd.wire.errors import RemoteError
from routerd.wire.types import Composite, FieldType

# The limit fits the smallest frames (2.3.1), whatever text of the peer the description quotes.
_DESCRIPTION_OCTETS = 256


@dataclass(slots=True, kw_only=True, repr=False)
class Error(Composite):
    """An error: its condition, description and further information."""

    CODE: ClassVar[int] = 0x1D
    condition: Annotated[str, FieldType.SYMBOL]
    description: Annotated[str | None, FieldType.STRING] = None
    info: Annotated[Mapping[Any, Any] | None, FieldType.MAP] = None


def error_about(violation: RemoteError) -> Error:
    """Return the error for the peer about its violation."""
    octets = violation.description.encode("utf-8", "replace")[:_DESCRIPTION_OCTETS]
    return Error(condition=violation.condition, description=octets.decode("utf-8", "ignore"))
