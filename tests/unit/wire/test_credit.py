"""Credit is conserved, and octets arrive once and in order, whatever is granted, sent, queued, aborted and drained."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.endpoints import Pair, Recorder
from tests.unit.wire.attached import attached

NAMES = ("a", "b", "c")


@dataclass
class Ledger:
    """What happened to the credit of one link, and to its messages."""

    granted: int = 0
    drained: int = 0
    sent: list = field(default_factory=list)
    arrived: list = field(default_factory=list)


class Receiving(Recorder):
    """Puts together what arrives, by link, and gives back the window a frame at a time."""

    def __init__(self, ledgers, window):
        super().__init__()
        self.ledgers, self.window, self.held = ledgers, window, 0

    def on_session_begun(self, session, performative):
        session.begin(incoming_window=self.window)

    def on_transfer(self, receiver, delivery, data, start, end):
        ledger = self.ledgers[receiver.name]
        if delivery.context is None:
            delivery.context = b""
            ledger.arrived.append(delivery)
        delivery.context += bytes(data[start:end])
        self.held += 1
        receiver.session.withhold(1)
        assert self.held + receiver.session.incoming_window <= self.window


class Lines:
    """Three links on one session, each with its ledger."""

    def __init__(self, window, frame_size):
        self.ledgers = {name: Ledger() for name in NAMES}
        self.handler = Receiving(self.ledgers, window)
        self.pair = Pair(server={"max_frame_size": frame_size}, server_handler=self.handler).open()
        session = self.pair.session()
        links = [attached(name, pair=self.pair, session=session) for name in NAMES]
        self.senders = {link.sender.name: link.sender for link in links}
        self.receivers = {link.sender.name: link.receiver for link in links}
        self.session, self.other = session, links[0].receiver.session
        self.streams = {}
        self.number = 0
        for name in NAMES:
            self.step(name, "grant", 4)

    def give_back(self, frames):
        self.handler.held = max(0, self.handler.held - frames)
        self.other.give_back(frames)

    def arrive(self):
        """Carry all there is, and make room for more until nothing waits."""
        while True:
            self.pair.pump()
            if not self.session.has_backlog:
                return
            self.give_back(1)

    def step(self, name, action, amount):
        sender, receiver, ledger = self.senders[name], self.receivers[name], self.ledgers[name]
        stream = self.streams.get(name)
        if action == "grant":
            receiver.grant(amount % 5)
            ledger.granted += amount % 5
        elif action == "pump":
            self.pair.pump()
        elif action == "give back":
            self.give_back(amount)
        elif action == "drain":
            self.drain(name)
        elif stream is not None and action == "abort":
            sender.abort(stream)
            del self.streams[name]
        elif stream is not None:
            self.write(stream, amount, more=action == "write")
        elif sender.credit:
            self.begin(name, settled=amount % 3 == 0)
            if action == "send":
                self.write(self.streams[name], amount, more=False)

    def begin(self, name, settled):
        ledger = self.ledgers[name]
        self.streams[name] = self.senders[name].begin(settled=settled, context=b"")
        ledger.sent.append(self.streams[name])

    def write(self, stream, size, more):
        self.number += 1
        part = bytes([self.number % 256]) * size
        stream.context += part
        if not more:
            del self.streams[stream.link.name]
        stream.link.write(stream, bytearray(b"<" + part + b">"), 1, size + 1, more)

    def drain(self, name):
        # Nothing may be on its way, or it could not be told what was drained and what was used.
        self.arrive()
        ledger, receiver = self.ledgers[name], self.receivers[name]
        self.check(name)
        receiver.set_credit(receiver.credit, drain=True)
        ledger.drained += self.senders[name].credit
        self.pair.pump()
        self.senders[name].drained()
        self.arrive()
        self.check(name)
        # A delivery that was begun and has no octet yet has its credit still.
        assert (self.senders[name].credit, receiver.credit <= 1) == (0, True)

    def check(self, name):
        """All is delivered that can be: granted = used + outstanding + drained, at both ends."""
        sender, receiver, ledger = self.senders[name], self.receivers[name], self.ledgers[name]
        begun = sender.credit_on_wire() - sender.credit
        assert ledger.granted == len(ledger.arrived) + receiver.credit + ledger.drained
        assert receiver.credit == sender.credit + begun
        assert sender.delivery_count == receiver.delivery_count == len(ledger.arrived) + ledger.drained
        # Of what was aborted it is not known how much of it had left; all else has arrived as far as it was written.
        arrived = {each.tag: each for each in ledger.arrived}
        assert list(arrived) == [each.tag for each in ledger.sent if each.tag in arrived]
        for sent in ledger.sent:
            if sent.is_aborted:
                if sent.tag in arrived:
                    assert arrived[sent.tag].is_aborted
                    assert sent.context.startswith(arrived[sent.tag].context)
            elif sent.tag in arrived or sent.context or name not in self.streams:
                other = arrived[sent.tag]
                assert (other.context, other.size, other.id) == (sent.context, sent.size, sent.id)
                assert (other.is_aborted, other.is_partial) == (False, sent is self.streams.get(name))


actions = st.sampled_from(
    ["grant", "grant", "send", "send", "send", "write", "write", "write", "end", "abort", "pump", "give back", "drain"]
)
sizes = st.integers(0, 60) | st.integers(0, 1500)


@settings(max_examples=250)
@given(
    st.sampled_from([1, 2, 3, 7, 100]),
    st.sampled_from([512, 600, 65_536]),
    st.lists(st.tuples(st.sampled_from(NAMES), actions, sizes), min_size=15, max_size=80),
)
def test_credit_is_conserved_and_every_octet_arrives_once(window, frame_size, steps):
    lines = Lines(window, frame_size)
    for step in steps:
        lines.step(*step)
    lines.arrive()
    for name in NAMES:
        lines.check(name)
    assert [event for event in lines.pair.at_client.events if event[0] == "violation"] == []
    assert lines.handler.violations == []
    known = {each.id for ledger in lines.ledgers.values() for each in ledger.arrived if not each.remote_settled}
    assert {each.id for each in lines.session.outgoing.all()} == known
    assert {each.id for each in lines.other.incoming.all()} == known
