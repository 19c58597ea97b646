"""Plain links and their connection against a scripted peer."""

from collections.abc import Callable
from typing import Any

import pytest
from client.tests.joined import Joined
from routerd.wire.sasl import AnonymousServer, PlainServer, SaslServer

from mobula_client.engine import (
    ACCEPTED,
    AnonymousClient,
    Attach,
    Connection,
    ConnectionConfig,
    Error,
    Handler,
    LinkState,
    PlainClient,
    SaslClient,
    Source,
    Symbol,
    Target,
)
from mobula_client.errors import (
    AuthenticationFailed,
    ClientClosed,
    ClientError,
    LinkEnded,
    LinkStolen,
    MessageTooLarge,
    OutcomeUnknown,
    PeerClosed,
)
from mobula_client.links import Incoming, Outgoing, ReceivingLink, SendingLink


class Peer(Handler):
    """A router that does what it is told."""

    def __init__(self, *, credit: int = 10, sasl: SaslServer | None = None, limit: int = 0) -> None:
        self.credit, self.limit = credit, limit
        self.links: list[Any] = []
        self.deliveries: list[Any] = []
        self.refusal: Error | None = None
        self.session: Any = None
        self.connection = Connection(
            ConnectionConfig(container_id="router", idle_timeout_s=0.0),
            self,
            is_client=False,
            sasl=sasl or SaslServer([AnonymousServer()]),
        )

    @property
    def link(self) -> Any:
        """The newest link."""
        return self.links[-1]

    def on_opened(self, connection: Connection, performative: Any) -> None:
        connection.open()

    def on_session_begun(self, session: Any, performative: Any) -> None:
        self.session = session
        session.begin()

    def on_link_attached(self, link: Any, performative: Attach) -> None:
        if link.state is LinkState.ATTACHED:
            # It is ours, and was answered.
            return
        if self.refusal is not None:
            link.refuse(self.refusal)
            return
        self.links.append(link)
        link.attach(source=performative.source, target=performative.target, max_message_size=self.limit)
        if not link.is_sender:
            link.grant(self.credit)

    def on_transfer(self, receiver: Any, delivery: Any, data: bytes | bytearray, start: int, end: int) -> None:
        self.deliveries.append(delivery)


def wait_s(failures: int) -> float:
    return float(failures)


def a_sender(**options: Any) -> SendingLink:
    return SendingLink("out", wait_s, target=Target(address="a"), **options)


def a_receiver(**options: Any) -> ReceivingLink:
    return ReceivingLink("in", wait_s, **{"source": Source(address="a"), "window": 10} | options)


def submit(link: SendingLink, octets: bytes = b"one", **options: Any) -> list[ClientError | None]:
    told: list[ClientError | None] = []
    link.submit(Outgoing(octets, link.new_tag(), told.append, **options))
    return told


def error(condition: str) -> Error:
    return Error(condition=Symbol(condition), description="why")


@pytest.mark.parametrize(
    "condition", [None, "amqp:link:detach-forced", "amqp:resource-limit-exceeded", "qd:routed-link-lost"]
)
def test_a_link_that_is_detached_for_a_passing_reason_attaches_again_later(condition: str | None) -> None:
    link, peer = a_sender(), Peer()
    joined = Joined(peer, link)
    for _ in range(2):
        told = submit(link)
        joined.pump()
        peer.link.detach(closed=False, error=condition and error(condition))
        joined.pump()
        assert (link.is_ready, told, link.end) == (False, [], None)
        assert joined.endpoint.next_deadline() == joined.now + 1.0
        joined.wait(1.0)
        assert link.is_ready
    peer.deliveries[-1].accept()
    joined.pump()
    assert told == [None]


def test_an_address_that_was_there_before_is_looked_for_again() -> None:
    """Its container may be on its way back; one that never was there is no passing trouble."""
    link, peer = a_sender(), Peer()
    joined = Joined(peer, link)
    peer.link.detach(error=error("qd:routed-link-lost"))
    peer.refusal = error("qd:no-route-to-dest")
    joined.pump()
    joined.wait(1.0)
    assert (link.is_ready, link.end) == (False, None)
    peer.refusal = None
    joined.wait(2.0)
    assert link.is_ready
    peer = Peer()
    peer.refusal = error("qd:no-route-to-dest")
    stranger = a_sender()
    Joined(peer, stranger)
    assert isinstance(stranger.end, LinkEnded)


def test_waits_grow_while_a_link_is_refused() -> None:
    link, peer = a_sender(), Peer()
    peer.refusal = error("amqp:resource-limit-exceeded")
    joined = Joined(peer, link)
    for seconds in (1.0, 2.0, 3.0):
        assert joined.endpoint.next_deadline() == joined.now + seconds
        joined.wait(seconds)
    peer.refusal = None
    joined.wait(4.0)
    assert link.is_ready


