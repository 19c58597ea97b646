"""Large messages between routers: links of their own, opened when they are needed, used again, and trimmed."""

import pytest

from routerd.core.links.outlet import CHOKED
from routerd.wire import ACCEPTED, RELEASED, LinkState, Modified, Rejected, SessionState, Source, Symbol, Target
from tests.routers import message, outcome
from tests.unit.core.joined_routers import DATA, Mesh, mapped, marked, neighbour, routes, to_router

MAYBE_SEEN = Modified(delivery_failed=True)
OCTETS = message(b"x" * 300)
PARTS = [OCTETS[at : at + 100] for at in range(0, len(OCTETS), 100)]
ADDRESSES = ["orders", "closest", "multicast"]


@pytest.fixture
def router():
    return Mesh("R")["R"]


class Streaming:
    """A router with a client, and a neighbour that leads to P, which has the address."""

    def __init__(self, router, address="orders", *, stream_credit=250, **config):
        self.router = router
        self.far = neighbour(router, **config).attach()
        self.far.stream_credit = stream_credit
        router.tell(routes=routes((self.far, {"P": 1})), radius=1, mapped=mapped(P=(f"M0{address}",)))
        self.client = router.client()
        self.sender = self.client.producer(address)

    @property
    def trunk(self):
        return self.far.peer.trunk

    def another(self):
        """A further producer, which can be in the middle of a message of its own."""
        client = self.router.client()
        return client, client.producer("orders")

    def stream_to_each(self, count, name="a"):
        """Begin a message to each of so many addresses; the neighbour answers nothing meanwhile."""
        addresses = [f"{name}{number}" for number in range(count)]
        self.router.tell(mapped=mapped(P=tuple(f"M0{address}" for address in addresses)))
        senders = [self.client.producer(address) for address in addresses]
        self.far.answers = False
        for sender in senders:
            self.client.stream(sender, PARTS[0], ends=False)

    def unanswered(self):
        """The links for large messages that the neighbour has not answered."""
        return [link for link in self.far.links.values() if link.state is LinkState.ATTACH_RCVD]

    def answer(self):
        """Have the neighbour answer what it has not."""
        self.far.answers = True
        while self.unanswered():
            for link in self.unanswered():
                if link.session.state is SessionState.BEGIN_RCVD:
                    link.session.begin()
                link.attach(source=link.remote_source, target=link.remote_target)
                link.grant(250)
            self.router.pump()

    def streams(self):
        """How many messages came on each of the links for large ones."""
        return [len(self.far.received(link)) for link in self.far.streams]


