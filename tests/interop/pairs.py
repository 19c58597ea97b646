"""Who plays against whom: the engine and each of the peers, as client and as server."""

from typing import Any

import pytest

from tests.interop.conftest import StartPeer
from tests.interop.peer_process import Fact

PAIRS = [("engine", "proton"), ("engine", "rhea"), ("proton", "engine"), ("rhea", "engine")]
"""Client and server. What the peers do with each other says nothing of ours; through a router of ours they meet."""

every_pair = pytest.mark.parametrize(("client", "server"), PAIRS)

STREAMS = [
    (client, server, sender)
    for client, server in PAIRS
    for sender, kind in (("client", client), ("server", server))
    if kind != "rhea"
]
"""Client, server, and which of them sends a message piece by piece; rhea takes messages whole."""


def run(
    start_peer: StartPeer, client: tuple[str, str, dict[str, Any]], server: tuple[str, str, dict[str, Any]]
) -> tuple[list[Fact], list[Fact]]:
    """Run a client (kind, scenario, options) against a server; return the facts of both."""
    serving = start_peer(server[0], "server", server[1], **server[2])
    running = start_peer(client[0], "client", client[1], port=serving.port, **client[2])
    return running.finish(), serving.finish()
