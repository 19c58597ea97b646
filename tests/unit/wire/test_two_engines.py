"""Two engines do at random whatever applications may ask of them, and stay of one mind.

Nobody ever breaks the protocol. Once all octets have arrived, both ends know of the same links and of the same
unsettled deliveries in the same states, and every message that arrived whole is the one that was sent. When all is
closed, nothing is left of it. Applications recover what they can of links that were detached or whose transport broke.
"""

from collections import defaultdict

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from routerd.wire.amqp_error import Error
from routerd.wire.connection import Connection
from routerd.wire.connection_config import ConnectionConfig
from routerd.wire.handler import Handler
from routerd.wire.outcomes import ACCEPTED, Received, is_outcome
from routerd.wire.recovery import Recovery, plan_recovery
from routerd.wire.states import ConnectionState, LinkState, SessionState
from routerd.wire.types import Symbol
from tests.unit.wire.attached import SOURCE, TARGET

SIDES = ("client", "server")
OUR_MIND = Error(condition=Symbol("x:changed-our-mind"))

picks = st.integers(0, 1000)
sides = st.sampled_from(SIDES)
names = st.sampled_from(["a", "b"])


def picked(options, pick):
    """One of the options, or None when there are none."""
    return options[pick % len(options)] if options else None


class Application(Handler):
    """One side: answers what it is asked, and keeps deliveries over the life of links and connections."""

    def __init__(self, side, bodies):
        self.other_side = SIDES[side == "client"]
        self.bodies = bodies
        self.earlier = {}
        self.violations = []
        self.forget_connection()

    def forget_connection(self):
        """Begin anew, but for the links that can be taken over."""
        self.sessions, self.ended, self.links, self.arrived = [], [], [], []
        self.streaming, self.to_resume = {}, defaultdict(list)
        self.withheld = defaultdict(int)

    def deliveries(self):
        """What arrived on links, is complete, and can be decided.

        Nothing could be told of what our attach said is unsettled and the sender has not resumed yet.
        """
        known = [each for each in self.arrived if not (each.settled or each.is_partial)]
        return [each for each in known if each.is_tracked or each.link.state is LinkState.DETACHED]

    def unsettled(self):
        """What was sent and is unsettled."""
        return [each for session in self.sessions for each in session.outgoing.all() if not each.settled]

    def take_over(self, link):
        earlier = self.earlier.pop((link.name, link.is_sender), None)
        if earlier is not None:
            link.take_over(earlier)

    # Events

    def on_violation(self, connection, error):
        self.violations.append(error)

    def on_opened(self, connection, performative):
        if not connection.is_client:
            connection.open()

    def on_session_begun(self, session, performative):
        if session.state is SessionState.BEGIN_RCVD:
            session.begin(incoming_window=self.window)
        self.sessions.append(session)

    def on_session_ended(self, session, error):
        if session in self.sessions:
            self.sessions.remove(session)
        self.ended.append(session)

    def on_link_attached(self, link, performative):
        if link.state is LinkState.ATTACH_RCVD:
            self.take_over(link)
            link.attach(source=SOURCE, target=TARGET)
        self.links.append(link)
        plan = plan_recovery(link, performative.unsettled, is_incomplete=performative.incomplete_unsettled)
        for each in plan:
            if each.recovery in (Recovery.FORGET, Recovery.RESEND):
                each.delivery.settle()
        self.to_resume[link] = [each for each in plan if each.recovery in (Recovery.RESUME, Recovery.CONFIRM)]

    def on_link_flow(self, link):
        if not link.is_sender:
            return
        while link.credit and self.to_resume[link]:
            each = self.to_resume[link].pop()
            each.delivery.remote_state = each.remote_state
            if each.recovery is Recovery.CONFIRM:
                link.resume(each.delivery, state=each.remote_state, settled=True)
            else:
                link.resume(each.delivery, each.delivery.context)
        if link.drain:
            link.drained()

    def on_link_detached(self, link, closed, error):
        if link in self.links:
            self.links.remove(link)
        self.streaming.pop(link, None)
        if link.suspended:
            self.earlier[link.name, link.is_sender] = link

    def on_transfer(self, receiver, delivery, data, start, end):
        if delivery.size == end - start:
            delivery.context = b""
            self.arrived = [*(each for each in self.arrived if each is not delivery), delivery]
        delivery.context += bytes(data[start:end])
        self.withheld[receiver.session] += 1
        receiver.session.withhold(1)
        if delivery.is_aborted:
            self.arrived.remove(delivery)
        elif not delivery.is_partial and not (delivery.is_resumed and delivery.remote_settled):
            assert delivery.context == self.bodies[self.other_side, receiver.name, delivery.tag]

    def on_disposition(self, delivery):
        if delivery.remote_settled and not delivery.settled:
            delivery.settled = True


