"""Handlers that act on what they are told while the engine is still telling it."""

import pytest

from routerd.wire import ACCEPTED, Attach, Begin, Detach, Disposition, Session, Source, StateError, Target
from tests.conformance.raw_peer import SessionPeer
from tests.endpoints import Pair, Recorder

SOURCE, TARGET = Source(address="here"), Target(address="there")


class Breaking(Recorder):
    """Takes the transport away as soon as the first session is over."""

    def on_session_ended(self, session, error):
        super().on_session_ended(session, error)
        session.connection.transport_closed()


class SettlingAll(Recorder):
    """Settles every delivery of the session as soon as it hears of one."""

    def on_disposition(self, delivery):
        super().on_disposition(delivery)
        for each in delivery.link.session.outgoing.all():
            each.settle()


def test_sessions_are_told_of_once_though_the_transport_ends_meanwhile():
    handler = Breaking()
    pair = Pair(client_handler=handler).open()
    for _ in range(2):
        pair.client.session().begin()
    pair.settle_down()
    pair.client.transport_closed()
    assert handler.take() == [("session ended", 0, None), ("session ended", 1, None), ("closed", None)]


def test_a_session_that_has_ended_does_not_begin_again():
    pair = Pair().open()
    session: Session = pair.session()
    session.end()
    pair.settle_down()
    with pytest.raises(StateError, match="has ended"):
        session.begin()
    assert pair.client.data_to_send(0.0) == b""


def test_a_range_passes_over_what_the_handler_settles_meanwhile():
    handler = SettlingAll()
    pair = Pair(client_handler=handler).open()
    session = pair.session()
    link = session.sender("l")
    link.attach(source=SOURCE, target=TARGET)
    pair.pump()
    pair.at_server.links["l"].grant(3)
    pair.pump()
    sent = [link.send(b"m") for _ in range(3)]
    pair.settle_down()
    pair.server.send_performative(0, Disposition(role=True, first=0, last=1000, settled=False, state=ACCEPTED))
    pair.pump()
    assert handler.dispositions == [sent[0]]
    assert session.outgoing.count == 0


def test_a_late_answer_finds_the_endpoint_that_gave_up_its_name():
    peer = SessionPeer()
    lost = []
    for name in ("a", "b"):
        link = peer.session.receiver(name)
        link.attach(source=SOURCE, target=TARGET)
        lost.append(link)
        peer.session.attachments.lose(link)
    peer.octets_sent()
    peer.send(Attach(name="b", handle=4, role=False, initial_delivery_count=0, source=SOURCE, target=TARGET))
    assert peer.session.attachments.abandoned == [lost[0]]
    peer.send(Detach(handle=4, closed=True))
    assert peer.octets_sent() == b""
    assert peer.events.violations == []


def test_a_late_close_leaves_an_endpoint_alone_that_has_the_name_by_now():
    peer = SessionPeer()
    link = peer.session.receiver("a")
    link.attach(source=SOURCE, target=TARGET)
    offer = {"name": "a", "role": False, "initial_delivery_count": 0, "source": SOURCE, "target": TARGET}
    peer.send(Attach(handle=0, **offer))
    link.detach(closed=False)
    peer.send(Begin(next_outgoing_id=0, incoming_window=9, outgoing_window=9), Attach(handle=0, **offer), channel=1)
    newer = peer.events.links[-1]
    peer.octets_sent()
    peer.send(Detach(handle=0, closed=True))
    assert (link.is_closed, newer.session.links(), peer.events.violations) == (True, [newer], [])
    assert peer.octets_sent() == b""
