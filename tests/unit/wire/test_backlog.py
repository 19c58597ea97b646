"""What waits for the peer's window."""

from routerd.wire.backlog import Backlog
from routerd.wire.delivery import Delivery
from tests.calls import check_linear
from tests.endpoints import Pair
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
    assert [(entry.delivery, entry.octets, entry.start, entry.more) for entry in backlog] == [
        (one, b"a", 0, True),
        (other, b"b", 0, False),
        (one, b"c", 0, False),
    ]


def test_the_octets_that_wait_are_those_not_sent_yet():
    one, _, other = deliveries()
    backlog = backlog_of((one, b"12345", True), (other, b"67", False))
    assert backlog.octets == 7
    next(iter(backlog)).start = 4
    assert backlog.octets == 3
    assert Backlog().octets == 0


def test_a_delivery_is_dropped_with_all_its_octets():
    one, _, other = deliveries()
    backlog = backlog_of((one, b"a", True), (other, b"b", False), (one, b"c", False))
    backlog.drop_delivery(one)
    assert [entry.octets for entry in backlog] == [b"b"]


def test_a_link_is_dropped_with_all_its_deliveries():
    one, later, other = deliveries()
    later.link = one.link
    backlog = backlog_of((one, b"a", False), (other, b"b", False), (later, b"c", False))
    backlog.drop_link(one.link)
    assert [entry.octets for entry in backlog] == [b"b"]
    backlog.drop_link(other.link)
    assert backlog.octets == 0


def test_what_was_taken_back_is_passed_over():
    one, _, other = deliveries()
    backlog = backlog_of((one, b"a", False), (other, b"b", True))
    backlog.drop_link(one.link)
    entry, delivery = backlog.first()
    assert (len(backlog), delivery, entry.octets, entry.more) == (1, other, b"b", True)
    backlog.drop_first(other.link)
    assert (len(backlog), backlog.first(), list(backlog)) == (0, None, [])


def test_only_what_was_queued_of_the_last_delivery_of_a_link_is_dropped_with_it():
    one, later, _ = deliveries()
    later.link = one.link
    backlog = backlog_of((one, b"a", False), (later, b"b", True), (later, b"c", True))
    backlog.drop_delivery(later)
    assert [entry.octets for entry in backlog] == [b"a"]
    backlog.drop_first(one.link)
    backlog.drop_delivery(later)
    assert len(backlog) == 0


def test_links_that_end_cost_what_they_have_queued():
    def ending(count):
        pair = Pair().open()
        session = pair.session()
        backlog = Backlog()
        links = []
        for number in range(count):
            delivery = Delivery()
            delivery.link = session.sender(str(number))
            links.append(delivery.link)
            backlog.add(delivery, b"x", False)

        def work():
            for link in reversed(links):
                backlog.drop_link(link)
            assert len(backlog) == 0

        return work

    check_linear(ending, 100)
