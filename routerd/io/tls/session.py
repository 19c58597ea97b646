"""TLS between octets and octets: what is encrypted goes in, what is not comes out, and the other way round.

OpenSSL works on memory, not on a socket, so nothing here waits. It keeps as much memory for a connection as the most
that it was handed at a time: what comes in and goes out is handed over in pieces.
"""

import ssl
from collections.abc import Callable
from typing import cast

PIECE = 1 << 15
"""Octets that OpenSSL is handed at a time."""
RECORD_MAX = 1 << 14
"""Octets that one record of TLS has at most (RFC 8446 section 5.1)."""


class TlsFailed(Exception):
    """TLS that cannot go on; the text says why."""


class TlsSession:
    """One end of a TLS connection."""

    __slots__ = ("_incoming", "_outgoing", "_ssl", "is_ended", "is_established")

    def __init__(self, context: ssl.SSLContext, *, is_server: bool, server_name: str | None = None) -> None:
        """`server_name` is whom a client wants to talk to. Raises TlsFailed if that is no name."""
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        try:
            self._ssl = context.wrap_bio(self._incoming, self._outgoing, is_server, server_name)
        except (ValueError, TypeError, ssl.SSLError) as error:
            raise TlsFailed(f"{server_name!r} is not a name that a certificate can have") from error
        self.is_established = False
        self.is_ended = False
        """Whether the peer has said that it sends nothing more."""

    def shake_hands(self, octets: bytes | memoryview = b"") -> None:
        """Go on with the handshake as far as these octets allow. Raises TlsFailed."""
        if octets:
            self._incoming.write(octets)
        try:
            self._ssl.do_handshake()
        except ssl.SSLWantReadError:
            return
        except (ssl.SSLError, ssl.CertificateError) as error:
            raise TlsFailed(reason_of(error)) from error
        self.is_established = True

    def receive(self, octets: memoryview, into: memoryview, deliver: Callable[[int], None]) -> None:
        """Decrypt, and have what came out taken from `into`: so many octets from its beginning. Raises TlsFailed."""
        filled, room = 0, len(into)
        # With a buffer it returns how much came.
        read = cast(Callable[[int, memoryview], int], self._ssl.read)
        want_read = ssl.SSLWantReadError
        at, end = 0, len(octets)
        try:
            while True:
                if at < end:
                    self._incoming.write(octets[at : at + PIECE])
                    at += PIECE
                try:
                    while True:
                        got = read(room - filled, into[filled:])
                        if not got:
                            self.is_ended = True
                            return
                        filled += got
                        if room - filled < RECORD_MAX:
                            full, filled = filled, 0
                            deliver(full)
                except want_read:
                    if at >= end:
                        return
        except ssl.SSLZeroReturnError:
            self.is_ended = True
        except ssl.SSLError as error:
            raise TlsFailed(reason_of(error)) from error
        finally:
            if filled:
                deliver(filled)

    def send(self, octets: bytes | bytearray | memoryview, write: Callable[[bytes], object]) -> None:
        """Encrypt, and have what came out written. Raises TlsFailed."""
        encrypt, take = self._ssl.write, self._outgoing.read
        at, end = 0, len(octets)
        try:
            with memoryview(octets) as view:
                while at < end:
                    at += encrypt(view[at : at + PIECE])
                    write(take())
        except ssl.SSLError as error:
            raise TlsFailed(reason_of(error)) from error

    def output(self) -> bytes:
        """Return what TLS itself has to say to the peer: handshakes, alerts."""
        return self._outgoing.read() if self._outgoing.pending else b""

    def close(self) -> None:
        """Say that nothing more will be sent."""
        try:
            self._ssl.unwrap()
        except ssl.SSLError:
            # The peer has not said so yet, or is not in a state to hear it.
            return

    @property
    def peer_certificate(self) -> bytes | None:
        """The certificate of the peer, if it has shown one that is trusted."""
        return self._ssl.getpeercert(binary_form=True)

    @property
    def protocol(self) -> str | None:
        """The version of TLS."""
        return self._ssl.version()

    @property
    def cipher(self) -> tuple[str, int]:
        """The cipher, and the bits of its key."""
        found = self._ssl.cipher()
        return ("", 0) if found is None else (found[0], found[2])


def reason_of(error: Exception) -> str:
    """Return what went wrong, in words."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the peer's certificate is not trusted: {error.verify_message.rstrip('.')}"
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.replace("_", " ").lower()
    return str(error)
