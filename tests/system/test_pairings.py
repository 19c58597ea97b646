"""A router between the peers of the interop tests: each sends to each, and sees what it sees without a router."""

from itertools import product
from typing import Any

import pytest

from tests.interop.conftest import StartPeer, start_peer
from tests.interop.scenarios import TRANSFERS, in_order, link_names, receiver_facts, sender_facts
from tests.system.conftest import in_process
from tests.system.routers import RunningRouter

__all__ = ["start_peer"]

pytestmark = in_process

KINDS = ("engine", "proton", "rhea")
SCENARIOS: dict[str, dict[str, Any]] = {
    **{name: TRANSFERS[name] for name in ("every outcome", "receiver settles second", "settled by the sender")},
    "a megabyte in small frames": {"size": 1_000_000, "max_frame_size": 1000},
    "many links": {"links": 50, "messages": 2, "sessions": 2},
}


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize(("sender", "receiver"), [*product(KINDS, KINDS)])
def test_what_one_sends_the_other_receives(
    start_peer: StartPeer,
    router: RunningRouter,
    address: str,
    sender: str,
    receiver: str,
    name: str,
) -> None:
    options = {**SCENARIOS[name], "port": router.port, "address": f"{address}.{{}}"}
    receiving = start_peer(receiver, "client", "receive", **options)
    sending = start_peer(sender, "client", "send", **options)
    assert in_order(sending.finish()) == in_order(sender_facts(options, link_names(options, "send")))
    assert in_order(receiving.finish()) == in_order(receiver_facts(options, link_names(options, "receive")))