@pytest.mark.parametrize(
    ("condition", "kind"), [("amqp:not-found", LinkEnded), ("amqp:link:stolen", LinkStolen)]
)
def test_a_link_that_is_refused_for_good_tells_everybody(condition: str, kind: type[ClientError]) -> None:
    link, peer = a_sender(), Peer()
    told = submit(link)
    peer.refusal = error(condition)
    Joined(peer, link)
    assert type(link.end) is kind
    assert told == [link.end]
    assert submit(link) == [link.end]


def test_what_has_no_outcome_is_sent_again_before_what_waits() -> None:
    link, peer = a_sender(), Peer(credit=2)
    joined = Joined(peer, link)
    told = [submit(link, octets) for octets in (b"1", b"2", b"3", b"4")]
    joined.pump()
    peer.deliveries[1].accept()
    joined.pump()
    joined.cut()
    assert told == [[], [None], [], []]
    again = Peer()
    joined = Joined(again, link)
    assert [delivery.size for delivery in again.deliveries] == [1, 1, 1]
    for delivery in again.deliveries:
        delivery.accept()
    joined.pump()
    assert told == [[None]] * 4


def test_at_most_once_does_not_send_again() -> None:
    link, peer = a_sender(resends=False), Peer(credit=1)
    joined = Joined(peer, link)
    sent, waiting = submit(link), submit(link)
    joined.pump()
    joined.cut()
    assert isinstance(sent[0], OutcomeUnknown)
    assert waiting == []
    again = Peer()
    joined = Joined(again, link)
    assert len(again.deliveries) == 1


def test_a_settled_message_is_over_when_it_is_sent() -> None:
    link, peer = a_sender(), Peer()
    joined = Joined(peer, link)
    assert submit(link, settled=True) == [None]
    joined.pump()
    assert peer.deliveries[0].remote_settled
    assert link.is_idle


def test_a_settlement_without_an_outcome_says_so() -> None:
    link, peer = a_sender(), Peer()
    joined = Joined(peer, link)
    told = submit(link)
    joined.pump()
    peer.deliveries[0].settle()
    joined.pump()
    assert isinstance(told[0], OutcomeUnknown)


def test_a_message_beyond_the_size_of_the_receiver_is_not_sent() -> None:
    link = a_sender()
    joined = Joined(Peer(limit=10), link)
    (told,) = submit(link, b"x" * 11)
    assert isinstance(told, MessageTooLarge)
    submit(link, b"x" * 10)
    joined.pump()
    assert len(joined.peer.deliveries) == 1


def test_messages_wait_while_the_transport_has_no_room() -> None:
    link, peer = a_sender(), Peer()
    joined = Joined(peer, link)
    joined.endpoint.set_blocked(True)
    submit(link)
    joined.pump()
    assert peer.deliveries == []
    joined.endpoint.set_blocked(False)
    joined.pump()
    assert len(peer.deliveries) == 1


def test_a_drain_takes_back_the_credit_that_nobody_uses() -> None:
    link, peer = a_sender(), Peer()
    joined = Joined(peer, link)
    peer.link.set_credit(10, drain=True)
    joined.pump()
    assert peer.link.credit == 0


def given_to(link: ReceivingLink) -> list[Incoming]:
    given: list[Incoming] = []
    link.on_message = given.append
    return given


def test_a_receiver_tops_its_credit_up_at_half_of_the_window() -> None:
    link, peer = a_receiver(window=4), Peer()
    given = given_to(link)
    joined = Joined(peer, link)
    credits = [peer.link.credit]
    for number in range(4):
        peer.link.send(b"message")
        joined.pump()
        given[number].decide(ACCEPTED)
        joined.pump()
        credits.append(peer.link.credit)
    assert credits == [4, 3, 4, 3, 4]


def test_a_message_in_parts_is_handed_over_once_it_is_whole() -> None:
    link, peer = a_receiver(), Peer()
    given = given_to(link)
    joined = Joined(peer, link)
    delivery = peer.link.begin()
    for part, more in ((b"one", True), (b"two", False)):
        assert given == []
        peer.link.write(delivery, part, 0, 3, more)
        joined.pump()
    assert [incoming.octets for incoming in given] == [b"onetwo"]


def test_a_message_that_is_aborted_is_dropped() -> None:
    link, peer = a_receiver(window=1), Peer()
    given = given_to(link)
    joined = Joined(peer, link)
    delivery = peer.link.begin()
    peer.link.write(delivery, b"one", 0, 3, True)
    joined.pump()
    peer.link.abort(delivery)
    joined.pump()
    peer.link.send(b"two")
    joined.pump()
    assert [incoming.octets for incoming in given] == [b"two"]


