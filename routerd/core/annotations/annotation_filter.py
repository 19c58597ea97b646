"""A filter that removes router annotations from the messages of clients."""

from routerd.wire import DecodeError, NeedsMore
from routerd.wire.annotation_edit import AnnotationEdit

ROUTER_ANNOTATIONS = "x-opt-qd."
"""Prefix of the keys of router annotations."""


class AnnotationFilter:
    """Removes router annotations from messages, and keeps all other annotations."""

    def __init__(self) -> None:
        self._edit = AnnotationEdit(drop_prefix=ROUTER_ANNOTATIONS)

    def without(
        self, data: bytes | bytearray, start: int, end: int, is_partial: bool
    ) -> tuple[bytes | bytearray, int, int]:
        """Return the message as octets, with its start and end; raises NeedsMore and DecodeError."""
        head, at = self._edit.apply(data, start, end, is_partial)
        if at == start:
            return data, start, end
        octets = head + data[at:end]
        return octets, 0, len(octets)

    def without_if_clear(
        self, data: bytes | bytearray, start: int, end: int, is_partial: bool
    ) -> tuple[bytes | bytearray, int, int]:
        """Do the same, and leave cut or malformed annotations as they are."""
        try:
            return self.without(data, start, end, is_partial)
        except (NeedsMore, DecodeError):
            return data, start, end
