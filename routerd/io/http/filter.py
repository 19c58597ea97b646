"""HTTP as a filter of a connection: requests are answered, one after the other, until a WebSocket begins.

Then the filter leaves its stack, and the one above gets the following octets. h11 parses; this filter adds limits and
timeouts. A peer that breaks a rule gets one sentence about it, and loses its connection.
"""

import asyncio
import logging
import time
from email.utils import formatdate
from typing import ClassVar

import h11

from routerd.core import host_of
from routerd.io.http.requests import REASONS, Answer, Request, sentence
from routerd.io.http.site import Site
from routerd.io.http.upgrade import accepted, asks_for_websocket, protocol_of, refusal_of
from routerd.io.logs import SeldomLog, module_log
from routerd.io.scheduling import PeerTimer
from routerd.io.sockets import Filter

HEAD_MAX = 1 << 14
"""Octets of a head, and of input before the answer to an earlier request."""
HEAD_S = 10.0
"""The time for a head, from its first octet; for the first head from the connection on."""
IDLE_S = 15.0
"""The time that a connection is kept without a request."""
REQUESTS_MAX = 1000
"""Limit of the requests of one connection; it is closed after the last."""
UNREAD_MAX = 1 << 20
"""Octets of answers that may wait for a peer that sends more requests."""
CLOSES_AT_ONCE = 1 << 16
"""Octets that a system takes from us, whether the peer reads or not."""
LINGER_S = 5.0
"""The time for a peer to read some of its last answer, or to stop sending useless input."""
SERVER = "mobula"
AMQP_HERE = "This port takes HTTP and AMQP over WebSocket; plain AMQP is for another port."
TLS_HERE = "This port takes HTTP without TLS."

PLAIN_REFUSED = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 42\r\n"
    b"Connection: close\r\n\r\nThis port takes HTTPS, so begin with TLS.\n"
)
"""The answer to a peer that leaves TLS out although it is required."""

_PREFIXES = {b"AMQP": AMQP_HERE, b"\x16\x03": TLS_HERE}

_log = module_log("HTTP")
_seldom = SeldomLog(_log, time.monotonic, again_s=1.0)


