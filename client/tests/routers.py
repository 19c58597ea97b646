"""Routers of the tree that tests share."""

from pathlib import Path

from tests.system.routers import IN_PROCESS, RunningRouter, address_section, configuration, listener, section

MULTICAST = "multicast"
"""What addresses begin with whose messages go to all receivers."""
TOPICS = section("address", prefix="topics", distribution="multicast", delivery="exactly-once")
"""Addresses that begin with `topics` offer exactly-once."""


def started(folder: Path, *sections: str) -> RunningRouter:
    """Start a router that has multicast addresses and topics; it listens where the sections say, or for everybody."""
    text = configuration(address_section("prefix", MULTICAST, "multicast"), TOPICS, *sections, topicGraceSeconds=0)
    return RunningRouter(folder, IN_PROCESS, text)


def url_of(router: RunningRouter) -> str:
    """Return the URL of a router."""
    return f"amqp://127.0.0.1:{router.port}"


__all__ = ["MULTICAST", "RunningRouter", "listener", "started", "url_of"]
