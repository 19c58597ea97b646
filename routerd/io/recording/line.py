"""The connection between a worker and the process that writes its records: objects, and descriptors of files.

An object usually takes one system call at each end. A thread that returns from one waits until the loop of the worker
lets it have the interpreter.
"""

import pickle
import socket
import struct
from typing import Any

_HEADER = struct.Struct("!QB")
"""The octets that follow, and the descriptors that come along."""
_CHUNK = 1 << 16
_DESCRIPTORS_MAX = 250


class Line:
    """One end, for a program that is the same at the other; raises EOFError and OSError when that is gone."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._octets = bytearray()
        self._descriptors: list[int] = []

    def send(self, something: Any, descriptors: list[int] | None = None) -> None:
        """Send an object, and descriptors of files with it."""
        octets = pickle.dumps(something, pickle.HIGHEST_PROTOCOL)
        octets = _HEADER.pack(len(octets), len(descriptors or ())) + octets
        sent = socket.send_fds(self._socket, [octets], descriptors or [])
        if sent < len(octets):
            self._socket.sendall(memoryview(octets)[sent:])

    def receive(self) -> tuple[Any, list[int]]:
        """Wait for an object, and the descriptors that came with it."""
        self._wait_for(_HEADER.size)
        length, count = _HEADER.unpack_from(self._octets)
        end = _HEADER.size + length
        self._wait_for(end)
        something = pickle.loads(memoryview(self._octets)[_HEADER.size : end].toreadonly())
        self._octets = self._octets[end:]
        # Octets of two objects may come together, descriptors never before their object.
        descriptors, self._descriptors = self._descriptors[:count], self._descriptors[count:]
        return something, descriptors

    def end(self) -> None:
        """Say that nothing will be sent any more."""
        self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Let the connection go."""
        self._socket.close()

    def _wait_for(self, length: int) -> None:
        while len(self._octets) < length:
            wanted = max(_CHUNK, length - len(self._octets))
            found, descriptors, _, _ = socket.recv_fds(self._socket, wanted, _DESCRIPTORS_MAX)
            self._descriptors += descriptors
            if not found:
                raise EOFError("the other end is gone")
            self._octets += found
