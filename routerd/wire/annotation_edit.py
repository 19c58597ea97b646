"""Edits of a message's annotations (3.2.3) that leave every other octet unchanged.

Entries that stay are copied as octets, in any encoding and in their order. New entries follow them. The rest of the
message is not read. An edit yields the new beginning of the message, and the offset where the old one continues.
"""

from collections.abc import Iterable, Mapping

from routerd.wire.encoder import encode_into
from routerd.wire.errors import DecodeError
from routerd.wire.section_codes import Presence, Section
from routerd.wire.section_scan import descriptor_end, read_u32, skip_value
from routerd.wire.sections import NeedsMore, Sections
from routerd.wire.types import Symbol

_MESSAGE_ANNOTATIONS = Section.MESSAGE_ANNOTATIONS.value
_ABSENT = Presence.ABSENT.value
_NEEDS_MORE = Presence.NEEDS_MORE.value
_NOTHING = b""

_DESCRIPTOR_SIZE = 3
# The constructor, size and count of a map.
_MAP8_START = 3
_MAP32_START = 9


class AnnotationEdit:
    """Entries to remove and to add, prepared once for many messages.

    Entries are removed if their key is a symbol in `drop`, or begins with `drop_prefix` (if that is not empty). An
    entry of `put` replaces the entry with its key. A section without entries is left out.
    """

    def __init__(
        self, *, drop: Iterable[str] = (), drop_prefix: str = "", put: Mapping[str, object] | None = None
    ) -> None:
        entries = {} if put is None else put
        encoded = bytearray()
        for key, value in entries.items():
            encode_into(encoded, Symbol(key))
            encode_into(encoded, value)
        self._put = bytes(encoded)
        self._put_size = len(encoded)
        self._put_count = 2 * len(entries)
        self._prefix = Symbol(drop_prefix).encode("ascii")
        keys = {Symbol(key).encode("ascii") for key in (*drop, *entries)}
        self._drop = frozenset(key for key in keys if not self._prefix or not key.startswith(self._prefix))
        self._prefix_size = len(self._prefix)
        self._sections = Sections(_NOTHING)
        self._kept_size = 0
        self._kept_count = 0

    def apply(self, data: bytes | bytearray, start: int, end: int, partial: bool = False) -> tuple[bytearray, int]:
        """Return the new beginning of the message in data[start:end], and the offset where the old one continues.

        A partial message must have all octets of the message-annotations; NeedsMore is raised otherwise.
        """
        sections = self._sections
        sections.reset(data, start, end, partial)
        presence = sections.find(_MESSAGE_ANNOTATIONS)
        place = sections.annotations_place()
        sections.reset(_NOTHING, 0, 0, False)  # release the octets
        if presence == _NEEDS_MORE:
            raise NeedsMore("the message-annotations are not all there")
        if presence == _ABSENT:
            if self._put_count == 0:
                return bytearray(), start
            self._kept_size = self._kept_count = 0
            return self._compose(data, start, place, place, place), place
        return self._edit(data, start, place, end)

    def _edit(self, data: bytes | bytearray, start: int, place: int, end: int) -> tuple[bytearray, int]:
        """Edit the section at `place`."""
        view = data
        value = descriptor_end(view, place, end)
        stop = skip_value(view, value, end)
        is_map8 = view[value] == 0xC1
        first = value + (_MAP8_START if is_map8 else _MAP32_START)
        count = view[value + 2] if is_map8 else read_u32(view, value + 5)
        self._measure(view, first, stop, count)
        if self._kept_count == count and self._put_count == 0:
            return bytearray(), start
        return self._compose(data, start, place, first, stop), stop

    def _measure(self, view: bytes | bytearray, first: int, stop: int, count: int) -> None:
        """Check the entries of the map, and count the remaining ones."""
        self._kept_size = self._kept_count = 0
        at = first
        for _ in range(count >> 1):
            key_end = skip_value(view, at, stop)
            entry_end = skip_value(view, key_end, stop) if key_end > 0 else key_end
            if entry_end < 0:
                raise DecodeError("an entry of the message-annotations is malformed", offset=at)
            if not self._drops(view, at, key_end):
                self._kept_size += entry_end - at
                self._kept_count += 2
            at = entry_end
        if count & 1 or at != stop:
            raise DecodeError("the map of message-annotations is not filled by its entries", offset=first)

    def _drops(self, view: bytes | bytearray, at: int, stop: int) -> bool:
        """Return whether to leave out the entry whose key is from `at` to `stop`."""
        if view[at] == 0xA3:  # sym8
            at += 2
        elif view[at] == 0xB3:  # sym32
            at += 5
        else:
            return False
        size = self._prefix_size
        if 0 < size <= stop - at:
            prefix = self._prefix
            same = 0
            while same < size and view[at + same] == prefix[same]:
                same += 1
            if same == size:
                return True
        return bool(self._drop) and bytes(view[at:stop]) in self._drop

    def _compose(self, data: bytes | bytearray, start: int, place: int, first: int, stop: int) -> bytearray:
        """Return the octets from `start` to `place`, and a section of the remaining and the new entries."""
        size = self._kept_size + self._put_size
        count = self._kept_count + self._put_count
        if count == 0:
            return bytearray(data[start:place])
        is_map8 = size < 0xFF and count <= 0xFF
        head = bytearray(place - start + _DESCRIPTOR_SIZE + (_MAP8_START if is_map8 else _MAP32_START) + size)
        target = head
        view = data
        at = _copy(target, 0, view, start, place)
        target[at] = 0x00
        target[at + 1] = 0x53
        target[at + 2] = _MESSAGE_ANNOTATIONS
        at += _DESCRIPTOR_SIZE
        if is_map8:
            target[at] = 0xC1
            target[at + 1] = size + 1
            target[at + 2] = count
            at += _MAP8_START
        else:
            target[at] = 0xD1
            _write_u32(target, at + 1, size + 4)
            _write_u32(target, at + 5, count)
            at += _MAP32_START
        while first < stop:
            key_end = skip_value(view, first, stop)
            entry_end = skip_value(view, key_end, stop)
            if not self._drops(view, first, key_end):
                at = _copy(target, at, view, first, entry_end)
            first = entry_end
        put = self._put
        _copy(target, at, put, 0, self._put_size)
        return head


def edit_message_annotations(
    data: bytes | bytearray,
    start: int,
    end: int,
    *,
    drop: Iterable[str] = (),
    drop_prefix: str = "",
    put: Mapping[str, object] | None = None,
    partial: bool = False,
) -> tuple[bytearray, int]:
    """Edit one message; an AnnotationEdit is quicker for several."""
    return AnnotationEdit(drop=drop, drop_prefix=drop_prefix, put=put).apply(data, start, end, partial)


def _copy(target: bytearray, at: int, source: bytes | bytearray, start: int, stop: int) -> int:
    """Copy source[start:stop] to `at` and return its end there; a loop over octets is quicker than a slice."""
    for i in range(stop - start):
        target[at + i] = source[start + i]
    return at + stop - start


def _write_u32(target: bytearray, at: int, number: int) -> None:
    target[at] = number >> 24 & 0xFF
    target[at + 1] = number >> 16 & 0xFF
    target[at + 2] = number >> 8 & 0xFF
    target[at + 3] = number & 0xFF
