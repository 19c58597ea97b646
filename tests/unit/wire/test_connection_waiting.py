"""A connection whose open waits for an answer from elsewhere, and one that says less than it holds the peer to."""

from routerd.wire import ConnectionConfig, ConnectionState, Source, Target
from routerd.wire.input import HELD_MAX
from tests.endpoints import Pair, Recorder


class Waiting(Recorder):
    """Lets the peer wait for our open."""

    def on_opened(self, connection, performative):
        self.events.append(("opened", performative.container_id))
        connection.hold()


def begun(**options):
    """A pair whose client has sent its open."""
    pair = Pair(**options)
    pair.server.start(pair.now)
    pair.client.start(pair.now)
    pair.client.open()
    pair.pump()
    return pair


def test_what_the_peer_sends_meanwhile_is_taken_behind_our_open():
    pair = begun(server_handler=Waiting())
    session = pair.client.session()
    session.begin()
    pair.pump()
    assert pair.at_server.take() == [("opened", "client")]
    link = session.sender("early")
    link.attach(source=Source(), target=Target(address="q"))
    pair.pump()
    assert pair.at_server.take() == []
    pair.server.open()
    pair.server.release(pair.now)
    pair.pump()
    assert pair.at_server.take() == [("session begun", 0), ("link attached", "early")]
    assert link.is_attached


def test_a_peer_that_sent_nothing_meanwhile_is_heard_again():
    pair = begun(server_handler=Waiting())
    pair.server.open()
    pair.server.release(pair.now)
    pair.client.close()
    pair.pump()
    assert pair.server.is_finished


def test_a_peer_that_sends_too_much_meanwhile_is_given_up():
    pair = begun(server_handler=Waiting())
    pair.server.receive_data(bytes(HELD_MAX + 1), pair.now)
    assert pair.server.state is ConnectionState.DISCARDING
    pair.pump()
    assert ("closed", "amqp:resource-limit-exceeded") in pair.at_client.events


def test_an_open_can_say_less_than_the_configuration():
    pair = begun(server_handler=Recorder(answers=False), server={"channel_max": 9, "max_frame_size": 4096})
    pair.server.open(ConnectionConfig(container_id="told", channel_max=3, max_frame_size=1024))
    pair.pump()
    [told] = pair.at_client.opens
    assert (told.container_id, told.channel_max, told.max_frame_size) == ("told", 3, 1024)
    assert (pair.server.config.channel_max, pair.server.config.max_frame_size) == (9, 1024)
