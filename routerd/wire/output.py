"""The output of a connection: octets that are not sent yet.

Frames are composed in place. `begin_performative` writes the headers of a frame and of its list. The `put_` methods
append fields and payload. `end_fields` and `end_frame` fill in the sizes. Memory is reserved once for each frame, so
each field is a plain store in the compiled form.

The transport gets the whole buffer, and an idle connection has none. After the write, the next connection with output
reuses the memory. New memory would have to be cleared, and would not be in the cache.
"""

from routerd.wire import memory

_SMALLEST = 1024
# Memory that is reserved at once for a connection that has just sent as much.
_EXPECTED_MAX = 1 << 18
# The longest field list of a performative that is composed in place; it must fit a list8.
_FIELDS_MAX = 255
# Frame header 8, descriptor 3, list8 constructor with size and count 3.
_PERFORMATIVE_START = 14
# The number of buffers that are kept for reuse, and their sizes.
_SPARE_MAX = 8
_SPARE_LEAST = 1 << 12
_SPARE_MOST = 1 << 19
_spare: list[bytearray] = []


class Output:
    """A growing buffer with a cursor; `take` hands over its content."""

    def __init__(self) -> None:
        self._data = bytearray()
        self.view = self._data
        self._capacity = 0
        # The size of the last content, which is likely to occur again.
        self._expected = _SMALLEST
        self.end = 0

    def reserve(self, size: int) -> int:
        """Make sure that `size` more octets fit, and return the place for them."""
        needed = self.end + size
        if needed > self._capacity:
            self._grow(needed)
        return self.end

    def _grow(self, needed: int) -> None:
        capacity = max(self._capacity * 2, self._expected)
        while capacity < needed:
            capacity *= 2
        if self.end == 0:
            self._data = _room(capacity)
            capacity = len(self._data)
        else:
            memory.resize(self._data, capacity)
        self.view = self._data
        self._capacity = capacity

    def take(self) -> bytearray:
        """Return the octets written since the last call, and drop the buffer."""
        data = self._data
        self._expected = min(max(self.end + (self.end >> 1), _SMALLEST), _EXPECTED_MAX)
        memory.resize(data, self.end)
        self._data = bytearray()
        self.view = self._data
        self._capacity = 0
        self.end = 0
        return data

    def put_octet(self, value: int) -> None:
        """Append one octet; the caller has reserved room for it, as for all methods below."""
        self.view[self.end] = value
        self.end += 1

    def put_uint(self, value: int) -> None:
        """Append an AMQP uint in its shortest encoding."""
        self.end = memory.put_uint(self.view, self.end, value)

    def put_word(self, value: int) -> None:
        """Append 32 bits in network order, without constructor."""
        self.end = memory.put_word(self.view, self.end, value)

    def put_boolean(self, value: bool) -> None:
        """Append an AMQP boolean."""
        self.put_octet(0x41 if value else 0x42)

    def put_octets(self, data: bytes | bytearray, start: int, end: int) -> int:
        """Append data[start:end]; return its end."""
        source = data
        memory.copy(self.view, self.end, source, start, end - start)
        self.end += end - start
        return self.end

    def put_raw(self, data: bytes | bytearray) -> None:
        """Append all of data; this method reserves the room."""
        size = len(data)
        self.reserve(size)
        self.put_octets(data, 0, size)

    def begin_performative(self, channel: int, code: int, room: int) -> int:
        """Start a frame with a performative whose fields fit a list8; return its start."""
        self.reserve(_PERFORMATIVE_START + _FIELDS_MAX + room)
        start = self.end
        view = self.view
        view[start + 4] = 2
        view[start + 5] = 0
        view[start + 6] = (channel >> 8) & 0xFF
        view[start + 7] = channel & 0xFF
        view[start + 8] = 0x00
        view[start + 9] = 0x53
        view[start + 10] = code
        view[start + 11] = 0xC0
        self.end = start + _PERFORMATIVE_START
        return start

    def end_fields(self, start: int, count: int) -> None:
        """Fill in the list of the performative that began at `start`."""
        # The size of a list8 counts its own count octet (part 1, 1.6.22).
        self.view[start + 12] = self.end - start - _PERFORMATIVE_START + 1
        self.view[start + 13] = count

    def end_frame(self, start: int) -> None:
        """Fill in the size of the frame that began at `start`."""
        memory.put_word(self.view, start, self.end - start)

    def put_frame(self, channel: int, frame_type: int, body: bytes | bytearray) -> None:
        """Append a whole frame around an encoded body."""
        size = len(body) + 8
        self.reserve(size)
        self.put_word(size)
        self.put_octet(2)
        self.put_octet(frame_type)
        self.put_octet((channel >> 8) & 0xFF)
        self.put_octet(channel & 0xFF)
        self.put_octets(body, 0, size - 8)


def take_back(data: bytearray) -> bool:
    """Reuse the memory of an output unless a memoryview of it exists; return whether it is reused."""
    if memory.is_viewed(data):
        return False
    if len(_spare) < _SPARE_MAX and _SPARE_LEAST <= memory.capacity(data) <= _SPARE_MOST:
        _spare.append(data)
    return True


def _room(size: int) -> bytearray:
    """Return a buffer of at least this size."""
    try:
        # A test first would not help, because another thread may be quicker.
        data = _spare.pop()
    except IndexError:
        return memory.new(size)
    capacity = memory.capacity(data)
    if capacity < size:
        # The small buffer makes room for a larger one.
        return memory.new(size)
    memory.resize(data, capacity)
    return data
