"""Senders, receivers and requesters at a real router."""

import asyncio

import pytest
from client.tests.running import in_a_loop

from mobula_client import (
    Client,
    LinkEnded,
    Message,
    MessageModified,
    MessageNotAccepted,
    MessageRejected,
    MessageReleased,
    NoReply,
    Properties,
    Receiver,
    Symbol,
    UsageError,
    connect,
    reply_to,
)
from mobula_client.engine import AmqpValue


@pytest.mark.parametrize("body", ["text", b"octets", 7, None, [1, "two"], {"three": 3}, b"x" * 200_000])
@in_a_loop
async def test_a_body_arrives_as_it_was_sent(url: str, address: str, body: object) -> None:
    async with connect(url) as client:
        receiver = await client.open_receiver(address)
        sender = await client.open_sender(address)
        sent = asyncio.create_task(sender.send(body))
        delivery = await receiver.receive()
        assert delivery.body == body
        assert delivery.accept()
        await sent


@in_a_loop
async def test_sections_of_a_message_pass_unchanged(url: str, address: str) -> None:
    message = Message(
        properties=Properties(subject="a subject", message_id="one"),
        application_properties={"number": 5},
        message_annotations={Symbol("x-opt-ours"): "kept"},
        body=AmqpValue("body"),
    )
    async with connect(url) as client:
        receiver = await client.open_receiver(address, accepts_at_once=True)
        sent = asyncio.create_task((await client.open_sender(address)).send(message))
        assert (await receiver.receive()).message == message
        await sent


@in_a_loop
async def test_each_outcome_reaches_the_sender(url: str, address: str) -> None:
    async with connect(url) as client:
        receiver = await client.open_receiver(address)
        sender = await client.open_sender(address)

        async def outcome_of(decide: str, **how: object) -> BaseException | None:
            sent = asyncio.create_task(sender.send(decide))
            getattr(await receiver.receive(), decide)(**how)
            await asyncio.wait([sent])
            return sent.exception()

        assert await outcome_of("accept") is None
        assert isinstance(await outcome_of("release"), MessageReleased)
        rejected = await outcome_of("reject", condition="test:bad", description="why")
        assert isinstance(rejected, MessageRejected)
        assert (rejected.condition, rejected.description) == ("test:bad", "why")
        modified = await outcome_of("modify", undeliverable_here=True)
        assert isinstance(modified, MessageModified)
        assert modified.outcome.undeliverable_here is True


@in_a_loop
async def test_a_message_is_decided_once(url: str, address: str) -> None:
    async with connect(url) as client:
        receiver = await client.open_receiver(address)
        sent = asyncio.create_task((await client.open_sender(address)).send("one"))
        delivery = await receiver.receive()
        assert (delivery.accept(), delivery.reject()) == (True, False)
        await sent


async def check_nothing_comes(client: Client, receiver: Receiver) -> None:
    """Check that nothing has come after the router has dealt with all that it was sent before."""
    fence = await client.open_receiver(None, is_dynamic=True, accepts_at_once=True)
    sent = asyncio.create_task((await client.open_sender(fence.address)).send("fence"))
    await fence.receive()
    await sent
    assert not receiver._arrived


@in_a_loop
async def test_no_more_messages_come_than_the_window_allows(url: str, address: str) -> None:
    async with connect(url) as client:
        receiver = await client.open_receiver(address, window=2)
        sender = await client.open_sender(address)
        sends = [asyncio.create_task(sender.send(number)) for number in range(5)]
        first = [await receiver.receive(), await receiver.receive()]
        await check_nothing_comes(client, receiver)
        for delivery in first:
            delivery.accept()
        for _ in range(3):
            (await receiver.receive()).accept()
        await asyncio.gather(*sends)


@in_a_loop
async def test_manual_credit_lets_so_many_messages_come(url: str, address: str) -> None:
    async with connect(url) as client:
        receiver = await client.open_receiver(address, window=0)
        sender = await client.open_sender(address)
        sends = [asyncio.create_task(sender.send(number)) for number in range(3)]
        await check_nothing_comes(client, receiver)
        receiver.grant(1)
        first = await receiver.receive()
        first.accept()
        await check_nothing_comes(client, receiver)
        receiver.grant(2)
        for _ in range(2):
            (await receiver.receive()).accept()
        await asyncio.gather(*sends)


