"""Any octets as a message: scanned section by section, whole and in part, edited, and decoded to an object."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from routerd.wire.annotation_edit import AnnotationEdit
from routerd.wire.errors import DecodeError, EncodeError, InvalidField
from routerd.wire.message import AmqpSequence, AmqpValue, Data, Message
from routerd.wire.section_codes import Presence, Section
from routerd.wire.sections import NeedsMore, Sections
from routerd.wire.types import Array, Described, PairMap, Symbol, identity
from tests.fuzz.broken import check


def _finding(code: Section) -> Callable[[Sections], object]:
    return lambda sections: sections.find(code)


def _bounds(code: Section) -> Callable[[Sections], object]:
    return lambda sections: sections.bounds(code)


def _attribute(name: str) -> Callable[[Sections], object]:
    return lambda sections: getattr(sections, name)


ATTRIBUTES = (
    *("durable", "priority", "ttl", "first_acquirer", "delivery_count"),
    *("message_id", "user_id", "to", "subject", "reply_to", "correlation_id"),
    *("delivery_annotations", "message_annotations", "application_properties", "footer", "body_kind"),
)
QUESTIONS: dict[str, Callable[[Sections], object]] = {
    **{f"find {code.name}": _finding(code) for code in Section},
    **{f"bounds {code.name}": _bounds(code) for code in Section},
    **{name: _attribute(name) for name in ATTRIBUTES},
}
NAMES = list(QUESTIONS)
DROPPED, PREFIX = "x-user", "x-opt-qd."
PUT = {"x-opt-qd.to": "there", "new": 1}
EDITS = (
    (AnnotationEdit(), frozenset(), "", {}),
    (AnnotationEdit(drop=[DROPPED]), frozenset([DROPPED]), "", {}),
    (AnnotationEdit(drop_prefix=PREFIX), frozenset(), PREFIX, {}),
    (AnnotationEdit(drop=[DROPPED], drop_prefix=PREFIX, put=PUT), frozenset([DROPPED]), PREFIX, PUT),
)
NEEDS_MORE = ("needs more", None)
FAULT = ("fault", None)
NOT_YET_FOUND = ("answer", identity(Presence.NEEDS_MORE.value))


def run(data: bytes) -> None:
    """Ask everything that can be asked."""
    message = _decoded(data)
    whole = _answers(data, len(data), False)
    check(NEEDS_MORE not in whole.values(), "a whole message needs more")
    if message is not None:
        _check_agreement(message, whole)
        _check_encoding(message)
    unended = _answers(data, len(data), True)
    _check_end(whole, unended)
    if data:
        _check_part(unended, _answers(data, data[len(data) // 2] % len(data), True))
    for edit, drop, prefix, put in EDITS:
        _check_edit(data, message, edit, drop, prefix, put)


def _decoded(data: bytes) -> Message | None:
    try:
        return Message.decode(data)
    except (DecodeError, InvalidField) as error:
        check(error.offset is not None and 0 <= error.offset <= len(data), f"an error at {error.offset}: {error}")
        return None


def _answers(data: bytes, end: int, partial: bool) -> dict[str, tuple[str, Any]]:
    """Return what the sections say to each question, asked in an order that the octets choose."""
    start = data[-1] % len(NAMES) if data else 0
    sections = Sections(data, 0, end, partial)
    answers = {name: _answer(QUESTIONS[name], sections) for name in NAMES[start:] + NAMES[:start]}
    name = NAMES[start - 1]
    fresh = _answer(QUESTIONS[name], Sections(data, 0, end, partial))
    check(answers[name] == fresh, f"{name}: {answers[name]} after other questions, {fresh} at first")
    return answers


def _answer(question: Callable[[Sections], object], sections: Sections) -> tuple[str, Any]:
    try:
        answer = question(sections)
    except NeedsMore:
        return NEEDS_MORE
    except DecodeError:
        return FAULT
    return "answer", identity(answer)


def _is_pending(name: str, answer: tuple[str, Any]) -> bool:
    return answer == NEEDS_MORE or (name.startswith("find") and answer == NOT_YET_FOUND)


def _check_part(more: dict[str, tuple[str, Any]], part: dict[str, tuple[str, Any]]) -> None:
    """What the beginning of a message tells, more of it does not take back, unless a fault shows there."""
    for name, answer in part.items():
        if not _is_pending(name, answer):
            check(more[name] in (answer, FAULT), f"{name}: {answer} of a part, {more[name]} of more")


def _check_end(whole: dict[str, tuple[str, Any]], unended: dict[str, tuple[str, Any]]) -> None:
    """What is told before the end is known stands, unless the end is a fault."""
    for name, answer in unended.items():
        if not _is_pending(name, answer):
            check(whole[name] in (answer, FAULT), f"{name}: {answer} before the end, {whole[name]} after it")


def _check_agreement(message: Message, whole: dict[str, tuple[str, Any]]) -> None:
    """A scan says what decoding says."""
    expected: dict[str, Any] = {"durable": False, "priority": 4, "ttl": None, "first_acquirer": False}
    expected |= dict.fromkeys(("message_id", "user_id", "to", "subject", "reply_to", "correlation_id"))
    expected["delivery_count"] = 0
    for part in (message.header, message.properties):
        if part is not None:
            expected |= {field.name: getattr(part, field.name) for field in fields(part)}
    for name in ("delivery_annotations", "message_annotations", "application_properties", "footer"):
        expected[name] = getattr(message, name)
    expected["body_kind"] = {Data: 0x75, AmqpSequence: 0x76, AmqpValue: 0x77}.get(type(message.body), 0)
    for name in ATTRIBUTES:
        check(whole[name] == ("answer", identity(expected[name])), f"{name}: {whole[name]}, not {expected[name]!r}")
    check(FAULT not in whole.values(), "a scan finds fault with a message that was decoded")


def _check_encoding(message: Message) -> None:
    try:
        octets = message.encode()
    except EncodeError as error:
        properties = message.application_properties or {}
        is_compound = any(isinstance(item, (list, dict, PairMap, Array, Described)) for item in properties.values())
        check(message.body is None or is_compound, f"a message that was decoded is not encoded: {error}")
        return
    again = Message.decode(octets)
    check(_identity(again) == _identity(message), f"{message!r} came back as {again!r}")
    check(again.encode() == octets, f"{message!r} has two encodings")


def _identity(message: Message) -> list[Any]:
    """Return what equal messages share: what is in them, down to the types of AMQP."""
    found = []
    for field in fields(message):
        part = getattr(message, field.name)
        if field.name in ("header", "properties") and part is not None:
            part = [getattr(part, one.name) for one in fields(part)]
        elif isinstance(part, AmqpValue):
            part = [part.value]
        elif isinstance(part, (Data, AmqpSequence)):
            part = part.sections
        found.append(identity(part))
    return found


def _check_edit(
    data: bytes,
    message: Message | None,
    edit: AnnotationEdit,
    drop: frozenset[str],
    prefix: str,
    put: dict[str, Any],
) -> None:
    try:
        head, rest = edit.apply(data, 0, len(data))
    except DecodeError as error:
        check(message is None, f"a message that was decoded is not edited: {error}")
        _check_edit_of_part(edit, data, None)
        return
    edited = bytes(head) + data[rest:]
    _check_edit_of_part(edit, data, edited)
    head, rest = edit.apply(edited, 0, len(edited))
    check(bytes(head) + edited[rest:] == edited, "an edit changes what it has edited")
    if message is None:
        return
    kept = [
        (key, value)
        for key, value in (message.message_annotations or {}).items()
        if not (type(key) is Symbol and (key in drop or key in put or (prefix and key.startswith(prefix))))
    ]
    wanted = PairMap([*kept, *((Symbol(key), value) for key, value in put.items())])
    if edited == data:
        wanted = message.message_annotations
    elif not wanted:
        wanted = None
    found = _identity(Message.decode(edited))
    check(found == _identity(replace(message, message_annotations=wanted)), f"the edit made of {data!r} {edited!r}")


def _check_edit_of_part(edit: AnnotationEdit, data: bytes, edited: bytes | None) -> None:
    """The beginning of a message is edited as the whole is, once there is enough of it."""
    middle = len(data) // 2
    try:
        head, rest = edit.apply(data, 0, middle, True)
    except NeedsMore:
        return
    except DecodeError:
        check(edited is None, "a part is refused, the whole is edited")
        return
    check(edited in (bytes(head) + data[rest:], None), "the edit of a part is not that of the whole")
