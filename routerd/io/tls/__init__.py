"""TLS: octets in, octets out, as a filter of a connection, and what it is configured with.

`session` is one end of TLS, and `filter` has it on a connection. A `profile` makes the contexts of sessions from files,
`profiles` are those of a worker. `peer_identity` reads who a certificate names. `handshakes`
takes those under way in turns.
"""

from routerd.io.tls.filter import HANDSHAKE_S, TLS_HEADER, TlsFilter
from routerd.io.tls.handshakes import Handshakes
from routerd.io.tls.profile import TlsProfile, TlsProfileBroken
from routerd.io.tls.profiles import TlsProfiles, check_profiles, check_use, server_context
from routerd.io.tls.session import TlsFailed, TlsSession

__all__ = [
    "HANDSHAKE_S",
    "TLS_HEADER",
    "Handshakes",
    "TlsFailed",
    "TlsFilter",
    "TlsProfile",
    "TlsProfileBroken",
    "TlsProfiles",
    "TlsSession",
    "check_profiles",
    "check_use",
    "server_context",
]
