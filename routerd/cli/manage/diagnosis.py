"""Guesses from its first octets what a peer is that does not answer like a router."""

from routerd.cli.manage.failures import Unreachable
from routerd.wire.sasl import SaslCode

_AMQP = b"AMQP"
_TLS_RECORDS = (b"\x15\x03", b"\x16\x03")
_MECHANISMS_HINT = "--sasl-username NAME logs in, --sasl-mechanisms ANONYMOUS does without a name"


def explain_octets(where: str, octets: bytes, reason: str, *, is_sasl: bool) -> Unreachable:
    """Return what to tell of a peer whose connection ended before it was open."""
    if octets.startswith(_AMQP) and len(octets) >= 8:
        return _explain_header(where, octets, reason, is_sasl=is_sasl)
    if octets.startswith(_TLS_RECORDS):
        return Unreachable(where, "TLS is expected there", "amqps:// or --ssl-trustfile connects with it")
    if octets.startswith((b"HTTP/", b"<")):
        return Unreachable(where, "HTTP is spoken there, not AMQP", "-b HOST:PORT names another port")
    if octets:
        return Unreachable(where, f"what listens there does not speak AMQP (it says {octets!r})")
    return Unreachable(where, reason, "is it a router, and one without TLS? amqps:// connects with it")


def _explain_header(where: str, header: bytes, reason: str, *, is_sasl: bool) -> Unreachable:
    protocol, version = header[4], ".".join(map(str, header[5:8]))
    if protocol == 0 and version == "1.0.0":
        if is_sasl:
            return Unreachable(where, "no SASL is spoken there", "leave the options of SASL out")
        return Unreachable(where, reason)
    if protocol == 3 and not is_sasl:
        return Unreachable(where, "one has to log in by SASL", _MECHANISMS_HINT)
    if protocol == 2:
        return Unreachable(where, "TLS is expected there", "amqps:// or --ssl-trustfile connects with it")
    if protocol in (0, 1):
        return Unreachable(where, f"another AMQP than 1.0 is spoken there ({version})", "a router speaks 1.0")
    return Unreachable(where, reason)


def explain_login(where: str, mechanism: str | None, outcome: SaslCode | None) -> Unreachable:
    """Return what to tell of a login that failed."""
    if outcome is SaslCode.AUTH:
        return Unreachable(
            where, f"authentication failed ({mechanism})", "are the name and the password right, and may they log in?"
        )
    if outcome is None:
        return Unreachable(where, f"authentication was broken off ({mechanism or 'no mechanism was chosen'})")
    return Unreachable(where, f"authentication is not possible now ({mechanism})", "the router's log says more")
