"""The beginning of a WebSocket from the client's side (RFC 6455 section 4.1), as a filter that leaves once it is done.

There is no timeout here: a connector's timeout covers everything that comes before the peer's open.
"""

import base64
import secrets

import h11

from routerd.io.http.upgrade import PROTOCOLS, VERSION, accepted
from routerd.io.sockets import Filter

HEAD_MAX = 1 << 14
KEY_SIZE = 16
REFUSAL_MAX = 200
"""Characters of a refusal that are told."""


class UpgradeFilter(Filter):
    """Asks for a WebSocket."""

    __slots__ = ("_authority", "_connection", "_is_over", "_key", "_path")

    def __init__(self, authority: str, path: str) -> None:
        """`authority` is the host, with the port unless it is the usual one."""
        super().__init__()
        self._authority = authority
        self._path = path
        self._connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_MAX)
        self._key = base64.b64encode(secrets.token_bytes(KEY_SIZE)).decode()
        self._is_over = False

    def begin(self) -> None:
        """Ask."""
        headers = [
            ("Host", self._authority),
            ("Upgrade", "websocket"),
            ("Connection", "Upgrade"),
            ("Sec-WebSocket-Key", self._key),
            ("Sec-WebSocket-Version", VERSION),
            ("Sec-WebSocket-Protocol", PROTOCOLS[0]),
        ]
        request = self._connection.send(h11.Request(method="GET", target=self._path, headers=headers))
        end = self._connection.send(h11.EndOfMessage())
        self.below((request or b"") + (end or b""))

    def receive(self, octets: memoryview) -> None:
        """Take the answer."""
        if self._is_over or not octets:
            return
        try:
            self._connection.receive_data(bytes(octets))
            event = self._connection.next_event()
            while isinstance(event, h11.InformationalResponse) and event.status_code != 101:
                event = self._connection.next_event()
        except h11.RemoteProtocolError as error:
            self._fail(f"the peer does not answer as HTTP: {error}")
            return
        if event is h11.NEED_DATA:
            return
        if isinstance(event, h11.InformationalResponse):
            self._begin_websocket(event)
        elif isinstance(event, h11.Response):
            reason = event.reason.decode("latin-1")
            self._fail(f"the peer refuses it: {event.status_code} {reason}"[:REFUSAL_MAX])
        else:
            self._fail("the peer does not answer as HTTP")

    def end(self) -> None:
        """Take nothing more."""
        self._is_over = True

    @property
    def early_loss(self) -> str:
        """Why the connection could not be."""
        return "WebSocket: the peer closed the connection before it had answered"

    def _begin_websocket(self, event: h11.InformationalResponse) -> None:
        headers = {name.decode("ascii"): value.decode("latin-1") for name, value in event.headers}
        if headers.get("upgrade", "").lower() != "websocket":
            self._fail("the peer begins something else")
        elif headers.get("sec-websocket-accept") != accepted(self._key):
            self._fail("the peer has not read the key")
        elif headers.get("sec-websocket-protocol") != PROTOCOLS[0]:
            self._fail("the peer does not speak AMQP over it")
        elif "sec-websocket-extensions" in headers:
            self._fail("the peer uses extensions that nobody has asked for")
        else:
            self.end()
            self.stack.remove(self, self._connection.trailing_data[0])

    def _fail(self, reason: str) -> None:
        self.end()
        self.stack.fail(f"WebSocket: {reason}")
