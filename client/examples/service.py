"""A service that doubles numbers, for as many requests as it is told.

Run it as `python examples/service.py amqp://localhost 3`, and ask it with `examples/ask.py`.
"""

import asyncio
import sys

from mobula_client import connect, reply_to


async def main(url: str, count: int) -> None:
    """Answer `count` requests."""
    async with connect(url) as client:
        requests = await client.open_receiver("double")
        replies = await client.open_sender()
        print("ready", flush=True)
        for _ in range(count):
            request = await requests.receive()
            if isinstance(request.body, int):
                await replies.send(reply_to(request.message, request.body * 2))
                request.accept()
            else:
                request.reject(description=f"{request.body!r} is not a number")
        await requests.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
