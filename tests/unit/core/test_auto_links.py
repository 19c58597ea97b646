"""Auto-links: what the router attaches to containers, when it attaches it again, and what messages go that way."""

from typing import Any

import pytest

from routerd.core import AddressSettings, Distribution
from routerd.wire import ACCEPTED, RELEASED, Error, Modified, Rejected, Source, Symbol, Target
from tests.routers import Workers, message, outcome
from tests.unit.core.containers import NOT_FOUND, Told, add, auto_link, container, let_pass, remove, state

QUEUE = "waypoint/q"
OUT, IN = auto_link(QUEUE, "out"), auto_link(QUEUE, "in")
OUT_NAME, IN_NAME = OUT.name, IN.name
LEFT_EARLY = Error(condition="amqp:resource-deleted")


@pytest.fixture(params=[1, 3], ids=["one worker", "three workers"])
def workers(request: Any) -> Workers:
    return Workers(request.param)


class TestAttach:
    def test_it_has_the_fields_that_brokers_know(self):
        workers = Workers()
        add(workers, OUT, auto_link(QUEUE, "in", external_address="there"))
        broker = container(workers)
        out, into = broker.attaches
        assert (out.role, into.role) == (False, True)
        assert out.target == Target(address=QUEUE, expiry_policy=Symbol("link-detach"))
        assert into.source == Source(address="there", expiry_policy=Symbol("link-detach"))
        assert (out.source, into.target) == (Source(), Target())
        for one in (out, into):
            assert one.name.startswith("qdlink.")
            assert (one.snd_settle_mode, one.rcv_settle_mode, one.properties, one.unsettled) == (2, 0, None, None)
        assert out.initial_delivery_count == 0
        assert len(broker.sessions) == 2  # ours, and one for both links

    def test_an_address_is_there_as_long_as_the_auto_link(self):
        workers = Workers(default_distribution=Distribution.UNAVAILABLE)
        add(workers, auto_link("a", "out"), auto_link("multicast/b", "in"))
        addresses = workers[0].router.addresses
        assert {key: one.distribution.value for key, one in addresses.items()} == {
            "M0a": "balanced",
            "M1multicast/b": "multicast",
        }
        assert workers.client().producer("a").is_attached
        for name in ("out a", "in multicast/b"):
            remove(workers, name)
        assert "M1multicast/b" not in addresses

    def test_the_fallback_destination_has_a_phase_of_its_own(self):
        workers = Workers()
        add(workers, auto_link("a", "out", is_fallback=True), auto_link("b", "in", is_fallback=True, phase=0))
        assert set(workers[0].router.addresses) == {"MFa", "M0b"}

    def test_one_that_is_added_later_is_attached_at_once_on_each_connection(self):
        workers = Workers()
        brokers = [container(workers), container(workers)]
        add(workers, OUT)
        assert [one.link(QUEUE).is_attached for one in brokers] == [True, True]
        assert state(workers, OUT_NAME) == ("active", None)

    def test_without_a_container_it_is_inactive(self):
        workers = Workers()
        add(workers, OUT, auto_link("x", "out", container_id=None))
        assert [state(workers, name) for name in (OUT_NAME, "out x")] == [("inactive", None)] * 2

    def test_very_many_wait_for_answers_a_thousand_at_a_time(self):
        workers = Workers()
        add(workers, *(auto_link(f"q{number}", "out") for number in range(1500)))
        broker = container(workers)
        assert len(broker.attaches) == 1500
        assert state(workers, "out q1499") == ("active", None)

    def test_before_the_container_has_answered_there_are_few(self):
        workers = Workers()
        add(workers, *(auto_link(f"q{number}", "out") for number in range(100)))
        broker = container(workers, silent={f"q{number}" for number in range(64)})
        assert len(broker.attaches) == 64
        [session] = {link.session for link in broker.links.values()}
        broker.links[broker.attaches[0].name].attach(source=Source(), target=Target(address="q0"))
        workers.pump()
        assert (len(broker.attaches), len(session.links())) == (100, 100)

    def test_a_session_has_no_more_links_than_the_container_takes(self):
        workers = Workers()
        add(workers, *(auto_link(f"q{number}", "out") for number in range(150)))
        broker = container(workers, handle_max=63)
        assert [len(one.links()) for one in broker.sessions if one.links()] == [64, 64, 22]
        assert state(workers, "out q149") == ("active", None)


