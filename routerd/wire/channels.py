"""The sessions of a connection by channel: either end begins them, and they are freed when they are over (2.5.1,
2.5.2).

Every frame of an open connection belongs to a session, except for a close. The session is found here, and it is ended
here for a violation of the peer.
"""

from typing import TYPE_CHECKING

from routerd.wire.amqp_error import Error
from routerd.wire.errors import (
    DecodeError,
    FramingError,
    IllegalState,
    InvalidField,
    RemoteError,
    ResourceLimitExceeded,
    SessionError,
    StateError,
)
from routerd.wire.handles import HandleTable
from routerd.wire.performatives import Begin
from routerd.wire.session import Session
from routerd.wire.states import SessionState

if TYPE_CHECKING:
    from routerd.wire.connection import Connection
    from routerd.wire.decoder import Decoder

_OPEN = 0x10
_BEGIN = 0x11
_ATTACH = 0x12
_FLOW = 0x13
_TRANSFER = 0x14
_DISPOSITION = 0x15
_DETACH = 0x16
_END = 0x17
# The cost of a frame that begins or ends a session or a link, in units of `Connection.work`.
_PERFORMATIVE_WORK = 12


class Channels:
    """Our endpoints of a connection's sessions, by our channel and by the peer's."""

    def __init__(self, connection: "Connection") -> None:
        self.connection = connection
        self._local = HandleTable()
        self._remote = HandleTable()
        # The session of the last frame, which is most likely that of the next.
        self._heard: Session | None = None

    def all(self) -> list[Session]:
        """Return the sessions that have a channel on either side."""
        return list(dict.fromkeys([*self._local, *self._remote]))

    def new(self) -> Session:
        """Return a new session on the lowest free channel."""
        channel = self._local.lowest_free()
        # Only channel 0 is certainly allowed before the peer's open has its channel-max (2.4.1).
        highest = 0 if self.connection.remote_open is None else self.connection.channel_max
        if channel > highest:
            raise StateError(f"the connection has channels up to {highest}")
        session = Session(self.connection, channel)
        self._local.put(channel, session)
        return session

    def receive(
        self, decoder: "Decoder", channel: int, code: int, data: bytes | bytearray, body: int, end: int
    ) -> None:
        """Take a frame; its decoder stands behind the descriptor with this code."""
        if code != _TRANSFER and code != _DISPOSITION and code != _FLOW:
            self._receive_performative(channel, code, data, body, end)
            return
        session = self._at(channel)
        if not session.is_receiving:
            return
        try:
            if code == _TRANSFER:
                session.receive_transfer(decoder, data, end)
            elif code == _DISPOSITION:
                session.dispositions.receive(decoder)
            else:
                session.receive_flow(decoder)
        except SessionError as error:
            session.fail(error)

    def remove(self, session: Session) -> None:
        """Free the channels of a session that is over."""
        self._local.remove(session.channel)
        if session.remote_channel >= 0:
            self._remote.remove(session.remote_channel)
            session.remote_channel = -1
            self._heard = None

    def fall_silent(self) -> None:
        """Send nothing more on any session."""
        for session in self.all():
            session.fall_silent()

    def report_all(self, error: Error | None) -> None:
        """Report every session as ended: the connection is over, or we closed it for an error."""
        sessions = self.all()
        for session in sessions:
            session.fall_silent()
        for session in sessions:
            session.report_ended(error)

    def _receive_performative(self, channel: int, code: int, data: bytes | bytearray, body: int, end: int) -> None:
        self.connection.work += _PERFORMATIVE_WORK
        performative = self.connection.decode(data, body, end)
        if code == _BEGIN:
            self._begin(performative, channel)
            return
        session = self._at(channel)
        if code == _END:
            session.receive_end(performative)
        elif code == _OPEN:
            raise IllegalState("a second open")
        elif code != _ATTACH and code != _DETACH:
            raise DecodeError(f"{type(performative).__name__} is not a performative", offset=body)
        elif session.is_receiving:
            try:
                if code == _ATTACH:
                    session.attachments.receive_attach(performative)
                else:
                    session.attachments.receive_detach(performative)
            except SessionError as error:
                session.fail(error)

    def _begin(self, performative: Begin, channel: int) -> None:
        # Completes a session that we began, or creates our endpoint of the peer's session.
        if channel > self.connection.config.channel_max:
            raise self._no_session(channel)
        if self._remote.get(channel) is not None:
            raise IllegalState(f"a begin on channel {channel}, which has a session")
        if performative.remote_channel is not None:
            session: Session | None = self._local.get(performative.remote_channel)
            if session is None or session.state is not SessionState.BEGIN_SENT:
                raise InvalidField(f"remote-channel {performative.remote_channel} is not one that we began")
        elif self._local.lowest_free() > self.connection.channel_max:
            raise ResourceLimitExceeded(f"the connection has channels up to {self.connection.channel_max}")
        else:
            session = self.connection.session()
        self._remote.put(channel, session)
        session.receive_begin(performative, channel)

    def _at(self, channel: int) -> Session:
        session = self._heard
        if session is not None and session.remote_channel == channel:
            return session
        found: Session | None = self._remote.get(channel)
        if found is None:
            raise self._no_session(channel)
        self._heard = found
        return found

    def _no_session(self, channel: int) -> RemoteError:
        highest = self.connection.config.channel_max
        if channel > highest:
            return FramingError(f"channel {channel} is above channel-max {highest}")
        return IllegalState(f"a frame on channel {channel}, which has no session")
