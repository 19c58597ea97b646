"""TLS in memory: encrypted octets go in and plain octets come out, and the other way round.

OpenSSL works on memory, not on a socket, so nothing here waits. For each connection it keeps as much memory as the
largest piece that it was handed. So octets are handed over in small pieces, in both directions.
"""

import ssl
from collections.abc import Callable
from typing import cast

PIECE = 1 << 15
"""Octets that OpenSSL gets at a time."""
RECORD_MAX = 1 << 14
"""The most octets of one TLS record (RFC 8446 section 5.1)."""


class TlsFailed(Exception):
    """TLS cannot continue; the text has the reason."""


class TlsSession:
    """One end of a TLS connection."""

    __slots__ = ("_incoming", "_outgoing", "_ssl", "is_ended", "is_established")

    def __init__(self, context: ssl.SSLContext, *, is_server: bool, server_name: str | None = None) -> None:
        """`server_name` is the name that a client expects. Raises TlsFailed if it is not a valid name."""
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
        """Continue with the handshake as far as these octets allow; raises TlsFailed."""
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
        """Decrypt into `into`; `deliver` takes the given number of octets from its beginning. Raises TlsFailed."""
        filled, room = 0, len(into)
        # With a buffer it returns the number of octets.
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
        """Encrypt, and write the result; raises TlsFailed."""
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
        """Return TLS's own output for the peer: handshakes, alerts."""
        return self._outgoing.read() if self._outgoing.pending else b""

    def close(self) -> None:
        """Tell the peer that nothing more will be sent."""
        try:
            self._ssl.unwrap()
        except ssl.SSLError:
            # The peer has not said so yet, or is not in a state to hear it.
            return

    @property
    def peer_certificate(self) -> bytes | None:
        """The certificate of the peer, if it has shown a trusted one."""
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
    """Return the error in words."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the peer's certificate is not trusted: {error.verify_message.rstrip('.')}"
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.replace("_", " ").lower()
    return str(error)
