"""How far a worker has got, in a file that both it and its supervisor have mapped: it outlives a crash."""

import mmap
import struct
from pathlib import Path

_HEAD = struct.Struct(">QQI")
_ROOM = 1 << 20


class Progress:
    """Counts of inputs and failures, and the input that is being run."""

    def __init__(self, path: Path, *, is_new: bool) -> None:
        if is_new:
            path.write_bytes(bytes(_ROOM))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _ROOM)

    def begin(self, data: bytes) -> None:
        """Note that an input is about to be run."""
        stop = _HEAD.size + min(len(data), _ROOM - _HEAD.size)
        self._map[_HEAD.size : stop] = data[: stop - _HEAD.size]
        self._write(self.inputs + 1, self.failures, len(data))

    def fail(self) -> None:
        """Note a failure of a new kind."""
        self._write(self.inputs, self.failures + 1, len(self.data))

    @property
    def inputs(self) -> int:
        """How many inputs were begun."""
        return self._read()[0]

    @property
    def failures(self) -> int:
        """How many kinds of failure were found."""
        return self._read()[1]

    @property
    def data(self) -> bytes:
        """The input that was begun last."""
        return self._map[_HEAD.size : _HEAD.size + self._read()[2]]

    def _read(self) -> tuple[int, int, int]:
        inputs, failures, size = _HEAD.unpack_from(self._map, 0)
        return inputs, failures, size

    def _write(self, inputs: int, failures: int, size: int) -> None:
        _HEAD.pack_into(self._map, 0, inputs, failures, size)
