"""The two sections of a message that are composite types: header and properties (3.2.1, 3.2.4)."""

from collections.abc import Container
from dataclasses import dataclass
from typing import Annotated, ClassVar, TypeAlias
from uuid import UUID

from routerd.wire.types import Composite, FieldType, Timestamp, ULong

MessageId: TypeAlias = ULong | UUID | bytes | str


class OfType(Container[object]):
    """The types that a field of any type is restricted to."""

    def __init__(self, *types: type) -> None:
        self._types = frozenset(types)

    def __contains__(self, value: object) -> bool:
        return type(value) in self._types


MESSAGE_IDS = OfType(ULong, UUID, bytes, str)
TIMESTAMPS = OfType(Timestamp)


@dataclass(slots=True, kw_only=True, repr=False)
class Header(Composite):
    """The header: how the message is to be delivered."""

    CODE: ClassVar[int] = 0x70
    durable: Annotated[bool, FieldType.BOOLEAN] = False
    priority: Annotated[int, FieldType.UBYTE] = 4
    ttl: Annotated[int | None, FieldType.UINT] = None
    first_acquirer: Annotated[bool, FieldType.BOOLEAN] = False
    delivery_count: Annotated[int, FieldType.UINT] = 0


@dataclass(slots=True, kw_only=True, repr=False)
class Properties(Composite):
    """The properties, which the sender sets and no one may change on the path."""

    CODE: ClassVar[int] = 0x73
    message_id: Annotated[MessageId | None, FieldType.ANY, MESSAGE_IDS] = None
    user_id: Annotated[bytes | None, FieldType.BINARY] = None
    to: Annotated[str | None, FieldType.STRING] = None
    subject: Annotated[str | None, FieldType.STRING] = None
    reply_to: Annotated[str | None, FieldType.STRING] = None
    correlation_id: Annotated[MessageId | None, FieldType.ANY, MESSAGE_IDS] = None
    content_type: Annotated[str | None, FieldType.SYMBOL] = None
    content_encoding: Annotated[str | None, FieldType.SYMBOL] = None
    absolute_expiry_time: Annotated[Timestamp | None, FieldType.ANY, TIMESTAMPS] = None
    creation_time: Annotated[Timestamp | None, FieldType.ANY, TIMESTAMPS] = None
    group_id: Annotated[str | None, FieldType.STRING] = None
    group_sequence: Annotated[int | None, FieldType.UINT] = None
    reply_to_group_id: Annotated[str | None, FieldType.STRING] = None
