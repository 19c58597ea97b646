"""How much is under way to a peer that is far away, and to one that is not."""

import asyncio
import socket

import pytest

from routerd.core import REACH_OCTETS
from routerd.io.sockets.round_trip import octets_within, reach_octets, round_trip_s


@pytest.mark.parametrize(
    ("span_s", "octets"), [(0.0, REACH_OCTETS), (0.001, REACH_OCTETS), (0.01, 12_500_000), (0.1, 125_000_000)]
)
def test_the_farther_a_peer_is_the_more_is_under_way(span_s: float, octets: int) -> None:
    assert octets_within(span_s) == octets


def test_the_kernel_says_how_far_a_peer_is() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as near:
        far, _ = server.accept()
        with far:
            assert 0.0 < round_trip_s(near) < 1.0
            assert 0.0 < round_trip_s(far) < 1.0


def test_what_is_no_connection_of_tcp_is_near() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert round_trip_s(one) == 0.0
    assert round_trip_s(one) == 0.0
    assert reach_octets(asyncio.Transport()) == REACH_OCTETS
