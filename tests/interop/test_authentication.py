"""SASL between the engine and other people's AMQP: who is let in, and who is not."""

import pytest

from tests.interop.conftest import StartPeer
from tests.interop.pairs import every_pair, run
from tests.interop.scenarios import in_order

USERS = {"alice": "secret"}
MECHANISMS = ["ANONYMOUS", "PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-256", "SCRAM-SHA-512"]
UNAUTHORIZED = "amqp:unauthorized-access"


@every_pair
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_user_with_the_right_password_is_let_in(
    start_peer: StartPeer, client: str, server: str, mechanism: str
) -> None:
    offered = {"mechanisms": [mechanism], "users": USERS}
    credentials = {"mechanism": mechanism, "user": "alice", "password": "secret"}
    told, seen = run(start_peer, (client, "open", credentials), (server, "open", offered))
    assert [fact["mechanism"] for fact in (*in_order(told, "opened"), *in_order(seen, "opened"))] == [mechanism] * 2
    # A proton client adds its host to the trace information that ANONYMOUS carries.
    name = "anonymous" if mechanism == "ANONYMOUS" else "alice"
    assert in_order(seen, "opened")[0]["user"].partition("@")[0] == name


@every_pair
@pytest.mark.parametrize("mechanism", MECHANISMS[1:])
@pytest.mark.parametrize(("user", "password"), [("alice", "wrong"), ("nobody", "secret")])
def test_a_wrong_password_and_an_unknown_user_are_refused(
    start_peer: StartPeer, client: str, server: str, mechanism: str, user: str, password: str
) -> None:
    offered = {"mechanisms": [mechanism], "users": USERS}
    credentials = {"mechanism": mechanism, "user": user, "password": password}
    told, seen = run(start_peer, (client, "open", credentials), (server, "open", offered))
    assert [fact["error"]["condition"] for fact in in_order(told, "refused")] == [UNAUTHORIZED]
    assert (told[-1]["opened"], seen[-1]["opened"]) == (False, False)


@pytest.mark.parametrize("client", ["proton", "rhea"])
@pytest.mark.parametrize("mechanism", MECHANISMS[2:])
@pytest.mark.parametrize("in_outcome", [True, False], ids=["in the outcome", "in a challenge"])
def test_a_scram_client_is_let_in_wherever_the_server_proves_itself(
    start_peer: StartPeer, client: str, mechanism: str, in_outcome: bool
) -> None:
    offered = {"mechanisms": [mechanism], "users": USERS, "proof_in_outcome": in_outcome}
    credentials = {"mechanism": mechanism, "user": "alice", "password": "secret"}
    told, seen = run(start_peer, (client, "open", credentials), ("engine", "open", offered))
    assert (told[-1]["opened"], seen[-1]["opened"]) == (True, True)
    assert in_order(seen, "opened")[0]["user"] == "alice"


@pytest.mark.parametrize(("client", "in_outcome", "is_refused"), [("proton",True,False),("proton",False,True),("rhea",False,True), ("rhea",True,True)])
def test_an_impostor(start_peer, client, in_outcome, is_refused):
    offered = {"mechanisms": ["SCRAM-SHA-256"], "users": USERS, "proof_in_outcome": in_outcome, "impostor": True}
    credentials = {"mechanism": "SCRAM-SHA-256", "user": "alice", "password": "secret"}
    told, seen = run(start_peer, (client, "open", credentials), ("engine", "open", offered))
    print(told, seen)
    assert (told[-1]["opened"], seen[-1]["opened"]) == (not is_refused, not is_refused)


@every_pair
def test_a_client_that_has_none_of_the_mechanisms_gives_up(start_peer: StartPeer, client: str, server: str) -> None:
    offered = {"mechanisms": ["PLAIN"], "users": USERS}
    credentials = {"mechanism": "SCRAM-SHA-256", "user": "alice", "password": "secret"}
    told, seen = run(start_peer, (client, "open", credentials), (server, "open", offered))
    print(told, seen)
    assert (told[-1]["opened"], seen[-1]["opened"]) == (False, False)


@every_pair
def test_a_client_without_sasl_is_not_let_in_where_it_is_asked_for(start_peer: StartPeer, client: str, server: str) -> None:
    offered = {"mechanisms": ["PLAIN"], "users": USERS}
    told, seen = run(start_peer, (client, "open", {}), (server, "open", offered))
    print(told, seen)
    assert (told[-1]["opened"], seen[-1]["opened"]) == (False, False)