class TestLinks:
    @pytest.mark.parametrize("address", ADDRESSES)
    @pytest.mark.parametrize("settled", [False, True])
    def test_a_message_of_several_frames_has_a_link_of_its_own(self, router, address, settled):
        streaming = Streaming(router, address)
        delivery = streaming.client.stream(streaming.sender, *PARTS[:-1], ends=False, settled=settled)
        assert len(b"".join(streaming.far.bodies)) > 300
        streaming.client.go_on(delivery, PARTS[-1], more=False)
        assert (streaming.streams(), streaming.far.priorities()) == ([1], [0] * 10)
        [octets] = streaming.far.arrived()
        assert marked(octets) == {"to": address, "ingress": "0/R", "trace": ["0/R"]}
        if not settled:
            streaming.far.settle_all("reject")
            assert outcome(delivery) == (Rejected(), True)

    def test_it_is_attached_like_links_for_messages_in_a_session_of_its_own(self, router):
        streaming = Streaming(router)
        streaming.client.stream(streaming.sender, *PARTS)
        [link] = streaming.far.streams
        attach = streaming.far.attaches[-1]
        assert (attach.source.capabilities, attach.target.capabilities) == ((DATA,), (DATA,))
        assert link.session is not streaming.far.session
        assert list(link.session.links()) == [link]

    def test_one_that_is_free_is_used_again(self, router):
        streaming = Streaming(router)
        for _ in range(5):
            streaming.client.stream(streaming.sender, *PARTS)
        assert streaming.streams() == [5]

    def test_messages_that_come_at_the_same_time_have_a_link_each(self, router):
        streaming = Streaming(router)
        producers = [streaming.another() for _ in range(12)]
        deliveries = [client.stream(sender, PARTS[0], ends=False) for client, sender in producers]
        for (client, _), delivery in zip(producers, deliveries, strict=True):
            client.go_on(delivery, PARTS[1], more=False)
        assert streaming.streams() == [1] * 12

    def test_messages_of_one_frame_do_not_wait_for_those_of_several(self, router):
        streaming = Streaming(router)
        client, sender = streaming.another()
        client.stream(sender, PARTS[0], ends=False)
        streaming.client.send(streaming.sender, message())
        assert (streaming.streams(), sum(streaming.far.priorities())) == ([0], 1)

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_a_message_that_waited_until_it_was_whole_needs_none(self, router, address):
        streaming = Streaming(router, address)
        for link in streaming.far.data_in:
            link.set_credit(0)
        streaming.far.stream_credit = 0
        router.pump()
        streaming.client.stream(streaming.sender, *PARTS)
        assert streaming.far.arrived() == []
        streaming.far.data_in[4].grant(1)
        router.pump()
        assert (sum(streaming.far.priorities()), streaming.streams()) == (1, [0])

    def test_it_waits_for_the_credit_of_the_link(self, router):
        streaming = Streaming(router, stream_credit=0)
        streaming.client.stream(streaming.sender, *PARTS[:2], ends=False)
        assert streaming.far.bodies == []
        streaming.far.streams[0].grant(1)
        router.pump()
        assert len(b"".join(streaming.far.bodies)) > 200

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_a_neighbour_that_takes_no_more_sessions_gets_it_when_it_is_whole(self, router, address):
        streaming = Streaming(router, address, channel_max=0)
        delivery = streaming.client.stream(streaming.sender, *PARTS[:-1], ends=False)
        assert streaming.far.arrived() == []
        streaming.client.go_on(delivery, PARTS[-1], more=False)
        assert sum(streaming.far.priorities()) == 1

    def test_there_is_an_end_to_how_many_are_opened_at_a_time(self, router):
        streaming = Streaming(router)
        streaming.stream_to_each(12)
        assert len(streaming.unanswered()) == 8
        streaming.answer()
        assert len(streaming.far.streams) == 12

    def test_a_connection_without_room_is_not_asked_for_another(self, router):
        streaming = Streaming(router)
        streaming.client.stream(streaming.sender, *PARTS)
        client, sender = streaming.another()
        router.router.set_blocked(streaming.far.peer, True)
        delivery = client.stream(sender, PARTS[0], ends=False)
        router.router.set_blocked(streaming.far.peer, False)
        router.pump()
        client.go_on(delivery, PARTS[1], more=False)
        assert streaming.streams() == [2]

    def test_those_of_the_neighbour_do_not_count_for_that(self, router):
        streaming = Streaming(router)
        for _ in range(4):
            streaming.far.detach(streaming.far.attach_in())
        streaming.stream_to_each(12)
        assert len(streaming.unanswered()) == 8

    @pytest.mark.parametrize("how", ["refuse", "end"])
    def test_links_that_a_neighbour_does_not_want_leave_room_for_others(self, router, how):
        streaming = Streaming(router)
        for number in range(4):
            streaming.stream_to_each(4, f"{how}{number}/")
            for link in streaming.unanswered():
                if link.session.state is SessionState.BEGIN_RCVD:
                    link.session.begin()
                link.refuse(None) if how == "refuse" else link.session.end()
            streaming.client.vanish()
            streaming.client = router.client()
        streaming.stream_to_each(8, "last/")
        assert len(streaming.unanswered()) == 8

    def test_those_that_a_neighbour_attaches_are_used_too(self, router):
        streaming = Streaming(router)
        own = streaming.far.attach_in()
        assert len(streaming.trunk.streams) == 1
        streaming.client.stream(streaming.sender, *PARTS)
        assert (len(streaming.far.received(own)), streaming.far.streams) == (1, [])

    def test_one_that_is_gone_is_not_used_any_more(self, router):
        streaming = Streaming(router)
        streaming.client.stream(streaming.sender, *PARTS)
        session = streaming.far.streams[0].session
        streaming.far.detach(streaming.far.streams[0])
        assert (dict(streaming.trunk.streams), session.links()) == ({}, [])
        assert not session.is_open
        streaming.client.stream(streaming.sender, *PARTS)
        assert streaming.streams() == [1, 1]

    def test_some_are_kept_and_the_others_detached(self, router):
        streaming = Streaming(router, channel_max=1000)
        producers = [streaming.another() for _ in range(140)]
        deliveries = [client.stream(sender, PARTS[0], ends=False) for client, sender in producers]
        assert len(streaming.trunk.streams) == 140
        for (client, _), delivery in zip(producers, deliveries, strict=True):
            client.go_on(delivery, PARTS[1], more=False)
        # Their outcomes are still to come back.
        assert len(streaming.trunk.streams) == 140
        streaming.far.settle_all()
        assert len(streaming.trunk.streams) == 128
        assert [outcome(delivery) for delivery in deliveries] == [(ACCEPTED, True)] * 140


