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
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
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
def test_a_scram_client_is_let_in_when_the_server_proves_itself_in_a_challenge(
    start_peer: StartPeer, client: str, mechanism: str
) -> None:
    offered = {"mechanisms": [mechanism], "users": USERS, "proof_in_outcome": False}
    credentials = {"mechanism": mechanism, "user": "alice", "password": "secret"}
    told, seen = run(start_peer, (client, "open", credentials), ("engine", "open", offered))
    assert (told[-1]["opened"], seen[-1]["opened"]) == (True, True)
    assert in_order(seen, "opened")[0]["user"] == "alice"


@pytest.mark.parametrize("client", ["proton", "rhea"])
@pytest.mark.parametrize("in_outcome", [True, False], ids=["in the outcome", "in a challenge"])
def test_a_server_that_does_not_know_the_password_is_noticed_in_a_challenge_only(
    start_peer: StartPeer, client: str, in_outcome: bool
) -> None:
    offered = {"mechanisms": ["SCRAM-SHA-256"], "users": USERS, "proof_in_outcome": in_outcome, "impostor": True}
    credentials = {"mechanism": "SCRAM-SHA-256", "user": "alice", "password": "secret"}
    told, seen = run(start_peer, (client, "open", credentials), ("engine", "open", offered))
    # Neither client looks at what comes with the outcome.
    assert (told[-1]["opened"], seen[-1]["opened"]) == (in_outcome, in_outcome)


@every_pair
@pytest.mark.parametrize("mechanism", [None, "SCRAM-SHA-256"])
def test_a_client_that_will_not_use_what_is_offered_is_not_let_in(
    start_peer: StartPeer, client: str, server: str, mechanism: str | None
) -> None:
    offered = {"mechanisms": ["PLAIN"], "users": USERS}
    credentials = {"mechanism": mechanism, "user": "alice", "password": "secret"}
    told, seen = run(start_peer, (client, "open", credentials), (server, "open", offered))
    assert [fact["fact"] for fact in told] == ["refused", "summary"]
    assert (told[-1]["opened"], seen[-1]["opened"]) == (False, False)
