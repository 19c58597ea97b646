"""Large messages of several links that share a session: none stops another for ever, and what waits is bounded."""

import pytest

from routerd.wire import ACCEPTED, RELEASED
from tests.routers import Workers, message, outcome

FIRST = message(b"x" * 100)
WINDOW = 2048
"""Frames that a session takes unless it is told otherwise."""
MEBIOCTET = bytes(1 << 20)
UNHELD_MAX = 4 << 20


class Sharing:
    """A producer's links for some addresses in one session, and a consumer of each address."""

    def __init__(self, *addresses, credit=9):
        self.workers = Workers()
        self.producer = self.workers.client()
        self.links = [self.producer.producer(address) for address in addresses]
        self.consumers = [self.workers.client() for _ in dict.fromkeys(addresses)]
        self.receivers = [
            consumer.consumer(address, credit=credit)
            for consumer, address in zip(self.consumers, dict.fromkeys(addresses), strict=True)
        ]
        self.session = self.links[0].session
        self.producer.peer.unheld_max = UNHELD_MAX

    def begin(self, link, **options):
        return self.producer.stream(self.links[link], FIRST, ends=False, **options)

    def go_on(self, delivery, *, times=1, part=b"x", ends=False):
        for turn in range(times):
            self.producer.go_on(delivery, part, more=not ends or turn < times - 1)

    def grant(self, consumer, credit):
        self.receivers[consumer].grant(credit)
        self.workers.pump()

    def settle(self, consumer):
        for delivery in self.consumers[consumer].unsettled.get(self.receivers[consumer].name, ()):
            delivery.accept()
        self.workers.pump()

    def received(self, consumer=0):
        return [len(octets) for octets in self.consumers[consumer].received(self.receivers[consumer])]

    @property
    def unheld(self):
        return self.producer.peer.unheld_octets

    def check_nothing_is_kept(self):
        assert (self.unheld, self.producer.line.server.sessions()[0].withheld) == (0, 0)


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("address", ["orders", "multicast/a"])
def test_messages_that_come_in_turn_for_one_consumer_all_arrive(address, settled):
    sharing = Sharing(address, address, address)
    deliveries = [sharing.begin(link, settled=settled) for link in range(3)]
    for _ in range(WINDOW):
        for delivery in deliveries:
            sharing.go_on(delivery)
    for delivery in deliveries:
        sharing.go_on(delivery, ends=True)
    assert sharing.received() == 3 * [len(FIRST) + WINDOW + 1]
    sharing.settle(0)
    assert settled or [outcome(delivery) for delivery in deliveries] == 3 * [(ACCEPTED, True)]
    sharing.check_nothing_is_kept()


def test_messages_for_others_pass_one_that_waits():
    sharing = Sharing("orders", "bills", credit=0)
    sharing.go_on(sharing.begin(0), times=2 * WINDOW)
    sharing.grant(1, 1)
    sharing.go_on(sharing.begin(1), times=2 * WINDOW, ends=True)
    assert sharing.received(1) == [len(FIRST) + 2 * WINDOW]


@pytest.mark.parametrize("settled", [False, True])
def test_one_is_given_up_that_would_stop_another_once_too_much_waits(settled):
    sharing = Sharing("orders", "orders", credit=1)
    leaving, waiting = sharing.begin(0), sharing.begin(1, settled=settled)
    sharing.go_on(waiting, part=MEBIOCTET, times=UNHELD_MAX >> 20)
    assert sharing.unheld == UNHELD_MAX
    sharing.go_on(waiting)
    assert settled or outcome(waiting) == (RELEASED, True)
    sharing.go_on(waiting, ends=True)
    sharing.go_on(leaving, ends=True)
    assert sharing.received() == [len(FIRST) + 1]
    sharing.check_nothing_is_kept()


def test_copies_are_given_up_likewise_and_others_get_theirs():
    sharing = Sharing("multicast/a", "multicast/a")
    leaving = sharing.begin(0)
    other = sharing.workers.client()
    theirs = other.consumer("multicast/a", credit=9)
    waiting = sharing.begin(1)
    sharing.go_on(waiting, part=MEBIOCTET, times=(UNHELD_MAX >> 20) - 1)
    assert sharing.unheld > UNHELD_MAX - 2 * len(MEBIOCTET)
    sharing.go_on(waiting, part=MEBIOCTET, times=3, ends=True)
    assert sharing.unheld == 0
    sharing.go_on(leaving, ends=True)
    assert sharing.received() == [len(FIRST) + 1]
    assert [len(octets) for octets in other.received(theirs)] == [len(FIRST) + UNHELD_MAX + 2 * len(MEBIOCTET)]
    other.latest(theirs).accept()
    sharing.workers.pump()
    assert outcome(waiting) == (ACCEPTED, True)
    sharing.check_nothing_is_kept()


def test_one_that_stops_nobody_closes_the_window_once_too_much_waits_and_it_opens_for_the_next():
    sharing = Sharing("orders", "bills", credit=0)
    waiting = sharing.begin(0)
    sharing.go_on(waiting, part=MEBIOCTET, times=UNHELD_MAX >> 20)
    sharing.go_on(waiting, times=WINDOW - 9)
    assert 0 < sharing.session.remote_incoming_window <= 9
    sharing.grant(1, 1)
    passing = sharing.begin(1)
    assert sharing.session.remote_incoming_window > WINDOW // 2
    sharing.go_on(passing, times=2 * WINDOW, ends=True)
    assert sharing.received(1) == [len(FIRST) + 2 * WINDOW]
    sharing.grant(0, 1)
    sharing.go_on(waiting, ends=True)
    assert sharing.received(0) == [len(FIRST) + UNHELD_MAX + WINDOW - 8]
    sharing.check_nothing_is_kept()


@pytest.mark.parametrize("leaves", [False, True])
def test_what_is_counted_goes_with_a_producer_that_aborts_or_leaves(leaves):
    sharing = Sharing("orders", "orders", credit=0)
    waiting = sharing.begin(0)
    sharing.go_on(waiting, times=9)
    assert sharing.unheld == 9
    if leaves:
        sharing.producer.detach(sharing.links[0])
    else:
        sharing.links[0].abort(waiting)
        sharing.workers.pump()
    sharing.check_nothing_is_kept()
