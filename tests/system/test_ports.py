import socket
from contextlib import closing

import pytest

from routerd.io import ListenFailed, bind, endpoints_of, reserve

HAS_BOTH = socket.has_dualstack_ipv6()
PLACES = [("127.0.0.1", None), ("localhost", "IPv4"), ("", "IPv4")]
if HAS_BOTH:
    PLACES += [("", None), ("::1", None), ("", "IPv6")]


@pytest.mark.parametrize(("host", "family"), PLACES)
def test_a_reserved_port_is_taken_for_others_and_free_for_our_workers(host: str, family: str | None) -> None:
    with closing(reserve(host, 0, family=family)) as kept:
        assert 0 < kept.port < 65536
        with pytest.raises(ListenFailed):
            reserve(host, kept.port, family=family)
        for _ in range(2):
            endpoints = endpoints_of(host, kept.port, family)
            workers = [bind(endpoint) for endpoint in endpoints * 2]
            for worker in workers:
                worker.listen()
            with pytest.raises(ListenFailed):
                reserve(host, kept.port, family=family)
            for worker in workers:
                worker.close()
    reserve(host, kept.port, family=family).close()


def test_a_port_that_somebody_listens_on_is_refused_with_all_that_names_it() -> None:
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as other:
        port = other.getsockname()[1]
        with pytest.raises(ListenFailed) as raised:
            reserve("127.0.0.1", port, name="clients")
    failure = raised.value
    assert (failure.name, failure.host, failure.port) == ("clients", "127.0.0.1", port)
    assert failure.reason == "Address already in use"
    assert str(failure) == f"127.0.0.1:{port} (clients): Address already in use"


def test_everything_is_taken_when_one_address_is() -> None:
    with closing(reserve("127.0.0.1", 0)) as kept, pytest.raises(ListenFailed):
        reserve("", kept.port)


def test_a_connection_that_was_closed_does_not_hold_the_port() -> None:
    with closing(reserve("127.0.0.1", 0)) as kept:
        (endpoint,) = kept.endpoints
        worker = bind(endpoint)
        worker.listen()
        client = socket.create_connection(("127.0.0.1", kept.port))
        # Closed first at this end, which then waits for stray segments.
        worker.accept()[0].close()
        client.close()
        worker.close()
    reserve("127.0.0.1", kept.port).close()


@pytest.mark.skipif(not HAS_BOTH, reason="this system has no IPv6")
def test_no_host_is_one_socket_for_both_families() -> None:
    with closing(reserve("", 0)) as kept:
        (endpoint,) = endpoints_of("", kept.port)
        with bind(endpoint) as worker:
            worker.listen()
            for host in ("127.0.0.1", "::1"):
                socket.create_connection((host, kept.port)).close()


@pytest.mark.skipif(not HAS_BOTH, reason="this system has no IPv6")
def test_one_family_leaves_the_other_to_others() -> None:
    with closing(reserve("", 0, family="IPv6")) as kept:
        reserve("", kept.port, family="IPv4").close()


@pytest.mark.parametrize(
    ("host", "port", "reason"),
    [
        ("no-such-host.invalid", 5672, "Name or service not known"),
        ("127.0.0.1", "no-such-service", "Servname not supported for ai_socktype"),
        ("127.0.0.1", 65536, "port 65536 is out of range (0 to 65535)"),
        ("192.0.2.1", 0, "Cannot assign requested address"),
    ],
)
def test_an_address_that_is_none_of_ours_says_why(host: str, port: int | str, reason: str) -> None:
    with pytest.raises(ListenFailed) as raised:
        reserve(host, port)
    assert raised.value.reason == reason
