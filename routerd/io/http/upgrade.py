"""The beginning of a WebSocket, as HTTP sees it (RFC 6455 section 4.2)."""

import base64
import binascii
import hashlib
from collections.abc import Sequence
from urllib.parse import urlsplit

from routerd.io.http.requests import Answer, Request, sentence

VERSION = "13"
PROTOCOLS = ("amqp", "binary")
"""Names of what is spoken; the second one is of clients from before the first was registered."""
ANY_ORIGIN = "*"

_KEY_SIZE = 16
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def asks_for_websocket(request: Request) -> bool:
    """Whether a request asks for a WebSocket, rightly or not; HTTP/1.0 has no upgrades (RFC 9110 section 7.8)."""
    if request.version == "1.0":
        return False
    return request.has_token("upgrade", "websocket") and request.has_token("connection", "upgrade")


def refusal_of(request: Request, origins: Sequence[str] = ()) -> Answer | None:
    """Return why a WebSocket can't begin, or None."""
    if request.method != "GET":
        return sentence(405, "A WebSocket begins with GET.", Allow="GET")
    if request.headers.get("sec-websocket-version") != VERSION:
        return sentence(
            426,
            f"WebSocket is taken in version {VERSION}.",
            Sec_WebSocket_Version=VERSION,
            Upgrade="websocket",
            Connection="Upgrade",
        )
    if not _is_key(request.headers.get("sec-websocket-key", "")):
        return sentence(400, f"Sec-WebSocket-Key has to be {_KEY_SIZE} octets in base64.")
    if protocol_of(request) is None:
        return sentence(400, "Sec-WebSocket-Protocol has to offer amqp, which is what is spoken here.")
    if not _may_come_from(request, origins):
        return sentence(403, "Pages of another origin may not connect; see webSocketOrigins of the listener.")
    return None


def protocol_of(request: Request) -> str | None:
    """Return the first protocol on offer that is known."""
    return next((one for one in request.tokens("sec-websocket-protocol") if one in PROTOCOLS), None)


def accepted(key: str) -> str:
    """Return the value that proves that the key was read."""
    return base64.b64encode(hashlib.sha1(key.encode() + _GUID, usedforsecurity=False).digest()).decode()


def _is_key(key: str) -> bool:
    try:
        return len(base64.b64decode(key, validate=True)) == _KEY_SIZE
    except (binascii.Error, ValueError):
        return False


def _may_come_from(request: Request, origins: Sequence[str]) -> bool:
    """Whether a page may connect. Any page could reach a router on the host of who looks at it, so most may not."""
    origin = request.headers.get("origin")
    if origin is None or ANY_ORIGIN in origins or origin.lower() in origins:
        return True
    try:
        return urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()
    except ValueError:
        return False
