"""Clients of listeners for HTTP: one that reads pages, and one that has AMQP over WebSocket."""

import http.client
import ssl
from collections.abc import Iterator
from typing import Any

import pytest

from routerd.wire import AmqpValue, Attach, Begin, Flow, Message, Open, Source, Target, Transfer
from tests.conformance.raw_peer import AMQP_HEADER, Frame, framed, parsed
from tests.waiting import WITHIN_S

websockets = pytest.importorskip("websockets.sync.client", reason="websockets is not installed")

_opened: list[Any] = []


def close_all() -> None:
    """Close what has been opened."""
    while _opened:
        _opened.pop().close()


class Browser:
    """One connection over HTTP."""

    def __init__(self, port: int, context: ssl.SSLContext | None = None) -> None:
        self.connection: http.client.HTTPConnection
        if context is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WITHIN_S)
        else:
            self.connection = http.client.HTTPSConnection("localhost", port, timeout=WITHIN_S, context=context)
        _opened.append(self.connection)

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, bytes, Any]:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request(method, path, headers=names)
        answer = self.connection.getresponse()
        return answer.status, answer.read(), answer.headers


class WebClient:
    """An AMQP client made of frames, over WebSocket."""

    def __init__(self, port: int, context: ssl.SSLContext | None = None, **options: Any) -> None:
        place = f"ws://127.0.0.1:{port}/" if context is None else f"wss://localhost:{port}/"
        self.socket = websockets.connect(
            place, subprotocols=options.pop("subprotocols", ["amqp"]), ssl=context, open_timeout=WITHIN_S, **options
        )
        # Its end is seen to by a fixture.
        self.socket.__enter__()
        _opened.append(self.socket)
        self._octets = b""
        self._has_header = False

    def send(self, *performatives: object, payload: bytes = b"") -> None:
        self.socket.send(b"".join(framed(one, payload) for one in performatives))

    def open(self) -> Open:
        self.socket.send(AMQP_HEADER)
        self.send(Open(container_id="web-client"))
        return self.wait_for(Open)

    def wait_for(self, kind: type[Any]) -> Any:
        """Return the next performative of a kind; what came before it is dropped."""
        while True:
            for one in self._frames():
                if isinstance(one.performative, kind):
                    self.payload = one.payload
                    return one.performative
            self._octets += self.socket.recv(WITHIN_S)

    def _frames(self) -> Iterator[Frame]:
        if not self._has_header and len(self._octets) >= len(AMQP_HEADER):
            assert self._octets.startswith(AMQP_HEADER)
            self._octets, self._has_header = self._octets[len(AMQP_HEADER) :], True
        while self._has_header and len(self._octets) >= 4:
            size = int.from_bytes(self._octets[:4], "big")
            if len(self._octets) < size:
                return
            octets, self._octets = self._octets[:size], self._octets[size:]
            yield parsed(octets)


def exchange(client: WebClient, address: str) -> None:
    """Send a message through the router to ourselves."""
    client.send(Begin(next_outgoing_id=0, incoming_window=100, outgoing_window=100))
    client.send(Attach(name="in", handle=0, role=True, source=Source(address=address), target=Target()))
    client.send(Flow(next_incoming_id=0, incoming_window=100, next_outgoing_id=0, outgoing_window=100, handle=0,
                     delivery_count=0, link_credit=10))
    client.send(
        Attach(name="out", handle=1, role=False, source=Source(), target=Target(address=address),
               initial_delivery_count=0)
    )
    while client.wait_for(Flow).handle != 1:
        pass
    message = Message(body=AmqpValue("over WebSocket")).encode()
    client.send(Transfer(handle=1, delivery_id=0, delivery_tag=b"1", settled=True), payload=message)
    client.wait_for(Transfer)
    assert Message.decode(client.payload).body == AmqpValue("over WebSocket")
