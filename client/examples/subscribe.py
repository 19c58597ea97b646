"""Print the readings that `examples/publish.py` publishes.

Run it as `python examples/subscribe.py amqp://localhost 3`: it ends after three readings.
"""

import asyncio
import sys

from mobula_client import Guarantee, connect


async def main(url: str, count: int) -> None:
    """Subscribe, and print `count` readings."""
    async with connect(url, container_id="printer-1") as client:
        subscriber = await client.open_subscriber("multicast.readings", guarantee=Guarantee.AT_LEAST_ONCE)
        print("subscribed", flush=True)
        for _ in range(count):
            delivery = await subscriber.receive()
            print(f"reading {delivery.body['reading']}")
            delivery.accept()
        await subscriber.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
