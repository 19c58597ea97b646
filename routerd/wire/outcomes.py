"""The delivery states of the standard (3.4): `received`, and the four outcomes.

Other states, such as transactional-state, are Described values and pass unchanged. Whether they end anything is known
only to those who use them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeAlias

from routerd.wire.amqp_error import Error
from routerd.wire.types import Composite, Described, FieldType


@dataclass(slots=True, kw_only=True, repr=False)
class Received(Composite):
    """The part of the message that the receiver has (3.4.1)."""

    CODE: ClassVar[int] = 0x23
    section_number: Annotated[int, FieldType.UINT]
    section_offset: Annotated[int, FieldType.ULONG]


@dataclass(slots=True, kw_only=True, repr=False)
class Accepted(Composite):
    """The receiver has taken the message (3.4.2)."""

    CODE: ClassVar[int] = 0x24


@dataclass(slots=True, kw_only=True, repr=False)
class Rejected(Composite):
    """The message is invalid and cannot be processed (3.4.3)."""

    CODE: ClassVar[int] = 0x25
    error: Annotated[Error | None, FieldType.ERROR] = None


@dataclass(slots=True, kw_only=True, repr=False)
class Released(Composite):
    """The message was not processed, and may go to another receiver (3.4.4)."""

    CODE: ClassVar[int] = 0x26


@dataclass(slots=True, kw_only=True, repr=False)
class Modified(Composite):
    """The message was not processed, and must be changed before it goes to another receiver (3.4.5)."""

    CODE: ClassVar[int] = 0x27
    delivery_failed: Annotated[bool | None, FieldType.BOOLEAN] = None
    undeliverable_here: Annotated[bool | None, FieldType.BOOLEAN] = None
    message_annotations: Annotated[Mapping[Any, Any] | None, FieldType.MAP] = None


Outcome: TypeAlias = Accepted | Rejected | Released | Modified | Described
DeliveryState: TypeAlias = Received | Outcome

ACCEPTED = Accepted()
RELEASED = Released()


def is_outcome(state: DeliveryState | None) -> bool:
    """Return whether a delivery state is one of the four outcomes, which are terminal (3.4)."""
    return state is not None and not isinstance(state, (Received, Described))
