"""WebSocket, version 13, as a filter of a connection.

`filter` is what lies on a connection. `frames` has the heads of frames and the rules about them, `masking` what a peer
puts over its octets.
"""

from routerd.io.websocket.filter import WebSocketFilter
from routerd.io.websocket.frames import FrameHead, Opcode, Violation, frame

__all__ = ["FrameHead", "Opcode", "Violation", "WebSocketFilter", "frame"]
