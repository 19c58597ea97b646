"""The client without asyncio: the same objects, whose calls block.

One thread of the client runs its event loop. Any thread of the program may call, and several may at once.
"""

from mobula_client.blocking.client import Client, connect
from mobula_client.blocking.links import Delivery, Publisher, Receiver, Requester, Sender, Subscriber

__all__ = ["Client", "Delivery", "Publisher", "Receiver", "Requester", "Sender", "Subscriber", "connect"]
