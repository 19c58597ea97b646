"""Routed links: detaches, ended sessions and lost connections, and what becomes of what was under way."""

import pytest

from routerd.wire import ACCEPTED, RELEASED, Error, Modified, Source, Symbol, Target, Transfer
from tests.routers import message
from tests.unit.core.routed import Container, Routed, put

LOST = "qd:routed-link-lost"
LOST_TEXT = "Connectivity to the peer container was lost"
GONE = Error(condition="my:error", description="gone", info={Symbol("k"): "v"})
FAILED = Modified(delivery_failed=True)
UNDELIVERABLE = Modified(undeliverable_here=True)
KINDS = ["consumer", "producer"]


@pytest.fixture
def routed():
    return Routed()


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def attached(routed, kind, **options):
    """A routed link, and the container's end of it."""
    return getattr(routed, kind)(credit=5, **options)


class Silent(Container):
    """A container that is not heard, from a moment on."""

    def fall_silent(self):
        self.line.holds.add(self.connection)

    def speak(self):
        self.line.holds.clear()
        self._workers.pump()


def with_silent(**options):
    routed = Routed(**options)
    silent = routed.workers.client(container_id="silent", kind=Silent)
    routed.deactivate(routed.container)
    routed.activate(silent)
    routed.container = silent
    return routed


