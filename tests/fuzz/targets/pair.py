"""Two engines joined: whatever their applications do, and however the octets are cut, neither is to see a violation."""

from typing import Any

from routerd.wire.connection import Connection
from routerd.wire.connection_config import ConnectionConfig
from routerd.wire.errors import SessionLimitExceeded
from routerd.wire.receiver import Receiver
from routerd.wire.session import Session
from routerd.wire.states import ConnectionState, SessionState
from tests.fuzz.application import Application
from tests.fuzz.broken import check
from tests.fuzz.choices import Choices
from tests.fuzz.narration import narrate, narrate_octets
from tests.fuzz.witness import Witness

CLIENTS = (
    ConnectionConfig(container_id="client"),
    ConnectionConfig(container_id="client", max_frame_size=512, incoming_window=2),
    ConnectionConfig(container_id="client", send_frame_size=600, incoming_window=1),
)
SERVERS = (
    ConnectionConfig(container_id="server"),
    ConnectionConfig(container_id="server", max_frame_size=512, incoming_window=3),
    ConnectionConfig(container_id="server", send_frame_size=512, incoming_window=1),
)
MOST_STEPS = 150
MOST_ROUNDS = 200


class Partner(Application):
    """An application that knows what its partner at the other end has sent."""

    partner: "Partner"

    def on_message(self, receiver: Receiver, tag: bytes, body: bytes) -> None:
        """Check that the message is the one that was sent."""
        known = self.partner.sent.get((receiver.name, tag), [])
        check(body in known, f"{body!r} on {receiver.name!r} with tag {tag!r}, for which {known} was sent")


class End:
    """One end: engine, application, witness, and what it has written and the other not yet received."""

    def __init__(self, config: ConnectionConfig, choices: Choices, *, is_client: bool, errs: bool) -> None:
        self.application = Partner(choices, errs=errs)
        self.connection = Connection(config, self.application, is_client=is_client)
        self.application.connection = self.connection
        self.witness = Witness(is_client=is_client)
        self.way = bytearray()
        self.connection.start(0.0)

    def write(self) -> None:
        """Take what the engine has to write."""
        data = self.connection.data_to_send(0.0)
        check(self.application.is_told_of_output or not data, "output of which the application was not told")
        self.application.is_told_of_output = False
        if self.connection.remote_open is not None:
            self.witness.frame_size = max(self.connection.remote_open.max_frame_size, 512)
        narrate_octets("client ->" if self.connection.is_client else "server ->", bytes(data))
        self.witness.see(data)
        self.way += data

    def deliver(self, other: "End", size: int) -> None:
        """Let the other end receive some of what is on its way."""
        self.write()
        data = bytes(self.way[:size])
        del self.way[:size]
        narrate("   received are", len(data))
        other.connection.receive_data(data, 0.0)


def run(data: bytes) -> None:
    """Play two applications against each other."""
    choices = Choices(data)
    options = choices.octet()
    errs = options & 0x40 == 0
    client = End(CLIENTS[(options & 3) % 3], Choices(data, backwards=True), is_client=True, errs=errs)
    server = End(
        SERVERS[(options >> 2 & 3) % 3], Choices(data[: len(data) * 2 // 3], backwards=True), is_client=False, errs=errs
    )
    client.application.partner, server.application.partner = server.application, client.application
    if options & 0x10:
        _open(client, server)
    for _ in range(MOST_STEPS):
        if not choices.left:
            break
        _step(choices, client, server)
    for end in (client, server):
        end.application.is_passive = True
    _exchange_all(client, server)
    _check_agreement(client, server)
    for end in (client, server):
        end.connection.transport_closed()
        check(end.connection.sessions() == [], "sessions are left")


def _open(client: End, server: End) -> None:
    client.connection.open()
    _exchange_all(client, server)


def _step(choices: Choices, client: End, server: End) -> None:
    kind = choices.octet()
    if kind < 0x60:
        narrate("client:")
        client.application.act(choices)
    elif kind < 0xB0:
        narrate("server:")
        server.application.act(choices)
    elif kind < 0xF0:
        size = choices.one_of((1 << 20, 1 << 20, 1, 7, 40, 300))
        writer, reader = (client, server) if kind & 1 else (server, client)
        writer.deliver(reader, size)
    else:
        _exchange_all(client, server)


def _exchange_all(client: End, server: End) -> None:
    for _ in range(MOST_ROUNDS):
        client.deliver(server, 1 << 30)
        server.deliver(client, 1 << 30)
        client.write()
        if not client.way and not server.way:
            break
    else:
        check(False, "the two never come to rest")
    for end in (client, server):
        _check_violations(end)


def _check_violations(end: End) -> None:
    """There are none, but for links that were attached before the other end could tell its handle-max."""
    for error in end.application.violations:
        is_handle_max = isinstance(error, SessionLimitExceeded) or "above handle-max" in str(error)
        check(is_handle_max, f"a violation between two engines: {type(error).__name__} {error}")


def _check_agreement(client: End, server: End) -> None:
    """What both ends count is the same at both, once nothing is on its way."""
    ends = (client.connection, server.connection)
    is_over = [connection.state is ConnectionState.END for connection in ends]
    check(is_over[0] == is_over[1], f"one end is over, the other is not: {[str(end.state) for end in ends]}")
    peers = {session.channel: session for session in server.connection.sessions()}
    for session in client.connection.sessions():
        other = peers.get(session.remote_channel)
        if other is not None and session.state is SessionState.MAPPED:
            check(other.state is SessionState.MAPPED, f"a session is mapped at one end, {other.state} at the other")
            _check_session(session, other)
            _check_session(other, session)


def _check_session(session: Session, other: Session) -> None:
    """Check one direction: what the session sends to the other."""
    check(session.next_outgoing_id == other.next_incoming_id, "transfer-ids differ")
    window, granted = session.remote_incoming_window, other.incoming_window
    check(window == granted, f"a window of {window} for the sender, {granted} for the receiver")
    check(not session.has_backlog or window == 0, f"a backlog while the window is {window}")
    for link in session.links():
        if link.is_sender and link.is_attached:
            twin = next((one for one in other.links() if one.name == link.name and not one.is_sender), None)
            # Of what waits for the window, the credit may have been taken back meanwhile.
            if twin is not None and twin.is_attached and not session.has_backlog:
                _check_link(link, twin)
    sent, received = _unsettled(session.outgoing), _unsettled(other.incoming)
    check(sent == received, f"unsettled are {sorted(sent)} for the sender, {sorted(received)} for the receiver")


def _unsettled(ring: Any) -> set[int]:
    """Return the ids of what is not settled, without what was resumed: the other end may have forgotten that."""
    return {one.id for one in ring.all() if one.link.is_attached and not one.is_resumed}


def _check_link(sender: Any, receiver: Any) -> None:
    check(sender.delivery_count == receiver.delivery_count, "delivery-counts differ")
    credit = sender.credit_on_wire()
    # Credit may be taken back below what the sender has begun by then, and will send.
    taken_back = sender.credit == 0 and receiver.credit < credit
    check(credit == receiver.credit or taken_back, f"a credit of {credit} for the sender, {receiver.credit} granted")
