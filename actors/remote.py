"""Calls to actors through Ray, with Ray's errors translated into ours and an end to every wait."""

import asyncio
from typing import Any, cast

import ray
from ray.actor import ActorHandle
from ray.exceptions import RayActorError, RayError, RayTaskError

from actors.errors import CallFailed, NoAnswer, PeerAbsent, PeerGone
from actors.peers import TableNews, Version
from routerd.core import Changes, Delta, NetworkNews, Report, Sibling, TrunkEvent, Verdict
from routerd.io import MemberGone, NetworkView
from routerd.management import Configuration, MetricsQuery, MetricsText, NodeRow, Unanswered

ANSWER_S = 5.0
BARRIER_S = 15.0
"""For what waits for all workers, one of which may have to be noticed, ended and started anew."""
REQUEST_S = 45.0
"""For a request to management, whose actor may have to be started anew. Without an answer nobody knows what it did."""
SCRAPE_S = 10.0
PING_S = 3.0
RESTARTS_S = 2.0
"""A scrape does not wait longer; it tells the last known count then."""
NETWORK_S = 1.0
"""For what the routing engine asks of a worker: without an answer it goes on, and asks again."""


class RemoteActor:
    """An actor by its name. It is looked up with the first call; Ray restarts it behind the same handle."""

    def __init__(self, name: str, namespace: str) -> None:
        self._name = name
        self._namespace = namespace
        self._handle: ActorHandle[Any] | None = None

    async def call(self, method: str, *arguments: Any, within_s: float = ANSWER_S) -> Any:
        """Call a method and return its answer, or raise what it raised; CallFailed when there is none."""
        handle = await self.handle(within_s)
        try:
            return await asyncio.wait_for(getattr(handle, method).remote(*arguments), within_s)
        except TimeoutError:
            raise NoAnswer(self._name, f"no answer to {method} within {within_s:g} s") from None
        except RayTaskError as error:
            raise error.cause from None
        except RayActorError as error:
            raise PeerGone(self._name, _first_line(error)) from None
        except RayError as error:
            raise CallFailed(self._name, _first_line(error)) from error

    async def restarts(self) -> int:
        """Call `restarts`; every actor of a router has it."""
        return cast(int, await self.call("restarts", within_s=RESTARTS_S))

    async def handle(self, within_s: float) -> "ActorHandle[Any]":
        """Return Ray's handle."""
        if self._handle is None:
            # The look-up is Ray's to block, and where Ray's head is away it does.
            look_up = asyncio.to_thread(ray.get_actor, self._name, self._namespace)
            try:
                self._handle = await asyncio.wait_for(look_up, within_s)
            except TimeoutError:
                raise NoAnswer(self._name, f"Ray did not find it within {within_s:g} s") from None
            except ValueError:
                raise PeerAbsent(self._name, "there is no actor of this name") from None
            except RayError as error:
                raise CallFailed(self._name, _first_line(error)) from error
        return self._handle


class RemoteTable(RemoteActor):
    """The address table; see `peers.Table`."""

    async def join(self, sibling: Sibling, everything: Changes) -> Version:
        """Call `join`."""
        return cast(Version, await self.call("join", sibling, everything, within_s=BARRIER_S))

    async def update(self, worker: int, incarnation: int, batch: tuple[Changes, ...]) -> Version:
        """Call `update`."""
        return cast(Version, await self.call("update", worker, incarnation, batch, within_s=BARRIER_S))

    async def report(self, worker: int, incarnation: int, report: Report) -> Verdict:
        """Call `report`."""
        return cast(Verdict, await self.call("report", worker, incarnation, report, within_s=BARRIER_S))

    async def everything(self) -> TableNews:
        """Call `everything`."""
        return cast(TableNews, await self.call("everything"))

    async def take_log(self, role: str, octets: bytes) -> bool:
        """Call `take_log`."""
        return cast(bool, await self.call("take_log", role, octets))


class RemoteMember(RemoteActor):
    """A connection actor; see `peers.Member`."""

    async def apply(self, incarnation: int, delta: Delta) -> Version:
        """Call `apply`."""
        return cast(Version, await self.call("apply", incarnation, delta))

    async def invite(self) -> None:
        """Call `invite`."""
        await self.call("invite")

    async def recall_sockets(self, incarnation: int) -> int:
        """Call `recall_sockets`."""
        return cast(int, await self.call("recall_sockets", incarnation))

    async def ping(self) -> float:
        """Call `ping`."""
        return cast(float, await self.call("ping", within_s=PING_S))

    async def end(self) -> None:
        """End the process by way of Ray."""
        ray.kill(await self.handle(ANSWER_S), no_restart=False)


class ManagedMember(RemoteActor):
    """A connection actor as the management actor sees it; see `routerd.io.Member`."""

    async def ask(self, what: str, *arguments: Any) -> Any:
        """Call `manage`."""
        try:
            return await self.call("manage", what, *arguments)
        except PeerGone as failure:
            raise MemberGone(str(failure)) from failure
        except CallFailed as failure:
            raise Unanswered(str(failure)) from failure


class RemoteManagement(RemoteActor):
    """The management actor; see `peers.Management`."""

    async def answer(self, request: bytes) -> bytes | None:
        """Call `answer`."""
        return cast("bytes | None", await self.call("answer", request, within_s=REQUEST_S))

    async def scrape(self, query: MetricsQuery) -> MetricsText:
        """Call `scrape`."""
        return cast(MetricsText, await self.call("scrape", query, within_s=SCRAPE_S))

    async def current(self, worker: int) -> Configuration:
        """Call `current`."""
        return cast(Configuration, await self.call("current", worker))


class RemoteEngine(RemoteActor):
    """The routing engine; see `peers.Engine`."""

    async def learn(self, news: TableNews) -> None:
        """Call `learn`."""
        await self.call("learn", news)

    async def take_trunk_events(self, worker: int, incarnation: int, events: list[TrunkEvent]) -> None:
        """Call `take_trunk_events`."""
        await self.call("take_trunk_events", worker, incarnation, events)

    async def nodes(self) -> list[NodeRow]:
        """Call `nodes`."""
        try:
            return cast(list[NodeRow], await self.call("nodes"))
        except CallFailed as failure:
            raise Unanswered(str(failure)) from failure


class RemoteNetworkMember(RemoteActor):
    """A connection actor as the routing engine sees it; see `peers.NetworkMember`."""

    async def network_view(self, incarnation: int) -> NetworkView:
        """Call `network_view`."""
        return cast(NetworkView, await self.call("network_view", incarnation, within_s=NETWORK_S))

    async def learn_network(
        self, incarnation: int, news: list[NetworkNews], controls: list[tuple[int, bytes]]
    ) -> None:
        """Call `learn_network`."""
        await self.call("learn_network", incarnation, news, controls)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
