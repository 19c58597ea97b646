"""Authentication: SASL, as listeners offer it and connectors use it.

`authentication` decides what a listener offers and which `failures` cost. Users come from a file (`users`), from
`cyrus`, from `kerberos` (`gss_library`) or from a remote service (`auth_service`). `guard` stands before a mechanism;
`threads` and `login_threads` take the steps that last.
"""

from routerd.io.auth.authentication import Authentication, AuthenticationUnusable, warn_if_open
from routerd.io.auth.kerberos import LARGE_FRAME_SIZE, LARGE_TOKEN_OCTETS, uses_kerberos
from routerd.io.auth.login_threads import LoginThreads, RespondsInThreads
from routerd.io.auth.users import nonce

__all__ = [
    "LARGE_FRAME_SIZE",
    "LARGE_TOKEN_OCTETS",
    "Authentication",
    "AuthenticationUnusable",
    "LoginThreads",
    "RespondsInThreads",
    "nonce",
    "uses_kerberos",
    "warn_if_open",
]