class TestDetach:
    @pytest.mark.parametrize("error", [None, GONE], ids=["no error", "error"])
    @pytest.mark.parametrize("closed", [False, True])
    def test_by_the_client(self, routed, kind, closed, error):
        link, far = attached(routed, kind)
        routed.client.detach(link, closed=closed, error=error)
        assert routed.end_of(routed.container, far) == (closed, error and "my:error")
        assert routed.container.errors[far.name] == error
        assert routed.end_of(routed.client, link) == (closed, None)
        routed.check_nothing_left()

    @pytest.mark.parametrize("error", [None, GONE], ids=["no error", "error"])
    @pytest.mark.parametrize("closed", [False, True])
    def test_by_the_container(self, routed, kind, closed, error):
        link, far = attached(routed, kind)
        routed.container.detach(far, closed=closed, error=error)
        assert routed.end_of(routed.client, link) == (closed, error and "my:error")
        assert routed.client.errors[link.name] == error
        assert routed.end_of(routed.container, far)[0] is closed
        routed.check_nothing_left()

    def test_by_both_at_once(self, routed, kind):
        link, far = attached(routed, kind)
        link.detach()
        far.detach(error=GONE)
        routed.pump()
        assert routed.end_of(routed.client, link)[0]
        assert routed.end_of(routed.container, far)[0]
        routed.check_nothing_left()

    def test_by_a_client_for_now_while_the_container_closes(self, kind):
        """The link is attached once more, to be closed (2.6.6); nothing is left of its session."""
        routed = with_silent()
        link, far = attached(routed, kind)
        routed.container.fall_silent()
        far.detach()
        routed.client.detach(link, closed=False)
        routed.container.speak()
        assert routed.end_of(routed.client, link)[0]
        assert {attach.name for attach in routed.container.attaches} == {far.name}
        routed.check_nothing_left()

    def test_by_the_container_before_it_has_got_all_that_came_before_the_client_s(self, routed):
        sender, receiver = routed.producer(credit=3)
        routed.client.line.holds.add(routed.client.server)
        receiver.set_credit(0)
        routed.pump()
        sender.send(message(), settled=True)
        sender.detach()
        routed.client.line.holds.clear()
        routed.pump()
        receiver.detach(error=GONE)
        routed.pump()
        assert routed.end_of(routed.client, sender)[0]
        assert routed.end_of(routed.container, receiver)[0]
        routed.check_nothing_left()

    def test_the_client_is_answered_when_the_container_was(self, kind):
        routed = with_silent()
        link, _ = attached(routed, kind)
        routed.container.fall_silent()
        routed.client.detach(link)
        assert [event for event in routed.client.events if event[0] == "link detached"] == []
        routed.container.speak()
        assert routed.end_of(routed.client, link) == (True, None)
        routed.check_nothing_left()

    def test_the_outcomes_of_what_was_sent_still_come(self):
        routed = with_silent()
        sender, receiver = routed.producer(credit=5)
        delivery = routed.client.send(sender, message())
        routed.container.latest(receiver).accept()
        routed.container.fall_silent()
        routed.client.detach(sender)
        routed.container.speak()
        assert (delivery.remote_state, delivery.remote_settled) == (ACCEPTED, True)
        routed.check_nothing_left()

    def test_a_client_that_closes_is_answered_so(self, routed, kind):
        """Even if the container only detaches: the client may wait for that."""
        link, far = attached(routed, kind)
        link.detach(closed=True)
        far.detach(closed=False)
        routed.pump()
        assert routed.end_of(routed.client, link)[0] is True
        routed.check_nothing_left()

    def test_before_the_container_has_answered_the_attach(self, kind):
        routed = with_silent()
        routed.container.fall_silent()
        link = getattr(routed.client, kind)("lr.q")
        link.detach()
        routed.pump()
        assert [event for event in routed.client.events if event[0] == "link detached"] == []
        routed.container.speak()
        assert routed.end_of(routed.client, link) == (True, None)
        assert routed.end_of(routed.container, routed.container.latest_link)[0] is True
        routed.check_nothing_left()

    def test_what_a_client_closes_over_has_failed(self, routed):
        link, far = routed.consumer(credit=5)
        sent = [far.send(message()) for _ in range(3)]
        routed.pump()
        routed.client.unsettled[link.name][0].accept()
        routed.client.unsettled[link.name][1].update(ACCEPTED, False)
        routed.pump()
        routed.client.detach(link)
        assert [(one.remote_state, one.remote_settled) for one in sent] == [
            (ACCEPTED, True),
            (ACCEPTED, True),
            (FAILED, True),
        ]
        routed.check_nothing_left()

    @pytest.mark.parametrize(
        ("source", "outcome"),
        [
            (Source(address="lr.q", outcomes=(Symbol("amqp:accepted:list"), Symbol("amqp:released:list"))), RELEASED),
            (Source(address="lr.q", outcomes=(Symbol("amqp:modified:list"),)), FAILED),
            (Source(address="lr.q", default_outcome=UNDELIVERABLE), UNDELIVERABLE),
        ],
        ids=["no modified", "modified", "default"],
    )
    def test_as_the_outcomes_of_its_source_allow(self, routed, source, outcome):
        link, far = routed.consumer(source=source, credit=5)
        sent = far.send(message())
        routed.pump()
        routed.client.vanish()
        assert (sent.remote_state, sent.remote_settled) == (outcome, True)
        assert link.name
        routed.check_nothing_left()

    def test_what_a_client_leaves_to_be_resumed_stays_open(self, routed):
        link, far = routed.consumer(credit=5)
        sent = far.send(message())
        routed.pump()
        routed.client.detach(link, closed=False)
        assert (sent.remote_state, sent.remote_settled) == (None, False)
        assert far.suspended == {sent.tag: sent}
        routed.check_nothing_left()

    def test_what_is_begun_is_aborted(self, routed):
        sender, receiver = routed.producer(credit=5)
        routed.client.stream(sender, b"abc", ends=False)
        sender.detach()
        routed.pump()
        assert routed.container.aborted == [receiver.name]
        routed.check_nothing_left()

    def test_what_was_sent_before_goes_before(self):
        routed = Routed()
        narrow = routed.workers.client(container_id="narrow", kind=Silent, incoming_window=4)
        routed.deactivate(routed.container)
        routed.activate(narrow)
        routed.container = narrow
        sender, receiver = routed.producer(credit=100)
        narrow.fall_silent()
        for number in range(50):
            sender.send(message(str(number)), settled=True)
        sender.detach()
        routed.pump()
        narrow.speak()
        assert narrow.received(receiver) == [message(str(number)) for number in range(50)]
        assert routed.end_of(narrow, receiver) == (True, None)
        routed.check_nothing_left()

    def test_an_error_that_does_not_fit_the_frames_of_the_client(self):
        routed = Routed()
        small = routed.workers.client(container_id="small", max_frame_size=512)
        routed.client = small
        link, far = routed.consumer()
        routed.container.detach(far, error=Error(condition="my:error", description="x" * 600))
        assert small.errors[link.name] == Error(condition="my:error")
        routed.check_nothing_left()

    def test_a_broker_that_ends_its_session_after_each_link(self, routed, kind):
        for _ in range(2):
            link, far = attached(routed, kind)
            far.session.handler.on_link_detached = lambda link, *_: link.session.end()
            routed.client.detach(link)
            assert routed.end_of(routed.client, link) == (True, None)
        routed.check_nothing_left()

    def test_a_client_that_takes_its_own_name_again(self, routed):
        link, far = routed.consumer(name="sub", credit=5)
        session = routed.client.another_session()
        routed.client.connection.links.drop(link)
        again = routed.client.consumer("lr.q", "sub", session=session, credit=2)
        routed.pump()
        assert not link.is_attached
        assert again.is_attached
        assert far.is_over
        assert routed.container.latest_link.credit == 2
        routed.client.leave()
        routed.check_nothing_left()


