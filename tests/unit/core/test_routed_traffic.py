"""Routed links: credit, messages and what is said of them go from end to end as they are."""

import pytest

from routerd.core import LinkDirection, LinkRouteSettings
from routerd.wire import (
    ACCEPTED,
    RELEASED,
    Described,
    Error,
    Modified,
    Received,
    Rejected,
    Source,
    Symbol,
    Target,
    Transfer,
    UByte,
    ULong,
)
from tests.routers import Workers, message
from tests.unit.core.containers import container
from tests.unit.core.routed import Container, Routed, put

TRANSACTIONAL = Described(ULong(0x34), [b"txn", None])
DECLARED = Described(ULong(0x33), [b"txn"])


@pytest.fixture
def routed():
    return Routed()


def flows(client, link):
    """How often a client was told of a link's credit."""
    return [event for event in client.events if event[:2] == ("link flow", link.name)]


class TestCredit:
    def test_it_is_that_of_the_other_end(self, routed):
        link, far = routed.consumer(credit=3)
        assert far.credit == 3
        link.grant(4)
        routed.pump()
        assert far.credit == 7
        sender, receiver = routed.producer(credit=3)
        assert sender.credit == 3
        assert receiver.credit == 3

    def test_before_the_container_has_answered(self, routed):
        routed.container.answers_links = False
        link = routed.client.consumer("lr.q", credit=7)
        far = routed.container.latest_link
        assert (link.is_attached, far.credit) == (False, 7)
        routed.container.answer(far, initial_delivery_count=77)
        for _ in range(3):
            far.send(message())
        routed.pump()
        assert len(routed.client.received(link)) == 3
        assert (far.credit, link.credit) == (4, 4)
        link.grant(1)
        routed.pump()
        assert far.credit == 5

    def test_it_is_taken_back(self, routed):
        link, far = routed.consumer(credit=3)
        link.set_credit(1)
        routed.pump()
        assert far.credit == 1
        link.set_credit(5)
        routed.pump()
        assert far.credit == 5

    def test_what_was_sent_before_credit_was_taken_back_waits(self, routed):
        sender, receiver = routed.producer(credit=5)
        routed.container.line.holds.add(routed.container.connection)
        receiver.set_credit(1)
        # The router hears that credit is gone before it hears of the messages that used it.
        routed.client.line.holds.add(routed.client.server)
        routed.container.line.holds.clear()
        routed.pump()
        for number in range(4):
            sender.send(message(str(number)), settled=True)
        routed.client.line.holds.clear()
        routed.pump()
        assert routed.container.received(receiver) == [message("0")]
        assert sender.credit == 0
        receiver.set_credit(2)
        routed.pump()
        assert routed.container.received(receiver) == [message("0"), message("1"), message("2")]
        receiver.set_credit(4)
        routed.pump()
        assert len(routed.container.received(receiver)) == 4
        assert sender.credit == 3
        routed.client.detach(sender)
        routed.check_nothing_left()

    def test_a_container_that_sends_more_than_it_has_credit_for_is_held_up(self):
        workers = Workers()
        for direction in (LinkDirection.IN, LinkDirection.OUT):
            workers[0].router.link_route_uses.add(
                LinkRouteSettings(name=direction.value, pattern="lr/#", direction=direction, container_id="broker")
            )
        broker = container(workers)
        client = workers.client()
        receiver = client.consumer("lr.q", credit=10)
        sender = broker.link("lr.q")
        sender.credit = 20
        for number in range(20):
            sender.send(message(str(number)))
        workers.pump()
        assert client.received(receiver) == [message(str(number)) for number in range(10)]
        receiver.grant(30)
        workers.pump()
        assert client.received(receiver) == [message(str(number)) for number in range(20)]
        assert (receiver.is_attached, receiver.credit, sender.credit) == (True, 20, 20)

    def test_a_peer_may_give_all_that_there_is(self, routed):
        link, far = routed.consumer()
        link.set_credit(0x7FFFFFFF)
        routed.pump()
        assert far.credit == 0x7FFFFFFF
        far.send(message())
        routed.pump()
        assert link.credit == far.credit == 0x7FFFFFFE

    def test_a_drain_is_answered_by_the_far_end_alone(self, routed):
        link, far = routed.consumer(credit=1000)
        for _ in range(2):
            link.set_credit(1000, drain=True)
            routed.pump()
            assert (far.drain, far.credit) == (True, 1000)
            assert link.credit == 1000
            far.send(message(), settled=True)
            far.drained()
            routed.pump()
            assert (link.credit, far.credit) == (0, 0)
            assert link.delivery_count == far.delivery_count
            link.set_credit(1000)
            routed.pump()
            assert (far.credit, far.drain) == (1000, False)
        assert len(routed.client.received(link)) == 2

    def test_a_container_that_drains_hears_from_the_client(self, routed):
        sender, receiver = routed.producer(credit=10)
        receiver.set_credit(10, drain=True)
        routed.pump()
        assert (sender.drain, sender.credit) == (True, 10)
        sender.drained()
        routed.pump()
        assert (receiver.credit, receiver.delivery_count) == (0, 10)

    def test_a_drain_without_credit_is_answered(self, routed):
        link, _ = routed.consumer(credit=0)
        before = len(flows(routed.client, link))
        link.set_credit(0, drain=True)
        routed.pump()
        assert len(flows(routed.client, link)) == before + 1

    def test_credit_that_a_sender_claims_to_have_means_nothing(self, routed):
        # RabbitMQ says it in the flows of its senders.
        link, far = routed.consumer(credit=5)
        far.credit = 3
        far.session.send_flow(far)
        routed.pump()
        assert link.credit == 5

    def test_an_echo_is_answered_with_what_the_far_end_says(self, routed):
        link, far = routed.consumer(credit=5)
        far.available = 12
        link.flow(echo=True)
        routed.pump()
        assert link.available == 12
        assert flows(routed.container, far)

    def test_what_a_sender_has_available_is_passed_on(self, routed):
        link, far = routed.consumer(credit=5)
        far.available = 4
        far.session.flow_due(far)
        routed.pump()
        assert link.available == 4

    def test_the_properties_of_a_flow_are_passed_on(self, routed):
        link, far = routed.consumer(credit=5)
        link.flow(properties={Symbol("p"): "v"})
        routed.pump()
        assert far.flow_properties == {"p": "v"}