def test_granted_credit_is_granted_again_to_the_next_attachment() -> None:
    link, peer = a_receiver(window=0), Peer()
    given = given_to(link)
    joined = Joined(peer, link)
    assert peer.link.credit == 0
    link.grant(3)
    joined.pump()
    peer.link.send(b"one")
    joined.pump()
    assert len(given) == 1
    joined.cut()
    again = Peer()
    joined = Joined(again, link)
    assert again.link.credit == 2
    link.drain()
    joined.pump()
    assert again.link.drain


def test_nobody_is_told_of_a_message_from_a_lost_connection() -> None:
    link, peer = a_receiver(), Peer()
    given = given_to(link)
    joined = Joined(peer, link)
    peer.link.send(b"one")
    joined.pump()
    joined.cut()
    assert not given[0].decide(ACCEPTED)
    assert link.in_hands == 0


def test_what_waits_here_when_the_connection_is_lost_is_left_to_come_again_unless_it_is_settled() -> None:
    link, peer = a_receiver(), Peer()
    given = given_to(link)
    joined = Joined(peer, link)
    peer.link.send(b"one")
    peer.link.send(b"two", settled=True)
    joined.pump()
    joined.cut()
    assert [link.taken(incoming) for incoming in given] == [False, True]
    assert [incoming.is_decided for incoming in given] == [True, False]
    assert given[1].decide(ACCEPTED)
    assert link.in_hands == 0


def test_a_link_that_is_closed_while_there_is_no_connection_is_over() -> None:
    link, peer = a_sender(), Peer()
    joined = Joined(peer, link)
    joined.cut()
    link.close()
    assert isinstance(link.end, ClientClosed)
    Joined(Peer(), link)
    assert not link.is_ready


def test_a_link_that_is_being_closed_is_over_when_the_connection_is_lost() -> None:
    link, peer = a_sender(), Peer()
    joined = Joined(peer, link)
    link.close()
    assert link.end is None
    joined.cut()
    assert isinstance(link.end, ClientClosed)


def test_links_of_the_peer_are_refused() -> None:
    peer = Peer()
    joined = Joined(peer)
    foreign = peer.session.sender("foreign")
    foreign.attach(source=Source(address="x"), target=Target(address="x"))
    joined.pump()
    assert foreign.is_over


def close_connection(peer: Peer) -> None:
    peer.connection.close(error("amqp:connection:forced"))


def end_session(peer: Peer) -> None:
    peer.session.end(error("amqp:internal-error"))


@pytest.mark.parametrize(
    ("end", "condition"), [(close_connection, "amqp:connection:forced"), (end_session, "amqp:internal-error")]
)
def test_the_reason_of_the_end_is_told_and_links_wait_for_the_next_connection(
    end: Callable[[Peer], None], condition: str
) -> None:
    link, peer = a_sender(), Peer()
    joined = Joined(peer, link)
    end(peer)
    joined.pump()
    (reason,) = joined.reasons
    assert isinstance(reason, PeerClosed)
    assert (reason.condition, link.end, link.is_ready) == (condition, None, False)
    Joined(Peer(), link)
    assert link.is_ready


def test_octets_that_are_no_amqp_end_the_connection() -> None:
    joined = Joined(Peer(), a_sender())
    joined.endpoint.receive(b"\0\0\0\x08\2\7\0\0", joined.now)
    joined.endpoint.transport_closed(None)
    (reason,) = joined.reasons
    assert isinstance(reason, PeerClosed)
    assert reason.condition == "amqp:connection:framing-error"


def test_a_refused_login_is_an_authentication_that_failed() -> None:
    peer = Peer(sasl=SaslServer([PlainServer(lambda name, password: False)]))
    joined = Joined(peer, sasl=SaslClient([PlainClient("alice", "secret")]))
    (reason,) = joined.reasons
    assert isinstance(reason, AuthenticationFailed)
    assert "auth" in str(reason)


def test_mechanisms_that_do_not_match_are_an_authentication_that_failed() -> None:
    peer = Peer(sasl=SaslServer([PlainServer(lambda name, password: False)]))
    joined = Joined(peer, sasl=SaslClient([AnonymousClient()]))
    (reason,) = joined.reasons
    assert isinstance(reason, AuthenticationFailed)
    assert "the server offers PLAIN" in str(reason)


def test_heartbeats_are_sent_and_their_absence_ends_the_connection() -> None:
    peer = Peer()
    joined = Joined(peer, idle_timeout_s=10.0)
    assert joined.endpoint.next_deadline() == 10.0
    joined.now = 10.0
    joined.endpoint.tick(joined.now)
    joined.endpoint.take_output(joined.now)
    (reason,) = joined.reasons
    assert isinstance(reason, PeerClosed)
    assert "10 s" in str(reason)


def test_closing_in_order_has_no_reason() -> None:
    joined = Joined(Peer(), a_sender())
    joined.endpoint.close()
    joined.pump()
    assert joined.reasons == [None]
