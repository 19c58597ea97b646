"""The client's end of a WebSocket, as routerbench has it, against a peer that is scripted frame by frame."""

import re
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from routerd.cli.load.websocket import WebSocketSocket
from routerd.io import WebSocketHead, WebSocketOpcode, websocket_frame, websocket_proof

ROOM = 1 << 18
SWITCHED = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: {}\r\n\r\n"


class Peer:
    """The server's end."""

    def __init__(self) -> None:
        self.ours, self.theirs = socket.socketpair()

    def answer(self, answer: Callable[[str], bytes]) -> WebSocketSocket:
        """Answer the request for a WebSocket by its key, and return the client's end."""

        def answered() -> None:
            key = re.search(rb"Sec-WebSocket-Key: (\S+)", self.ours.recv(ROOM))
            assert key is not None
            self.ours.sendall(answer(key[1].decode()))

        thread = threading.Thread(target=answered)
        thread.start()
        try:
            return WebSocketSocket(self.theirs, "localhost")
        finally:
            thread.join()

    def frames(self) -> list[tuple[int, bytes]]:
        """Return opcodes and contents of what has come from the client."""
        octets, head, at, found = self.ours.recv(ROOM), WebSocketHead(), 0, []
        while at < len(octets):
            at = head.read(octets, at, len(octets))
            masked = octets[at : at + head.size]
            found.append((head.opcode, bytes(octet ^ head.key[place % 4] for place, octet in enumerate(masked))))
            at += head.size
        return found


@pytest.fixture
def peer() -> Iterator[Peer]:
    found = Peer()
    yield found
    found.ours.close()
    found.theirs.close()


def switched(key: str) -> bytes:
    return SWITCHED.format(websocket_proof(key)).encode()


def received(end: WebSocketSocket) -> bytes:
    buffer = bytearray(ROOM)
    return bytes(buffer[: end.recv_into(buffer)])


def test_what_came_with_the_handshake_and_what_is_cut_anywhere_arrives(peer: Peer) -> None:
    message = websocket_frame(WebSocketOpcode.BINARY, b"second")
    end = peer.answer(lambda key: switched(key) + websocket_frame(WebSocketOpcode.BINARY, b"first") + message[:1])
    assert received(end) == b"first"
    peer.ours.sendall(message[1:4])
    assert received(end) == b"se"
    peer.ours.sendall(message[4:])
    assert received(end) == b"cond"


def test_a_ping_is_answered_before_the_next_message(peer: Peer) -> None:
    end = peer.answer(switched)
    peer.ours.sendall(websocket_frame(WebSocketOpcode.PING, b"p") + websocket_frame(WebSocketOpcode.BINARY, b"data"))
    assert received(end) == b"data"
    assert end.send(b"reply") == 5
    assert peer.frames() == [(WebSocketOpcode.PONG, b"p"), (WebSocketOpcode.BINARY, b"reply")]


def test_a_ping_alone_is_no_end(peer: Peer) -> None:
    end = peer.answer(switched)
    peer.ours.sendall(websocket_frame(WebSocketOpcode.PING, b""))
    with pytest.raises(BlockingIOError):
        received(end)


def test_a_close_is_the_end(peer: Peer) -> None:
    end = peer.answer(switched)
    peer.ours.sendall(websocket_frame(WebSocketOpcode.CLOSE, b""))
    assert received(end) == b""


def test_what_a_socket_does_not_take_is_sent_with_the_same_octets_later(peer: Peer) -> None:
    end = peer.answer(switched)
    end.setblocking(False)
    data = bytes(4 << 20)
    with pytest.raises(BlockingIOError):
        end.send(data)
    seen = 0
    for _ in range(10_000):
        seen += len(peer.ours.recv(ROOM))
        try:
            assert end.send(data) == len(data)
            break
        except BlockingIOError:
            continue
    peer.ours.setblocking(False)
    while True:
        try:
            seen += len(peer.ours.recv(ROOM))
        except BlockingIOError:
            break
    assert seen == len(websocket_frame(WebSocketOpcode.BINARY, data, b"mask"))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", "refuses a WebSocket: HTTP/1.1 403 Forbidden"),
        (SWITCHED.format("wrong").encode(), "has not read the key"),
        (bytes(20_000), "does not answer"),
    ],
)
def test_a_peer_that_begins_no_websocket_is_told(peer: Peer, answer: bytes, reason: str) -> None:
    with pytest.raises(OSError, match=reason):
        peer.answer(lambda _: answer)
