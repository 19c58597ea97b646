"""The common part of sockets with a protocol on them: what a line asks of any socket goes to the one below."""

import socket


class LayeredSocket:
    """A protocol on a socket."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self.family = sock.family

    def fileno(self) -> int:
        """Return the descriptor of the socket."""
        return self._socket.fileno()

    def setblocking(self, is_blocking: bool) -> None:
        """Set the mode of the socket."""
        self._socket.setblocking(is_blocking)

    def setsockopt(self, level: int, option: int, value: int) -> None:
        """Set an option of the socket."""
        self._socket.setsockopt(level, option, value)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
