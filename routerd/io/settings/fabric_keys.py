"""By what the workers of a router know each other: a token, and between hosts certificates of the router's own.

The launcher makes them anew for each router and hands each worker its own. They are in the memory of processes, and in
no file: OpenSSL reads keys from files alone, so it is given one that is in memory, too.
"""

import hmac
import os
import ssl
from dataclasses import dataclass, field

from routerd.io.tls import TlsSession
from routerd.wire.sasl import PlainClient, PlainServer, SaslClient, SaslServer

_WORKER = "worker"
"""The name by which all log in; which of them it is, the open says."""
_NO_CHECK_TIME = 0x200000
"""X509_V_FLAG_NO_CHECK_TIME, which ssl does not name."""


def fabric_name(worker: int) -> str:
    """Return the host name that the certificate of a worker has."""
    return f"connection-{worker}.fabric"


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricKeys:
    """What one worker shows its siblings, and what it wants to see."""

    token: str = field(repr=False)
    """All of them have the same."""
    authority: str = ""
    """The certificate, as PEM, that all of theirs are signed with; empty where there are none."""
    chain: str = field(default="", repr=False)
    """The worker's own certificate and key, as PEM."""

    def client(self) -> SaslClient:
        """Return how a worker that connects shows the token."""
        return SaslClient([PlainClient(_WORKER, self.token)])

    def server(self) -> SaslServer:
        """Return how it is asked for it."""
        return SaslServer([PlainServer(self._is_right)])

    def _is_right(self, name: str, token: str) -> bool:
        # Both in any case: how long it takes tells nothing.
        is_right = hmac.compare_digest(token.encode(), self.token.encode())
        return name == _WORKER and is_right


class FabricTls:
    """TLS between workers: version 1.3, and each side shows a certificate that the router's authority has signed."""

    def __init__(self, keys: FabricKeys) -> None:
        self.server_context = _context(ssl.PROTOCOL_TLS_SERVER, keys)
        # Every handshake is a whole one.
        self.server_context.options |= ssl.OP_NO_TICKET
        self.server_context.num_tickets = 0
        self.client_context = _context(ssl.PROTOCOL_TLS_CLIENT, keys)
        self.client_context.check_hostname = True

    def accept(self) -> tuple[None, TlsSession]:
        """Return the end of a connection that comes in."""
        return None, TlsSession(self.server_context, is_server=True)

    def connect(self, worker: int) -> tuple[None, TlsSession]:
        """Return the end of a connection that is made to a worker, and to no other."""
        return None, TlsSession(self.client_context, is_server=False, server_name=fabric_name(worker))


def _context(kind: int, keys: FabricKeys) -> ssl.SSLContext:
    context = ssl.SSLContext(kind)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.verify_mode = ssl.CERT_REQUIRED
    # They hold as long as the router runs, and the clocks of its hosts may differ.
    context.verify_flags |= _NO_CHECK_TIME
    context.load_verify_locations(cadata=keys.authority)
    file = os.memfd_create("fabric", os.MFD_CLOEXEC)
    try:
        os.write(file, keys.chain.encode())
        context.load_cert_chain(f"/proc/self/fd/{file}")
    finally:
        os.close(file)
    return context
