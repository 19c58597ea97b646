"""A message as an object (3.2), to create and read messages; forwarding uses `Sections` instead."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from routerd.wire.composite import Layout
from routerd.wire.decoder import Decoder
from routerd.wire.encoder import Encoder
from routerd.wire.errors import DecodeError, EncodeError
from routerd.wire.limits import DEFAULT_LIMITS, CodecLimits
from routerd.wire.message_fields import Header, Properties
from routerd.wire.section_codes import Section
from routerd.wire.section_scan import follows
from routerd.wire.types import Array, Described, Symbol, ULong

Annotations: TypeAlias = Mapping[Any, Any]
"""A map whose keys are Symbol or ULong (3.2.10)."""


@dataclass(slots=True)
class Data:
    """A body of opaque octets, in one section or more (3.2.6)."""

    sections: list[bytes]


@dataclass(slots=True)
class AmqpSequence:
    """A body of lists, in one section or more (3.2.7)."""

    sections: list[list[Any]]


@dataclass(slots=True)
class AmqpValue:
    """A body that is one value (3.2.8)."""

    value: Any


Body: TypeAlias = Data | AmqpSequence | AmqpValue


@dataclass(slots=True, kw_only=True)
class Message:
    """The sections of a message; None stands for an absent section."""

    header: Header | None = None
    delivery_annotations: Annotations | None = None
    message_annotations: Annotations | None = None
    properties: Properties | None = None
    application_properties: Mapping[str, Any] | None = None
    body: Body | None = None
    footer: Annotations | None = None

    def encode(self) -> bytes:
        """Return the octets of the message; raises EncodeError for anything that the standard does not allow."""
        encoder = Encoder()
        _write_fields(encoder, _HEADER, Header, self.header)
        _write_annotations(encoder, Section.DELIVERY_ANNOTATIONS, self.delivery_annotations)
        _write_annotations(encoder, Section.MESSAGE_ANNOTATIONS, self.message_annotations)
        _write_fields(encoder, _PROPERTIES, Properties, self.properties)
        _write_application_properties(encoder, self.application_properties)
        _write_body(encoder, self.body)
        _write_annotations(encoder, Section.FOOTER, self.footer)
        return encoder.octets()

    @classmethod
    def decode(cls, data: bytes | bytearray, limits: CodecLimits = DEFAULT_LIMITS) -> "Message":
        """Return the message in the octets, of at most `limits.count` sections.

        A missing body and application-properties of compound types violate the standard. Both are common, so they are
        accepted.
        """
        message = cls()
        decoder = Decoder(data, 0, None, limits)
        last = count = 0
        while decoder.pos < decoder.end:
            start = decoder.pos
            code = decoder.read_descriptor()
            read = _READERS.get(code)
            if read is None:
                raise DecodeError("no section of a message begins here", offset=start)
            if not follows(code, last):
                raise DecodeError(f"section 0x{code:02x} cannot follow 0x{last:02x}", offset=start)
            count += 1
            if count > limits.count:
                raise DecodeError(f"more than {limits.count} sections", offset=start)
            read(message, decoder, start)
            last = code
        return message


_HEADER = Layout(Header, 0)
_PROPERTIES = Layout(Properties, 0)
_COMPOUND = (list, tuple, Mapping, Array, Described)

# Writing


def _begin(encoder: Encoder, section: int) -> None:
    encoder.put_octets(bytes((0x00, 0x53, section)))


def _write_fields(encoder: Encoder, layout: Layout, kind: type, fields: Header | Properties | None) -> None:
    if fields is None:
        return
    if not isinstance(fields, kind):
        raise EncodeError(f"{fields!r} is not of type {kind.__name__}")
    layout.write(encoder, fields)


def _write_map(encoder: Encoder, section: int, mapping: Mapping[Any, Any]) -> None:
    if not isinstance(mapping, Mapping):
        raise EncodeError(f"{mapping!r} is not a map")
    _begin(encoder, section)
    encoder.write(mapping)


def _write_annotations(encoder: Encoder, section: int, annotations: Annotations | None) -> None:
    if annotations is None:
        return
    _write_map(encoder, section, annotations)
    for key in annotations:
        if not isinstance(key, (Symbol, ULong)):
            raise EncodeError(f"the key {key!r} of an annotation is neither symbol nor ulong (3.2.10)")


def _write_application_properties(encoder: Encoder, properties: Mapping[str, Any] | None) -> None:
    if properties is None:
        return
    _write_map(encoder, Section.APPLICATION_PROPERTIES, properties)
    for key, value in properties.items():
        if not isinstance(key, str) or isinstance(key, Symbol):
            raise EncodeError(f"the key {key!r} of application-properties is not a string (3.2.5)")
        if isinstance(value, _COMPOUND):
            raise EncodeError(f"the application-property {key!r} is not of a simple type (3.2.5)")


def _write_body(encoder: Encoder, body: Body | None) -> None:
    if isinstance(body, AmqpValue):
        _begin(encoder, Section.AMQP_VALUE)
        encoder.write(body.value)
        return
    if body is None or not body.sections:
        raise EncodeError("a message has a body, of one section at least (3.2)")
    if isinstance(body, Data):
        code: int = Section.DATA
        kinds: tuple[type, ...] = (bytes, bytearray, memoryview)
    else:
        code = Section.AMQP_SEQUENCE
        kinds = (list, tuple)
    for section in body.sections:
        if not isinstance(section, kinds):
            raise EncodeError(f"a section of {type(body).__name__} cannot be {type(section).__name__}")
        _begin(encoder, code)
        encoder.write(section)


# Reading


def _read_header(message: Message, decoder: Decoder, start: int) -> None:
    message.header = _HEADER.read(decoder, start)


def _read_delivery_annotations(message: Message, decoder: Decoder, start: int) -> None:
    message.delivery_annotations = _read_annotations(decoder)


def _read_message_annotations(message: Message, decoder: Decoder, start: int) -> None:
    message.message_annotations = _read_annotations(decoder)


def _read_properties(message: Message, decoder: Decoder, start: int) -> None:
    message.properties = _PROPERTIES.read(decoder, start)


def _read_application_properties(message: Message, decoder: Decoder, start: int) -> None:
    at = decoder.pos
    properties = _not_null(decoder.read_map(), at)
    if not {str}.issuperset(map(type, properties)):
        raise DecodeError("a key of application-properties is not a string (3.2.5)", offset=at)
    message.application_properties = properties


def _read_data(message: Message, decoder: Decoder, start: int) -> None:
    at = decoder.pos
    octets = _not_null(decoder.read_binary(), at)
    if isinstance(message.body, Data):
        message.body.sections.append(octets)
    else:
        message.body = Data([octets])


def _read_sequence(message: Message, decoder: Decoder, start: int) -> None:
    at = decoder.pos
    items = decoder.value()
    if not isinstance(items, list):
        raise DecodeError("an amqp-sequence is not a list", offset=at)
    if isinstance(message.body, AmqpSequence):
        message.body.sections.append(items)
    else:
        message.body = AmqpSequence([items])


def _read_value(message: Message, decoder: Decoder, start: int) -> None:
    message.body = AmqpValue(decoder.value())


def _read_footer(message: Message, decoder: Decoder, start: int) -> None:
    message.footer = _read_annotations(decoder)


def _read_annotations(decoder: Decoder) -> Annotations:
    at = decoder.pos
    annotations: Annotations = _not_null(decoder.read_map(), at)
    if not {Symbol, ULong}.issuperset(map(type, annotations)):
        raise DecodeError("a key of annotations is neither symbol nor ulong (3.2.10)", offset=at)
    return annotations


def _not_null(value: Any, at: int) -> Any:
    if value is None:
        raise DecodeError("a section is null", offset=at)
    return value


_READERS: dict[int, Callable[[Message, Decoder, int], None]] = {
    Section.HEADER: _read_header,
    Section.DELIVERY_ANNOTATIONS: _read_delivery_annotations,
    Section.MESSAGE_ANNOTATIONS: _read_message_annotations,
    Section.PROPERTIES: _read_properties,
    Section.APPLICATION_PROPERTIES: _read_application_properties,
    Section.DATA: _read_data,
    Section.AMQP_SEQUENCE: _read_sequence,
    Section.AMQP_VALUE: _read_value,
    Section.FOOTER: _read_footer,
}
