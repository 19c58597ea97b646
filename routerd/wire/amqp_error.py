"""The composite type `error` (2.8.14), which detach, end, close and rejected carry."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from routerd.wire.types import Composite, FieldType


@dataclass(slots=True, kw_only=True, repr=False)
class Error(Composite):
    """What went wrong, and what else there is to know about it."""

    CODE: ClassVar[int] = 0x1D
    condition: Annotated[str, FieldType.SYMBOL]
    description: Annotated[str | None, FieldType.STRING] = None
    info: Annotated[Mapping[Any, Any] | None, FieldType.MAP] = None
