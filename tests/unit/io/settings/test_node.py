"""Where listeners are on other nodes than the launcher's."""

import pytest

from routerd.io import Node

HOSTS = ["", "0.0.0.0", "::", "127.0.0.1", "127.0.0.9", "::1", "localhost", "10.0.0.1", "no.such.host.invalid"]
OWN = ["10.0.0.1", "no.such.host.invalid"]


@pytest.mark.parametrize("host", HOSTS)
def test_at_home_they_are_where_they_say(host: str) -> None:
    assert Node("one", "10.0.0.1").host_of(host) == host
    assert Node().host_of(host) == host


@pytest.mark.parametrize("host", HOSTS)
def test_elsewhere_an_address_of_the_launchers_host_is_the_nodes_own(host: str) -> None:
    assert Node("two", "10.0.0.2", is_away=True).host_of(host) == ("10.0.0.2" if host in OWN else host)
