"""Requests to a management actor that is not there yet, or dies with them."""

import asyncio
import re
from typing import Any

import pytest

from actors import management_requests
from actors.errors import CallFailed, NoAnswer, PeerAbsent, PeerGone
from actors.management_requests import ManagementRequests
from routerd.io import ManagementAway
from routerd.wire import Properties
from tests.routers import message

ABSENT = PeerAbsent("R.management", "there is no actor of this name")
DEAD = PeerGone("R.management", "The actor died")
SILENT = NoAnswer("R.management", "no answer to answer within 45 s")


def request(operation: str) -> bytes:
    properties = {"operation": operation, "type": "listener"}
    return message({}, properties=Properties(reply_to="answers"), application_properties=properties)


class Actor:
    """A management actor that fails some times before it answers."""

    def __init__(self, *failures: CallFailed) -> None:
        self.failures = list(failures)
        self.asked = 0

    async def answer(self, request: bytes) -> bytes | None:
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0)
        return b"answer"

    async def current(self, worker: int) -> Any:
        raise AssertionError


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(management_requests, "ASK_AGAIN_S", 0.0)


def answer(actor: Actor, operation: str) -> bytes | None:
    return asyncio.run(ManagementRequests(actor).answer(request(operation)))


@pytest.mark.parametrize("operation", ["QUERY", "CREATE"])
def test_a_request_waits_for_an_actor_that_is_not_there_yet(operation: str) -> None:
    actor = Actor(ABSENT, ABSENT, ABSENT)
    assert (answer(actor, operation), actor.asked) == (b"answer", 4)


@pytest.mark.parametrize("failure", [DEAD, SILENT], ids=["dead", "silent"])
@pytest.mark.parametrize("operation", ["QUERY", "READ", "GET-SCHEMA"])
def test_what_changes_nothing_is_asked_again_when_the_actor_has_died(operation: str, failure: CallFailed) -> None:
    actor = Actor(failure, failure)
    assert (answer(actor, operation), actor.asked) == (b"answer", 3)


@pytest.mark.parametrize("failure", [DEAD, SILENT], ids=["dead", "silent"])
@pytest.mark.parametrize("operation", ["CREATE", "UPDATE", "DELETE"])
def test_a_change_is_never_made_twice(operation: str, failure: CallFailed) -> None:
    actor = Actor(failure)
    text = f"{failure}; whether the change was made is not known: read it before you ask again"
    with pytest.raises(ManagementAway, match=re.escape(text)):
        answer(actor, operation)
    assert actor.asked == 1


def test_who_has_waited_long_enough_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(management_requests, "HOLD_S", 0.0)
    text = "R.management: there is no actor of this name; nothing was done within 0 s: ask again in some seconds"
    with pytest.raises(ManagementAway, match=re.escape(text)):
        answer(Actor(ABSENT, ABSENT), "QUERY")


def test_what_is_no_request_is_not_asked_twice() -> None:
    actor = Actor(DEAD)
    with pytest.raises(ManagementAway):
        asyncio.run(ManagementRequests(actor).answer(b"no message"))
    assert actor.asked == 1