class TestSessions:
    @pytest.mark.parametrize("error", [None, GONE], ids=["no error", "error"])
    def test_that_of_the_container_ends(self, routed, kind, error):
        link, far = attached(routed, kind)
        far.session.end(error)
        routed.pump()
        assert routed.end_of(routed.client, link) == (True, LOST)
        told = routed.client.errors[link.name]
        assert told.description == LOST_TEXT
        assert told.info == (None if error is None else {"condition": "my:error", "description": "gone"})
        routed.check_nothing_left()

    def test_that_of_the_container_ends_before_its_answer(self, routed, kind):
        routed.container.answers_links = False
        link = getattr(routed.client, kind)("lr.q")
        routed.container.latest_link.session.end(GONE)
        routed.pump()
        assert routed.refusal(link) == (True, LOST)
        assert routed.client.errors[link.name].info["condition"] == "my:error"
        routed.check_nothing_left()

    def test_that_of_the_container_ends_when_the_client_has_detached(self, kind):
        routed = with_silent()
        link, far = attached(routed, kind)
        routed.container.fall_silent()
        routed.client.detach(link)
        far.session.end(GONE)
        routed.container.speak()
        assert routed.end_of(routed.client, link)[0] is True
        routed.check_nothing_left()

    def test_that_of_the_container_ends_when_the_client_was_told_to_detach(self, routed, kind):
        link, far = attached(routed, kind)
        routed.client.line.holds.add(routed.client.connection)
        far.detach(error=GONE)
        routed.pump()
        far.session.end()
        routed.pump()
        routed.client.line.holds.clear()
        routed.pump()
        assert routed.end_of(routed.client, link) == (True, "my:error")
        routed.check_nothing_left()

    def test_that_of_the_client_ends(self, routed, kind):
        session = routed.client.another_session()
        _, far = attached(routed, kind, session=session)
        session.end(GONE)
        routed.pump()
        assert routed.end_of(routed.container, far) == (True, LOST)
        assert routed.container.errors[far.name].info["condition"] == "my:error"
        routed.check_nothing_left()

    def test_that_of_the_client_ends_before_the_container_has_answered(self, routed, kind):
        routed.container.answers_links = False
        session = routed.client.another_session()
        getattr(routed.client, kind)("lr.q", session=session)
        far = routed.container.latest_link
        session.end()
        routed.pump()
        assert far.is_over
        routed.check_nothing_left()

    def test_each_link_has_its_own_fate(self, routed):
        _, far = routed.consumer()
        other, _ = routed.consumer()
        far.session.end(GONE)
        routed.pump()
        assert other.is_attached


