"""Exchanges: where messages go by their subjects, what becomes of them, and changes while messages are under way."""

from typing import Any

import pytest

from routerd.core import AddressSettings, Distribution, Exchanges, MatchMethod
from routerd.core.inside.exchange import KNOWN_MAX, SUBJECT_MAX
from routerd.core.inside.exchange_loop import CAPACITY, SUBJECT_WITHIN
from routerd.wire import ACCEPTED, RELEASED, Error, Message, Modified, Properties, Rejected, Source, Symbol, Target
from tests.routers import Workers, message, message_to
from tests.unit.core.exchanges import Exchanging, about, subject_of

NO = Rejected(error=Error(condition="amqp:decode-error"))
FALLBACK = (Symbol("qd.fallback"),)
MAYBE_SEEN = Modified(delivery_failed=True)


def outcome(delivery: Any) -> Any:
    """What has become of a message; None as long as its producer does not know."""
    return delivery.remote_state if delivery.remote_settled else None


@pytest.fixture(params=[1, 2], ids=["one worker", "two workers"])
def exchanging(request: Any) -> Exchanging:
    return Exchanging(Workers(request.param))


def producer(exchanging: Exchanging, address: str = "topic", **options: Any) -> tuple[Any, Any]:
    """A client of the last worker, with a link for the exchange."""
    client = exchanging.workers.client(exchanging.workers.last)
    return client, client.producer(address, **options)


def consumer(exchanging: Exchanging, address: str, credit: int = 10, **options: Any) -> tuple[Any, Any]:
    """A client of the last worker that takes what comes to an address."""
    client = exchanging.workers.client(exchanging.workers.last)
    return client, client.consumer(address, credit=credit, **options)


def settle(exchanging: Exchanging, client: Any, link: Any, state: Any) -> None:
    """Settle the oldest message that a client has."""
    delivery = client.unsettled[link.name].pop(0)
    delivery.update(state, True)
    exchanging.pump()


