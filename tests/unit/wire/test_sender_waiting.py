"""What a sender keeps for which there is no room in the window, and deliveries that are aborted."""

import pytest

from routerd.wire.errors import StateError
from routerd.wire.outcomes import ACCEPTED
from routerd.wire.performatives import Detach, Disposition, Transfer
from tests.conformance.raw_peer import SessionPeer
from tests.unit.wire.test_sender import SMALL, narrow, payloads, window


def test_what_the_window_has_no_room_for_waits_in_order():
    peer, sender = narrow(credit=4, frames=1)
    data = bytearray(b"second")
    sender.send(b"first")
    sender.send(data)
    data[:] = b"......"
    sender.send(b"third")
    assert (peer.session.has_backlog, payloads(peer)) == (True, [(False, b"first")])
    assert (sender.credit, sender.credit_on_wire(), sender.delivery_count) == (1, 3, 1)
    peer.send(window(1, seen=1))
    assert (peer.session.has_backlog, payloads(peer)) == (True, [(False, b"second")])
    peer.send(window(5, seen=2))
    assert (peer.session.has_backlog, payloads(peer), sender.credit_on_wire()) == (False, [(False, b"third")], 1)


def test_a_message_may_wait_in_the_middle():
    peer = SessionPeer(peers_open=SMALL)
    sender = peer.attached_sender(credit=1)
    peer.send(window(2))
    sender.send(b"m" * 1500)
    first = payloads(peer)
    peer.send(window(50, seen=2))
    rest = payloads(peer)
    assert [more for more, _ in first + rest] == [True, True, True, False]
    assert b"".join(payload for _, payload in first + rest) == b"m" * 1500


def test_settling_what_waits_sends_it_settled():
    peer, sender = narrow(credit=2, frames=1)
    sender.send(b"first")
    waiting = sender.send(b"second")
    waiting.settle()
    peer.sent()
    peer.send(window(5, seen=1))
    assert [(each.delivery_id, each.settled) for each in peer.sent()] == [(1, True)]
    assert peer.session.outgoing.count == 1


def test_settling_at_the_end_waits_for_the_last_of_it_to_leave():
    peer, sender = narrow(credit=2, frames=1)
    delivery = sender.begin()
    sender.write(delivery, b"one", 0, 3, True)
    delivery.settle_at_end()
    sender.write(delivery, b"two", 0, 3, False)
    assert [(type(each), each.more) for each in peer.sent()] == [(Transfer, True)]
    assert (delivery.settled, peer.session.outgoing.count) == (False, 1)
    peer.send(window(5, seen=1))
    transfer, disposition = peer.sent()
    assert (transfer.more, type(disposition), disposition.first, disposition.settled) == (False, Disposition, 0, True)
    assert (delivery.settled, peer.session.outgoing.count) == (True, 0)


def test_settling_at_the_end_is_settling_where_all_of_it_has_left_or_none():
    peer, sender = narrow(credit=2, frames=1)
    whole, waiting = sender.send(b"first"), sender.send(b"second")
    peer.sent()
    whole.settle_at_end()
    waiting.settle_at_end()
    assert [(each.first, each.settled) for each in peer.sent()] == [(0, True)]
    peer.send(window(5, seen=1))
    assert [(each.delivery_id, each.settled) for each in peer.sent()] == [(1, True)]


def test_settling_at_the_end_says_nothing_of_what_is_aborted_or_settled_by_the_peer():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=2)
    for number, settles in ((0, False), (1, True)):
        delivery = sender.begin()
        sender.write(delivery, b"m", 0, 1, True)
        delivery.settle_at_end()
        peer.sent()
        if settles:
            peer.send(Disposition(role=True, first=number, settled=True, state=ACCEPTED))
            sender.write(delivery, b"m", 0, 1, False)
        else:
            sender.abort(delivery)
        assert [(type(each), each.more) for each in peer.sent()] == [(Transfer, False)]
        assert peer.session.outgoing.count == 0


def test_credit_counts_what_waits_as_used():
    peer, sender = narrow(credit=3, frames=0)
    sender.send(b"m")
    sender.send(b"m")
    assert sender.credit == 1
    peer.send(window(0, handle=0, delivery_count=0, link_credit=10))
    assert sender.credit == 8
    peer.send(window(0, handle=0, delivery_count=0, link_credit=1))
    assert sender.credit == 0


def test_what_waits_is_lost_with_the_link_and_known_as_never_sent():
    peer, sender = narrow(credit=3, frames=1)
    started, waiting = sender.send(b"first"), sender.send(b"second")
    peer.send(Detach(handle=0))
    assert (list(sender.suspended.values()), waiting.is_queued, started.is_queued) == ([started], True, False)
    assert (peer.session.has_backlog, sender.credit_on_wire()) == (False, sender.credit)


# Aborting


def test_an_abort_before_anything_was_sent_gives_the_credit_back():
    peer, sender = narrow(credit=2, frames=0)
    delivery = sender.begin()
    sender.write(delivery, b"m", 0, 1, True)
    sender.abort(delivery)
    assert (delivery.is_aborted, delivery.settled, delivery.is_partial, delivery.is_queued) == (
        True,
        True,
        False,
        False,
    )
    assert (sender.credit, sender.credit_on_wire(), peer.session.has_backlog) == (2, 2, False)
    peer.send(window(5))
    assert peer.sent() == []
    with pytest.raises(StateError, match="is settled already"):
        delivery.settle()


@pytest.mark.parametrize(("granted", "expected"), [(0, 0), (1, 1), (2, 2)])
def test_an_abort_gives_no_credit_back_that_was_taken_back(granted, expected):
    peer, sender = narrow(credit=2, frames=5)
    delivery = sender.begin()
    peer.send(peer.credit(granted))
    assert (sender.credit, sender.credit_on_wire()) == (max(0, granted - 1), max(1, granted))
    sender.abort(delivery)
    assert (sender.credit, sender.credit_on_wire()) == (expected, expected)


def test_an_abort_is_sent_behind_what_was_sent():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=2)
    delivery = sender.begin()
    sender.write(delivery, b"m", 0, 1, True)
    sender.abort(delivery)
    assert [(each.more, each.aborted) for each in peer.sent()] == [(True, False), (False, True)]
    assert (sender.credit, peer.session.outgoing.count) == (1, 0)
    sender.send(b"next")


def test_an_abort_waits_for_the_window():
    peer, sender = narrow(credit=3, frames=1)
    delivery = sender.begin()
    sender.write(delivery, b"one", 0, 3, True)
    sender.write(delivery, b"two", 0, 3, True)
    sender.abort(delivery)
    sender.send(b"next")
    assert [each.aborted for each in peer.sent()] == [False]
    peer.send(window(9, seen=1))
    assert [(each.aborted, each.delivery_id) for each in peer.sent()] == [(True, None), (False, 1)]


def test_an_abort_waits_behind_what_waits():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=3)
    other = peer.attached_sender("other", credit=3, handle=1)
    peer.send(window(1))
    delivery = sender.begin()
    sender.write(delivery, b"one", 0, 3, True)
    other.send(b"other")
    sender.abort(delivery)
    peer.sent()
    peer.send(window(9, seen=1))
    assert [(each.handle, each.aborted) for each in peer.sent()] == [(other.handle, False), (sender.handle, True)]
