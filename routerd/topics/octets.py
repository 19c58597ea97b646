"""The octets in which messages between routers travel, and what is read of them.

A frame has a head and operations: lists of a code and fields, in the codec of AMQP 1.0. Operations of a topic stand
behind its name. A frame is checked completely before any of it is used.
"""

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

from routerd.topics.claims import Claim, Stamp
from routerd.topics.errors import MalformedTopicMessage, UnsupportedTopicVersion
from routerd.topics.messages import (
    Acknowledged,
    ConfirmAsked,
    Confirmed,
    CopyHead,
    Done,
    DropLine,
    Frame,
    Hello,
    Horizon,
    IsSettled,
    Knows,
    ListBegun,
    MapsAnswered,
    MapsAsked,
    MemberGone,
    MemberTold,
    Missing,
    Numbered,
    Operation,
    PublisherKnown,
    PublisherSeen,
    PublisherSet,
    RecordAnswered,
    RecordAsked,
    Seasoned,
    Settled,
    SettledAsked,
    SettledUnnumbered,
    StreamAt,
    SubscriptionEnded,
    SubscriptionKnown,
    Void,
)
from routerd.topics.names import ClientName, Place
from routerd.topics.ranges import NUMBER_MAX, Ranges
from routerd.wire import DecodeError, decode, encode

VERSION = 4
NUMBERS_MAX = 1 << 20
"""Numbers in one operation: far above what any ingress has unsettled."""

Reader = Callable[[Any], Any]


