"""Router annotations: the path and the destination of a message, as routers tell each other.

A router adds them to the message-annotations of each message that it sends to another router. `ingress` is the router
where the message entered the network. `trace` lists the routers that it has passed. `to` and `phase` are its
destination, if that differs from its properties.

Messages of one producer to one address have the same annotations, octet by octet, on their whole path. So
`AnnotationReader` decodes a section once. It remembers the result by the octets of the section, together with the
sections for the next router and for a client.
"""

from typing import Any

from routerd.core.annotations.annotation_filter import ROUTER_ANNOTATIONS
from routerd.wire import DecodeError, Error, Int, NeedsMore, Presence, Section, Symbol, decode, encode, memory
from routerd.wire.section_scan import descriptor_end, read_u32, skip_value
from routerd.wire.sections import Sections

AREA = "0/"
"""Prefix of router ids in annotations. It names the only area."""
REMEMBERED_MAX = 4096
"""Limit of the sections that are remembered at a time."""
REMEMBERED_SIZE_MAX = 1024
"""Octets of the largest section that is remembered."""
SPLICED_SIZE = 1 << 16
"""Octets of the buffer for changed messages; a larger message gets a separate buffer."""

_PHASE = "x-opt-qd.phase"
_STREAM = "x-opt-qd.stream"
_TO = "x-opt-qd.to"
_INGRESS = "x-opt-qd.ingress"
_TRACE = "x-opt-qd.trace"

_HEADER = Section.HEADER.value
_MESSAGE_ANNOTATIONS = Section.MESSAGE_ANNOTATIONS.value
_ABSENT = Presence.ABSENT.value
_NEEDS_MORE = Presence.NEEDS_MORE.value
_NOTHING = b""
_SPLICED_SIZE = SPLICED_SIZE


class RouterAnnotations:
    """The decoded annotations of a message. All messages with the same annotations share one object."""

    def __init__(self, user: bytes, user_count: int, values: "dict[str, Any]", own: str) -> None:
        """`user` has the entries that are not the routers', as octets. `own` is this router's id in annotations."""
        self.user = user
        self.user_count = user_count
        self.error = _fault(values)
        to = values.get(_TO)
        self.to: str | None = to if type(to) is str else None
        phase = values.get(_PHASE)
        self.phase = int(phase) if isinstance(phase, int) and self.error is None else 0
        ingress = values.get(_INGRESS)
        self.ingress: str = ingress.removeprefix(AREA) if type(ingress) is str else ""
        trace = values.get(_TRACE)
        steps = trace if type(trace) is list and self.error is None else []
        self.hops = len(steps)
        self.steps = tuple(steps)
        self.ingress_as_written: str = ingress if type(ingress) is str else ""
        self.is_streaming = _STREAM in values
        self.path = "/".join(step.removeprefix(AREA) for step in steps)
        # The key of the destination, once it has been looked up.
        self.key = ""
        self.passed = frozenset(step[len(AREA) :] for step in steps if step.startswith(AREA))
        self.has_passed_us = own[len(AREA) :] in self.passed
        self.stripped = section(user, user_count)
        self.onward = self.stripped
        if self.error is None:
            entries, count = router_entries(
                to=self.to,
                phase=self.phase,
                is_streaming=self.is_streaming,
                ingress=ingress if type(ingress) is str else own,
                trace=[*steps, own],
            )
            self.onward = section(user + entries, user_count + count)


