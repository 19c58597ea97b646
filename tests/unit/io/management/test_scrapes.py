"""Scrapes of many at once cost the router no more than one."""

import asyncio
import gzip

import pytest

from routerd.io.management.scrapes import FRESH_S, WAITING_MAX, Scrapes
from routerd.management import MetricsQuery, RouterFigures, Unanswered
from tests.unit.management.fake_router import FakeRouter

PLAIN = MetricsQuery()


class Clock:
    """A clock that stands still."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class HeldRouter(FakeRouter):
    """Tells its figures when a test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.may_tell = asyncio.Event()

    async def figures(self) -> RouterFigures:
        await self.may_tell.wait()
        return await super().figures()


def test_what_is_fresh_is_gathered_once() -> None:
    async def scrape() -> None:
        router, clock = FakeRouter(), Clock()
        scrapes = Scrapes(router, clock)
        first = await scrapes.answer(PLAIN)
        assert await scrapes.answer(PLAIN) == first
        assert router.asked.count("figures") == 1
        clock.now += FRESH_S
        await scrapes.answer(PLAIN)
        assert router.asked.count("figures") == 2

    asyncio.run(scrape())


def test_too_many_at_once_are_refused_and_the_others_are_answered() -> None:
    async def scrape() -> None:
        router = HeldRouter()
        scrapes = Scrapes(router, Clock())
        tasks = [asyncio.ensure_future(scrapes.answer(PLAIN)) for _ in range(WAITING_MAX + 1)]
        await asyncio.sleep(0)
        with pytest.raises(Unanswered, match=f"^{WAITING_MAX} scrapes wait already$"):
            await scrapes.answer(PLAIN)
        router.may_tell.set()
        assert len({one.body for one in await asyncio.gather(*tasks)}) == 1
        assert router.asked.count("figures") == 1

    asyncio.run(scrape())


def test_a_scrape_that_failed_is_no_answer_to_the_next() -> None:
    async def scrape() -> None:
        router = FakeRouter()
        scrapes = Scrapes(router, Clock())
        router.failure = Unanswered("worker 0: no answer")
        with pytest.raises(Unanswered):
            await scrapes.answer(PLAIN)
        router.failure = None
        assert b"mobula_router_info" in (await scrapes.answer(PLAIN)).body

    asyncio.run(scrape())


def test_who_takes_gzip_gets_it() -> None:
    async def scrape() -> None:
        scrapes = Scrapes(FakeRouter(), Clock())
        plain, packed = await scrapes.answer(PLAIN), await scrapes.answer(MetricsQuery(takes_gzip=True))
        assert (plain.is_gzip, packed.is_gzip) == (False, True)
        assert gzip.decompress(packed.body) == plain.body

    asyncio.run(scrape())