class TestMessages:
    @pytest.mark.parametrize("settled", [False, True])
    @pytest.mark.parametrize("tag", [b"", b"t", b"four", b"x" * 32])
    def test_a_tag_stays_what_it_is(self, routed, tag, settled):
        sender, receiver = routed.producer(credit=5)
        routed.client.send(sender, message(), tag=tag, settled=settled)
        assert routed.container.latest(receiver).tag == tag
        assert routed.container.received(receiver) == [message()]
        assert routed.container.latest(receiver).remote_settled is settled

    def test_the_message_format_is_carried(self, routed):
        sender, receiver = routed.producer(credit=5)
        routed.client.send(sender, b"no message", message_format=99)
        routed.client.send(sender, b"", message_format=98, settled=True)
        assert [one.message_format for one in routed.container.unsettled[receiver.name]] == [99, 98]
        assert routed.container.received(receiver) == [b"no message", b""]

    def test_annotations_are_nobodys_business(self, routed):
        link, far = routed.consumer(credit=5)
        octets = message(message_annotations={Symbol("x-opt-qd.to"): "x", Symbol("x-opt-mine"): 1})
        far.send(octets)
        routed.pump()
        assert routed.client.received(link) == [octets]

    @pytest.mark.parametrize("frame_size", [512, 65536])
    def test_a_large_message_goes_frame_by_frame(self, frame_size):
        routed = Routed()
        far_side = routed.workers.client(container_id="small", kind=Container, max_frame_size=frame_size)
        routed.deactivate(routed.container)
        routed.activate(far_side)
        routed.container = far_side
        sender, receiver = routed.producer(credit=5)
        parts = [b"\x00\x53\x75\xb0\x00\x00\x0b\xb8", b"a" * 1000, b"b" * 1000, b"c" * 1000]
        delivery = routed.client.stream(sender, *parts, ends=False)
        assert routed.container.partial
        routed.client.go_on(delivery, b"", more=False)
        assert routed.container.received(receiver) == [b"".join(parts)]
        routed.container.latest(receiver).accept()
        routed.pump()
        assert (delivery.remote_state, delivery.remote_settled) == (ACCEPTED, True)
        assert sender.session.outgoing.count == 0
        routed.client.detach(sender)
        routed.check_nothing_left()

    def test_one_that_is_settled_by_its_last_frame(self, routed):
        sender, receiver = routed.producer(credit=5)
        delivery = routed.client.stream(sender, b"a", b"b", ends=False)
        delivery.settled = True
        routed.client.go_on(delivery, b"c", more=False)
        # Our engine says it by a disposition.
        sender.session.dispositions.send(delivery, None, True)
        routed.pump()
        assert routed.container.latest(receiver).remote_settled
        routed.client.detach(sender)
        routed.check_nothing_left()

    @pytest.mark.parametrize("settled", [False, True])
    def test_an_abortion_is_one(self, routed, settled):
        sender, receiver = routed.producer(credit=5)
        delivery = routed.client.stream(sender, b"abc", settled=settled, ends=False)
        sender.abort(delivery)
        routed.pump()
        assert routed.container.aborted == [receiver.name]
        assert (sender.credit, receiver.credit) == (4, 4)
        routed.client.send(sender, message())
        assert routed.container.received(receiver) == [message()]
        routed.client.detach(sender)
        routed.check_nothing_left()

    def test_a_transfer_that_is_aborted_at_once(self, routed):
        sender, receiver = routed.producer(credit=5)
        put(sender, Transfer(handle=sender.handle, delivery_id=0, delivery_tag=b"a", aborted=True, settled=True))
        routed.pump()
        assert routed.container.aborted == [receiver.name]

    def test_one_without_octets_is_rejected(self, routed):
        sender, receiver = routed.producer(credit=5)
        delivery = routed.client.send(sender, b"")
        rejected = Rejected(error=Error(condition="amqp:decode-error", description="invalid message format"))
        assert (delivery.remote_state, delivery.remote_settled) == (rejected, True)
        assert routed.container.received(receiver) == []
        assert sender.credit == 5
        two = routed.client.stream(sender, b"", b"")
        assert two.remote_state == rejected
        routed.client.send(sender, message())
        assert routed.container.received(receiver) == [message()]
        routed.client.detach(sender)
        routed.check_nothing_left()

    def test_the_state_of_a_transfer_is_carried(self, routed):
        sender, receiver = routed.producer(credit=5)
        delivery = sender.begin(b"t", state=TRANSACTIONAL)
        sender.write(delivery, message(), 0, len(message()), False)
        routed.pump()
        arrived = routed.container.latest(receiver)
        assert arrived.remote_state == TRANSACTIONAL
        arrived.update(ACCEPTED, True)
        routed.pump()
        assert (delivery.remote_state, delivery.remote_settled) == (ACCEPTED, True)

    def test_whether_it_is_batchable_and_settled_second_is_carried(self, routed):
        sender, receiver = routed.producer(credit=5, rcv_settle_mode=1)
        assert receiver.rcv_settle_mode == 1
        delivery = sender.begin(b"t", batchable=True, rcv_settle_mode=0)
        sender.write(delivery, message(), 0, len(message()), False)
        routed.pump()
        arrived = routed.container.latest(receiver)
        assert (arrived.is_batchable, arrived.rcv_settle_mode) == (True, 0)

    def test_what_is_resumed_is_carried(self, routed):
        sender, receiver = routed.producer(credit=5, unsettled={b"t": None})
        put(
            sender,
            Transfer(handle=sender.handle, delivery_id=0, delivery_tag=b"t", resume=True, rcv_settle_mode=UByte(0)),
            message(),
        )
        seen = []
        receiver.session.handler.on_transfer = lambda link, one, *rest: seen.append((one.tag, one.is_resumed))
        receiver.is_relayed = True  # as one that knows the delivery of another life
        routed.pump()
        assert seen == [(b"t", True)]

    def test_settled_ones_are_not_dropped_where_nobody_takes_them(self, routed):
        sender, receiver = routed.producer(credit=5000)
        routed.container.line.holds.add(routed.container.connection)
        routed.container.peer.is_blocked = True
        sent = 0
        for number in range(5000):
            sender.send(b"\x00\x53\x77\xa1\x04%04d" % number, settled=True)
            sent += 1
            if number % 100 == 0:
                routed.pump()
        routed.pump()
        assert sender.session.has_backlog
        routed.container.line.holds.clear()
        routed.container.server.handler.set_blocked(routed.container.peer, False)
        routed.pump()
        assert len(routed.container.received(receiver)) == sent
        routed.client.detach(sender)
        routed.check_nothing_left()

    def test_a_narrow_window_of_the_container_keeps_that_of_the_client_closed(self):
        routed = Routed()
        narrow = routed.workers.client(container_id="narrow", kind=Container, incoming_window=4)
        routed.deactivate(routed.container)
        routed.activate(narrow)
        routed.container = narrow
        sender, receiver = routed.producer(credit=9000)
        narrow.line.holds.add(narrow.connection)
        for _ in range(6000):
            sender.send(message(), settled=True)
        routed.pump()
        assert sender.session.has_backlog
        narrow.line.holds.clear()
        routed.pump()
        assert len(narrow.received(receiver)) == 6000
        routed.client.detach(sender)
        routed.check_nothing_left()

    def test_they_are_counted(self, routed):
        sender, receiver = routed.producer(credit=5)
        routed.client.send(sender, message(), settled=True)
        routed.client.send(sender, message())
        routed.container.latest(receiver).accept()
        routed.pump()
        [near] = routed.client.peer.routed
        [far] = routed.container.peer.routed
        assert (near.deliveries, near.presettled, near.accepted) == (2, 1, 1)
        assert (far.deliveries, far.presettled, far.accepted) == (2, 1, 1)
        assert (near.other is far, far.other is near, near.address) == (True, True, "lr.q")


