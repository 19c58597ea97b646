"""The handler: every event has a method, which does nothing until it is overridden."""

import inspect

import pytest

from routerd.wire.connection import Connection
from routerd.wire.connection_config import ConnectionConfig
from routerd.wire.handler import Handler
from routerd.wire.sasl import AnonymousClient, AnonymousServer, SaslClient, SaslServer
from routerd.wire.states import ConnectionState
from tests.endpoints import Pair, Recorder
from tests.unit.wire.attached import SOURCE, TARGET, attached

EVENTS = {
    "on_authenticated": ["connection"],
    "on_authentication_failed": ["connection"],
    "on_opened": ["connection", "performative"],
    "on_closed": ["connection", "error"],
    "on_violation": ["connection", "error"],
    "on_session_begun": ["session", "performative"],
    "on_session_flow": ["session"],
    "on_session_ended": ["session", "error"],
    "on_link_attached": ["link", "performative"],
    "on_link_flow": ["link"],
    "on_link_detaching": ["link", "closed", "error"],
    "on_link_detached": ["link", "closed", "error"],
    "on_transfer": ["receiver", "delivery", "data", "start", "end"],
    "on_relayed": ["receiver", "sender", "count", "batch", "data", "start"],
    "on_held": ["held"],
    "on_hold_over": ["held"],
    "on_accepted": ["batch", "count"],
    "on_parting": ["batch", "delivery"],
    "on_disposition": ["delivery"],
    "on_output": ["connection"],
}


def test_these_are_the_events():
    assert [name for name, _ in inspect.getmembers(Handler, callable) if not name.startswith("_")] == sorted(EVENTS)


@pytest.mark.parametrize("name", EVENTS)
def test_a_method_that_is_not_overridden_does_nothing(name):
    link = attached(credit=1)
    involved = {
        "connection": link.pair.client,
        "session": link.sender.session,
        "link": link.sender,
        "receiver": link.receiver,
        "sender": link.sender,
        "delivery": link.sender.send(b"m"),
    }
    plain = {"performative": None, "error": None, "closed": False, "data": b"", "start": 0, "end": 0, "count": 1}
    plain["batch"] = plain["held"] = None
    before = [repr(each.state) for each in involved.values()]
    assert getattr(Handler(), name)(*((involved | plain)[parameter] for parameter in EVENTS[name])) is None
    assert [repr(each.state) for each in involved.values()] == before


def test_a_client_that_listens_to_nothing_still_keeps_the_protocol():
    pair = Pair(client_handler=Handler(), client_sasl=SaslClient([AnonymousClient()]), server_sasl=anonymous())
    pair.open()
    session = pair.session()
    receiver = session.receiver("l")
    receiver.attach(source=SOURCE, target=TARGET)
    receiver.grant(1)
    pair.pump()
    sent = pair.at_server.links["l"].send(b"m")
    pair.pump()
    receiver.detach()
    session.end()
    pair.pump()
    pair.client.close()
    pair.pump()
    assert pair.client.state is pair.server.state is ConnectionState.END
    assert pair.at_server.violations == []
    assert not sent.remote_settled


def anonymous():
    return SaslServer([AnonymousServer()])


class Counting(Recorder):
    """Counts how often it is told of output."""

    def __init__(self):
        super().__init__()
        self.outputs = 0

    def on_output(self, connection):
        self.outputs += 1


def test_output_is_told_once_until_it_is_taken():
    handler = Counting()
    client = Connection(ConnectionConfig(container_id="c"), handler, is_client=True)
    told = [handler.outputs]
    client.start(0.0)
    client.open()
    told.append(handler.outputs)
    client.data_to_send(0.0)
    client.session().begin()
    client.close()
    told.append(handler.outputs)
    assert (told, client.is_awake) == ([0, 1, 2], True)
    client.data_to_send(0.0)
    assert (handler.outputs, client.is_awake) == (2, False)


def test_gathered_output_is_told_as_well():
    handler = Counting()
    pair = Pair(server_handler=handler)
    link = attached(pair=pair.open(), credit=5)
    for _ in range(2):
        link.sender.send(b"m")
    pair.server.receive_data(pair.client.data_to_send(0.0), 0.0)
    handler.outputs = 0
    for delivery in handler.deliveries:
        delivery.accept()
    assert handler.outputs == 1
    assert len(pair.server.data_to_send(0.0)) > 0
    link.receiver.grant(1)
    assert handler.outputs == 2
