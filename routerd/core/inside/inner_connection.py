"""A connection of the router to itself: two connections of the engine, which carry their octets to each other."""

from typing import TYPE_CHECKING

from routerd.wire import ConnectionConfig
from routerd.wire.connection import Connection
from routerd.wire.handler import Handler

if TYPE_CHECKING:
    from routerd.core.links.peer import Peer
    from routerd.core.router import Router


class InnerConnection(Handler):
    """Gets the events of the far end. It is its own transport: the shell calls `flush` when either end has output."""

    host = "inside the router"

    def __init__(
        self, router: "Router", peer: "Peer", container_id: str, now: float, *, frame_size: int, window: int
    ) -> None:
        """`frame_size` and `window` together bound the data under way between the two ends."""
        self.peer = peer
        self._router = router
        config = ConnectionConfig(container_id=container_id, max_frame_size=frame_size, incoming_window=window)
        self._near = Connection(config, router, is_client=False)
        self._far = Connection(config, self, is_client=True)
        peer.connection = self._near
        peer.shell = self
        self._near.context = peer
        self._near.start(now)
        self._far.start(now)
        self._far.open()

    def flush(self, now: float) -> None:
        """Carry the output of either end to the other, once; answers go with the next flush."""
        self.carry(now)

    def carry(self, now: float) -> bool:
        """Do the same as a turn by itself; return whether there was output."""
        had_output = self.carry_down(now)
        return self.carry_up(now) or had_output

    def carry_down(self, now: float) -> bool:
        """Carry the router's output to the far end; return whether there was any."""
        down = self._near.data_to_send(now)
        if not down:
            return False
        self._far.receive_data(down, now)
        self._near.written(down)
        if self.peer.is_full:
            self._router.written(self.peer)
        return True

    def carry_up(self, now: float) -> bool:
        """Carry the far end's output to the router; return whether there was any."""
        up = self._far.data_to_send(now)
        if up:
            self._router.set_clock(now)
            self._near.receive_data(up, now)
            self._far.written(up)
        if self._near.is_finished and self._far.is_finished:
            self.abort()
        return bool(up)

    def abort(self) -> None:
        """End the connection at once."""
        self._far.transport_closed()
        self._near.transport_closed()

    def on_output(self, connection: Connection) -> None:
        """Have the shell flush this connection too."""
        self._router.on_output(self._near)