class HttpFilter(Filter):
    """HTTP on one connection, from the server's side."""

    __slots__ = (
        *("_connection", "_is_discarding", "_is_ending", "_is_head_due", "_is_retiring", "_requests"),
        *("_site", "_task", "_timer", "_unread", "_was_heard"),
    )

    carries_amqp: ClassVar[bool] = False

    def __init__(self, site: Site) -> None:
        super().__init__()
        self._site = site
        self._connection = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_MAX)
        self._timer: PeerTimer | None = None
        self._task: asyncio.Task[None] | None = None
        self._requests = 0
        self._was_heard = False
        self._is_head_due = True
        """Whether the time for a head is running."""
        self._is_ending = False
        """Whether the last answer has been written."""
        self._is_retiring = False
        """Whether the next answer is the last one."""
        self._is_discarding = False
        """Whether the connection stays open for a peer that is still sending, so that it can read its answer."""
        self._unread = 0
        """Octets that waited for the peer at the last check."""

    # --- called by the transport

    def begin(self) -> None:
        """Wait for the first head."""
        self._expect(HEAD_S)

    def receive(self, octets: memoryview) -> None:
        """Take requests."""
        if self._is_discarding or self._is_ending or not octets:
            return
        data = bytes(octets)
        if not self._was_heard:
            self._was_heard = True
            for prefix, text in _PREFIXES.items():
                if data.startswith(prefix):
                    self._refuse(400, text)
                    return
        self._connection.receive_data(data)
        if self._task is None:
            self._advance()
        elif len(self._connection.trailing_data[0]) > HEAD_MAX:
            self._complain("it sends much before it has its answer")
            self._is_ending = True
            self.stack.finish()

    def retire(self) -> None:
        """Answer the requests that are there, and close the connection."""
        self._is_retiring = True
        if self._task is None and not self._is_ending and not self._connection.trailing_data[0]:
            self._finish()

    def end(self) -> None:
        """Drop everything under way."""
        self._is_ending = True
        self._cancel_timer()
        if self._task is not None:
            self._task.cancel()
            self._task = None

    @property
    def early_loss(self) -> str:
        """The reason for no AMQP connection: the peer asked for none."""
        return "HTTP"

    # --- requests

    def _advance(self) -> None:
        """Take the next request, if it is there as a whole."""
        connection = self._connection
        try:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                self._wait_for_more()
                return
            if not isinstance(event, h11.Request):
                # The peer is done, or its next input waits for our answer.
                self._finish()
                return
            has_body = not isinstance(connection.next_event(), h11.EndOfMessage)
        except h11.RemoteProtocolError as error:
            self._refuse(error.error_status_hint, "")
            return
        self._cancel_timer()
        self._requests += 1
        if sum(len(name) + len(value) for name, value in event.headers.raw_items()) + len(event.target) > HEAD_MAX:
            # It came at once, so it was not counted.
            self._refuse(431, "")
        elif has_body:
            self._refuse(413, "No request here has a body.")
        else:
            self._take(_request(event))

    def _wait_for_more(self) -> None:
        if self._connection.trailing_data[0]:
            if not self._is_head_due:
                self._is_head_due = True
                self._expect(HEAD_S)
        elif self._requests:
            self._is_head_due = False
            self._unread = self.stack.buffered_octets
            self._expect(IDLE_S)

    def _take(self, request: Request) -> None:
        if asks_for_websocket(request):
            if not self._site.takes_websockets:
                refused: Answer | None = sentence(403, "This port takes no WebSocket; see websockets of the listener.")
            else:
                refused = refusal_of(request, self._site.origins)
            if refused is None:
                self._upgrade(request)
            else:
                self._say(request.method, refused)
            return
        self._task = asyncio.get_running_loop().create_task(self._answer(request))

    async def _answer(self, request: Request) -> None:
        try:
            answer = await self._site.answer(request)
        except Exception as error:
            # A fault of ours: it costs this answer only.
            _seldom.say(logging.ERROR, "fault", f"A request for {request.path} failed: {error!r}")
            answer = sentence(500, "The router could not answer.")
        if not self._is_ending:
            self._task = None
            self._say(request.method, answer)

    def _upgrade(self, request: Request) -> None:
        headers = [
            ("Upgrade", "websocket"),
            ("Connection", "Upgrade"),
            ("Sec-WebSocket-Accept", accepted(request.headers["sec-websocket-key"])),
            ("Sec-WebSocket-Protocol", protocol_of(request) or ""),
        ]
        switch = h11.InformationalResponse(status_code=101, headers=headers, reason="Switching Protocols")
        self.answer(self._connection.send(switch) or b"")
        rest = self._connection.trailing_data[0]
        self.end()
        self.stack.remove(self, rest)

    # --- answers

    def _say(self, method: str, answer: Answer) -> None:
        """Write an answer, and continue with the next request."""
        connection = self._connection
        is_last = self._is_retiring or self._requests >= REQUESTS_MAX
        self._write(answer, is_last=is_last, has_body=method != "HEAD")
        if is_last or connection.our_state is not h11.DONE or self.stack.buffered_octets > UNREAD_MAX:
            self._finish()
            return
        connection.start_next_cycle()
        self._is_head_due = False
        self._advance()

    def _write(self, answer: Answer, *, is_last: bool, has_body: bool = True) -> None:
        headers = [("Server", SERVER), ("Date", formatdate(usegmt=True)), *answer.headers.items()]
        if answer.content_type is not None:
            headers += [("Content-Type", answer.content_type), ("Content-Length", str(len(answer.body)))]
            headers.append(("X-Content-Type-Options", "nosniff"))
        if is_last:
            headers.append(("Connection", "close"))
        connection = self._connection
        response = h11.Response(status_code=answer.status, headers=headers, reason=REASONS[answer.status])
        octets = [connection.send(response) or b""]
        if has_body and answer.body:
            octets.append(connection.send(h11.Data(data=answer.body)) or b"")
        octets.append(connection.send(h11.EndOfMessage()) or b"")
        self.answer(b"".join(octets))

    def _refuse(self, status: int, text: str) -> None:
        """Answer with the error, and end the connection."""
        text = text or _WRONG.get(status, "This is not HTTP/1.1.")
        self._complain(text)
        if self._connection.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._write(sentence(status if status in REASONS else 400, text), is_last=True)
        if status in (413, 431):
            self._is_discarding = True
            self._expect(LINGER_S)
        else:
            self._finish()

    def _complain(self, text: str) -> None:
        host = self.stack.host
        _seldom.say(logging.WARNING, host_of(host), f"HTTP from {host} is refused: {text}")

    # --- the end

    def _finish(self) -> None:
        """Close the connection, once the peer has read its output."""
        self._is_ending = True
        self._unread = self.stack.buffered_octets
        if self._unread > CLOSES_AT_ONCE:
            self._expect(LINGER_S)
        else:
            self.stack.finish()

    def _time_is_over(self) -> None:
        waiting, before = self.stack.buffered_octets, self._unread
        if CLOSES_AT_ONCE < waiting < before and not self._is_discarding:
            # The peer is reading a long answer.
            self._unread = waiting
            self._expect(LINGER_S)
        elif self._is_ending or self._is_discarding or not self._connection.trailing_data[0]:
            self.stack.finish()
        else:
            self._refuse(408, "")

    def _expect(self, seconds: float) -> None:
        self._cancel_timer()
        self._timer = PeerTimer(asyncio.get_running_loop(), seconds, self._time_is_over)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


_WRONG = {
    408: f"The head of a request has to be here within {HEAD_S:g} s.",
    431: f"The head of a request may have {HEAD_MAX} octets.",
    501: "This is not taken here.",
}


def _request(event: h11.Request) -> Request:
    headers: dict[str, str] = {}
    for name, value in event.headers:
        key = name.decode("ascii")
        text = value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    version = event.http_version.decode("ascii")
    return Request(event.method.decode("ascii"), event.target.decode("latin-1"), headers, version)
