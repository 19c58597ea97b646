"""Pairs of engines with links between them, for tests that begin where these are attached."""

from typing import Any, NamedTuple

from routerd.wire.terminus import Source, Target
from tests.endpoints import Pair, Recorder

SOURCE, TARGET = Source(address="here"), Target(address="there")


class Attached(NamedTuple):
    """Both ends of a link from the client to the server."""

    pair: Pair
    sender: Any
    receiver: Any


def attached(
    name: str = "l", *, pair: Pair | None = None, session: Any = None, credit: int = 0, **options: Any
) -> Attached:
    """A link on which the client sends, with credit, and no event left over."""
    pair = pair or Pair().open()
    session = session or pair.session()
    sender = session.sender(name)
    sender.attach(source=SOURCE, target=TARGET, **options)
    pair.pump()
    receiver = pair.at_server.links[name]
    if credit:
        receiver.grant(credit)
    pair.settle_down()
    return Attached(pair, sender, receiver)


def recorders(pair: Pair) -> tuple[Recorder, Recorder]:
    """What the client was told, and what the server was."""
    return pair.at_client, pair.at_server


def told(pair: Pair) -> tuple[list[Any], list[Any]]:
    """The events since the last call, at the client and at the server."""
    client, server = recorders(pair)
    return client.take(), server.take()
