"""What an authentication service said that a peer may do."""

import pytest

from routerd.core import ServiceRules
from routerd.wire import Attach, Coordinator, Source, Target
from tests.routers import Workers

GRANTS = {"orders": ("send",), "news.*": ("recv", "send"), "both": ("send", "recv"), "none": ()}


class Sender:
    is_sender = True


class Receiver:
    is_sender = False


def allowed(link: object, terminus: object, grants: object = GRANTS) -> bool:
    source, target = (terminus, Target()) if isinstance(link, Sender) else (Source(), terminus)
    return ServiceRules(grants).allow(link, Attach(name="l", handle=0, role=True, source=source, target=target), "u")


@pytest.mark.parametrize(
    ("address", "may_send", "may_receive"),
    [
        *(("orders", True, False), ("news.x", True, True), ("news", False, False), ("both", True, True)),
        *(("none", False, False), ("other", False, False), ("amqp:/orders", True, False)),
    ],
)
def test_an_address_is_for_what_it_was_granted_for(address: str, may_send: bool, may_receive: bool) -> None:
    assert allowed(Receiver(), Target(address=address)) is may_send
    assert allowed(Sender(), Source(address=address)) is may_receive


def test_addresses_of_the_routers_making_need_no_right() -> None:
    assert allowed(Sender(), Source(dynamic=True))


def test_whoever_may_send_to_any_address_may_do_so_by_one_link() -> None:
    assert allowed(Receiver(), Target()) is False
    assert allowed(Receiver(), Target(), {"*": ("send",)}) is True
    assert allowed(Sender(), Source(), {"*": ("send",)}) is False


def test_what_has_no_address_is_left_to_others() -> None:
    assert allowed(Receiver(), Coordinator()) is True


def test_a_link_beyond_it_is_refused_by_the_router() -> None:
    workers = Workers(1)
    client = workers.client()
    client.peer.service_rules = ServiceRules({"orders": ("send",)})
    assert client.producer("orders").is_attached
    assert not client.producer("news", "bad").is_attached
    assert ("link detached", "bad", True, "amqp:unauthorized-access") in client.events
