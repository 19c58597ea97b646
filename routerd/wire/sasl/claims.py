"""The name in the first message of a mechanism, which the client claims before the message is judged."""

from routerd.wire.sasl.scram_credentials import prepared_if_possible

_PLAIN, _SCRAM = "PLAIN", "SCRAM-"


def claimed_name(mechanism: str, response: bytes) -> str | None:
    """Return the prepared name; None if the mechanism or the message has none."""
    try:
        message = response.decode()
    except UnicodeDecodeError:
        return None
    if mechanism == _PLAIN:
        parts = message.split("\0")
        return prepared_if_possible(parts[1]) if len(parts) == 3 else None
    if not mechanism.startswith(_SCRAM):
        return None
    # RFC 5802, section 7: gs2-cbind-flag "," [authzid] "," "n=" name "," "r=" nonce.
    parts = message.split(",")
    if len(parts) < 4 or not parts[2].startswith("n="):
        return None
    return prepared_if_possible(parts[2].removeprefix("n=").replace("=2C", ",").replace("=3D", "="))
