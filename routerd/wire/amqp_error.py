"""The composite type `error` (2.8.14), which detach, end, close and rejected carry."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from routerd.wire.errors import RemoteError
from routerd.wire.types import Composite, FieldType

# What we say of a violation fits the smallest frames (2.3.1), whatever of the peer's it cites.
_DESCRIPTION_OCTETS = 256


@dataclass(slots=True, kw_only=True, repr=False)
class Error(Composite):
    """What went wrong, and what else there is to know about it."""

    CODE: ClassVar[int] = 0x1D
    condition: Annotated[str, FieldType.SYMBOL]
    description: Annotated[str | None, FieldType.STRING] = None
    info: Annotated[Mapping[Any, Any] | None, FieldType.MAP] = None


def error_about(violation: RemoteError) -> Error:
    """Return what the peer is told of its violation."""
    octets = violation.description.encode("utf-8", "replace")[:_DESCRIPTION_OCTETS]
    return Error(condition=violation.condition, description=octets.decode("utf-8", "ignore"))