class AnnotationReader:
    """Reads the annotations of messages, and replaces them.

    `place` and `stop` are the bounds of the section in the message that was read last. They are equal if it has none.
    """

    def __init__(self, router_id: str, is_edge: bool = False) -> None:
        self._own = AREA + router_id
        # An edge router is outside the network: its messages enter the network at its interior router.
        self._marks_path = not is_edge
        self._remembered: dict[bytes, RouterAnnotations] = {}
        self._last = _NOTHING
        self._last_annotations: RouterAnnotations | None = None
        self._sections = Sections(_NOTHING)
        # Octets that no section begins with are taken as they are, as a message without annotations.
        self.takes_anything = False
        self.place = 0
        self.stop = 0
        # One buffer serves all messages: allocation for each message would cost more than the copy.
        self._kept = self.spliced = bytearray(SPLICED_SIZE)
        self.unmarked = RouterAnnotations(b"", 0, {}, self._own)
        """The annotations of a message that has none."""

    def entry(self, to: str | None, phase: int) -> tuple[bytes, int]:
        """Return the entries, and their count, of a message that enters the network here."""
        own = self._own if self._marks_path else None
        return router_entries(to=to, phase=phase, is_streaming=False, ingress=own, trace=[] if own is None else [own])

    def diverted(self, annotations: RouterAnnotations, to: str | None, phase: int) -> bytes:
        """Return annotations with this router at the end of the path, and a destination other than it came for."""
        steps = list(annotations.steps)
        ingress = annotations.ingress_as_written
        if self._marks_path:
            steps.append(self._own)
            ingress = ingress or self._own
        entries, count = router_entries(
            to=to, phase=phase, is_streaming=annotations.is_streaming, ingress=ingress or None, trace=steps
        )
        return section(annotations.user + entries, annotations.user_count + count)

    def read(self, data: bytes | bytearray, start: int, end: int, is_partial: bool) -> RouterAnnotations:
        """Return the annotations of a message; raises NeedsMore and DecodeError."""
        view = data
        at = start
        if end - at > 6 and view[at] == 0 and view[at + 1] == 0x53 and view[at + 2] == _HEADER:
            kind = view[at + 3]
            if kind == 0x45:
                at += 4
            elif kind == 0xC0:
                at += 5 + view[at + 4]
            else:
                at = end
        if end - at > 6 and view[at] == 0 and view[at + 1] == 0x53:
            code = view[at + 2]
            if code > _MESSAGE_ANNOTATIONS:
                self.place = self.stop = at
                return self.unmarked
            if code == _MESSAGE_ANNOTATIONS and view[at + 3] == 0xC1:
                stop = at + 5 + view[at + 4]
                if stop <= end:
                    self.place = at
                    self.stop = stop
                    annotations = self._last_annotations
                    if annotations is not None and self._is_last(data, at, stop):
                        return annotations
                    return self._recall(bytes(view[at:stop]))
        return self._search(data, start, end, is_partial)

    def splice(
        self, data: bytes | bytearray, start: int, end: int, place: int, stop: int, annotations: bytes
    ) -> int:
        """Copy a message into `spliced`, with another annotation section in place of data[place:stop].

        Returns the size. An empty section removes the annotations. The next call overwrites the message.
        """
        view = data
        size = len(annotations)
        total = end - start + size - (stop - place)
        self.spliced = self._kept if total <= _SPLICED_SIZE else memory.new(total)
        target = self.spliced
        source = annotations
        at = place - start
        memory.copy(target, 0, view, start, at)
        memory.copy(target, at, source, 0, size)
        memory.copy(target, at + size, view, stop, end - stop)
        return total

    def forget_keys(self) -> None:
        """Look up the destinations of all messages again: configuration may map them to other keys now."""
        self._remembered.clear()
        self._last_annotations = None

    def _is_last(self, data: bytes | bytearray, at: int, stop: int) -> bool:
        view = data
        last = self._last
        size = stop - at
        return size == len(self._last) and memory.is_same(view, at, last, size)

    def _recall(self, octets: bytes) -> RouterAnnotations:
        annotations = self._remembered.get(octets)
        if annotations is None:
            annotations = self._decoded(octets)
            if len(octets) <= REMEMBERED_SIZE_MAX:
                if len(self._remembered) >= REMEMBERED_MAX:
                    self._remembered.clear()
                self._remembered[octets] = annotations
        self._last, self._last_annotations = octets, annotations
        return annotations

    def _search(self, data: bytes | bytearray, start: int, end: int, is_partial: bool) -> RouterAnnotations:
        if self.is_no_message(data, start, end):
            self.place = self.stop = start
            return self.unmarked
        sections = self._sections
        sections.reset(data, start, end, is_partial)
        try:
            presence = sections.find(_MESSAGE_ANNOTATIONS)
            if presence == _NEEDS_MORE:
                raise NeedsMore("the message-annotations are not all there")
            self.place = self.stop = sections.annotations_place()
            if presence == _ABSENT:
                return self.unmarked
        finally:
            sections.reset(_NOTHING, 0, 0, False)  # release the octets
        view = data
        self.stop = skip_value(view, descriptor_end(view, self.place, end), end)
        if self.stop < 0:
            raise DecodeError("the message-annotations are malformed", offset=self.place)
        return self._recall(bytes(data[self.place : self.stop]))

    def is_no_message(self, data: bytes | bytearray, start: int, end: int) -> bool:
        """Whether octets are taken as they are: no section begins with them."""
        view = data
        return self.takes_anything and start < end and view[start] != 0

    def _decoded(self, octets: bytes) -> RouterAnnotations:
        """Decode the section: read the entries of routers, and keep all others as octets."""
        view = octets
        end = len(octets)
        at = descriptor_end(view, 0, end)
        kind = view[at] if 0 <= at < end else 0
        if kind == 0xC1 and at + 3 <= end:
            count = view[at + 2]
            at += 3
        elif kind == 0xD1 and at + 9 <= end:
            count = read_u32(view, at + 5)
            at += 9
        else:
            raise DecodeError("the message-annotations are not a map", offset=at)
        user = bytearray()
        kept = 0
        values: dict[str, Any] = {}
        for _ in range(count >> 1):
            key_end = skip_value(view, at, end)
            entry_end = skip_value(view, key_end, end) if key_end > 0 else key_end
            if entry_end < 0:
                raise DecodeError("an entry of the message-annotations is malformed", offset=at)
            key = decode(octets[at:key_end])
            if type(key) is Symbol and key.startswith(ROUTER_ANNOTATIONS):
                values[str(key)] = decode(octets[key_end:entry_end])
            else:
                user += octets[at:entry_end]
                kept += 2
            at = entry_end
        if count & 1 or at != end:
            raise DecodeError("the map of message-annotations is not filled by its entries", offset=at)
        return RouterAnnotations(bytes(user), kept, values, self._own)