class TestConnections:
    @pytest.mark.parametrize("how", ["leave", "vanish"])
    def test_that_of_the_container_is_lost(self, routed, kind, how):
        link, _ = attached(routed, kind)
        getattr(routed.container, how)()
        assert routed.end_of(routed.client, link) == (True, LOST)
        routed.deactivate(routed.container)
        again = routed.workers.client(container_id="broker", kind=Container)
        routed.activate(again)
        routed.container = again
        assert attached(routed, kind)[0].is_attached
        routed.client.leave()
        routed.check_nothing_left()

    def test_its_reason_is_told(self, routed):
        link, _ = routed.consumer()
        routed.container.connection.close(GONE)
        routed.pump()
        assert routed.client.errors[link.name] == Error(
            condition=LOST, description=LOST_TEXT, info={"condition": "my:error", "description": "gone"}
        )

    def test_that_of_the_container_is_lost_before_its_answer(self, routed, kind):
        routed.container.answers_links = False
        link = getattr(routed.client, kind)("lr.q")
        routed.container.vanish()
        assert routed.refusal(link) == (True, LOST)

    @pytest.mark.parametrize("how", ["leave", "vanish"])
    def test_that_of_the_client_is_lost(self, routed, kind, how):
        _, far = attached(routed, kind)
        getattr(routed.client, how)()
        assert routed.end_of(routed.container, far) == (True, LOST)
        routed.check_nothing_left()

    @pytest.mark.parametrize("kept", [{"timeout": 30}, {"expiry_policy": Symbol("never")}])
    def test_that_of_a_client_that_may_come_back(self, routed, kept):
        link, far = routed.consumer(source=Source(address="lr.q", **kept), credit=5)
        sent = far.send(message())
        routed.pump()
        _, other = routed.producer(target=Target(address="lr.q", **kept))
        routed.client.vanish()
        assert routed.end_of(routed.container, far) == (False, LOST)
        assert routed.end_of(routed.container, other) == (False, LOST)
        assert (sent.remote_settled, link.is_attached) == (False, False)
        routed.check_nothing_left()

    def test_the_other_terminus_does_not_count(self, routed):
        _, far = routed.consumer(target=Target(timeout=30))
        routed.client.vanish()
        assert routed.end_of(routed.container, far) == (True, LOST)

    def test_what_was_sent_to_a_lost_client_has_failed(self, routed):
        _, far = routed.consumer(credit=5)
        sent = [far.send(message()) for _ in range(3)]
        routed.pump()
        routed.client.vanish()
        assert [(one.remote_state, one.remote_settled) for one in sent] == [(FAILED, True)] * 3

    def test_what_was_sent_to_a_lost_container_is_in_doubt(self, routed):
        sender, _ = routed.producer(credit=5)
        delivery = routed.client.send(sender, message())
        routed.container.vanish()
        assert (delivery.remote_state, delivery.remote_settled) == (None, False)
        routed.check_nothing_left()

    def test_what_a_lost_client_has_begun_is_aborted(self, routed):
        sender, receiver = routed.producer(credit=5)
        routed.client.stream(sender, b"abc", ends=False)
        routed.client.vanish()
        assert routed.container.aborted == [receiver.name]
        routed.check_nothing_left()

    def test_what_a_lost_container_has_begun_is_aborted(self, routed):
        link, far = routed.consumer(credit=5)
        routed.container.stream(far, b"abc", ends=False)
        routed.container.vanish()
        assert routed.client.aborted == [link.name]

    def test_both_are_lost_at_once(self, routed, kind):
        attached(routed, kind)
        for one in (routed.client, routed.container):
            one.line.cut()
        routed.pump()
        assert routed.router.peers == {}
        routed.check_nothing_left()