class TestWhere:
    def test_a_message_goes_to_each_next_hop_once(self, exchanging):
        exchanging.add()
        for key, hop in (("a.*", "x"), ("a.#", "x"), ("*.b", "y"), ("c", "z")):
            exchanging.bind(key, hop)
        takers = {hop: consumer(exchanging, hop) for hop in "xyz"}
        client, link = producer(exchanging)
        client.send(link, about("a.b", "one"))
        client.send(link, about("c", "two"))
        received = {hop: taker.received(end) for hop, (taker, end) in takers.items()}
        assert received == {"x": [about("a.b", "one")], "y": [about("a.b", "one")], "z": [about("c", "two")]}
        assert exchanging.counts() == (2, 0, 2, 0)
        assert [one.matched for one in exchanging.exchange().bindings.values()] == [1, 1, 1, 1]

    def test_the_keys_of_mqtt_have_slashes(self, exchanging):
        exchanging.add(method=MatchMethod.MQTT)
        exchanging.bind("a/+", "x")
        taker, end = consumer(exchanging, "x")
        client, link = producer(exchanging)
        client.send(link, about("a/b"))
        client.send(link, about("a.b"))
        assert [subject_of(one) for one in taker.received(end)] == ["a/b"]

    def test_a_message_without_subject_matches_nothing(self, exchanging):
        exchanging.add()
        exchanging.bind("#", "x")
        consumer(exchanging, "x")
        client, link = producer(exchanging)
        for octets in (message(), about(None), message(properties=Properties(to="elsewhere"))):
            assert outcome(client.send(link, octets)) == RELEASED
        assert exchanging.counts() == (3, 3, 0, 0)

    def test_a_message_that_cannot_be_read_matches_nothing(self, exchanging):
        exchanging.add()
        exchanging.bind("#", "x")
        consumer(exchanging, "x")
        client, link = producer(exchanging)
        assert outcome(client.send(link, b"\x00\x53\x73\xc0\x09\x04\x40\x40\x40\x54\x01")) == RELEASED

    def test_a_fallback_destination_gets_nothing_that_the_exchange_has_taken(self):
        settings = AddressSettings(pattern="topic", has_fallback=True)
        exchanging = Exchanging(Workers(1, addresses=(settings,)))
        exchanging.add()
        exchanging.bind("a", "x")
        taker, end = consumer(exchanging, "topic", source=Source(address="topic", capabilities=FALLBACK))
        client, link = producer(exchanging)
        assert outcome(client.send(link, about("b"))) == RELEASED
        assert taker.received(end) == []

    def test_what_nobody_takes_goes_to_the_alternate_address(self, exchanging):
        exchanging.add(alternate="rest")
        exchanging.bind("a", "x")
        taker, end = consumer(exchanging, "rest")
        client, link = producer(exchanging)
        client.send(link, about("b", "no key"))
        client.send(link, about("a", "no consumer"))
        client.send(link, message("no subject"))
        assert len(taker.received(end)) == 3
        assert exchanging.counts() == (3, 0, 3, 3)
        assert [one.matched for one in exchanging.exchange().bindings.values()] == [1]

    def test_without_anybody_it_is_released(self, exchanging):
        exchanging.add(alternate="rest")
        exchanging.bind("a", "x")
        client, link = producer(exchanging)
        assert outcome(client.send(link, about("a"))) == RELEASED
        assert exchanging.counts() == (1, 1, 0, 0)

    def test_next_hops_without_a_destination_do_not_count(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        exchanging.bind("#", "nobody")
        taker, end = consumer(exchanging, "x")
        client, link = producer(exchanging)
        delivery = client.send(link, about("a"))
        settle(exchanging, taker, end, ACCEPTED)
        assert outcome(delivery) == ACCEPTED

    def test_a_next_hop_treats_it_as_any_message(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "multicast/x")
        exchanging.bind("a", "balanced")
        many = [consumer(exchanging, "multicast/x") for _ in range(2)]
        few = [consumer(exchanging, "balanced") for _ in range(2)]
        client, link = producer(exchanging)
        for _ in range(2):
            client.send(link, about("a"))
        assert [len(one.received(end)) for one, end in many] == [2, 2]
        assert [len(one.received(end)) for one, end in few] == [1, 1]

    @pytest.mark.parametrize("phase", [0, 1, 9])
    def test_addresses_have_their_phases(self, exchanging, phase):
        exchanging.add(phase=phase, alternate="rest", alternate_phase=9 - phase)
        exchanging.bind("a", "x", phase=phase)
        addresses = exchanging.workers[0].router.addresses
        assert sorted(addresses) == sorted({f"M{phase}topic", f"M{phase}x", f"M{9 - phase}rest"})
        waypoint = Source(address="x", capabilities=(Symbol(f"qd.waypoint.{phase + 1}"),))
        taker, end = consumer(exchanging, None, source=waypoint)
        target = Target(address="topic", capabilities=(Symbol(f"qd.waypoint.{phase}"),))
        client, link = producer(exchanging, None, target=target)
        client.send(link, about("a"))
        assert taker.received(end) == [about("a")]

    def test_a_producer_without_address_sends_to_it(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        taker, end = consumer(exchanging, "x")
        client, link = producer(exchanging, None)
        octets = message_to("topic", "hello")
        assert outcome(client.send(link, octets)) == RELEASED
        octets = message(properties=Properties(to="topic", subject="a"))
        client.send(link, octets)
        assert taker.received(end) == [octets]

    def test_one_exchange_sends_to_another(self, exchanging):
        exchanging.add("first", "one")
        exchanging.add("second", "two")
        exchanging.bind("a.#", "two", "first")
        exchanging.bind("#.b", "x", "second")
        taker, end = consumer(exchanging, "x")
        client, link = producer(exchanging, "one")
        assert outcome(client.send(link, about("a.c"))) == RELEASED
        client.send(link, about("a.b"))
        assert taker.received(end) == [about("a.b")]
        assert (exchanging.counts("first"), exchanging.counts("second")) == ((2, 0, 2, 0), (2, 1, 1, 0))

    def test_unavailable_addresses_are_open_to_it(self):
        default = {"default_distribution": Distribution.UNAVAILABLE}
        exchanging = Exchanging(Workers(1, addresses=(), **default))
        exchanging.add()
        exchanging.bind("a", "x")
        taker, end = consumer(exchanging, "x")
        client, link = producer(exchanging)
        client.send(link, about("a"))
        assert taker.received(end) == [about("a")]


class TestWhatPasses:
    def test_a_message_stays_as_it_is(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        taker, end = consumer(exchanging, "x")
        _client, link = producer(exchanging)
        octets = about("a", b"\x00\x01", message_annotations={Symbol("x-opt-mine"): 5}, application_properties={"k": 1})
        delivery = link.send(octets, message_format=7)
        exchanging.pump()
        assert taker.received(end) == [octets]
        settle(exchanging, taker, end, ACCEPTED)
        assert outcome(delivery) == ACCEPTED

    def test_annotations_for_routers_are_taken_off(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        taker, end = consumer(exchanging, "x")
        client, link = producer(exchanging)
        client.peer.strips_in = False
        told = {Symbol("x-opt-qd.to"): "elsewhere", Symbol("x-opt-mine"): 5}
        link = client.producer("topic")
        client.send(link, about("a", message_annotations=told))
        [octets] = taker.received(end)
        assert Message.decode(octets).message_annotations == {Symbol("x-opt-mine"): 5}

    def test_a_settled_message_stays_settled(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        exchanging.bind("#", "y")
        takers = [consumer(exchanging, hop) for hop in "xy"]
        client, link = producer(exchanging)
        client.send(link, about("a"), settled=True)
        client.send(link, about("b"), settled=True)
        assert [len(one.received(end)) for one, end in takers] == [1, 2]
        assert all(one.remote_settled for taker, end in takers for one in taker.unsettled[end.name])
        assert exchanging.counts() == (2, 0, 2, 0)

    @pytest.mark.parametrize("settled", [False, True])
    def test_a_large_message_passes_as_it_comes(self, exchanging, settled):
        exchanging.add()
        exchanging.bind("a", "x")
        exchanging.bind("a", "y")
        takers = [consumer(exchanging, hop) for hop in "xy"]
        client, link = producer(exchanging)
        octets = about("a", bytes(300_000))
        delivery = client.stream(link, octets[:100], octets[100:200_000], settled=settled, ends=False)
        assert [one.received(end) for one, end in takers] == [[], []]
        assert min(one.begun(end) for one, end in takers) > 100_000
        client.go_on(delivery, octets[200_000:], more=False)
        assert [one.received(end) for one, end in takers] == [[octets], [octets]]
        if not settled:
            for one, end in takers:
                settle(exchanging, one, end, ACCEPTED)
            assert outcome(delivery) == ACCEPTED

    def test_a_large_settled_message_passes_in_one_piece_too(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        taker, end = consumer(exchanging, "x")
        client, link = producer(exchanging)
        octets = about("a", bytes(40_000))
        client.send(link, octets, settled=True)
        assert taker.received(end) == [octets]

    def test_a_message_that_is_aborted_is_aborted_everywhere(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        exchanging.bind("a", "y")
        taker, end = consumer(exchanging, "x")
        late, late_end = consumer(exchanging, "y", credit=0)
        client, link = producer(exchanging)
        octets = about("a", bytes(100_000))
        delivery = client.stream(link, octets[:50_000], ends=False)
        link.abort(delivery)
        exchanging.pump()
        assert (taker.aborted, taker.received(end)) == ([end.name], [])
        late_end.grant(5)
        client.send(link, about("a"))
        assert taker.received(end) == late.received(late_end) == [about("a")]

    def test_the_subject_may_come_late(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        taker, end = consumer(exchanging, "x")
        client, link = producer(exchanging)
        octets = about("a", message_annotations={Symbol("x-opt-mine"): bytes(50_000)})
        parts = [octets[at : at + 9000] for at in range(0, len(octets), 9000)]
        client.stream(link, *parts)
        client.stream(link, *[octets[at : at + 1] for at in range(40)], octets[40:])
        assert taker.received(end) == [octets, octets]
        delivery = client.stream(link, parts[0], ends=False)
        link.abort(delivery)
        exchanging.pump()
        assert exchanging.counts() == (2, 0, 2, 0)

    def test_the_subject_may_not_come_too_late(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        consumer(exchanging, "x")
        client, link = producer(exchanging)
        octets = about("a", message_annotations={Symbol("x-opt-mine"): bytes(SUBJECT_WITHIN)})
        delivery = client.stream(link, *[octets[at : at + 100_000] for at in range(0, len(octets), 100_000)])
        assert outcome(delivery).error.condition == "amqp:link:message-size-exceeded"
        client.send(link, about("a"))
        assert exchanging.counts() == (1, 0, 1, 0)


class TestOutcomes:
    @pytest.mark.parametrize(
        ("states", "combined"),
        [
            ((ACCEPTED, ACCEPTED), ACCEPTED),
            ((ACCEPTED, RELEASED), ACCEPTED),
            ((RELEASED, ACCEPTED), ACCEPTED),
            ((MAYBE_SEEN, ACCEPTED), ACCEPTED),
            ((ACCEPTED, NO), NO),
            ((NO, ACCEPTED), NO),
            ((RELEASED, MAYBE_SEEN), MAYBE_SEEN),
            ((RELEASED, RELEASED), RELEASED),
            ((None, ACCEPTED), ACCEPTED),
            ((None, None), RELEASED),
        ],
    )
    def test_the_highest_outcome_is_that_of_the_message(self, exchanging, states, combined):
        exchanging.add()
        for hop in "xy":
            exchanging.bind("a", hop)
        takers = [consumer(exchanging, hop) for hop in "xy"]
        client, link = producer(exchanging)
        delivery = client.send(link, about("a"))
        for (taker, end), state in zip(takers, states, strict=True):
            assert outcome(delivery) is None
            settle(exchanging, taker, end, state)
        assert outcome(delivery) == combined

    def test_a_lost_consumer_may_have_seen_it(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        taker, _ = consumer(exchanging, "x")
        client, link = producer(exchanging)
        delivery = client.send(link, about("a"))
        taker.vanish()
        assert outcome(delivery) == MAYBE_SEEN

    def test_a_reason_that_is_too_long_is_left_out(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        taker, end = consumer(exchanging, "x")
        client, link = producer(exchanging)
        delivery = client.send(link, about("a"))
        settle(exchanging, taker, end, Rejected(error=Error(condition="x", description="y" * 20_000)))
        assert outcome(delivery) == Rejected()

    def test_a_consumer_of_the_exchange_itself_has_its_copy(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        direct, end = consumer(exchanging, "topic")
        client, link = producer(exchanging)
        delivery = client.send(link, about("b"))
        assert direct.received(end) == [about("b")]
        settle(exchanging, direct, end, ACCEPTED)
        assert outcome(delivery) == ACCEPTED
        assert exchanging.counts() == (1, 1, 0, 0)


class TestCredit:
    def test_producers_have_credit_as_soon_as_there_is_an_exchange(self, exchanging):
        _client, link = producer(exchanging)
        assert link.credit == 0
        exchanging.add()
        assert link.credit == 0
        exchanging.bind("a", "x")
        assert link.credit == 250
        _early, early_link = producer(exchanging)
        assert early_link.credit == 250

    def test_a_copy_waits_for_credit(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        exchanging.bind("a", "y")
        taker, end = consumer(exchanging, "x")
        late, late_end = consumer(exchanging, "y", credit=0)
        client, link = producer(exchanging)
        first, second = client.send(link, about("a", "1")), client.send(link, about("a", "2"))
        for _ in range(2):
            settle(exchanging, taker, end, ACCEPTED)
        assert (outcome(first), late.received(late_end)) == (None, [])
        late_end.grant(2)
        exchanging.pump()
        for _ in range(2):
            settle(exchanging, late, late_end, ACCEPTED)
        assert (outcome(first), outcome(second)) == (ACCEPTED, ACCEPTED)

    def test_more_messages_than_its_capacity_wait_with_producers(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        taker, end = consumer(exchanging, "x", credit=0)
        client, link = producer(exchanging)
        sent = 0
        while link.credit > 0 and sent < 4 * CAPACITY:
            client.send(link, about("a", f"{sent}"))
            sent += 1
        assert sent == CAPACITY
        while len(taker.received(end)) < sent:
            end.grant(50)
            exchanging.pump()
            for delivery in taker.unsettled.pop(end.name):
                delivery.accept()
            exchanging.pump()
        assert taker.received(end) == [about("a", f"{number}") for number in range(sent)]
        assert link.credit > 0

    def test_a_next_hop_that_lags_misses_settled_messages(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        taker, end = consumer(exchanging, "x", credit=0)
        client, link = producer(exchanging)
        for number in range(4 * CAPACITY):
            client.send(link, about("a", f"{number}"), settled=True)
        end.grant(4 * CAPACITY)
        exchanging.pump()
        received = taker.received(end)
        assert received[:CAPACITY] == [about("a", f"{number}") for number in range(CAPACITY)]
        assert len(received) < 4 * CAPACITY

    def test_a_next_hop_that_lags_does_not_hold_up_settled_messages_for_others(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        exchanging.bind("b", "y")
        _taker, _end = consumer(exchanging, "x", credit=0)
        other, other_end = consumer(exchanging, "y", credit=2000)
        client, link = producer(exchanging)
        client.send(link, about("a"))
        for number in range(1000):
            client.send(link, about("b", f"{number}"), settled=True)
        assert len(other.received(other_end)) == 1000

    def test_copies_are_released_whose_next_hop_loses_its_consumers(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        taker, _end = consumer(exchanging, "x", credit=0)
        client, link = producer(exchanging)
        deliveries = [client.send(link, about("a")) for _ in range(3)]
        assert [outcome(one) for one in deliveries] == [None] * 3
        taker.leave()
        assert [outcome(one) for one in deliveries] == [RELEASED] * 3

    def test_a_large_message_waits_within_the_window(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        exchanging.bind("a", "y")
        taker, end = consumer(exchanging, "x")
        late, late_end = consumer(exchanging, "y", credit=0)
        client, link = producer(exchanging)
        octets = about("a", bytes(12 << 20))
        parts = [octets[at : at + (1 << 20)] for at in range(0, len(octets), 1 << 20)]
        delivery = client.stream(link, *parts)
        assert taker.begun(end) < 8 << 20
        late_end.grant(1)
        exchanging.pump()
        assert taker.received(end) == late.received(late_end) == [octets]
        for one, its_end in ((taker, end), (late, late_end)):
            settle(exchanging, one, its_end, ACCEPTED)
        assert outcome(delivery) == ACCEPTED


    def test_a_large_message_does_not_come_faster_than_it_leaves(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        exchanging.bind("a", "y")
        slow = exchanging.workers.client(exchanging.workers.last, incoming_window=4)
        slow_end = slow.consumer("x", credit=10)
        other, other_end = consumer(exchanging, "y")
        client, link = producer(exchanging)
        slow.line.holds.add(slow.server)
        octets = about("a", bytes(12 << 20))
        parts = [octets[at : at + (1 << 20)] for at in range(0, len(octets), 1 << 20)]
        client.stream(link, *parts)
        assert other.begun(other_end) < 11 << 20
        slow.line.holds.clear()
        exchanging.pump()
        assert slow.received(slow_end) == other.received(other_end) == [octets]


class TestChanges:
    def test_a_binding_acts_on_the_next_message(self, exchanging):
        exchanging.add()
        binding = exchanging.bind("a", "x")
        exchanging.bind("b", "x")
        taker, end = consumer(exchanging, "x", credit=0)
        client, link = producer(exchanging)
        first = client.send(link, about("a", "1"))
        exchanging.unbind(binding)
        assert outcome(client.send(link, about("a", "2"))) == RELEASED
        end.grant(5)
        exchanging.pump()
        assert taker.received(end) == [about("a", "1")]
        settle(exchanging, taker, end, ACCEPTED)
        assert outcome(first) == ACCEPTED
        exchanging.bind("a", "y")
        other, other_end = consumer(exchanging, "y")
        client.send(link, about("a", "3"))
        assert other.received(other_end) == [about("a", "3")]

    def test_what_has_matched_still_goes_when_its_next_hop_is_no_more(self, exchanging):
        exchanging.add()
        binding = exchanging.bind("a", "x")
        taker, end = consumer(exchanging, "x", credit=0)
        client, link = producer(exchanging)
        delivery = client.send(link, about("a"))
        exchanging.unbind(binding)
        exchanging.second()
        assert link.credit == 0
        end.grant(1)
        exchanging.pump()
        settle(exchanging, taker, end, ACCEPTED)
        assert outcome(delivery) == ACCEPTED
        taker.leave()
        client.leave()
        exchanging.second()
        assert exchanging.workers[0].router.addresses == {}

    def test_without_bindings_the_address_is_like_any_other(self, exchanging):
        exchanging.add()
        binding = exchanging.bind("a", "x")
        exchanging.unbind(binding)
        client, link = producer(exchanging)
        assert link.credit == 0
        taker, end = consumer(exchanging, "topic")
        client.send(link, about("a"))
        assert taker.received(end) == [about("a")]
        assert exchanging.counts() == (0, 0, 0, 0)

    def test_a_removed_exchange_leaves_an_ordinary_address(self, exchanging):
        taker, end = consumer(exchanging, "topic")
        other, other_end = consumer(exchanging, "topic")
        exchanging.add()
        exchanging.bind("a", "x")
        target, target_end = consumer(exchanging, "x")
        client, link = producer(exchanging)
        delivery = client.send(link, about("a"))
        assert [len(one.received(its)) for one, its in ((taker, end), (other, other_end))] == [1, 1]
        exchanging.remove()
        client.send(link, about("a"))
        assert len(taker.received(end)) + len(other.received(other_end)) == 3
        for one, its in ((taker, end), (other, other_end)):
            its_delivery = one.unsettled[its.name].pop(0)
            its_delivery.release()
        exchanging.pump()
        assert outcome(delivery) is None
        settle(exchanging, target, target_end, ACCEPTED)
        assert outcome(delivery) == ACCEPTED
        exchanging.second()
        assert exchanging.parts[exchanging.host].loops == []

    def test_what_a_removed_exchange_has_taken_gets_ten_seconds(self, exchanging):
        exchanging.add()
        exchanging.bind("a", "x")
        _taker, _end = consumer(exchanging, "x")
        client, link = producer(exchanging)
        delivery = client.send(link, about("a"))
        exchanging.remove()
        exchanging.second(9.0)
        assert outcome(delivery) is None
        exchanging.second()
        assert (outcome(delivery), exchanging.parts[exchanging.host].loops) == (MAYBE_SEEN, [])

    def test_messages_that_wait_go_to_a_new_exchange(self, exchanging):
        taker, end = consumer(exchanging, "topic", credit=0)
        client, link = producer(exchanging)
        client.send(link, about("a"))
        exchanging.add()
        exchanging.bind("a", "x")
        other, other_end = consumer(exchanging, "x")
        client.send(link, about("a"))
        end.grant(5)
        exchanging.pump()
        assert (len(taker.received(end)), len(other.received(other_end))) == (2, 1)

    def test_bindings_may_come_before_their_exchange(self, exchanging):
        exchanging.bind("a", "x")
        exchanging.add()
        taker, end = consumer(exchanging, "x")
        client, link = producer(exchanging)
        client.send(link, about("a"))
        assert taker.received(end) == [about("a")]

    def test_an_exchange_begins_again_after_a_fault(self, exchanging):
        exchanging.add(alternate="rest")
        exchanging.bind("a", "x")
        [loop] = exchanging.parts[exchanging.host].loops
        loop.abort()
        exchanging.second()
        taker, end = consumer(exchanging, "x")
        client, link = producer(exchanging)
        client.send(link, about("a"))
        assert taker.received(end) == [about("a")]

    def test_a_router_that_ends_lets_messages_leave_the_exchange(self):
        exchanging = Exchanging(Workers(1))
        exchanging.add()
        exchanging.bind("a", "x")
        taker, end = consumer(exchanging, "x", credit=0)
        client, link = producer(exchanging)
        delivery = client.send(link, about("a"))
        router = exchanging.workers[0].router
        router.leaving.drain()
        exchanging.pump()
        assert not router.leaving.is_drained()
        end.grant(1)
        exchanging.pump()
        settle(exchanging, taker, end, ACCEPTED)
        assert outcome(delivery) == ACCEPTED
        exchanging.second(2.0)
        router.leaving.is_drained()
        exchanging.pump()
        assert router.leaving.is_drained()
        router.leaving.close_all()
        exchanging.pump()
        exchanging.second()
        assert router.peers == {}


class TestLimits:
    def test_subjects_are_remembered_up_to_a_limit(self):
        exchanging = Exchanging(Workers(1))
        exchanging.add()
        exchanging.bind("#", "x")
        exchange = exchanging.exchange()
        first = exchange.match("first")
        assert exchange.match("first") is first
        for number in range(KNOWN_MAX):
            exchange.match(f"{number}")
        assert exchange.match("first") is not first
        long = exchange.match("y" * 300)
        assert exchange.match("y" * 300) is not long

    def test_a_subject_that_is_too_long_matches_nothing(self):
        exchanging = Exchanging(Workers(1))
        exchanging.add()
        exchanging.bind("#", "x")
        assert exchanging.exchange().match("a" * SUBJECT_MAX).hops != ()
        assert exchanging.exchange().match("a" * (SUBJECT_MAX + 1)).hops == ()


def test_an_exchange_of_a_sibling_has_no_connection_here():
    workers = Workers(2)
    part = Exchanges(workers[1].router)
    exchanging = Exchanging(workers)
    exchanging.add()
    assert (part.loops, exchanging.parts[1].loops, len(exchanging.parts[0].loops)) == ([], [], 1)


def test_the_settings_of_patterns_hold_for_addresses_that_were_exchanges():
    closest = AddressSettings(pattern="topic", distribution=Distribution.CLOSEST)
    exchanging = Exchanging(Workers(1, addresses=(closest,)))
    exchanging.add()
    consumer(exchanging, "topic")
    address = exchanging.workers[0].router.addresses["M0topic"]
    assert address.is_multicast
    exchanging.remove()
    assert (address.is_multicast, address.is_balanced) == (False, False)