def router_entries(
    *, to: str | None, phase: int, is_streaming: bool, ingress: str | None, trace: list[str]
) -> tuple[bytes, int]:
    """Return the entries of routers in the order in which they are sent, and twice their number."""
    entries: dict[str, Any] = {}
    if phase:
        entries[_PHASE] = Int(phase)
    if is_streaming:
        entries[_STREAM] = Int(1)
    if to is not None:
        entries[_TO] = to
    if ingress is not None:
        entries[_INGRESS] = ingress
        entries[_TRACE] = trace
    encoded = b"".join(encode(Symbol(key)) + encode(value) for key, value in entries.items())
    return encoded, 2 * len(entries)


def section(entries: bytes, count: int) -> bytes:
    """Return a message-annotations section with these entries, or nothing if there are no entries."""
    size = len(entries)
    if count == 0:
        return _NOTHING
    if size < 0xFF and count <= 0xFF:
        return bytes((0, 0x53, _MESSAGE_ANNOTATIONS, 0xC1, size + 1, count)) + entries
    start = bytes((0, 0x53, _MESSAGE_ANNOTATIONS, 0xD1))
    return start + (size + 4).to_bytes(4, "big") + count.to_bytes(4, "big") + entries


def _fault(values: "dict[str, Any]") -> Error | None:
    """Return the error in the annotations of another router."""
    for key in (_TO, _INGRESS):
        if type(values.get(key, "")) is not str:
            return Error(condition="amqp:invalid-field", description=f"annotation {key} is not a string")
    trace = values.get(_TRACE, [])
    if type(trace) is not list or any(type(step) is not str for step in trace):
        return Error(condition="amqp:invalid-field", description=f"annotation {_TRACE} is not a list of strings")
    phase = values.get(_PHASE, 0)
    if not isinstance(phase, int) or isinstance(phase, bool) or not (0 <= phase <= 9 or phase == 22):
        description = f"annotation {_PHASE}: {phase!r} is not a phase (0 to 9, or 22)"
        return Error(condition="amqp:invalid-field", description=description)
    return None