@in_a_loop
async def test_settled_messages_arrive_without_an_outcome(url: str, address: str) -> None:
    async with connect(url) as client:
        receiver = await client.open_receiver(address)
        sender = await client.open_sender(address, settled=True)
        await sender.send("one", settled=True)
        delivery = await receiver.receive()
        assert (delivery.body, delivery.accept()) == ("one", True)


@in_a_loop
async def test_a_sender_without_address_sends_where_each_message_says(url: str, address: str) -> None:
    async with connect(url) as client:
        receiver = await client.open_receiver(address, accepts_at_once=True)
        sender = await client.open_sender()
        sent = asyncio.create_task(sender.send("one", to=address))
        assert (await receiver.receive()).body == "one"
        await sent
        with pytest.raises(UsageError, match="no address"):
            await sender.send("two")


@in_a_loop
async def test_a_request_gets_its_reply(url: str, address: str) -> None:
    async with connect(url) as client:
        service = await client.open_receiver(address)
        replies = await client.open_sender()

        async def serve() -> None:
            async for request in service:
                await replies.send(reply_to(request.message, request.body * 2))
                request.accept()

        serving = asyncio.create_task(serve())
        async with await client.open_requester(address) as requester:
            answers = await asyncio.gather(*(requester.request(number) for number in range(5)))
            assert [answer.body for answer in answers] == [0, 2, 4, 6, 8]
        await service.close()
        await serving


@in_a_loop
async def test_a_request_that_nobody_answers_or_takes_fails(url: str, address: str) -> None:
    async with connect(url) as client, await client.open_requester(address) as requester:
        service = await client.open_receiver(address, accepts_at_once=True)
        asked = asyncio.create_task(requester.request("silence", within_s=3.0))
        await service.receive()
        with pytest.raises(NoReply, match="Ask again"):
            await asked
        asked = asyncio.create_task(requester.request("refused"))
        service.link.accepts_at_once = False
        (await service.receive()).reject()
        with pytest.raises(MessageRejected):
            await asked


def test_a_request_without_reply_to_cannot_be_answered() -> None:
    with pytest.raises(UsageError, match="no reply-to"):
        reply_to(Message(body=AmqpValue(1)), 2)


@in_a_loop
async def test_the_router_names_a_dynamic_address(url: str) -> None:
    async with connect(url) as client:
        receiver = await client.open_receiver(None, is_dynamic=True, accepts_at_once=True)
        assert receiver.address
        sent = asyncio.create_task((await client.open_sender(receiver.address)).send("one"))
        assert (await receiver.receive()).body == "one"
        await sent


@in_a_loop
async def test_closing_ends_iteration_and_later_calls(url: str, address: str) -> None:
    async with connect(url) as client:
        receiver = await client.open_receiver(address)
        sender = await client.open_sender(address)

        async def bodies() -> list[object]:
            return [delivery.body async for delivery in receiver]

        reading = asyncio.create_task(bodies())
        await receiver.close()
        assert await reading == []
        await sender.close()
        with pytest.raises(Exception, match="was closed"):
            await sender.send("late")


@in_a_loop
async def test_a_name_is_used_once_at_a_time(url: str, address: str) -> None:
    async with connect(url) as client:
        first = await client.open_sender(address, name="one")
        with pytest.raises(UsageError, match="give another name"):
            await client.open_sender(address, name="one")
        await first.close()
        await (await client.open_sender(address, name="one")).close()


@in_a_loop
async def test_a_link_that_the_router_refuses_says_why(url: str) -> None:
    async with connect(url) as client:
        with pytest.raises(LinkEnded, match="Open the link again"):
            await client.open_receiver(None)


@in_a_loop
async def test_what_a_receiver_has_not_taken_goes_to_others_when_it_closes(url: str, address: str) -> None:
    async with connect(url) as client:
        idle = await client.open_receiver(address)
        sender = await client.open_sender(address)
        sent = asyncio.create_task(sender.send("one"))
        await idle.watch.until(lambda: bool(idle._arrived))
        await idle.close()
        with pytest.raises(MessageNotAccepted):
            await sent
