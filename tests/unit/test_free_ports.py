"""Ports that are chosen before somebody listens at them."""

import socket
from pathlib import Path

import pytest

from bench.free_ports import free_port, free_ports


def test_ports_are_not_of_those_that_connections_are_given() -> None:
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert all(port < first for port in free_ports(10))


def test_a_port_is_not_returned_again_before_all_others_were() -> None:
    ports = [*free_ports(20), *free_ports(20), free_port()]
    assert len(set(ports)) == len(ports)


def test_a_port_at_which_somebody_listens_is_passed_over() -> None:
    taken = free_port() + 1
    with socket.create_server(("127.0.0.1", taken)):
        assert taken not in free_ports(3)


def test_more_ports_than_there_are_is_an_error() -> None:
    with pytest.raises(OSError, match="are wanted, and"):
        free_ports(100_000)
