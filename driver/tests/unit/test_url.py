"""What a transport URL says."""

import pytest
from oslo_config import cfg
from oslo_messaging import TransportURL

from oslo_messaging_amqp1.errors import InvalidURL
from oslo_messaging_amqp1.url import Host, hosts_of, vhost_of


@pytest.mark.parametrize(
    ("text", "hosts", "vhost"),
    [
        ("amqp://", (Host("localhost", 5672),), None),
        ("amqp://h", (Host("h", 5672),), None),
        ("amqp://h/", (Host("h", 5672),), None),
        ("amqp://h//", (Host("h", 5672),), "/"),
        ("amqp://[::1]:99/", (Host("::1", 99),), None),
        ("amqp://u%40r:p@h", (Host("h", 5672, "u@r", "p"),), None),
        ("amqp://u@r:p@h", (Host("h", 5672, "u@r", "p"),), None),
        ("amqp://u:p@h:1,u2:p2@h2/vh", (Host("h", 1, "u", "p"), Host("h2", 5672, "u2", "p2")), "vh"),
        ("amqp+x://h:7/v", (Host("h", 7),), "v"),
    ],
)
def test_hosts_and_virtual_host(conf: cfg.ConfigOpts, text: str, hosts: tuple[Host, ...], vhost: str | None) -> None:
    url = TransportURL.parse(conf, text)
    assert (hosts_of(url), vhost_of(url)) == (hosts, vhost)


def test_a_user_without_a_realm_gets_the_default_one(conf: cfg.ConfigOpts) -> None:
    url = TransportURL.parse(conf, "amqp://u:p@h,u@r:p@h,h")
    assert [one.user for one in hosts_of(url, "sasl_default_realm")] == ["u@sasl_default_realm", "u@r", None]


def test_a_port_that_there_is_not_is_refused(conf: cfg.ConfigOpts) -> None:
    with pytest.raises(InvalidURL, match="Port 70000 of host h is not between 1 and 65535"):
        hosts_of(TransportURL.parse(conf, "amqp://h:70000"))


def test_a_password_is_not_shown() -> None:
    host = Host("h", 1, "u", "secret")
    assert "secret" not in f"{host} {host!r}"
