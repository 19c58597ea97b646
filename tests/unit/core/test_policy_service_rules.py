"""What an authentication service said that a peer may do stands in the place of policy's rules of addresses."""

from typing import Any

import pytest

from routerd.core import ServiceRules
from routerd.wire import Properties, Rejected, Source, Target
from tests.routers import Workers, message, message_to
from tests.unit.core.policed import Guest, Policed, group, vhost

GRANTS = {"orders": ("send",), "news.*": ("recv", "send"), "both": ("send", "recv"), "none": (), "${user}.*": ("recv",)}
LINK_DENIED = ("amqp:unauthorized-access", "link disallowed by local policy")


def without_policy(**options: Any) -> Policed:
    return Policed(policy={"is_enforced": False}, **options)


def served(policed: Policed, grants: dict[str, tuple[str, ...]] = GRANTS, **options: Any) -> Guest:
    """A peer of whom a service said this; its open comes after that."""
    return policed.connect(**{"user": "ann", "service_rules": ServiceRules(grants)} | options)


PLACES = [
    *(("orders", True, False), ("news.x", True, True), ("news", False, False), ("both", True, True)),
    *(("none", False, False), ("other", False, False), ("amqp:/orders", True, False), ("ann.x", False, True)),
]
POLICIES = {
    "without policy": lambda: without_policy(),
    "policy that allows everything": lambda: Policed(vhost("$default", group())),
    "policy that allows nothing": lambda: Policed(vhost("$default", group(sources=(), targets=()))),
    "policy of patterns": lambda: Policed(vhost("$default", group(source_patterns=("#",), target_patterns=("#",)))),
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("address", "may_send", "may_receive"), PLACES)
def test_an_address_is_for_what_it_was_granted_for_whatever_policy_says(
    address: str, may_send: bool, may_receive: bool, policy: str
) -> None:
    client = served(POLICIES[policy]())
    assert client.producer(address, "p").is_attached is may_send
    assert client.consumer(address, "c").is_attached is may_receive
    denied = {name for name, may in (("p", may_send), ("c", may_receive)) if not may}
    assert client.refusals == dict.fromkeys(denied, LINK_DENIED)


@pytest.mark.parametrize("policy", POLICIES)
def test_who_is_granted_nothing_has_addresses_of_the_routers_making_alone(policy: str) -> None:
    client = served(POLICIES[policy](), {})
    assert not client.producer("orders").is_attached
    assert not client.consumer("orders").is_attached
    assert client.consumer(None, source=Source(dynamic=True)).is_attached


@pytest.mark.parametrize("policy", POLICIES)
def test_a_message_says_itself_where_it_goes_and_is_rejected_if_that_was_not_granted(policy: str) -> None:
    policed = POLICIES[policy]()
    granted, other = served(policed, {"orders": ("recv",), "other": ("recv",)}), served(policed)
    consumers = [granted.consumer(address, credit=1) for address in ("orders", "other")]
    producer = other.producer(None, target=Target())
    assert producer.is_attached
    assert consumers[1].is_attached
    outcomes = [other.send(producer, message_to(address)).remote_state for address in ("orders", "other")]
    assert (outcomes[0], type(outcomes[1])) == (None, Rejected)
    assert outcomes[1].error.condition == "amqp:unauthorized-access"
    assert len(granted.messages) == 1


def test_users_speak_for_themselves() -> None:
    policed = without_policy()
    client = served(policed)
    consumer = served(policed, {"orders": ("recv",)}).consumer("orders", credit=2)
    producer = client.producer("orders")
    told = [
        client.send(producer, message(properties=Properties(user_id=user))).remote_state for user in (b"bob", b"ann")
    ]
    assert (type(told[0]), told[1]) == (Rejected, None)
    assert consumer.is_attached


def test_the_rest_is_as_policy_has_it() -> None:
    policed = Policed(vhost("$default", group(max_senders=1, max_sessions=1)))
    client = served(policed)
    assert client.producer("orders").is_attached
    assert not client.producer("both", "second").is_attached
    assert client.refusals["second"] == ("amqp:resource-limit-exceeded", "link disallowed by local policy")
    refused = served(Policed(vhost("$default", group(users=("bob",)))))
    assert refused.end == ("amqp:resource-limit-exceeded", "connection disallowed by local policy")


def test_a_change_of_the_vhost_leaves_the_grants_in_force() -> None:
    policed = Policed(vhost("$default", group(max_senders=1)))
    client = served(policed)
    policed.gate().configure(vhost("$default", group(sources=("*",), targets=("*",))))
    assert client.producer("orders").is_attached
    assert client.producer("both").is_attached
    assert not client.producer("other").is_attached
    policed.gate().forget("$default")
    assert not client.producer("news.x", "late").is_attached
    alone = without_policy()
    client = served(alone)
    alone.gate().configure(vhost("$default", group()))
    assert client.producer("orders").is_attached
    assert not client.producer("other").is_attached


def test_names_of_hosts_that_peers_make_up_leave_nothing() -> None:
    policed = without_policy()
    for number in range(5):
        client = served(policed, hostname=f"made-up-{number}")
        assert not client.producer("other").is_attached
        client.leave()
    assert policed.gate().vhosts == {}
    assert policed.gate().counters.links_denied == 5


def test_a_tenant_is_called_as_it_calls_itself() -> None:
    policed = without_policy()
    client = served(policed, hostname="shop", peer={"is_multi_tenant": True})
    assert client.producer("orders").is_attached
    assert client.peer.tenant == "shop"


def test_without_anybody_who_holds_links_against_the_rules_there_is_no_link() -> None:
    workers = Workers(1)
    client = workers.client()
    client.peer.service_rules = ServiceRules({"orders": ("send",)})
    assert not client.producer("orders", "bad").is_attached
    assert ("link detached", "bad", True, "amqp:unauthorized-access") in client.events