class TestWaypoint:
    def test_a_message_passes_through_the_container(self, workers):
        add(workers, OUT, IN)
        broker = container(workers)
        client, other = workers.client(), workers.client(workers.last)
        receiver = other.consumer(QUEUE, credit=5)
        sender = client.producer(QUEUE)
        sent = client.send(sender, message("a"))
        queue = next(one for one in broker.living(QUEUE) if not one.is_sender)
        assert broker.received(queue) == [message("a")]
        assert other.received(receiver) == []
        broker.latest(queue).update(ACCEPTED, True)
        workers.pump()
        assert outcome(sent) == (ACCEPTED, True)
        back = next(one for one in broker.living(QUEUE) if one.is_sender)
        broker.send(back, message("a"))
        assert other.received(receiver) == [message("a")]

    def test_the_container_knows_another_name(self):
        workers = Workers()
        add(workers, auto_link("here", "out", external_address="there", phase=0))
        broker, client = container(workers), workers.client()
        client.send(client.producer("here"), message("a"))
        assert broker.received(broker.link("there")) == [message("a")]


class TestCredit:
    def test_a_container_has_credit_while_there_is_somebody_to_send_to(self):
        workers = Workers()
        add(workers, IN)
        broker, client = container(workers), workers.client()
        link = broker.link(QUEUE)
        assert link.credit == 0
        receiver = client.consumer(QUEUE)
        assert link.credit == 250
        client.detach(receiver)
        assert link.credit == 0

    def test_a_container_may_send_more_than_it_has_credit_for(self):
        workers = Workers()
        add(workers, IN)
        broker = container(workers)
        client = workers.client()
        receiver = client.consumer(QUEUE, credit=5)
        sender = broker.link(QUEUE)
        sender.credit = 300
        for number in range(300):
            sender.send(message(str(number)))
        workers.pump()
        receiver.grant(295)
        workers.pump()
        assert client.received(receiver) == [message(str(number)) for number in range(300)]
        assert state(workers, IN_NAME) == ("active", None)

    def test_a_message_that_is_late_is_released(self):
        workers = Workers()
        add(workers, IN)
        broker, client = container(workers), workers.client()
        link = broker.link(QUEUE)
        receiver = client.consumer(QUEUE)
        late = link.send(message("a"))
        receiver.detach()
        client.line.carry(workers.now)
        workers.pump()
        assert outcome(late) == (RELEASED, True)

    def test_producers_have_credit_once_the_link_is_there(self):
        workers = Workers()
        add(workers, OUT)
        sender = workers.client().producer(QUEUE)
        assert sender.credit == 0
        broker = container(workers, silent={QUEUE})
        assert sender.credit == 0
        broker.leave()
        container(workers)
        assert sender.credit == 250

    def test_several_containers_share_the_messages_of_an_address(self):
        workers = Workers()
        add(workers, OUT, auto_link(QUEUE, "out", name="second", container_id="B"))
        brokers = [container(workers), container(workers, name="B")]
        client = workers.client()
        sender = client.producer(QUEUE)
        for number in range(10):
            client.send(sender, message(number))
        assert [len(one.received(one.link(QUEUE))) for one in brokers] == [5, 5]


