"""A worker's reports for other processes: they are made in its loop, a little at a time."""

import asyncio
import os
import pickle
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from routerd.core import Exchanges, Router
from routerd.io.recording import Recording
from routerd.io.reports.octets import OctetTotals
from routerd.io.reports.reports import (
    RATE_S,
    STUCK_S,
    Lag,
    LinkSamples,
    WorkerHost,
    address_keys,
    address_rows,
    auto_link_rows,
    binding_rows,
    connection_rows,
    exchange_rows,
    link_route_rows,
    link_rows,
    pool_rows,
    worker_row,
)
from routerd.io.reports.topic_rows import publisher_rows, subscription_rows, topic_rows
from routerd.io.scheduling import uses_tricks
from routerd.management import AddressRow, ConnectionRow, LinkRow, PoolRow, WorkerRow
from routerd.topics import TopicNode

T = TypeVar("T")

STEP_S = 100e-6
"""The time for reports before messages have their turn again."""
RESTS = 4
"""The time for messages then, as a multiple of that, if they come in quick succession."""


class Start(Protocol):
    """Runs a coroutine in a loop."""

    def __call__(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        """Return a future of its result."""


class WorkerReports:
    """Reports of one worker; its methods are safe from any thread."""

    def __init__(
        self,
        router: Router,
        host: WorkerHost,
        start: Start,
        *,
        stuck_s: float = STUCK_S,
        failures: Callable[[], int] = int,
        is_busy: Callable[[float], bool] = lambda now: False,
        recording: Recording | None = None,
        exchanges: Exchanges | None = None,
        topics: Callable[[], TopicNode | None] = lambda: None,
    ) -> None:
        """`failures` returns the number of failed authentications, and `is_busy` whether there has just been work.

        `topics` returns the host of the router's topics, or None if another worker hosts them.
        """
        self.lag = Lag()
        self.ended = OctetTotals()
        """The octets of connections that are over."""
        self._is_busy = is_busy
        self._failures = failures
        self._recording = Recording(router, 0, 0) if recording is None else recording
        self._router = router
        self._exchanges = Exchanges(router) if exchanges is None else exchanges
        self._topics = topics
        self._host = host
        self._start = start
        self._stuck_s = stuck_s
        self._samples = LinkSamples()

    def counters(self) -> "Future[WorkerRow]":
        """Return the present counters."""
        return self._start(self._counters())

    def links(self) -> "Future[list[LinkRow]]":
        """Return a row for each link, including those of the fabric and of inner endpoints."""
        return self._start(self._collected(self._link_rows))

    def connections(self) -> "Future[list[ConnectionRow]]":
        """Return a row for each connection."""
        return self._start(self._collected(self._connection_rows))

    def addresses(self) -> "Future[list[AddressRow]]":
        """Return a row for each address."""
        return self._start(self._collected(self._address_rows))

    def packed_links(self) -> "Future[list[bytes]]":
        """Return the rows of `links` as pickled lists of tuples."""
        return self._start(self._packed(self._link_rows))

    def packed_connections(self) -> "Future[list[bytes]]":
        """Return the rows of `connections` as pickled lists of tuples."""
        return self._start(self._packed(self._connection_rows))

    def packed_addresses(self) -> "Future[list[bytes]]":
        """Return the rows of `addresses` as pickled lists of tuples."""
        return self._start(self._packed(self._address_rows))

    def packed_address_keys(self) -> "Future[list[bytes]]":
        """Return the keys of the addresses in use, as pickled lists of tuples."""
        return self._start(self._packed(lambda: address_keys(self._router)))

    def packed_link_routes(self) -> "Future[list[bytes]]":
        """Return a row for each link route, as pickled lists of tuples."""
        return self._start(self._packed(lambda: link_route_rows(self._router)))

    def packed_auto_links(self) -> "Future[list[bytes]]":
        """Return a row for each auto-link, as pickled lists of tuples."""
        return self._start(self._packed(lambda: auto_link_rows(self._router)))

    def packed_exchanges(self) -> "Future[list[bytes]]":
        """Return a row for each exchange that is hosted here, as pickled lists of tuples."""
        return self._start(self._packed(lambda: exchange_rows(self._exchanges, self._router.worker)))

    def packed_bindings(self) -> "Future[list[bytes]]":
        """Return a row for each binding of these, as pickled lists of tuples."""
        return self._start(self._packed(lambda: binding_rows(self._exchanges, self._router.worker)))

    def packed_topics(self) -> "Future[list[bytes]]":
        """Return a row for each topic if they are hosted here, as pickled lists of tuples."""
        return self._start(self._packed(lambda: topic_rows(self._topics(), self._router.worker, time.monotonic())))

    def packed_publishers(self) -> "Future[list[bytes]]":
        """Return a row for each publisher of these at this router, as pickled lists of tuples."""
        return self._start(self._packed(lambda: publisher_rows(self._topics(), self._router.worker, time.monotonic())))

    def packed_subscriptions(self) -> "Future[list[bytes]]":
        """Return a row for each subscription of these, as pickled lists of tuples."""
        return self._start(
            self._packed(lambda: subscription_rows(self._topics(), self._router.worker, time.monotonic()))
        )

    def pools(self) -> "Future[list[PoolRow]]":
        """Return the numbers of the most frequent records."""

        async def pools() -> list[PoolRow]:
            return pool_rows(self._router)

        return self._start(pools())

    async def sample(self) -> None:
        """Sample the links, for ever. This runs in the loop."""
        while True:
            await self._finish(self._samples.sample(self._router, time.monotonic()))
            await asyncio.sleep(RATE_S)

    async def _counters(self) -> WorkerRow:
        now = time.monotonic()
        row = await self._finish(
            worker_row(self._router, now, self._host, self.lag, self._stuck_s, self.ended, self._samples)
        )
        return replace(
            row,
            authentication_failures=self._failures(),
            recording_status=self._recording.status,
            recording=self._recording.counters.as_map(),
        )

    def _link_rows(self) -> Iterator[LinkRow]:
        return link_rows(self._router, time.monotonic(), self._stuck_s, self._samples)

    def _connection_rows(self) -> Iterator[ConnectionRow]:
        return connection_rows(self._router, time.monotonic())

    def _address_rows(self) -> Iterator[AddressRow]:
        return address_rows(self._router, time.monotonic())

    async def _collected(self, make: Callable[[], Iterator[T]]) -> list[T]:
        return [row async for some in self._steps(make()) for row in some]

    async def _packed(self, make: Callable[[], Iterator[tuple[Any, ...]]]) -> list[bytes]:
        # In pieces, since the pickling of one piece lets nobody else run.
        return [pickle.dumps(list(map(tuple, some))) async for some in self._steps(make())]

    async def _finish(self, work: Generator[None, None, T]) -> T:
        """Do work to its end, and return its result."""
        results: list[T] = []

        def to_the_end() -> Iterator[None]:
            results.append((yield from work))

        async for _ in self._steps(to_the_end()):
            pass
        return results[0]

    async def _steps(self, rows: Iterator[T]) -> AsyncIterator[list[T]]:
        """Yield rows, as many as there is time for, and let messages have their turns in between."""
        is_over = False
        while not is_over:
            begun = now = time.monotonic()
            some: list[T] = []
            for row in rows:
                some.append(row)
                now = time.monotonic()
                if now >= begun + STEP_S:
                    break
            else:
                is_over = True
            if some:
                yield some
            if not is_over:
                if uses_tricks():
                    # Clients may wait for this core, not for the loop.
                    os.sched_yield()
                await asyncio.sleep(RESTS * (now - begun) if self._is_busy(now) else 0)
