"""The keys by which the workers of a router know each other: a token, and certificates between hosts.

The launcher makes them anew for each router and hands each worker its own. They are in the memory of processes, and not
in files. OpenSSL reads keys from files only, so it gets a file in memory.
"""

import hmac
import os
import ssl
from dataclasses import dataclass, field

from routerd.io.tls import TlsSession
from routerd.wire.sasl import PlainClient, PlainServer, SaslClient, SaslServer

_WORKER = "worker"
"""The name that all workers log in with; the open names the worker."""
_NO_CHECK_TIME = 0x200000
"""X509_V_FLAG_NO_CHECK_TIME, which ssl does not name."""


def fabric_name(worker: int) -> str:
    """Return the host name in the certificate of a worker."""
    return f"connection-{worker}.fabric"


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricKeys:
    """The credentials of one worker for its siblings, and the expected ones of theirs."""

    token: str = field(repr=False)
    """The token, which all of them share."""
    authority: str = ""
    """The certificate that has signed all of theirs, as PEM; empty without certificates."""
    chain: str = field(default="", repr=False)
    """The worker's own certificate and key, as PEM."""

    def client(self) -> SaslClient:
        """Return the SASL client of a connecting worker, which shows the token."""
        return SaslClient([PlainClient(_WORKER, self.token)])

    def server(self) -> SaslServer:
        """Return the SASL server, which asks for it."""
        return SaslServer([PlainServer(self._is_right)])

    def _is_right(self, name: str, token: str) -> bool:
        # Both comparisons always run, so the time tells nothing.
        is_right = hmac.compare_digest(token.encode(), self.token.encode())
        return name == _WORKER and is_right


class FabricTls:
    """TLS between workers: version 1.3, and both sides show a certificate of the router's authority."""

    def __init__(self, keys: FabricKeys) -> None:
        self.server_context = _context(ssl.PROTOCOL_TLS_SERVER, keys)
        # Every handshake is a full one.
        self.server_context.options |= ssl.OP_NO_TICKET
        self.server_context.num_tickets = 0
        self.client_context = _context(ssl.PROTOCOL_TLS_CLIENT, keys)
        self.client_context.check_hostname = True

    def accept(self) -> tuple[None, TlsSession]:
        """Return the end of an incoming connection."""
        return None, TlsSession(self.server_context, is_server=True)

    def connect(self, worker: int) -> tuple[None, TlsSession]:
        """Return the end of a connection to a worker; it accepts only that worker's certificate."""
        return None, TlsSession(self.client_context, is_server=False, server_name=fabric_name(worker))


def _context(kind: int, keys: FabricKeys) -> ssl.SSLContext:
    context = ssl.SSLContext(kind)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.verify_mode = ssl.CERT_REQUIRED
    # They are valid while the router runs, and the clocks of its hosts may differ.
    context.verify_flags |= _NO_CHECK_TIME
    context.load_verify_locations(cadata=keys.authority)
    file = os.memfd_create("fabric", os.MFD_CLOEXEC)
    try:
        os.write(file, keys.chain.encode())
        context.load_cert_chain(f"/proc/self/fd/{file}")
    finally:
        os.close(file)
    return context