class TwoEngines(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.bodies = {}
        self.apps = {side: Application(side, self.bodies) for side in SIDES}
        self.pending = {}
        self.number = 0

    # The transport

    @initialize(
        window=st.sampled_from([1, 2, 5, 100]),
        frame_size=st.sampled_from([512, 65_536]),
        link_max=st.sampled_from([3, 1000]),
    )
    def connect(self, window, frame_size, link_max):
        self.ends = {}
        for side in SIDES:
            app = self.apps[side]
            app.forget_connection()
            app.window = window
            config = ConnectionConfig(
                container_id=side, max_frame_size=frame_size, incoming_window=window, handle_max=link_max
            )
            app.connection = self.ends[side] = Connection(config, app, is_client=side == "client")
            self.pending[side] = bytearray()
        for side in ("server", "client"):
            self.ends[side].start(0.0)
        self.ends["client"].open()
        self.carry_all()

    def carry(self, side, count):
        """Bring so many octets, at most, to a side."""
        other = self.ends[SIDES[side == "client"]]
        self.pending[side] += other.data_to_send(0.0)
        octets = bytes(self.pending[side][:count])
        del self.pending[side][:count]
        self.ends[side].receive_data(octets, 0.0)
        assert [app.violations for app in self.apps.values()] == [[], []]
        return len(octets)

    def carry_all(self):
        for _ in range(500):
            if not sum([self.carry(side, 1_000_000) for side in SIDES]):
                return
        raise AssertionError("the two never fall silent")

    @rule(side=sides, count=st.integers(1, 200) | st.just(100_000))
    def some_octets_arrive(self, side, count):
        self.carry(side, count)

    @rule(window=st.sampled_from([1, 5, 100]), frame_size=st.sampled_from([512, 65_536]))
    def the_transport_breaks(self, window, frame_size):
        for end in self.ends.values():
            end.transport_closed()
        self.check_nothing_is_left()
        self.connect(window, frame_size, 1000)

    # What applications may do. Where there is nothing to do it with, that is made first.

    def session_of(self, side, pick):
        app, end = self.apps[side], self.ends[side]
        if not any(each.is_open for each in app.sessions):
            end.session().begin(incoming_window=app.window)
            self.carry_all()
        return picked([each for each in app.sessions if each.is_open], pick)

    def attach_one(self, side, name, is_sender, mode, pick):
        session = self.session_of(side, pick)
        if self.ends[side].links.find(name, is_sender) is None and len(session.links()) < 3:
            link = session.sender(name) if is_sender else session.receiver(name)
            self.apps[side].take_over(link)
            link.attach(source=SOURCE, target=TARGET, rcv_settle_mode=mode)

    def attached_links(self, side, is_sender):
        return [each for each in self.apps[side].links if each.is_sender is is_sender and each.is_attached]

    def link_of(self, side, is_sender, pick):
        """A link that is attached, or None if there is none and none can be had."""
        if not self.attached_links(side, is_sender):
            self.attach_one(side, picked(["a", "b"], pick), is_sender, pick % 2, pick)
            self.carry_all()
        return picked(self.attached_links(side, is_sender), pick)

    def idle_senders(self, side):
        streaming = self.apps[side].streaming
        able = [each for each in self.attached_links(side, True) if each.credit and each not in streaming]
        return [each for each in able if not each.is_incomplete]

    def idle_sender_of(self, side, pick):
        if not self.idle_senders(side):
            sender = self.link_of(side, True, pick)
            other = SIDES[side == "client"]
            for receiver in self.attached_links(other, False):
                if sender is not None and receiver.name == sender.name:
                    receiver.grant(2)
            self.carry_all()
        return picked(self.idle_senders(side), pick)

    @rule(side=sides)
    def begin(self, side):
        if len(self.apps[side].sessions) < 3 and len(self.ends[side].sessions()) < 6:
            self.ends[side].session().begin(incoming_window=self.apps[side].window)

    @rule(side=sides, name=names, is_sender=st.booleans(), mode=st.integers(0, 1), pick=picks)
    def attach(self, side, name, is_sender, mode, pick):
        self.attach_one(side, name, is_sender, mode, pick)

    @rule(name=names, is_sender=st.booleans(), picks=st.tuples(picks, picks))
    def attach_at_once(self, name, is_sender, picks):
        self.attach_one("client", name, is_sender, 0, picks[0])
        self.attach_one("server", name, not is_sender, 0, picks[1])

    @rule(side=sides, pick=picks, credit=st.integers(1, 5))
    def grant(self, side, pick, credit):
        receiver = self.link_of(side, False, pick)
        if receiver is not None:
            receiver.grant(credit)

    @rule(side=sides, pick=picks, credit=st.integers(0, 5), drain=st.booleans())
    def set_credit(self, side, pick, credit, drain):
        receiver = self.link_of(side, False, pick)
        if receiver is not None:
            receiver.set_credit(credit, drain=drain)

    @rule(side=sides, pick=picks, size=st.integers(0, 40) | st.integers(0, 3000), settled=st.booleans())
    def send(self, side, pick, size, settled):
        sender = self.idle_sender_of(side, pick)
        if sender is not None:
            self.number += 1
            body = bytes([self.number % 256]) * size
            delivery = sender.begin(None, settled, context=body)
            self.bodies[side, sender.name, delivery.tag] = body
            sender.write(delivery, body, 0, size, False)

    @rule(side=sides, pick=picks)
    def stream(self, side, pick):
        sender = self.idle_sender_of(side, pick)
        if sender is not None:
            self.apps[side].streaming[sender] = sender.begin(context=b"")

    @rule(side=sides, pick=picks, size=st.integers(0, 1000), more=st.booleans())
    def write(self, side, pick, size, more):
        app = self.apps[side]
        if not app.streaming:
            self.stream(side, pick)
        sender = picked(list(app.streaming), pick)
        if sender is None or not sender.is_attached:
            return
        delivery = app.streaming[sender]
        self.number += 1
        part = bytes([self.number % 256]) * size
        delivery.context += part
        self.bodies[side, sender.name, delivery.tag] = delivery.context
        if not more:
            del app.streaming[sender]
        sender.write(delivery, part, 0, size, more)

    @rule(side=sides, pick=picks)
    def abort(self, side, pick):
        app = self.apps[side]
        if not app.streaming:
            self.write(side, pick, 600, True)
        sender = picked(list(app.streaming), pick)
        if sender is not None and sender.is_attached:
            sender.abort(app.streaming.pop(sender))

    @rule(side=sides, pick=picks, how=st.sampled_from(["accept", "release", "reject", "modify", "received", "settle"]))
    def decide(self, side, pick, how):
        app = self.apps[side]
        if not app.deliveries():
            self.send(SIDES[side == "client"], pick, 5, False)
            self.carry_all()
        delivery = picked(app.deliveries(), pick)
        if delivery is None:
            return
        if how == "received":
            delivery.update(Received(section_number=0, section_offset=pick), False)
        elif how == "modify":
            delivery.modify(delivery_failed=True)
        else:
            getattr(delivery, how)()

    @rule(side=sides, pick=picks, settled=st.booleans())
    def decide_as_sender(self, side, pick, settled):
        delivery = picked(self.apps[side].unsettled(), pick)
        if delivery is not None:
            state = delivery.state if is_outcome(delivery.state) else delivery.remote_state or ACCEPTED
            delivery.update(state, settled)

    @rule(side=sides, pick=picks, frames=st.integers(1, 100))
    def give_back(self, side, pick, frames):
        withheld = self.apps[side].withheld
        session = picked([each for each, count in withheld.items() if count], pick)
        if session is not None:
            frames = min(frames, withheld[session])
            withheld[session] -= frames
            session.give_back(frames)

    @rule(side=sides, pick=picks, closed=st.booleans(), error=st.sampled_from([None, None, OUR_MIND]))
    def detach(self, side, pick, closed, error):
        link = picked([each for each in self.apps[side].links if each.is_attached], pick)
        if link is not None:
            link.detach(closed=closed, error=error)

    @precondition(lambda self: self.number > 3)
    @rule(side=sides, pick=picks, error=st.sampled_from([None, OUR_MIND]))
    def end(self, side, pick, error):
        session = picked([each for each in self.apps[side].sessions if each.is_open], pick)
        if session is not None:
            session.end(error)

    # What holds

    @rule()
    def everything_arrives(self):
        self.carry_all()
        client, server = (self.apps[side] for side in SIDES)
        theirs = {session.channel: session for session in server.sessions}
        assert {session.remote_channel for session in client.sessions} == set(theirs)
        for session in client.sessions:
            other = theirs[session.remote_channel]
            assert session.channel == other.remote_channel
            self.check_agreement(session, other)
            self.check_agreement(other, session)

    def check_agreement(self, sending, receiving):
        """What one end sends, and the other receives, they know the same of."""
        assert sending.remote_incoming_window == receiving.incoming_window
        links = {each.name: each for each in sending.links() if each.is_sender}
        others = {each.name: each for each in receiving.links() if not each.is_sender}
        assert set(links) == set(others)
        for name, sender in links.items():
            receiver = others[name]
            assert (sender.handle, sender.remote_handle) == (receiver.remote_handle, receiver.handle)
            queued = sender.credit_on_wire() - sender.credit
            assert sender.credit == max(0, receiver.credit - queued)
        if sending.has_backlog:
            # An abort that waits for the window has settled one end already.
            assert sending.remote_incoming_window == 0
            return
        sent = {each.id: each for each in sending.outgoing.all()}
        received = {each.id: each for each in receiving.incoming.all()}
        # A receiver knows nothing of what it was sent after it had detached, and a detach leaves behind an abort that
        # waits for the window: both ends find out when they attach again.
        unshared = [known[number] for known in (sent, received) for number in (set(sent) ^ set(received)) & set(known)]
        assert [each for each in unshared if each.link.is_attached] == []
        for number in set(sent) & set(received):
            delivery, other = sent[number], received[number]
            assert (delivery.tag, delivery.link.name) == (other.tag, other.link.name)
            assert delivery.remote_state == other.state
            if is_outcome(delivery.state):
                assert other.remote_state == delivery.state

    def check_nothing_is_left(self):
        for side in SIDES:
            app, end = self.apps[side], self.ends[side]
            assert (app.sessions, app.links, end.sessions(), len(end.links)) == ([], [], [], 0)
            assert [each.outgoing.count + each.incoming.count for each in app.ended] == [0] * len(app.ended)
            assert {each.state for each in app.ended} <= {SessionState.UNMAPPED}

    def teardown(self):
        if not hasattr(self, "ends"):
            return
        self.carry_all()
        for side in SIDES:
            for session in list(self.apps[side].sessions):
                session.give_back(1000)
        self.everything_arrives()
        for side in SIDES:
            for link in list(self.apps[side].links):
                if link.is_attached:
                    link.detach()
        self.everything_arrives()
        assert [app.links for app in self.apps.values()] == [[], []]
        self.ends["client"].close()
        self.carry_all()
        assert {end.state for end in self.ends.values()} == {ConnectionState.END}
        self.check_nothing_is_left()


TestTwoEngines = TwoEngines.TestCase
TestTwoEngines.settings = settings(max_examples=100, stateful_step_count=50)
