"""What routers tell each other in the annotations of a message, taken from messages of clients."""

from routerd.wire import DecodeError, NeedsMore
from routerd.wire.annotation_edit import AnnotationEdit

ROUTER_ANNOTATIONS = "x-opt-qd."
"""What the keys of annotations begin with that routers add for each other."""


class AnnotationFilter:
    """Takes the annotations of routers out of messages, and leaves all others."""

    def __init__(self) -> None:
        self._edit = AnnotationEdit(drop_prefix=ROUTER_ANNOTATIONS)

    def without(
        self, data: bytes | bytearray, start: int, end: int, is_partial: bool
    ) -> tuple[bytes | bytearray, int, int]:
        """Return the message as octets, their start and their end; raises NeedsMore and DecodeError."""
        head, at = self._edit.apply(data, start, end, is_partial)
        if at == start:
            return data, start, end
        octets = head + data[at:end]
        return octets, 0, len(octets)

    def without_if_clear(
        self, data: bytes | bytearray, start: int, end: int, is_partial: bool
    ) -> tuple[bytes | bytearray, int, int]:
        """Do the same, and leave annotations that are cut or malformed as they are."""
        try:
            return self.without(data, start, end, is_partial)
        except (NeedsMore, DecodeError):
            return data, start, end
