"""Connections that come and go: `python -m tests.system.crowd PORT RATE COUNT`, for a process of its own.

Each opens a connection, attaches a consumer and a producer to an address of its own, and leaves when both are
answered: one third with a close, one third by closing the socket, one third with a reset.
"""

import asyncio
import json
import socket
import struct
import sys
import time
from itertools import cycle
from typing import cast

import uvloop

from routerd.wire import Attach, Begin, Close, Open, Source, Target
from tests.conformance.raw_peer import AMQP_HEADER, framed

ATTACH_CODE, CLOSE_CODE = 0x12, 0x18
CODE_AT = 10
LINKS = 2
ATTEMPTS_AHEAD_MAX = 2000
WITHIN_S = 60.0
SOURCES = cycle(f"127.0.0.{number}" for number in range(2, 102))
"""Of one address, the ports are soon used up."""


def greeting(number: int) -> bytes:
    """Return all that a client has to say until its links are answered."""
    address = f"crowd.{number}"
    performatives = (
        Open(container_id=address),
        Begin(next_outgoing_id=0, incoming_window=100, outgoing_window=100),
        Attach(name="in", handle=0, role=True, source=Source(address=address), target=Target()),
        Attach(
            name="out", handle=1, role=False, source=Source(), target=Target(address=address), initial_delivery_count=0
        ),
    )
    return AMQP_HEADER + b"".join(map(framed, performatives))


class Visitor(asyncio.Protocol):
    """One connection, from its greeting to its end."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.octets = bytearray()
        self.answers = 0
        self.is_closed = False
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Say everything at once."""
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(greeting(self.number))

    def data_received(self, data: bytes) -> None:
        """Count what is answered; leave when all is."""
        self.octets += data
        at = len(AMQP_HEADER)
        while len(self.octets) >= at + 4:
            size = int.from_bytes(self.octets[at : at + 4], "big")
            if len(self.octets) < at + size:
                break
            if size > CODE_AT:
                self.take(self.octets[at + CODE_AT])
            del self.octets[at : at + size]

    def take(self, code: int) -> None:
        """Take a performative."""
        if code == CLOSE_CODE:
            self.is_closed = True
            self.transport.close()
        elif code == ATTACH_CODE:
            self.answers += 1
            if self.answers == LINKS:
                self.leave()

    def leave(self) -> None:
        """End in one of three ways."""
        way = self.number % 3
        if way == 0:
            self.transport.write(framed(Close()))
        elif way == 1:
            self.transport.close()
        else:
            linger = struct.pack("ii", 1, 0)
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is closed."""
        if not self.over.done():
            self.over.set_result(None)

    @property
    def is_answered(self) -> bool:
        """Whether it got all that it asked for."""
        return self.answers == LINKS and (self.is_closed or self.number % 3 != 0)


async def visit(number: int, port: int) -> bool:
    """Have one connection come and go; whether all went well."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(WITHIN_S):
            _, visitor = await loop.create_connection(
                lambda: Visitor(number), "127.0.0.1", port, local_addr=(next(SOURCES), 0)
            )
            await visitor.over
    except OSError:
        return False
    return visitor.is_answered


async def crowd(port: int, rate: int, count: int) -> dict[str, float]:
    """Start so many connections, and no more a second than the rate; return how it went, and how long it took."""
    begun = time.monotonic()
    visits: set[asyncio.Task[bool]] = set()
    well = failed = started = 0
    while started < count or visits:
        due = min(count, (time.monotonic() - begun) * rate)
        while started < due and len(visits) < ATTEMPTS_AHEAD_MAX:
            visits.add(asyncio.create_task(visit(started, port)))
            started += 1
        done, visits = await asyncio.wait(visits, timeout=0.005) if visits else (set(), visits)
        for one in done:
            well += one.result()
            failed += not one.result()
        await asyncio.sleep(0.001)
    return {"well": well, "failed": failed, "seconds": time.monotonic() - begun}


if __name__ == "__main__":
    print(json.dumps(uvloop.run(crowd(*map(int, sys.argv[1:4])))))
