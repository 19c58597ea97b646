"""Messages between routers as qdrouterd 1.19 writes them, made of constructors; a test may spell any part otherwise."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tests.interop.foreign_octets import (
    FALSE,
    LIST0,
    NULL,
    Typed,
    described,
    entries,
    int32,
    list8,
    list32,
    long64,
    map8,
    map32,
    plain,
    section_map,
    smallint,
    smalllong,
    str8,
    sym8,
    written,
)

HEADER, ANNOTATIONS, PROPERTIES, APPLICATION_PROPERTIES, AMQP_VALUE = 0x70, 0x72, 0x73, 0x74, 0x77
HINT_BALANCED = 3


def number(value: int) -> Typed:
    """Return a number as the routing engine of 1.19 writes it: an int, or a long if it has to be."""
    if -0x80 <= value <= 0x7F:
        return smallint(value)
    return int32(value) if -0x80000000 <= value <= 0x7FFFFFFF else long64(value)


def sequence_number(value: int) -> Typed:
    """Return a number of a MAU or MAR."""
    return smalllong(value) if -0x80 <= value <= 0x7F else long64(value)


def texts(values: Iterable[str]) -> Typed:
    """Return a list of strings."""
    items = [str8(value) for value in values]
    if not items:
        return LIST0
    return list8(*items) if sum(2 + len(item.value) for item in items) < 0xFF else list32(*items)


def string_map(**values: Typed) -> Typed:
    """Return a map with strings for keys."""
    return map8(*(part for key, value in values.items() for part in (str8(key), value)))


def symbol_map(values: Mapping[str, Typed]) -> Typed:
    """Return a map with symbols for keys."""
    parts = [part for key, value in values.items() for part in (sym8(key), value)]
    size = sum(len(written(part)) for part in parts)
    return map8(*parts) if size < 0xFF and len(parts) < 0x100 else map32(*parts)


# --- the bodies of control messages (3.2)


def hello(router: str, instance: int, seen: Iterable[str]) -> Typed:
    return string_map(**_head(router), instance=number(instance), seen=texts(seen))


def advertisement(router: str, instance: int, ls_seq: int, mobile_seq: int) -> Typed:
    sequences = {"ls_seq": number(ls_seq), "mobile_seq": number(mobile_seq)}
    return string_map(**_head(router), instance=number(instance), **sequences)


def link_state_request(router: str) -> Typed:
    return string_map(**_head(router))


def link_state_update(router: str, instance: int, ls_seq: int, peers: Mapping[str, int]) -> Typed:
    state = {"id": str8(router), "area": str8("0"), "ls_seq": number(ls_seq), "peers": costs(peers)}
    return string_map(**_head(router), instance=number(instance), ls_seq=number(ls_seq), ls=string_map(**state))


def costs(peers: Mapping[str, int]) -> Typed:
    """Return the neighbours of a router with the costs of the links to them."""
    return string_map(**{peer: number(cost) for peer, cost in peers.items()})


def mobile_request(router: str, have_seq: int) -> Typed:
    return symbol_map({**_mobile_head(router), "have_seq": sequence_number(have_seq)})


def mobile_changes(
    router: str, mobile_seq: int, add: Iterable[str], delete: Iterable[str] = (), hint: int = HINT_BALANCED
) -> Typed:
    add = list(add)
    head = {**_mobile_head(router), "mobile_seq": sequence_number(mobile_seq), "hints": _hints([hint] * len(add))}
    return symbol_map({**head, "add": texts(add), "del": texts(delete)})


def mobile_all(router: str, mobile_seq: int, exist: Iterable[str], hints: Iterable[int] | None = None) -> Typed:
    exist = list(exist)
    chosen = [HINT_BALANCED] * len(exist) if hints is None else list(hints)
    head = {**_mobile_head(router), "mobile_seq": sequence_number(mobile_seq)}
    return symbol_map({**head, "exist": texts(exist), "hints": _hints(chosen)})


def _head(router: str) -> dict[str, Typed]:
    return {"id": str8(router), "pv": smallint(1), "area": str8("0")}


def _mobile_head(router: str) -> dict[str, Typed]:
    return {"id": str8(router), "pv": smalllong(1), "area": str8("0")}


def _hints(hints: list[int]) -> Typed:
    items = [smallint(hint) for hint in hints]
    if not items:
        return LIST0
    return list8(*items) if len(items) < 100 else list32(*items)


# --- messages


def routers_annotations(
    *, to: str | None = None, phase: int = 0, ingress: str | None = None, trace: Iterable[str] = ()
) -> list[Typed]:
    """Return the entries of routers in the order in which 1.19 writes them (2.1)."""
    found: list[Typed] = []
    if phase:
        found += [sym8("x-opt-qd.phase"), smallint(phase)]
    if to is not None:
        found += [sym8("x-opt-qd.to"), str8(to)]
    if ingress is not None:
        found += [sym8("x-opt-qd.ingress"), str8(ingress), sym8("x-opt-qd.trace"), texts(trace)]
    return found


def message(
    body: Typed,
    *,
    annotations: Iterable[Typed] = (),
    header: Typed | None = LIST0,
    properties: Typed | None = LIST0,
    application_properties: Typed | None = None,
) -> bytes:
    """Return a message; the annotations are keys and values in turns."""
    annotations = list(annotations)
    sections = {
        HEADER: header,
        ANNOTATIONS: map32(*annotations) if annotations else None,
        PROPERTIES: properties,
        APPLICATION_PROPERTIES: application_properties,
        AMQP_VALUE: body,
    }
    return b"".join(written(described(code, value)) for code, value in sections.items() if value is not None)


def control_message(
    opcode: str, to: str, body: Typed, *, trace: Iterable[str], opcode_key: Typed | None = None
) -> bytes:
    """Return a message of the routing protocol; it entered the network at the first router of the trace (3.1)."""
    trace = list(trace)
    key = opcode_key or (sym8("opcode") if opcode in ("MAU", "MAR") else str8("opcode"))
    return message(
        body,
        header=list8(FALSE),
        annotations=routers_annotations(ingress=trace[0], trace=trace) if trace else (),
        properties=list8(NULL, NULL, str8(to)),
        application_properties=map8(key, str8(opcode)),
    )


class Control(NamedTuple):
    """A control message that was read."""

    opcode: str
    to: str
    body: Typed
    octets: bytes

    @property
    def value(self) -> dict[str, Any]:
        """What the body says."""
        found: dict[str, Any] = plain(self.body)
        return found

    @property
    def sections(self) -> dict[int, Typed]:
        """The sections, by the codes of their descriptors."""
        return section_map(self.octets)

    @property
    def trace(self) -> list[str]:
        """The routers that it has passed."""
        found: list[str] = dict(annotations_of(self.octets))["x-opt-qd.trace"]
        return found


def read_control(octets: bytes) -> Control:
    """Take a control message apart."""
    sections = section_map(octets)
    ((_, opcode),) = entries(sections[APPLICATION_PROPERTIES])
    return Control(plain(opcode), plain(sections[PROPERTIES])[2], sections[AMQP_VALUE], octets)


def annotations_of(octets: bytes) -> list[tuple[Any, Any]]:
    """Return the message-annotations of a message in order."""
    section = section_map(octets).get(ANNOTATIONS)
    return [] if section is None else [(plain(key), plain(value)) for key, value in entries(section)]
