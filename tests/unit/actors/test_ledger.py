"""The host of the ledger, and the reports of workers to it, in one event loop and without Ray."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from actors import ledger_host
from actors.errors import PeerGone
from actors.ledger_host import LedgerHost
from routerd.core import Report, Seat, SeatLimits, StaleMember, UnknownMember

ALL = Report(is_full=True)
SEAT = Seat(1, "v", "ann", "h")


class Worker:
    """A connection actor that gives back what it is asked for, or is gone."""

    def __init__(self, kept: int | None = 0) -> None:
        self.kept = kept
        self.recalls = 0

    async def recall_sockets(self, incarnation: int) -> int:
        self.recalls += 1
        if self.kept is None:
            raise PeerGone("a worker", "it has died")
        return self.kept


def run(test: Awaitable[None]) -> None:
    async def within_a_while() -> None:
        await asyncio.wait_for(test, 10.0)

    asyncio.run(within_a_while())


def a_host(max_connections: int, **workers: Worker) -> LedgerHost:
    members: dict[int, Any] = {int(name[1:]): worker for name, worker in workers.items()}
    found = LedgerHost(max_connections, members)
    found.begin()
    return found


def test_nothing_is_decided_before_all_workers_have_reported() -> None:
    async def test() -> None:
        at = a_host(9, w0=Worker(), w1=Worker())
        first = asyncio.ensure_future(at.answer(0, 1, Report(is_full=True, asked=((SEAT, SeatLimits(1, 1, 1)),))))
        await asyncio.sleep(0)
        assert not first.done()
        await at.answer(1, 1, Report(is_full=True, seats=(SEAT,)))
        assert list((await first).refused) == [1]

    run(test())


def test_a_worker_that_does_not_report_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_host, "COMPLETE_WITHIN_S", 0.01)

    async def test() -> None:
        verdict = await a_host(9, w0=Worker(), w1=Worker()).answer(
            0, 1, Report(is_full=True, asked=((SEAT, SeatLimits(1, 1, 1)),))
        )
        assert verdict.refused == {}

    run(test())


@pytest.mark.parametrize(("kept", "allowed"), [(1, 2), (0, 3), (None, 0)])
def test_what_others_do_not_use_is_called_in(kept: int | None, allowed: int) -> None:
    async def test() -> None:
        lender = Worker(kept)
        at = a_host(3, w0=Worker(), w1=lender)
        waiting = asyncio.ensure_future(at.answer(0, 1, ALL))
        await at.answer(1, 1, Report(is_full=True, allowance=3))
        await waiting
        verdict = await at.answer(0, 1, Report(is_full=False, sockets=3))
        assert (verdict.allowance, lender.recalls) == (allowed, 1)

    run(test())


def test_a_worker_that_is_lost_has_to_report_everything() -> None:
    async def test() -> None:
        at = a_host(3, w0=Worker())
        await at.answer(0, 1, ALL)
        at.lose(0)
        with pytest.raises(UnknownMember):
            await at.answer(0, 1, Report(is_full=False))
        await at.answer(0, 2, ALL)
        with pytest.raises(StaleMember):
            await at.answer(0, 1, ALL)

    run(test())