def _fail(what: str) -> MalformedTopicMessage:
    return MalformedTopicMessage(f"a field is not {what}")


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= NUMBER_MAX:
        raise _fail("a number from 0 to 2^62")
    return int(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _fail("a boolean")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _fail("text")
    return str(value)


def _octets(value: Any) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise _fail("octets")
    return bytes(value)


def _list_of(value: Any, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise _fail("a list" if length is None else f"a list of {length}")
    return value


def _name(value: Any) -> ClientName:
    container, link = _list_of(value, 2)
    return ClientName(_text(container), _text(link))


def _place(value: Any) -> Place:
    router, incarnation = _list_of(value, 2)
    return Place(_text(router), _number(incarnation))


def _claim(value: Any) -> Claim:
    attaches, ms, counter, router = _list_of(value, 4)
    return Claim(_number(attaches), _number(ms), _number(counter), _text(router))


def _stamp(value: Any) -> Stamp:
    ms, counter = _list_of(value, 2)
    return Stamp(_number(ms), _number(counter))


def _ranges(value: Any) -> Ranges:
    try:
        numbers = Ranges.of_spans([_number(each) for each in _list_of(value)])
    except ValueError as error:
        raise MalformedTopicMessage(f"ranges are not sorted: {error}") from None
    if len(numbers) > NUMBERS_MAX:
        raise MalformedTopicMessage(f"{len(numbers)} numbers are more than {NUMBERS_MAX}")
    return numbers


def _tags(value: Any) -> list[tuple[bytes, int]]:
    flat = _list_of(value)
    if len(flat) % 2:
        raise _fail("a list of tags and numbers")
    return [(_octets(flat[at]), _number(flat[at + 1])) for at in range(0, len(flat), 2)]


def _rejections(value: Any) -> list[tuple[int, str, str]]:
    return [
        (_number(number), _text(condition), _text(description))
        for number, condition, description in (_list_of(each, 3) for each in _list_of(value))
    ]


def _texts(value: Any) -> list[str]:
    return [_text(each) for each in _list_of(value)]


_READERS: dict[Any, Reader] = {
    int: _number,
    bool: _flag,
    bytes: _octets,
    ClientName: _name,
    Place: _place,
    Claim: _claim,
    Stamp: _stamp,
    Ranges: _ranges,
    list[str]: _texts,
    list[tuple[bytes, int]]: _tags,
    list[tuple[int, str, str]]: _rejections,
}

OF_NODES: tuple[type, ...] = (Hello, Seasoned)
OPERATIONS: tuple[type, ...] = (
    *OF_NODES,
    *(SubscriptionKnown, SubscriptionEnded, ConfirmAsked, Confirmed, ListBegun, MemberTold, MemberGone),
    *(PublisherKnown, PublisherSeen, DropLine, Horizon, StreamAt, PublisherSet, Numbered, SettledUnnumbered),
    *(Settled, Done, Void, Acknowledged, Knows, Missing, SettledAsked, IsSettled, RecordAsked, RecordAnswered),
    *(MapsAsked, MapsAnswered),
)
"""Their codes are their places here, so a new one goes to the end."""
_CODES = {kind: code for code, kind in enumerate(OPERATIONS)}
_FIELDS = [[_READERS[kind.__annotations__[name]] for name in kind._fields] for kind in OPERATIONS]  # type: ignore[attr-defined]


def _plain(value: Any) -> Any:
    """Return a field as the codec takes it."""
    if isinstance(value, Ranges):
        return value.spans()
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        if isinstance(value[0][0], bytes):
            return [part for pair in value for part in pair]
        return [list(each) for each in value]
    return value


def _written(operations: Iterable[tuple[str, Operation]]) -> list[Any]:
    """Return operations as lists, those of one topic together behind its name."""
    groups: list[Any] = []
    last: str | None = None
    for topic, operation in operations:
        if topic != last:
            groups.append([topic])
            last = topic
        groups[-1].append([_CODES[type(operation)], *(_plain(field) for field in operation)])
    return groups


def encode_frame(frame: Frame) -> bytes:
    """Return the octets of a frame."""
    return encode([VERSION, *frame[:7], list(frame.stamp), _written(frame.operations)])


def decode_frame(data: bytes) -> Frame:
    """Return the frame of octets; raises MalformedTopicMessage."""
    fields = _decoded(data, 10)
    *numbers, is_missing, stamp, groups = fields[1:]
    operations = []
    for group in _list_of(groups):
        topic, *rest = _list_of(group) or [None]
        name = _text(topic)
        operations += [(name, _operation(each, name)) for each in rest]
    incarnation, conversation, sequence, to, heard, acknowledged = (_number(each) for each in numbers)
    return Frame(
        *(incarnation, conversation, sequence, to, heard, acknowledged),
        *(_flag(is_missing), _stamp(stamp), operations),
    )


def _decoded(data: bytes, length: int) -> list[Any]:
    """Return the fields of a message of a known version."""
    try:
        fields = decode(data)
    except DecodeError as error:
        raise MalformedTopicMessage(str(error)) from None
    if not isinstance(fields, list) or not fields:
        raise _fail("a list")
    version = _number(fields[0])
    if version != VERSION:
        raise UnsupportedTopicVersion(version, VERSION)
    return _list_of(fields, length)


def _operation(value: Any, topic: str) -> Operation:
    code, *fields = _list_of(value) or [None]
    if not isinstance(code, int) or not 0 <= code < len(OPERATIONS):
        raise MalformedTopicMessage(f"operation {code!r} is unknown")
    kind, readers = OPERATIONS[code], _FIELDS[code]
    if (kind in OF_NODES) != (topic == ""):
        raise MalformedTopicMessage(f"{kind.__name__} stands in the wrong place")
    if len(fields) != len(readers):
        raise MalformedTopicMessage(f"{kind.__name__} has {len(fields)} fields")
    return kind(*(reader(field) for reader, field in zip(readers, fields, strict=True)))


def encode_copies(head: CopyHead) -> bytes:
    """Return the octets that go with messages."""
    return encode([VERSION, *(_plain(field) for field in head[:6]), _runs(head.ages_ms)])


def decode_copies(data: bytes) -> CopyHead:
    """Return what came with messages; raises MalformedTopicMessage."""
    topic, ingress, publisher, claim, spans, tags, runs = _decoded(data, 8)[1:]
    numbers, tags = _ranges(spans), [_octets(tag) for tag in _list_of(tags)]
    if len(numbers) != len(tags):
        raise MalformedTopicMessage(f"{len(numbers)} numbers, and {len(tags)} delivery-tags")
    ages_ms = _expanded(runs, len(tags))
    return CopyHead(_text(topic), _place(ingress), _name(publisher), _claim(claim), numbers, tags, ages_ms)


def _runs(values: list[int]) -> list[int]:
    """Return values that are mostly alike: each that differs from the one before, and how often it stands there."""
    flat: list[int] = []
    for value, equal in groupby(values):
        flat += (value, len(list(equal)))
    return flat


def _expanded(value: Any, length: int) -> list[int]:
    """Return the values that runs stand for, which must be as many as `length` says."""
    flat = [_number(each) for each in _list_of(value)]
    if len(flat) % 2 or sum(flat[1::2]) != length:
        raise _fail(f"{length} ages")
    return [age_ms for at in range(0, len(flat), 2) for age_ms in [flat[at]] * flat[at + 1]]