class TestFailures:
    def test_a_refusal_is_told_and_the_link_attached_again(self):
        told = Told()
        workers = Workers(observer=lambda: told)
        add(workers, OUT)
        broker = container(workers, refused={QUEUE: NOT_FOUND})
        assert state(workers, OUT_NAME) == ("failed", "no such queue")
        let_pass(workers, 1)
        assert len(broker.attaches) == 1
        broker.refused.clear()
        let_pass(workers, 1)
        assert state(workers, OUT_NAME) == ("active", None)
        assert broker.attaches[0].name != broker.attaches[1].name
        assert told.take() == [
            f"Auto Link Activated '{OUT_NAME}' on container broker",
            f"failed '{OUT_NAME}': no such queue",
        ]

    def test_one_that_refuses_and_never_detaches_is_waited_for_as_long_as_for_an_answer(self):
        workers = Workers()
        add(workers, OUT)
        broker = container(workers, silent={QUEUE})
        broker.links[broker.attaches[0].name].attach(source=Source(), target=None)
        let_pass(workers, 59)
        assert state(workers, OUT_NAME) == ("attaching", None)
        let_pass(workers, 2)
        assert state(workers, OUT_NAME) == ("failed", "the container refuses the link")
        assert not broker.links[broker.attaches[0].name].is_attached

    def test_it_is_attached_later_and_later(self):
        workers = Workers()
        add(workers, OUT)
        broker = container(workers, refused={QUEUE: NOT_FOUND})
        seconds = []
        for second in range(200):
            before = len(broker.attaches)
            let_pass(workers, 1)
            if len(broker.attaches) > before:
                seconds.append(second + 1)
        assert seconds == [2, 6, 14, 30, 62, 122, 182]

    def test_success_begins_the_waiting_anew(self):
        workers = Workers()
        add(workers, OUT)
        broker = container(workers, refused={QUEUE: NOT_FOUND})
        let_pass(workers, 6)
        broker.refused.clear()
        let_pass(workers, 8)
        assert state(workers, OUT_NAME) == ("active", None)
        broker.detach(broker.link(QUEUE), error=LEFT_EARLY)
        assert state(workers, OUT_NAME) == ("failed", "amqp:resource-deleted")
        let_pass(workers, 2)
        assert state(workers, OUT_NAME) == ("active", None)

    def test_chance_makes_the_waiting_longer(self):
        workers = Workers(chance=lambda: 1.0)
        add(workers, OUT)
        broker = container(workers, refused={QUEUE: None})
        assert state(workers, OUT_NAME) == ("failed", "the container refuses the link")
        let_pass(workers, 2)
        assert len(broker.attaches) == 1
        let_pass(workers, 1)
        assert len(broker.attaches) == 2
        let_pass(workers, 4)
        assert len(broker.attaches) == 2
        let_pass(workers, 1)
        assert len(broker.attaches) == 3

    @pytest.mark.parametrize("settings", [OUT, IN], ids=["out", "in"])
    def test_an_answer_without_an_address_is_a_failure(self, settings):
        workers = Workers()
        add(workers, settings)
        broker = container(workers, nameless={QUEUE})
        client = workers.client()
        receiver, sender = client.consumer(QUEUE), client.producer(QUEUE)
        assert (receiver.is_attached, sender.credit) == (True, 0)
        assert state(workers, settings.name) == ("failed", "the container answers without an address")
        assert [one for one in broker.links.values() if one.is_attached] == []
        broker.nameless.clear()
        let_pass(workers, 2)
        assert state(workers, settings.name) == ("active", None)

    def test_the_end_of_a_session_fails_each_link_and_none_is_forgotten(self):
        workers = Workers()
        add(workers, OUT, IN, auto_link("bad", "out"))
        broker = container(workers, ending={"bad": NOT_FOUND})
        assert [state(workers, name)[0] for name in (OUT_NAME, IN_NAME, "out bad")] == ["failed"] * 3
        let_pass(workers, 2)
        # Whose attach was not answered has a session of its own, and hurts nobody else.
        assert [state(workers, name)[0] for name in (OUT_NAME, IN_NAME, "out bad")] == ["active", "active", "failed"]
        let_pass(workers, 10)
        assert [state(workers, name)[0] for name in (OUT_NAME, IN_NAME, "out bad")] == ["active", "active", "failed"]
        assert len(broker.by_address[QUEUE]) == 4
        broker.ending.clear()
        let_pass(workers, 30)
        assert state(workers, "out bad") == ("active", None)

    def test_a_container_that_does_not_answer_is_asked_again(self):
        workers = Workers()
        add(workers, OUT)
        broker = container(workers, silent={QUEUE})
        assert state(workers, OUT_NAME) == ("attaching", None)
        let_pass(workers, 60)
        assert state(workers, OUT_NAME) == ("failed", "the container has not answered for 60 s")
        broker.silent.clear()
        let_pass(workers, 3)
        assert state(workers, OUT_NAME) == ("active", None)
        assert len(broker.living(QUEUE)) == 1

    def test_a_link_that_fails_leaves_the_healthy_one_of_another_connection_alone(self):
        workers = Workers()
        add(workers, OUT)
        healthy, sick = container(workers), container(workers, refused={QUEUE: NOT_FOUND})
        let_pass(workers, 30)
        assert state(workers, OUT_NAME) == ("active", "no such queue")
        assert (len(healthy.attaches), len(healthy.living(QUEUE))) == (1, 1)
        sick.leave()
        assert state(workers, OUT_NAME) == ("active", None)
        healthy.leave()
        assert state(workers, OUT_NAME) == ("inactive", None)

    def test_a_new_connection_has_one_link_even_if_a_retry_was_due(self):
        workers = Workers()
        add(workers, OUT)
        container(workers, refused={QUEUE: NOT_FOUND}).vanish()
        broker = container(workers)
        let_pass(workers, 10)
        assert len(broker.attaches) == 1


class TestOutcomes:
    def sent(self, outcomes: tuple[str, ...], decide: Any) -> Any:
        workers = Workers()
        add(workers, IN)
        broker, client = container(workers, outcomes=tuple(map(Symbol, outcomes))), workers.client()
        receiver = client.consumer(QUEUE, credit=1)
        sent = broker.send(broker.link(QUEUE), message("a"))
        decide(client, receiver)
        workers.pump()
        return outcome(sent)

    @pytest.mark.parametrize(
        ("outcomes", "expected"),
        [
            ((), Modified(delivery_failed=True)),
            (("amqp:accepted:list", "amqp:modified:list"), Modified(delivery_failed=True)),
            (("amqp:accepted:list", "amqp:released:list"), RELEASED),
        ],
    )
    def test_a_container_hears_no_outcome_that_it_does_not_know(self, outcomes, expected):
        assert self.sent(outcomes, lambda client, _: client.vanish()) == (expected, True)

    def test_others_reach_it_as_they_are(self):
        def reject(client: Any, receiver: Any) -> None:
            client.latest(receiver).update(Rejected(error=NOT_FOUND), True)

        assert self.sent(("amqp:accepted:list",), reject) == (Rejected(error=NOT_FOUND), True)


