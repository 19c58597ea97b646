"""What waits for the peer's window."""

from routerd.wire.backlog import Backlog, BacklogEntry
from routerd.wire.delivery import Delivery
from tests.unit.wire.attached import attached


def deliveries():
    """Two deliveries of one link, and one of another."""
    first = attached("first", credit=2)
    second = attached("second", pair=first.pair, session=first.sender.session, credit=1)
    return first.sender.begin(), Delivery(), second.sender.begin()


def backlog_of(*entries):
    backlog = Backlog()
    for delivery, octets, more in entries:
        backlog.add(delivery, octets, more)
    return backlog


def test_what_is_added_waits_in_its_order():
    one, _, other = deliveries()
    backlog = backlog_of((one, b"a", True), (other, b"b", False), (one, b"c", False))
    assert list(backlog.entries) == [
        BacklogEntry(one, b"a", 0, True),
        BacklogEntry(other, b"b", 0, False),
        BacklogEntry(one, b"c", 0, False),
    ]


def test_the_octets_that_wait_are_those_not_sent_yet():
    one, _, other = deliveries()
    backlog = backlog_of((one, b"12345", True), (other, b"67", False))
    assert backlog.octets == 7
    backlog.entries[0].start = 4
    assert backlog.octets == 3
    assert Backlog().octets == 0


def test_a_delivery_is_dropped_with_all_its_octets():
    one, _, other = deliveries()
    backlog = backlog_of((one, b"a", True), (other, b"b", False), (one, b"c", False))
    backlog.drop_delivery(one)
    assert [entry.octets for entry in backlog.entries] == [b"b"]


def test_a_link_is_dropped_with_all_its_deliveries():
    one, later, other = deliveries()
    later.link = one.link
    backlog = backlog_of((one, b"a", False), (other, b"b", False), (later, b"c", False))
    backlog.drop_link(one.link)
    assert [entry.octets for entry in backlog.entries] == [b"b"]
    backlog.drop_link(other.link)
    assert backlog.octets == 0
