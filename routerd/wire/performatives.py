"""The nine performatives that AMQP frames carry (2.7), field by field in the order of the standard."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from routerd.wire.amqp_error import Error
from routerd.wire.outcomes import DeliveryState
from routerd.wire.terminus import Coordinator, Source, Target
from routerd.wire.types import Composite, Described, FieldType

SENDER_SETTLE_MODES = range(3)
"""Unsettled, settled, mixed (2.8.2)."""
RECEIVER_SETTLE_MODES = range(2)
"""First, second (2.8.3)."""


@dataclass(slots=True, kw_only=True, repr=False)
class Open(Composite):
    """Negotiates the parameters of a connection (2.7.1)."""

    CODE: ClassVar[int] = 0x10
    container_id: Annotated[str, FieldType.STRING]
    hostname: Annotated[str | None, FieldType.STRING] = None
    max_frame_size: Annotated[int, FieldType.UINT] = 0xFFFFFFFF
    channel_max: Annotated[int, FieldType.USHORT] = 0xFFFF
    idle_time_out: Annotated[int | None, FieldType.UINT] = None
    outgoing_locales: Annotated[tuple[str, ...], FieldType.SYMBOLS] = ()
    incoming_locales: Annotated[tuple[str, ...], FieldType.SYMBOLS] = ()
    offered_capabilities: Annotated[tuple[str, ...], FieldType.SYMBOLS] = ()
    desired_capabilities: Annotated[tuple[str, ...], FieldType.SYMBOLS] = ()
    properties: Annotated[Mapping[Any, Any] | None, FieldType.MAP] = None


@dataclass(slots=True, kw_only=True, repr=False)
class Begin(Composite):
    """Begins a session on a channel (2.7.2)."""

    CODE: ClassVar[int] = 0x11
    remote_channel: Annotated[int | None, FieldType.USHORT] = None
    next_outgoing_id: Annotated[int, FieldType.UINT]
    incoming_window: Annotated[int, FieldType.UINT]
    outgoing_window: Annotated[int, FieldType.UINT]
    handle_max: Annotated[int, FieldType.UINT] = 0xFFFFFFFF
    offered_capabilities: Annotated[tuple[str, ...], FieldType.SYMBOLS] = ()
    desired_capabilities: Annotated[tuple[str, ...], FieldType.SYMBOLS] = ()
    properties: Annotated[Mapping[Any, Any] | None, FieldType.MAP] = None


@dataclass(slots=True, kw_only=True, repr=False)
class Attach(Composite):
    """Attaches a link to a session (2.7.3)."""

    CODE: ClassVar[int] = 0x12
    name: Annotated[str, FieldType.STRING]
    handle: Annotated[int, FieldType.UINT]
    role: Annotated[bool, FieldType.BOOLEAN]
    """False for a sender, True for a receiver (2.8.1)."""
    snd_settle_mode: Annotated[int, FieldType.UBYTE, SENDER_SETTLE_MODES] = 2
    rcv_settle_mode: Annotated[int, FieldType.UBYTE, RECEIVER_SETTLE_MODES] = 0
    source: Annotated[Source | Described | None, FieldType.SOURCE] = None
    target: Annotated[Target | Coordinator | Described | None, FieldType.TARGET] = None
    unsettled: Annotated[Mapping[bytes, DeliveryState | None] | None, FieldType.UNSETTLED] = None
    incomplete_unsettled: Annotated[bool, FieldType.BOOLEAN] = False
    initial_delivery_count: Annotated[int | None, FieldType.UINT] = None
    max_message_size: Annotated[int | None, FieldType.ULONG] = None
    offered_capabilities: Annotated[tuple[str, ...], FieldType.SYMBOLS] = ()
    desired_capabilities: Annotated[tuple[str, ...], FieldType.SYMBOLS] = ()
    properties: Annotated[Mapping[Any, Any] | None, FieldType.MAP] = None


@dataclass(slots=True, kw_only=True, repr=False)
class Flow(Composite):
    """Tells the state of a session, and of a link if it names one (2.7.4)."""

    CODE: ClassVar[int] = 0x13
    next_incoming_id: Annotated[int | None, FieldType.UINT] = None
    incoming_window: Annotated[int, FieldType.UINT]
    next_outgoing_id: Annotated[int, FieldType.UINT]
    outgoing_window: Annotated[int, FieldType.UINT]
    handle: Annotated[int | None, FieldType.UINT] = None
    delivery_count: Annotated[int | None, FieldType.UINT] = None
    link_credit: Annotated[int | None, FieldType.UINT] = None
    available: Annotated[int | None, FieldType.UINT] = None
    drain: Annotated[bool, FieldType.BOOLEAN] = False
    echo: Annotated[bool, FieldType.BOOLEAN] = False
    properties: Annotated[Mapping[Any, Any] | None, FieldType.MAP] = None


@dataclass(slots=True, kw_only=True, repr=False)
class Transfer(Composite):
    """Transfers a message, or a part of one (2.7.5)."""

    CODE: ClassVar[int] = 0x14
    handle: Annotated[int, FieldType.UINT]
    delivery_id: Annotated[int | None, FieldType.UINT] = None
    delivery_tag: Annotated[bytes | None, FieldType.DELIVERY_TAG] = None
    message_format: Annotated[int | None, FieldType.UINT] = None
    settled: Annotated[bool | None, FieldType.BOOLEAN] = None
    more: Annotated[bool, FieldType.BOOLEAN] = False
    rcv_settle_mode: Annotated[int | None, FieldType.UBYTE, RECEIVER_SETTLE_MODES] = None
    state: Annotated[DeliveryState | None, FieldType.STATE] = None
    resume: Annotated[bool, FieldType.BOOLEAN] = False
    aborted: Annotated[bool, FieldType.BOOLEAN] = False
    batchable: Annotated[bool, FieldType.BOOLEAN] = False


@dataclass(slots=True, kw_only=True, repr=False)
class Disposition(Composite):
    """Tells the state of a range of deliveries (2.7.6)."""

    CODE: ClassVar[int] = 0x15
    role: Annotated[bool, FieldType.BOOLEAN]
    first: Annotated[int, FieldType.UINT]
    last: Annotated[int | None, FieldType.UINT] = None
    settled: Annotated[bool, FieldType.BOOLEAN] = False
    state: Annotated[DeliveryState | None, FieldType.STATE] = None
    batchable: Annotated[bool, FieldType.BOOLEAN] = False


@dataclass(slots=True, kw_only=True, repr=False)
class Detach(Composite):
    """Detaches a link from its session (2.7.7)."""

    CODE: ClassVar[int] = 0x16
    handle: Annotated[int, FieldType.UINT]
    closed: Annotated[bool, FieldType.BOOLEAN] = False
    error: Annotated[Error | None, FieldType.ERROR] = None


@dataclass(slots=True, kw_only=True, repr=False)
class End(Composite):
    """Ends a session (2.7.8)."""

    CODE: ClassVar[int] = 0x17
    error: Annotated[Error | None, FieldType.ERROR] = None


@dataclass(slots=True, kw_only=True, repr=False)
class Close(Composite):
    """Closes a connection (2.7.9)."""

    CODE: ClassVar[int] = 0x18
    error: Annotated[Error | None, FieldType.ERROR] = None