class TestViolations:
    def test_a_client_that_sends_without_credit(self, routed):
        sender, receiver = routed.producer(credit=1)
        sender.credit = 2
        routed.client.send(sender, message())
        routed.client.send(sender, message())
        assert routed.end_of(routed.client, sender) == (True, "amqp:link:transfer-limit-exceeded")
        assert routed.end_of(routed.container, receiver) == (True, "amqp:link:transfer-limit-exceeded")
        routed.check_nothing_left()

    def test_a_message_that_is_too_large(self):
        routed = Routed()
        routed.client.peer.max_message_size = 1000
        sender, receiver = routed.producer(credit=5)
        assert sender.remote_max_message_size == 1000
        routed.client.stream(sender, b"a" * 900, ends=False)
        # Our engine would not send what is too large.
        put(sender, Transfer(handle=sender.handle, more=True), b"a" * 900)
        routed.pump()
        assert routed.container.aborted == [receiver.name]
        assert routed.end_of(routed.container, receiver) == (True, "amqp:link:message-size-exceeded")

    def test_one_that_is_too_large_where_only_the_close_of_the_connection_tells(self):
        routed = Routed(cuts_for_large_messages=True)
        routed.client.peer.max_message_size = 1000
        sender, receiver = routed.producer(credit=5)
        put(sender, Transfer(handle=sender.handle, delivery_id=0, delivery_tag=b"t"), b"a" * 1001)
        routed.pump()
        assert routed.end_of(routed.client, sender) == (True, None)
        assert routed.end_of(routed.container, receiver) == (True, "amqp:link:message-size-exceeded")

    def test_a_session_that_is_ended_for_what_the_client_did(self, routed):
        link, far = routed.consumer(credit=5)
        handle = link.handle
        link.handle = 77
        link.session.send_flow(link)
        link.handle = handle
        routed.pump()
        assert routed.end_of(routed.container, far) == (True, "amqp:session:unattached-handle")


class TestPatience:
    def test_a_container_that_does_not_answer_an_attach(self, kind):
        routed = Routed()
        routed.container.answers_links = False
        link = getattr(routed.client, kind)("lr.q")
        routed.let_pass(59)
        assert link.name not in routed.client.errors
        routed.let_pass(2)
        assert routed.refusal(link) == (True, LOST)
        assert routed.container.latest_link.is_over
        routed.check_nothing_left()

    def test_one_that_does_not_answer_a_detach(self, kind):
        routed = with_silent()
        link, _ = attached(routed, kind)
        routed.container.fall_silent()
        routed.client.detach(link)
        routed.let_pass(61)
        assert routed.end_of(routed.client, link) == (True, None)
        routed.let_pass(61)
        routed.container.speak()
        routed.check_nothing_left()

    def test_one_whose_credit_never_comes_back(self, routed):
        sender, receiver = routed.producer(credit=3)
        routed.client.line.holds.add(routed.client.server)
        receiver.set_credit(0)
        routed.pump()
        sender.send(message(), settled=True)
        sender.detach()
        routed.client.line.holds.clear()
        routed.pump()
        assert not receiver.is_over
        routed.let_pass(61)
        assert routed.end_of(routed.container, receiver) == (True, None)
        routed.check_nothing_left()

    def test_a_name_that_never_gets_free(self):
        routed = with_silent()
        link, _ = routed.consumer(name="sub")
        routed.container.fall_silent()
        routed.client.vanish()
        routed.let_pass(5)
        routed.client = routed.workers.client(container_id="c1")
        waiting = routed.client.consumer("lr.q", "sub")
        routed.let_pass(64)
        assert link.name == waiting.name
        assert routed.refusal(waiting) == (True, LOST)
        routed.container.speak()
        routed.check_nothing_left()


class TestShutdown:
    def test_no_link_is_routed_any_more(self, routed):
        routed.router.leaving.drain()
        link = routed.client.consumer("lr.q")
        assert routed.refusal(link) == (True, "amqp:connection:forced")

    def test_what_is_under_way_is_waited_for(self, routed):
        sender, receiver = routed.producer(credit=5)
        routed.client.send(sender, message())
        routed.router.leaving.drain()
        assert not routed.router.leaving.is_drained()
        routed.container.latest(receiver).accept()
        routed.pump()
        assert routed.router.leaving.is_drained()

    def test_all_are_told_why(self, routed, kind):
        link, far = attached(routed, kind)
        routed.router.leaving.close_all()
        routed.pump()
        assert routed.end_of(routed.client, link)[1] == "amqp:connection:forced"
        assert routed.end_of(routed.container, far)[1] == "amqp:connection:forced"
