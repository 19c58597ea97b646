"""Connections that are cut, and routers that end."""

import asyncio
from pathlib import Path

import pytest
from client.tests.routers import started, url_of
from client.tests.running import in_a_loop
from tests.system.proxy import Proxy
from tests.system.routers import RunningRouter

from mobula_client import Backoff, NoRouterReached, OutcomeUnknown, connect

QUICK = Backoff(first_s=0.01, most_s=0.05)


@in_a_loop
async def test_links_attach_again_after_a_cut(router: RunningRouter, address: str) -> None:
    with Proxy(router.port) as proxy:
        async with connect(f"amqp://127.0.0.1:{proxy.port}", backoff=QUICK) as client:
            receiver = await client.open_receiver(address, accepts_at_once=True)
            sender = await client.open_sender(address)
            for number in range(3):
                sent = asyncio.create_task(sender.send(number))
                assert (await receiver.receive()).body == number
                await sent
                proxy.cut()


@in_a_loop
async def test_what_has_no_outcome_is_sent_again(router: RunningRouter, url: str, address: str) -> None:
    with Proxy(router.port) as proxy:
        async with (
            connect(url) as reader,
            connect(f"amqp://127.0.0.1:{proxy.port}", backoff=QUICK) as writer,
        ):
            receiver = await reader.open_receiver(address)
            sender = await writer.open_sender(address)
            sent = asyncio.create_task(sender.send("one"))
            first = await receiver.receive()
            proxy.cut()
            second = await receiver.receive()
            assert (first.body, second.body) == ("one", "one")
            first.accept()
            second.accept()
            await sent


@in_a_loop
async def test_at_most_once_says_that_the_outcome_is_unknown(router: RunningRouter, url: str, address: str) -> None:
    with Proxy(router.port) as proxy:
        async with (
            connect(url) as reader,
            connect(f"amqp://127.0.0.1:{proxy.port}", backoff=QUICK) as writer,
        ):
            receiver = await reader.open_receiver(address)
            sender = await writer.open_sender(address, resends=False)
            sent = asyncio.create_task(sender.send("one"))
            await receiver.receive()
            proxy.cut()
            with pytest.raises(OutcomeUnknown, match="connection to the router was lost"):
                await sent


@in_a_loop
async def test_a_decision_after_a_cut_says_that_nobody_was_told(router: RunningRouter, url: str, address: str) -> None:
    with Proxy(router.port) as proxy:
        async with (
            connect(f"amqp://127.0.0.1:{proxy.port}", backoff=QUICK) as reader,
            connect(url) as writer,
        ):
            receiver = await reader.open_receiver(address)
            sender = await writer.open_sender(address)
            sent = asyncio.create_task(sender.send("one"))
            delivery = await receiver.receive()
            proxy.cut()
            await asyncio.wait([sent])
            assert sent.exception() is not None
            while delivery.incoming.delivery is not None:
                await asyncio.sleep(0.001)
            assert not delivery.accept()


@in_a_loop
async def test_another_router_of_the_list_takes_over(router: RunningRouter, url: str, tmp_path: Path) -> None:
    first = started(tmp_path)
    try:
        async with connect([url_of(first), url], backoff=QUICK) as client:
            assert client.router == url_of(first)
            receiver = await client.open_receiver("over", accepts_at_once=True)
            sender = await client.open_sender("over")
            await asyncio.to_thread(first.close)
            sent = asyncio.create_task(sender.send("one"))
            assert (await receiver.receive()).body == "one"
            await sent
            assert client.router == url
    finally:
        first.close()


@in_a_loop
async def test_everything_fails_when_no_router_comes_back_in_time(router: RunningRouter, address: str) -> None:
    with Proxy(router.port) as proxy:
        client = await connect(f"amqp://127.0.0.1:{proxy.port}", backoff=QUICK, reconnect_within_s=0.2)
        receiver = await client.open_receiver(address)
        proxy.refuse()
        with pytest.raises(NoRouterReached, match="Check the addresses"):
            await receiver.receive()
        with pytest.raises(NoRouterReached):
            await client.open_sender(address)
        await client.close()


@in_a_loop
async def test_connect_says_which_routers_it_tried() -> None:
    with pytest.raises(NoRouterReached, match=r"amqp://127\.0\.0\.1:1: ") as raised:
        await connect("amqp://127.0.0.1:1", connect_within_s=3.0, backoff=QUICK)
    assert [router for router, _ in raised.value.failures] == ["amqp://127.0.0.1:1"]


@in_a_loop
async def test_a_silent_router_counts_as_lost(router: RunningRouter, url: str, address: str) -> None:
    with Proxy(router.port) as proxy:
        urls = [f"amqp://127.0.0.1:{proxy.port}", url]
        async with (
            connect(url) as reader,
            connect(urls, backoff=QUICK, idle_timeout_s=1.0, attempt_within_s=0.5) as writer,
        ):
            receiver = await reader.open_receiver(address, accepts_at_once=True)
            sender = await writer.open_sender(address)
            proxy.stall()
            sent = asyncio.create_task(sender.send("one"))
            assert (await receiver.receive()).body == "one"
            await sent
            assert writer.router == url
            proxy.heal()