class TestDispositions:
    @pytest.mark.parametrize(
        "state",
        [
            ACCEPTED,
            RELEASED,
            Rejected(error=Error(condition="my:error", description="why", info={Symbol("k"): "v"})),
            Modified(delivery_failed=False, undeliverable_here=True, message_annotations={Symbol("a"): 1}),
            Modified(),
            Received(section_number=1, section_offset=5),
            TRANSACTIONAL,
            DECLARED,
            Described(Symbol("my:state"), ["x"]),
        ],
        ids=str,
    )
    @pytest.mark.parametrize("settled", [False, True])
    @pytest.mark.parametrize("way", ["to the client", "to the container"])
    def test_a_state_is_carried_as_it_is(self, routed, state, settled, way):
        if way == "to the client":
            link, far = routed.consumer(credit=5)
            sent = far.send(message())
            routed.pump()
            routed.client.latest(link).update(state, settled)
        else:
            link, far = routed.producer(credit=5)
            sent = routed.client.send(link, message())
            routed.container.latest(far).update(state, settled)
        routed.pump()
        assert (sent.remote_state, sent.remote_settled) == (state, settled)
        link.detach()
        routed.pump()
        routed.check_nothing_left()

    def test_a_state_and_the_settlement_are_two_steps(self, routed):
        link, far = routed.consumer(credit=5)
        sent = far.send(message())
        routed.pump()
        arrived = routed.client.latest(link)
        arrived.update(TRANSACTIONAL, False)
        routed.pump()
        assert (sent.remote_state, sent.remote_settled) == (TRANSACTIONAL, False)
        arrived.update(ACCEPTED, True)
        routed.pump()
        assert (sent.remote_state, sent.remote_settled) == (ACCEPTED, True)

    def test_settled_without_a_state(self, routed):
        link, far = routed.consumer(credit=5)
        sent = far.send(message())
        routed.pump()
        routed.client.latest(link).update(None, True)
        routed.pump()
        assert (sent.remote_state, sent.remote_settled) == (None, True)
        assert far.session.outgoing.count == link.session.incoming.count == 0

    def test_the_sender_settles(self, routed):
        link, far = routed.consumer(credit=5, rcv_settle_mode=1)
        sent = far.send(message())
        routed.pump()
        arrived = routed.client.latest(link)
        arrived.update(ACCEPTED, False)
        routed.pump()
        assert (sent.remote_state, sent.remote_settled) == (ACCEPTED, False)
        assert not arrived.remote_settled
        sent.update(ACCEPTED, True)
        routed.pump()
        assert arrived.remote_settled
        routed.client.detach(link)
        routed.check_nothing_left()

    def test_one_that_is_decided_before_its_end(self, routed):
        sender, receiver = routed.producer(credit=5)
        delivery = routed.client.stream(sender, b"a", b"b", ends=False)
        [arrived] = routed.container.partial
        arrived.update(Rejected(), True)
        routed.pump()
        assert delivery.remote_state == Rejected()
        routed.client.go_on(delivery, b"c", more=False)
        assert delivery.remote_settled
        routed.client.send(sender, message())
        assert routed.container.received(receiver)[-1] == message()
        routed.container.latest(receiver).accept()
        routed.pump()
        routed.client.detach(sender)
        routed.check_nothing_left()

    def test_a_state_that_is_too_long_for_the_frames_of_the_sender(self):
        routed = Routed()
        small = routed.workers.client(container_id="small", max_frame_size=512)
        routed.client = small
        sender, receiver = routed.producer(credit=5)
        one, other = small.send(sender, message()), small.send(sender, message())
        first, second = routed.container.unsettled[receiver.name]
        first.update(Rejected(error=Error(condition="my:error", description="x" * 600)), True)
        second.update(Modified(message_annotations={Symbol("k"): "x" * 600}), True)
        routed.pump()
        assert (one.remote_state, other.remote_state) == (Rejected(), Modified(delivery_failed=True))


