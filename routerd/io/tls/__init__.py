"""TLS without sockets: octets in, octets out, and what it is configured with.

`session` is one end of TLS. A `profile` makes the contexts of sessions from files, `profiles` are those of a worker.
`peer_identity` reads who a certificate names. `handshakes` takes those under way in turns.
"""

from routerd.io.tls.handshakes import Handshakes
from routerd.io.tls.profile import TlsProfile, TlsProfileBroken
from routerd.io.tls.profiles import TlsProfiles, check_profiles, check_use, server_context
from routerd.io.tls.session import TlsFailed, TlsSession

__all__ = [
    "Handshakes",
    "TlsFailed",
    "TlsProfile",
    "TlsProfileBroken",
    "TlsProfiles",
    "TlsSession",
    "check_profiles",
    "check_use",
    "server_context",
]
