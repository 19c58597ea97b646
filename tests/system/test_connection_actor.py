"""A connection actor without Ray: with a real client, and a table that fails as it is told."""

import asyncio
import socket
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import pytest

from actors.address_table import AddressTableActor
from actors.connection import ConnectionActor
from actors.errors import NoAnswer, PeerGone
from actors.peers import TableNews
from actors.process import ProcessConfig
from actors.pulse import Pulse
from routerd.config import ListenerConfig
from routerd.core import Changes, Delta, Interest, RouterSettings, Sibling, StaleMember, TrunkEvent
from routerd.io import ListenFailed, WorkerConfig, reserve
from routerd.management import Configuration
from tests.system.proton_client import ProtonClient
from tests.waiting import WITHIN_S, eventually

T = TypeVar("T")
Version = tuple[int, int]


class Engine:
    """A routing engine that nothing is asked of."""

    async def learn(self, news: TableNews) -> None:
        return

    async def take_trunk_events(self, worker: int, incarnation: int, events: list[TrunkEvent]) -> None:
        raise AssertionError

    async def nodes(self) -> Any:
        raise AssertionError


class Management:
    """A management actor that is not there."""

    async def answer(self, request: bytes) -> bytes | None:
        raise PeerGone("management", "there is no actor of this name")

    async def current(self, worker: int) -> Configuration:
        raise PeerGone("management", "there is no actor of this name")


class Table:
    """The table as the actor reaches it, or does not."""

    def __init__(self, members: dict[int, Any]) -> None:
        self._members = members
        self._epoch = 0
        self.calls: list[str] = []
        self.failure: Exception | None = None
        self.renew()

    def renew(self) -> None:
        """Begin with a new table, which knows nobody."""
        self._epoch += 1
        process = ProcessConfig(router_id="A", role="table", folder="nowhere")
        self._table = AddressTableActor(self._epoch, process, self._members, Engine())

    async def join(self, sibling: Sibling, everything: Changes) -> Version:
        self._called("join")
        return await self._table.join(sibling, everything)

    async def update(self, worker: int, incarnation: int, batch: tuple[Changes, ...]) -> Version:
        self._called("update")
        return await self._table.update(worker, incarnation, batch)

    async def everything(self) -> TableNews:
        return await self._table.everything()

    async def interests(self) -> dict[str, int]:
        """Return who wants what, apart from requests to management."""
        found = (await self._table.snapshot()).interests
        wanted = {one.key: one.consumers for _, one in found}
        return {key: consumers for key, consumers in wanted.items() if "management" not in key}

    def _called(self, method: str) -> None:
        self.calls.append(method)
        if self.failure is not None:
            raise self.failure


class Hosted:
    """A connection actor in an event loop of its own."""

    def __init__(self, folder: Path, port: int) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self.has_left = threading.Event()
        members: dict[int, Any] = {}
        self.table = Table(members)
        config = WorkerConfig(
            router=RouterSettings(id="A"),
            listeners=(ListenerConfig(host="127.0.0.1", port=port),),
            fabric_folder=str(folder),
        )
        process = ProcessConfig(router_id="A", role="connection.0", folder=str(folder))
        numbers = iter(range(1, 100))
        self.actor = members[0] = ConnectionActor(
            config,
            process,
            self.table,
            Management(),
            Engine(),
            Configuration(0, ()),
            new_incarnation=lambda: next(numbers),
            leave=self.has_left.set,
        )

    def begin(self) -> None:
        async def begin() -> None:
            self.actor.begin()

        self.call(begin())

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the actor's loop."""
        future: Future[T] = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        return future.result(WITHIN_S)

    def close(self) -> None:
        async def end() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        self.call(self.actor.drain(0))
        self.call(self.actor.take_leave())
        self.call(end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(WITHIN_S)
        self.loop.close()


@pytest.fixture
def port() -> Iterator[int]:
    """A port that is kept for the actor."""
    reservation = reserve("127.0.0.1", 0)
    yield reservation.port
    reservation.close()


@pytest.fixture
def hosted(tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosted]:
    """An actor that has not begun; the log and the priority of this process stay what they are."""
    monkeypatch.setattr("actors.connection.settle", lambda config: Pulse(str(tmp_path / "pulse")))
    hosted = Hosted(tmp_path, port)
    yield hosted
    hosted.close()


def test_an_attach_is_answered_once_the_table_is_there(hosted: Hosted, port: int) -> None:
    hosted.begin()
    hosted.call(hosted.actor.ready())
    with ProtonClient(port) as client:
        hosted.table.failure = NoAnswer("A.table", "no answer")
        attached: Future[str] = Future()
        thread = threading.Thread(target=lambda: attached.set_result(client.consumer("queue").link.name))
        thread.start()
        eventually(lambda: hosted.table.calls.count("update") >= 2, "the table is told again")
        assert not attached.done()
        hosted.table.failure = None
        attached.result(WITHIN_S)
        thread.join(WITHIN_S)
        assert hosted.call(hosted.table.interests()) == {"M0queue": 1}


def test_a_new_table_is_joined_with_everything(hosted: Hosted, port: int) -> None:
    hosted.begin()
    hosted.call(hosted.actor.ready())
    with ProtonClient(port) as client:
        client.consumer("one")
        hosted.table.renew()
        client.consumer("two")
        assert hosted.table.calls == ["join", "update", "update", "join"]
        assert hosted.call(hosted.table.interests()) == {"M0one": 1, "M0two": 1}
        hosted.table.renew()
        hosted.call(hosted.actor.invite())
        eventually(lambda: hosted.table.calls.count("join") == 3, "an invitation is accepted")
        eventually(lambda: hosted.call(hosted.table.interests()) == {"M0one": 1, "M0two": 1}, "all is known again")


def test_an_actor_that_has_been_replaced_leaves(hosted: Hosted) -> None:
    hosted.begin()
    hosted.call(hosted.actor.ready())
    hosted.table.failure = StaleMember(0, 1)
    hosted.call(hosted.actor.invite())
    assert hosted.has_left.wait(WITHIN_S)


def test_a_port_that_is_taken_is_reported_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hosted: Hosted, port: int
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = Hosted(tmp_path, other.getsockname()[1])
        taken.begin()
        with pytest.raises(ListenFailed) as failed:
            taken.call(taken.actor.ready())
        assert failed.value.reason == "Address already in use"
    eventually(lambda: listens(taken), "the port is taken over")
    taken.close()
    hosted.begin()
    hosted.call(hosted.actor.ready())


def listens(hosted: Hosted) -> bool:
    try:
        return bool(hosted.call(hosted.actor.ready()))
    except ListenFailed:
        return False


def test_news_that_was_overtaken_changes_nothing(hosted: Hosted, port: int) -> None:
    hosted.begin()
    hosted.call(hosted.actor.ready())
    newer = Delta((9, 1), True, (Sibling(1, 1, "/nowhere"),), ((1, Interest("M0queue", 1)),))
    assert hosted.call(hosted.actor.apply(1, newer)) == (9, 1)
    assert hosted.call(hosted.actor.apply(1, Delta((8, 5), True, (), ()))) == (8, 5)
    with ProtonClient(port) as client:
        # There is credit only where somebody is known to want the messages.
        client.producer("queue").wait_for_credit()
    with pytest.raises(StaleMember):
        hosted.call(hosted.actor.apply(2, newer))