class TestBothWays:
    @pytest.mark.parametrize("settled", [False, True])
    def test_many_messages_in_bursts(self, routed, settled):
        sender, receiver = routed.producer(credit=3000)
        deliveries = [sender.send(message(str(number)), settled=settled) for number in range(1000)]
        routed.pump()
        assert routed.container.received(receiver) == [message(str(number)) for number in range(1000)]
        tags = [one.tag for one in routed.container.unsettled[receiver.name]]
        assert tags == [one.tag for one in deliveries]
        if not settled:
            for one in routed.container.unsettled[receiver.name]:
                one.accept()
            routed.pump()
            assert all((one.remote_state, one.remote_settled) == (ACCEPTED, True) for one in deliveries)
        assert sender.credit == receiver.credit == 2000
        [near] = routed.client.peer.routed
        assert (near.deliveries, near.presettled) == (1000, 1000 * settled)
        routed.client.detach(sender)
        routed.check_nothing_left()

    def test_tags_that_are_no_numbers(self, routed):
        link, far = routed.consumer(credit=3000)
        deliveries = [far.send(message(str(number)), tag=b"tag-%d" % number) for number in range(300)]
        routed.pump()
        arrived = routed.client.unsettled[link.name]
        assert [one.tag for one in arrived] == [one.tag for one in deliveries]
        for number, one in enumerate(arrived):
            one.update(ACCEPTED if number % 3 else RELEASED, True)
        routed.pump()
        expected = [ACCEPTED if number % 3 else RELEASED for number in range(300)]
        assert [one.remote_state for one in deliveries] == expected
        routed.client.detach(link)
        routed.check_nothing_left()


def test_both_termini_of_both_directions_may_be_used_at_once(routed):
    routed.consumer(source=Source(address="lr.a"), credit=1)
    routed.producer(target=Target(address="lr.a"), credit=1)
    assert len(routed.client.peer.routed) == len(routed.container.peer.routed) == 2
    assert (routed.client.peer.routed_in, routed.client.peer.routed_out) == (1, 1)
    routed.client.leave()
    routed.check_nothing_left()
