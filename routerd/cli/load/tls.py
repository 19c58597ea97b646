"""A socket with TLS on it, as a line uses one: what is sent and received is plain, and never waited for."""

import contextlib
import socket
import ssl

from routerd.cli.load.layered import LayeredSocket
from routerd.io import TlsFailed, TlsSession

READ_SIZE = 3 << 16
"""Octets that are read at once: decrypted, with the rest of a record from before, they fit what a line reads into."""


class TlsSocket(LayeredSocket):
    """The client's end of a TLS connection."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext, host: str) -> None:
        """Shake hands; raises OSError, and the socket is closed then."""
        super().__init__(sock)
        self._encrypted = memoryview(bytearray(READ_SIZE))
        self._received = 0
        self._waiting = b""
        """Encrypted, and not sent yet: the end of what was given last, which is given again."""
        self._is_ended = False
        try:
            self._session = TlsSession(context, is_server=False, server_name=host)
            self._session.shake_hands()
            while not self._session.is_established:
                sock.sendall(self._session.output())
                octets = sock.recv(READ_SIZE)
                if not octets:
                    raise OSError("the peer closed the socket during the handshake of TLS")
                self._session.shake_hands(octets)
            sock.sendall(self._session.output())
        except TlsFailed as error:
            sock.close()
            raise OSError(f"TLS failed: {error}") from error
        except OSError:
            sock.close()
            raise

    def close(self) -> None:
        """Say goodbye, if there is room for it, and close the socket."""
        self._session.close()
        # The peer may be gone, or not listen.
        with contextlib.suppress(OSError):
            self._socket.send(self._waiting + self._session.output())
        super().close()

    def recv_into(self, buffer: bytearray) -> int:
        """Take what has come; 0 is the end. Raises BlockingIOError if nothing has."""
        if self._is_ended:
            return 0
        size = self._socket.recv_into(self._encrypted)
        self._received = 0
        try:
            with memoryview(buffer) as view:
                self._session.receive(self._encrypted[:size], view, self._count)
        except TlsFailed as error:
            raise OSError(f"TLS failed: {error}") from error
        self._is_ended = self._session.is_ended or size == 0
        if not self._received and not self._is_ended:
            raise BlockingIOError
        return self._received

    def _count(self, size: int) -> None:
        self._received += size

    def send(self, data: bytes | bytearray | memoryview) -> int:
        """Send all, which counts as sent once the socket has taken it. Raises BlockingIOError until then.

        The same data has to be given again.
        """
        if self._waiting:
            self._waiting = self._waiting[self._socket.send(self._waiting) :]
        else:
            self._waiting = self._left_of(data)
        if self._waiting:
            raise BlockingIOError
        return len(data)

    def _left_of(self, data: bytes | bytearray | memoryview) -> bytes:
        """Encrypt and send; return what the socket has not taken."""
        pieces: list[bytes] = []
        try:
            self._session.send(data, pieces.append)
        except TlsFailed as error:
            raise OSError(f"TLS failed: {error}") from error
        try:
            sent = self._socket.sendmsg(pieces)
        except BlockingIOError:
            sent = 0
        return b"" if sent == sum(map(len, pieces)) else b"".join(pieces)[sent:]


def context_of(ca_file: str | None) -> ssl.SSLContext:
    """Return what connections are made with; the authorities are those of the system unless a file has others.

    Raises OSError.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca_file is None:
        context.load_default_certs()
        return context
    try:
        context.load_verify_locations(ca_file)
    except ssl.SSLError as error:
        raise OSError(f"{ca_file} has no certificate in PEM form") from error
    except OSError as error:
        raise OSError(f"{ca_file}: {error.strerror}") from error
    return context
