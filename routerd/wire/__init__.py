"""AMQP 1.0 without I/O: octets and the time go in, octets and events come out.

* Values: `types` and `limits` define them. `reader`, `decoder`, `writer` and `encoder` are the codec.
* Composites: `performatives`, `terminus`, `outcomes`, `amqp_error`, `sasl_frames` and `message_fields` are dataclasses.
  `composite` reads and writes them by tables derived from them.
* Frames: `frames` has the headers. `output`, `transfer`, `flow` and `disposition` read and compose in place, in reused
  `memory`.
* Endpoints: `connection` (with `input`, `sasl_layer`, `channels`), `session` (with `attachments`, `dispositions`,
  `handles`, `backlog`, `delivery`), `link`, `sender`, `receiver`. Tables move their `states`, a `handler` takes events,
  and `errors` name the side at fault. `recovery` compares unsettled maps; `sasl` is the security layer.
* Messages: `sections` and `section_scan` find sections, `annotation_edit` changes annotations, `message` is a whole
  message.
"""

from routerd.wire.amqp_error import Error
from routerd.wire.annotation_edit import AnnotationEdit, edit_message_annotations
from routerd.wire.connection import Connection
from routerd.wire.connection_config import MIN_MAX_FRAME_SIZE, ConnectionConfig
from routerd.wire.decoder import Decoder, decode
from routerd.wire.delivery import Delivery
from routerd.wire.encoder import encode
from routerd.wire.errors import (
    AuthenticationSkipped,
    DecodeError,
    EncodeError,
    FrameSizeTooSmall,
    FrameTooLarge,
    FramingError,
    HttpReceived,
    IllegalState,
    InvalidField,
    LinkError,
    LocalError,
    MessageSizeExceeded,
    RemoteError,
    ResourceLimitExceeded,
    Scope,
    SessionError,
    StateError,
    ValueRangeError,
    WireError,
)
from routerd.wire.handler import Handler
from routerd.wire.limits import CodecLimits
from routerd.wire.link import Link
from routerd.wire.message import AmqpSequence, AmqpValue, Data, Message
from routerd.wire.message_fields import Header, Properties
from routerd.wire.outcomes import (
    ACCEPTED,
    RELEASED,
    Accepted,
    DeliveryState,
    Modified,
    Outcome,
    Received,
    Rejected,
    Released,
    is_outcome,
)
from routerd.wire.performatives import Attach, Begin, Close, Detach, Disposition, End, Flow, Open, Transfer
from routerd.wire.receiver import Receiver
from routerd.wire.recovery import RecoveredDelivery, Recovery, plan_recovery
from routerd.wire.section_codes import Presence, Section
from routerd.wire.sections import NeedsMore, Sections
from routerd.wire.sender import Sender
from routerd.wire.session import Session
from routerd.wire.states import ConnectionState, LinkState, SessionState
from routerd.wire.terminus import Coordinator, Source, Target
from routerd.wire.types import (
    Array,
    Byte,
    Char,
    Decimal32,
    Decimal64,
    Decimal128,
    Described,
    DescribedType,
    Float,
    Int,
    PairMap,
    Short,
    Symbol,
    Timestamp,
    UByte,
    UInt,
    ULong,
    UShort,
)

__all__ = [
    "ACCEPTED",
    "MIN_MAX_FRAME_SIZE",
    "RELEASED",
    "Accepted",
    "AmqpSequence",
    "AmqpValue",
    "AnnotationEdit",
    "Array",
    "Attach",
    "AuthenticationSkipped",
    "Begin",
    "Byte",
    "Char",
    "Close",
    "CodecLimits",
    "Connection",
    "ConnectionConfig",
    "ConnectionState",
    "Coordinator",
    "Data",
    "Decimal32",
    "Decimal64",
    "Decimal128",
    "DecodeError",
    "Decoder",
    "Delivery",
    "DeliveryState",
    "Described",
    "DescribedType",
    "Detach",
    "Disposition",
    "EncodeError",
    "End",
    "Error",
    "Float",
    "Flow",
    "FrameSizeTooSmall",
    "FrameTooLarge",
    "FramingError",
    "Handler",
    "Header",
    "HttpReceived",
    "IllegalState",
    "Int",
    "InvalidField",
    "Link",
    "LinkError",
    "LinkState",
    "LocalError",
    "Message",
    "MessageSizeExceeded",
    "Modified",
    "NeedsMore",
    "Open",
    "Outcome",
    "PairMap",
    "Presence",
    "Properties",
    "Received",
    "Receiver",
    "RecoveredDelivery",
    "Recovery",
    "Rejected",
    "Released",
    "RemoteError",
    "ResourceLimitExceeded",
    "Scope",
    "Section",
    "Sections",
    "Sender",
    "Session",
    "SessionError",
    "SessionState",
    "Short",
    "Source",
    "StateError",
    "Symbol",
    "Target",
    "Timestamp",
    "Transfer",
    "UByte",
    "UInt",
    "ULong",
    "UShort",
    "ValueRangeError",
    "WireError",
    "decode",
    "edit_message_annotations",
    "encode",
    "is_outcome",
    "plan_recovery",
]