class TestArrivals:
    @pytest.mark.parametrize("pairs", [1, 10])
    def test_large_messages_of_a_neighbour_come_on_any_link(self, router, pairs):
        far = neighbour(router).attach(pairs=pairs)
        session = far.another_session()
        stream = far.attach_out(session=session)
        client = router.client()
        receiver = client.consumer("orders", credit=9)
        octets = to_router("orders", "x" * 300)
        for link in (stream, far.data_out[0]):
            delivery = far.stream(link, octets[:200], ends=False)
            assert len(client.received(receiver)) in (0, 1)
            far.go_on(delivery, octets[200:], more=False)
        assert len(client.received(receiver)) == 2

    def test_one_that_waits_closes_the_window_of_its_own_session_alone(self, router):
        far = neighbour(router).attach()
        session = far.another_session()
        stream = far.attach_out(session=session)
        client = router.client()
        client.consumer("orders", credit=0)
        window = session.remote_incoming_window
        far.stream(stream, to_router("orders", "x"), *[b"x"] * window, ends=False)
        assert session.remote_incoming_window < window // 4
        delivery = far.stream(far.data_out[0], to_router("orders", "x"), *[b"x"] * 50, ends=False)
        assert far.session.remote_incoming_window > window - 60
        assert outcome(delivery) == (None, False)

    def test_several_of_one_session_do_not_wait_for_each_other(self, router):
        far = neighbour(router).attach()
        session = far.another_session()
        streams = [far.attach_out(session=session) for _ in range(3)]
        client = router.client()
        receiver = client.consumer("orders", credit=9)
        deliveries = [far.stream(link, to_router("orders", "x"), ends=False) for link in streams]
        window = session.remote_incoming_window
        for _ in range(window):
            for delivery in deliveries:
                far.go_on(delivery, b"x" * 10)
        for delivery in deliveries:
            far.go_on(delivery, b"end", more=False)
        assert len(client.received(receiver)) == 3

    @pytest.mark.parametrize("settled", [False, True])
    def test_those_of_a_shared_session_are_given_up_once_too_much_waits(self, router, settled):
        far = neighbour(router).attach()
        session = far.another_session()
        streams = [far.attach_out(session=session) for _ in range(2)]
        client = router.client()
        receiver = client.consumer("orders", credit=0)
        first, second = (far.stream(link, to_router("orders", "x"), ends=False, settled=settled) for link in streams)
        far.peer.unheld_max = 4 << 20
        for delivery in (first, second) * 2:
            far.go_on(delivery, bytes(1 << 20))
        far.go_on(second, b"x")
        far.go_on(first, bytes(1 << 20), more=False)
        far.go_on(second, b"end", more=False)
        receiver.grant(2)
        router.pump()
        assert len(client.received(receiver)) == 1
        assert settled or outcome(second) == (RELEASED, True)
        address = router.router.addresses["M0orders"]
        assert (address.octets_from_trunks, address.unheld_octets) == (0, 0)

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_one_that_is_held_up_by_a_consumer_closes_its_own_window_alone(self, router, address):
        far = neighbour(router).attach()
        session = far.another_session()
        stream = far.attach_out(session=session)
        client = router.client()
        client.consumer(address, credit=9)
        deliveries = [far.stream(link, to_router(address, "x"), ends=False) for link in (stream, far.data_out[0])]
        router.router.set_blocked(client.peer, True)
        window = session.remote_incoming_window
        for delivery in deliveries:
            for _ in range(window // 2):
                far.go_on(delivery, b"x")
        assert session.remote_incoming_window <= window // 2 + 1
        assert far.session.remote_incoming_window > window // 2
        router.router.set_blocked(client.peer, False)
        router.pump()
        for delivery in deliveries:
            far.go_on(delivery, b"end", more=False)
        assert session.remote_incoming_window > window // 2
        assert len(client.messages) == 1

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_those_of_a_shared_session_are_held_up_by_a_slow_consumer_once_too_much_is_stuck(self, router, address):
        far = neighbour(router).attach()
        session = far.another_session()
        streams = [far.attach_out(session=session) for _ in range(2)]
        client = router.client()
        receiver = client.consumer(address, credit=9)
        delivery = far.stream(streams[0], to_router(address, "x"), ends=False)
        router.router.set_blocked(client.peer, True)
        window = session.remote_incoming_window
        for _ in range(CHOKED >> 20):
            far.go_on(delivery, bytes(1 << 20))
        assert session.remote_incoming_window > window // 2
        for _ in range(window - 9):
            far.go_on(delivery, b"x")
        assert session.remote_incoming_window <= 10
        router.router.set_blocked(client.peer, False)
        router.pump()
        assert session.remote_incoming_window > window // 2
        far.go_on(delivery, b"end", more=False)
        assert len(client.received(receiver)) == 1

    def test_a_message_that_is_aborted_is_aborted_at_the_next_router(self, router):
        streaming = Streaming(router)
        source = neighbour(router, "S").attach()
        delivery = source.stream(source.data_out[0], to_router("orders", "x" * 50), ends=False)
        assert len(streaming.far.bodies) == 1
        source.data_out[0].abort(delivery)
        router.pump()
        assert len(streaming.far.aborted) == 1
        [route] = router.router.addresses["M0orders"].routes
        assert route.outstanding == 0
        waiting = neighbour(router, "W").attach()
        aborted = waiting.data_out[0].begin()
        waiting.data_out[0].abort(aborted)
        router.pump()
        assert waiting.data_out[0].credit > 0


class TestEndings:
    @pytest.mark.parametrize("address", ADDRESSES)
    def test_a_producer_that_is_lost_aborts_what_it_began(self, router, address):
        streaming = Streaming(router, address)
        streaming.client.stream(streaming.sender, *PARTS[:2], ends=False)
        streaming.client.vanish()
        assert (len(streaming.far.aborted), streaming.far.arrived()) == (1, [])
        [[route]] = [one.routes for one in router.router.addresses.values()] or [[None]]
        assert route is None or route.outstanding == 0
        another = router.client()
        another.stream(another.producer(address), *PARTS)
        assert streaming.streams() == [1]

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_a_producer_may_abort_itself(self, router, address):
        streaming = Streaming(router, address)
        delivery = streaming.client.stream(streaming.sender, *PARTS[:2], ends=False)
        streaming.sender.abort(delivery)
        router.pump()
        [route] = router.router.addresses[f"M0{address}"].routes
        assert (len(streaming.far.aborted), route.outstanding) == (1, 0)

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_a_neighbour_that_is_lost_may_have_seen_it(self, router, address):
        streaming = Streaming(router, address)
        delivery = streaming.client.stream(streaming.sender, *PARTS[:2], ends=False)
        streaming.far.vanish()
        if address != "multicast":
            assert outcome(delivery) == (MAYBE_SEEN, True)
        streaming.client.go_on(delivery, PARTS[2], more=False)
        assert outcome(delivery) == (MAYBE_SEEN, True)

    def test_a_message_that_grows_larger_than_the_neighbour_takes_is_rejected(self, router):
        streaming = Streaming(router)
        link = streaming.far.session.receiver("small")
        capability = {"capabilities": (Symbol(DATA),)}
        link.attach(source=Source(**capability), target=Target(**capability), max_message_size=300)
        link.grant(9)
        router.pump()
        delivery = streaming.client.stream(streaming.sender, *PARTS[:2], ends=False)
        assert outcome(delivery) == (None, False)
        streaming.client.go_on(delivery, PARTS[2])
        assert delivery.remote_state.error.condition == "amqp:link:message-size-exceeded"
        [route] = router.router.addresses["M0orders"].routes
        assert (len(streaming.far.aborted), route.outstanding) == (1, 0)

    def test_what_waits_for_a_link_is_released_with_the_way(self, router):
        streaming = Streaming(router, stream_credit=0)
        delivery = streaming.client.stream(streaming.sender, *PARTS[:2], ends=False)
        router.tell(forgotten=("P",))
        router.pump()
        assert outcome(delivery) == (RELEASED, True)
        streaming.client.go_on(delivery, PARTS[2], more=False)
        assert streaming.far.arrived() == []

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_it_passes_several_routers_as_it_comes(self, address):
        mesh = Mesh("A", "B", "C")
        mesh.join("A", "B", configs=({"max_frame_size": 512}, {"max_frame_size": 512}))
        mesh.join("C", "B")
        consumer, producer = mesh["C"].client(), mesh["A"].client()
        receiver = consumer.consumer(address, credit=9)
        octets = message(b"y" * 20_000)
        sender = producer.producer(address)
        delivery = producer.stream(sender, octets[:5000], ends=False)
        assert sum(map(len, consumer.bodies)) > 4000
        producer.go_on(delivery, octets[5000:], more=False)
        assert consumer.received(receiver) == [octets]
        consumer.latest(receiver).accept()
        mesh.pump()
        assert outcome(delivery) == (ACCEPTED, True)
        producer.leave()
        consumer.leave()
        assert mesh.left_over() == {}


class Arriving:
    """A router to which a neighbour is sending a large message that a client begins to receive."""

    def __init__(self, router, *, has_consumer=True, **consumer):
        self.router = router
        self.far = neighbour(router).attach()
        router.tell(routes=routes((self.far, {"P": 1})), radius=1)
        self.client = router.client()
        if has_consumer:
            self.consumer = self.client.consumer("orders", credit=9, **consumer)
        octets = to_router("orders", b"y" * 300)
        self.parts = [octets[:200], octets[200:250], octets[250:]]
        self.delivery = self.far.stream(self.far.data_out[4], self.parts[0], ends=False)

    def end(self):
        """Send the rest."""
        self.far.go_on(self.delivery, self.parts[1])
        self.far.go_on(self.delivery, self.parts[2], more=False)

    def left(self):
        """The deliveries that either end of the trunk still knows."""
        inlets = sum(inlet.link.unsettled_count for inlet in self.far.peer.inlets)
        return inlets, sum(link.unsettled_count for link in self.far.data_out)


class TestEarlyOutcomes:
    """A message is decided on before the last of it has come.

    A qdrouterd takes no notice of a settlement then, and hears no other: so the settlement comes with the end.
    """

    @pytest.mark.parametrize("rcv_settle_mode", [0, 1])
    @pytest.mark.parametrize("how", ["accept", "release", "reject", "modify"])
    def test_a_neighbour_is_told_at_once_and_settled_with_at_the_end(self, router, how, rcv_settle_mode):
        arriving = Arriving(router, rcv_settle_mode=rcv_settle_mode)
        [out] = arriving.client.partial
        out.modify(undeliverable_here=True) if how == "modify" else getattr(out, how)()
        router.pump()
        assert outcome(arriving.delivery) == (out.state, False)
        arriving.end()
        # A consumer that settles second waits for the producer.
        assert outcome(arriving.delivery) == (out.state, rcv_settle_mode == 0)
        if rcv_settle_mode == 1:
            arriving.delivery.settle()
            router.pump()
        assert len(arriving.client.received(arriving.consumer)) == 1
        assert (arriving.left(), out.settled or out.remote_settled) == ((0, 0), True)

    @pytest.mark.parametrize("how", ["detach", "vanish"])
    def test_so_it_is_where_the_consumer_goes(self, router, how):
        arriving = Arriving(router)
        if how == "detach":
            arriving.client.detach(arriving.consumer)
        else:
            arriving.client.vanish()
        assert outcome(arriving.delivery) == (MAYBE_SEEN, False)
        arriving.end()
        assert (outcome(arriving.delivery), arriving.left()) == ((MAYBE_SEEN, True), (0, 0))

    def test_so_it_is_where_nobody_is(self, router):
        arriving = Arriving(router, has_consumer=False)
        router.let_pass(10)
        assert outcome(arriving.delivery) == (RELEASED, False)
        arriving.end()
        assert (outcome(arriving.delivery), arriving.left()) == ((RELEASED, True), (0, 0))

    def test_a_message_that_is_aborted_is_not_settled_again(self, router):
        arriving = Arriving(router)
        [out] = arriving.client.partial
        out.release()
        router.pump()
        arriving.far.dispositions.clear()
        arriving.delivery.link.abort(arriving.delivery)
        router.pump()
        assert (arriving.far.dispositions, arriving.left()) == ([], (0, 0))

    def test_one_whose_sender_settles_first_is_not_either(self, router):
        arriving = Arriving(router)
        [out] = arriving.client.partial
        out.accept()
        router.pump()
        arriving.far.dispositions.clear()
        arriving.delivery.settle()
        arriving.end()
        assert (arriving.far.dispositions, arriving.left()) == ([], (0, 0))
        assert len(arriving.client.received(arriving.consumer)) == 1

    def test_the_next_message_on_the_link_is_one_like_others(self, router):
        arriving = Arriving(router)
        [out] = arriving.client.partial
        out.reject()
        router.pump()
        arriving.end()
        delivery = arriving.far.pass_on(to_router("orders"))
        arriving.client.latest(arriving.consumer).accept()
        router.pump()
        assert outcome(delivery) == (ACCEPTED, True)

    def test_a_client_is_settled_with_at_once(self, router):
        client, there = router.client(), router.client()
        there.consumer("orders", credit=9)
        delivery = client.stream(client.producer("orders"), PARTS[0], ends=False)
        [out] = there.partial
        out.release()
        router.pump()
        assert outcome(delivery) == (RELEASED, True)

    @pytest.mark.parametrize("address", ["orders", "multicast"])
    @pytest.mark.parametrize("how", [ACCEPTED, RELEASED])
    def test_a_neighbour_that_decides_early_has_its_settlement_behind_the_message(self, router, address, how):
        streaming = Streaming(router, address)
        delivery = streaming.client.stream(streaming.sender, *PARTS[:2], ends=False)
        [there] = streaming.far.partial
        there.update(how, False)
        router.pump()
        assert (there.remote_settled, delivery.remote_state) == (False, how if address == "orders" else None)
        there.update(how, False)
        router.pump()
        delivery.settle()
        router.pump()
        assert not there.remote_settled
        streaming.client.go_on(delivery, PARTS[2], more=False)
        assert there.remote_settled
        assert len(streaming.far.arrived()) == 1