class TestRemoval:
    def test_what_is_under_way_to_the_container_settles_first(self):
        workers = Workers()
        add(workers, OUT)
        broker, client = container(workers), workers.client()
        sender = client.producer(QUEUE)
        first = client.send(sender, message("a"))
        link = broker.link(QUEUE)
        remove(workers, OUT_NAME)
        assert sender.credit == 0
        second = client.send(sender, message("b")) if sender.credit else None
        let_pass(workers, 3)
        assert (link.is_attached, broker.received(link), second) == (True, [message("a")], None)
        broker.latest(link).update(ACCEPTED, True)
        let_pass(workers, 1)
        assert (link.is_attached, outcome(first)) == (False, (ACCEPTED, True))

    def test_it_takes_no_longer_than_ten_seconds(self):
        workers = Workers()
        add(workers, OUT)
        broker, client = container(workers), workers.client()
        sent = client.send(client.producer(QUEUE), message("a"))
        link = broker.link(QUEUE)
        remove(workers, OUT_NAME)
        let_pass(workers, 9)
        assert link.is_attached
        let_pass(workers, 1)
        assert not link.is_attached
        assert outcome(sent) == (Modified(delivery_failed=True), True)

    def test_nothing_more_comes_from_the_container(self):
        workers = Workers()
        add(workers, IN)
        broker, client = container(workers), workers.client()
        receiver = client.consumer(QUEUE, credit=5)
        link = broker.link(QUEUE)
        sent = broker.send(link, message("a"))
        remove(workers, IN_NAME)
        assert (link.is_attached, link.credit) == (True, 0)
        client.latest(receiver).update(ACCEPTED, True)
        let_pass(workers, 1)
        assert (link.is_attached, outcome(sent)) == (False, (ACCEPTED, True))

    def test_a_link_without_messages_is_detached_at_once(self):
        workers = Workers()
        add(workers, OUT, IN)
        broker = container(workers)
        remove(workers, OUT_NAME)
        remove(workers, IN_NAME)
        assert broker.living(QUEUE) == []
        broker.leave()
        assert workers.left_over() == {}

    def test_one_whose_attach_is_not_answered_is_detached_when_it_is(self):
        workers = Workers()
        add(workers, OUT)
        broker = container(workers, silent={QUEUE})
        remove(workers, OUT_NAME)
        [link] = [one for one in broker.links.values() if one.state.name == "ATTACH_RCVD"]
        link.attach(source=Source(), target=Target(address=QUEUE))
        workers.pump()
        assert not link.is_attached
        let_pass(workers, 5)
        assert len(broker.attaches) == 1

    def test_one_that_failed_is_not_attached_again(self):
        workers = Workers()
        add(workers, OUT)
        broker = container(workers, refused={QUEUE: NOT_FOUND})
        remove(workers, OUT_NAME)
        let_pass(workers, 10)
        assert len(broker.attaches) == 1

    def test_a_router_that_ends_attaches_nothing(self):
        workers = Workers()
        add(workers, OUT)
        broker = container(workers)
        workers[0].router.leaving.drain()
        broker.detach(broker.link(QUEUE), error=NOT_FOUND)
        let_pass(workers, 10)
        assert len(broker.attaches) == 1


def test_what_comes_from_containers_and_goes_to_them_is_counted():
    workers = Workers(addresses=(AddressSettings(pattern="w/#", ingress_phase=0, egress_phase=1),))
    add(workers, auto_link("w", "out"), auto_link("w", "in"))
    broker, client = container(workers), workers.client()
    receiver = client.consumer("w", credit=9)
    sender = client.producer("w")
    client.send(sender, message("a"))
    back = next(one for one in broker.living("w") if one.is_sender)
    broker.send(back, message("b"))
    broker.send(back, message("c"))
    assert len(client.received(receiver)) == 2
    broker.leave()
    totals, addresses = workers[0].router.totals, workers[0].router.addresses
    assert (totals.container_in["deliveries"], totals.container_out["deliveries"]) == (2, 1)
    assert (addresses["M1w"].container_in, addresses["M0w"].container_out) == (2, 1)
