"""What a worker tells of itself to others, who run elsewhere: made in its loop, a little at a time."""

import asyncio
import pickle
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from dataclasses import fields, replace
from itertools import islice
from operator import attrgetter
from typing import Any, Protocol, TypeVar

from routerd.core import Router
from routerd.io.recording import Recording
from routerd.io.reports import (
    RATE_S,
    STUCK_S,
    Lag,
    SettleRates,
    WorkerHost,
    address_rows,
    connection_rows,
    link_rows,
    pool_rows,
    worker_row,
)
from routerd.management import AddressRow, ConnectionRow, LinkRow, PoolRow, WorkerRow

T = TypeVar("T")

ROWS_AT_ONCE = 4
"""Rows that are made before messages get their turn again."""


class Start(Protocol):
    """Has a loop run a coroutine."""

    def __call__(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        """Return what it will come to."""


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
        recording: Recording | None = None,
    ) -> None:
        """`failures` tells how often a peer could not prove who it is."""
        self.lag = Lag()
        self._failures = failures
        self._recording = Recording(router, 0, 0) if recording is None else recording
        self._router = router
        self._host = host
        self._start = start
        self._stuck_s = stuck_s
        self._rates = SettleRates()

    def counters(self) -> "Future[WorkerRow]":
        """Return the counters of now."""
        return self._start(self._counters())

    def links(self) -> "Future[list[LinkRow]]":
        """Return a row for each link, those of the fabric and of the inside too."""
        return self._start(_collected(self._link_rows))

    def connections(self) -> "Future[list[ConnectionRow]]":
        """Return a row for each connection."""
        return self._start(_collected(self._connection_rows))

    def addresses(self) -> "Future[list[AddressRow]]":
        """Return a row for each address."""
        return self._start(_collected(self._address_rows))

    def packed_links(self) -> "Future[list[bytes]]":
        """Return the rows of `links` as pickled lists of tuples."""
        return self._start(_packed(LinkRow, self._link_rows))

    def packed_connections(self) -> "Future[list[bytes]]":
        """Return the rows of `connections` as pickled lists of tuples."""
        return self._start(_packed(ConnectionRow, self._connection_rows))

    def packed_addresses(self) -> "Future[list[bytes]]":
        """Return the rows of `addresses` as pickled lists of tuples."""
        return self._start(_packed(AddressRow, self._address_rows))

    def pools(self) -> "Future[list[PoolRow]]":
        """Return how much there is of what there is most of."""

        async def pools() -> list[PoolRow]:
            return pool_rows(self._router)

        return self._start(pools())

    async def sample(self) -> None:
        """Keep account of how many deliveries are settled, for ever. To be run in the loop."""
        while True:
            for number, _ in enumerate(self._rates.sample(self._router, time.monotonic())):
                if number % ROWS_AT_ONCE == 0:
                    await asyncio.sleep(0)
            await asyncio.sleep(RATE_S)

    async def _counters(self) -> WorkerRow:
        steps = worker_row(self._router, time.monotonic(), self._host, self.lag, self._stuck_s)
        while True:
            try:
                for _ in range(ROWS_AT_ONCE):
                    next(steps)
            except StopIteration as end:
                row: WorkerRow = end.value
                return replace(
                    row,
                    authentication_failures=self._failures(),
                    recording_status=self._recording.status,
                    recording=self._recording.counters.as_map(),
                )
            await asyncio.sleep(0)

    def _link_rows(self) -> Iterator[LinkRow]:
        return link_rows(self._router, time.monotonic(), self._stuck_s, self._rates)

    def _connection_rows(self) -> Iterator[ConnectionRow]:
        return connection_rows(self._router, time.monotonic())

    def _address_rows(self) -> Iterator[AddressRow]:
        return address_rows(self._router, time.monotonic())


async def _collected(make: Callable[[], Iterator[T]]) -> list[T]:
    found: list[T] = []
    rows = make()
    while some := list(islice(rows, ROWS_AT_ONCE)):
        found += some
        await asyncio.sleep(0)
    return found


async def _packed(kind: type[Any], make: Callable[[], Iterator[Any]]) -> list[bytes]:
    as_tuple = attrgetter(*(one.name for one in fields(kind)))
    found = []
    rows = make()
    while some := list(islice(rows, ROWS_AT_ONCE)):
        # In pieces, since pickling one lets nobody else run.
        found.append(pickle.dumps(list(map(as_tuple, some))))
        await asyncio.sleep(0)
    return found
