"""A peer, and drivers that are cleaned up."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from oslo_config import cfg
from oslo_messaging import TransportURL

from oslo_messaging_amqp1 import options
from oslo_messaging_amqp1.driver import AMQPDriver
from tests.peer import Peer


@pytest.fixture
def peer() -> Iterator[Peer]:
    running = Peer().start()
    yield running
    running.stop()


@pytest.fixture
def conf() -> cfg.ConfigOpts:
    made = cfg.ConfigOpts()
    made([])
    options.register(made)
    # Tests should not have to wait for what makes sense for people.
    made.set_override("link_retry_delay", 1, options.GROUP)
    return made


@pytest.fixture
def drivers(conf: cfg.ConfigOpts) -> Iterator[Callable[..., AMQPDriver]]:
    """Return a function that makes a driver for a URL, with options."""
    made: list[AMQPDriver] = []

    def make(url: str, exchange: str | None = "openstack", **given: Any) -> AMQPDriver:
        for name, value in given.items():
            conf.set_override(name, value, options.GROUP)
        driver = AMQPDriver(conf, TransportURL.parse(conf, url), default_exchange=exchange)
        made.append(driver)
        return driver

    yield make
    for driver in made:
        driver.cleanup()
