"""The messages of the routing protocol as octets (inter-router protocol 3.1)."""

from collections.abc import Mapping
from typing import Any

from routerd.mesh import ControlMessage, MalformedControl
from routerd.wire import (
    CodecLimits,
    Described,
    Section,
    Sections,
    Symbol,
    ULong,
    WireError,
    decode,
    encode,
)

_INGRESS = Symbol("x-opt-qd.ingress")
_TRACE = Symbol("x-opt-qd.trace")
# A message may have all the addresses of a router.
_LIMITS = CodecLimits(count=1_000_000)
_AMQP_VALUE = ULong(Section.AMQP_VALUE.value)


def encoded(message: ControlMessage) -> bytes:
    """Return the octets of a control message."""
    annotations: dict[Any, Any] = {}
    if message.ingress is not None:
        annotations[_INGRESS] = message.ingress
    if message.trace:
        annotations[_TRACE] = list(message.trace)
    # By hand, since some have a symbol for a key of their application-properties, which the standard has no place for.
    sections = (
        (Section.HEADER, [False]),
        (Section.MESSAGE_ANNOTATIONS, annotations),
        (Section.PROPERTIES, [None, None, message.to]),
        (Section.APPLICATION_PROPERTIES, {message.opcode_key: message.opcode}),
        (Section.AMQP_VALUE, message.body),
    )
    return b"".join(encode(Described(ULong(section.value), value)) for section, value in sections)


def decoded(octets: bytes) -> ControlMessage:
    """Return what a neighbour sent; raises MalformedControl."""
    sections = Sections(octets)
    try:
        opcode = _opcode(sections.application_properties)
        to = sections.to
        annotations = sections.message_annotations or {}
        place = sections.bounds(Section.AMQP_VALUE.value)
        body = None if place is None else decode(octets[place[0] : place[1]], _LIMITS)
    except WireError as error:
        raise MalformedControl(f"no message: {error}") from error
    value = body.value if isinstance(body, Described) and body.descriptor == _AMQP_VALUE else None
    if to is None or not isinstance(value, Mapping):
        raise MalformedControl(f"{opcode} without a `to` or a map")
    ingress, trace = annotations.get(_INGRESS), annotations.get(_TRACE, [])
    if not isinstance(trace, list) or not all(isinstance(step, str) for step in trace):
        raise MalformedControl(f"{opcode} with a trace that is not a list of strings")
    return ControlMessage(to, opcode, value, ingress if isinstance(ingress, str) else None, tuple(map(str, trace)))


def _opcode(properties: Mapping[str, Any] | None) -> str:
    for key, value in (properties or {}).items():
        if key == "opcode" and isinstance(value, str):
            return str(value)
    raise MalformedControl("no opcode")
