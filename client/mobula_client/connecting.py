"""The beginning of every program: `connect`."""

import random
from collections.abc import Generator, Iterable
from secrets import token_bytes
from typing import Any, Unpack

from mobula_client.aio.client import Client
from mobula_client.options import ConnectOptions
from mobula_client.routers import parse_routers
from mobula_client.settings import Settings

_NAME_OCTETS = 8


def settings_for(urls: str | Iterable[str], **options: Unpack[ConnectOptions]) -> Settings:
    """Return the settings of a client, checked."""
    given: dict[str, Any] = {"random": random.random, "token": token_bytes, **options}
    if given.get("mechanisms") is not None:
        given["mechanisms"] = tuple(given["mechanisms"])
    is_container_given = "container_id" in given
    if not is_container_given:
        given["container_id"] = f"mobula-client-{given['token'](_NAME_OCTETS).hex()}"
    return Settings(routers=parse_routers(urls), is_container_given=is_container_given, **given)


class Connecting:
    """What `connect` returns: `await` it for a client, or use it in `async with`, which closes the client."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client: Client | None = None

    def __await__(self) -> Generator[Any, None, Client]:
        return self._connected().__await__()

    async def __aenter__(self) -> Client:
        self._client = await self._connected()
        return self._client

    async def __aexit__(self, *error: object) -> None:
        assert self._client is not None, "it was entered"
        await self._client.close()

    async def _connected(self) -> Client:
        client = Client(self._settings)
        await client.start()
        return client


def connect(urls: str | Iterable[str], **options: Unpack[ConnectOptions]) -> Connecting:
    """Connect to one of several routers: `async with connect("amqp://a,amqp://b") as client`.

    `Settings` says what the options mean. Raises UsageError, NoRouterReached or AuthenticationFailed.
    """
    return Connecting(settings_for(urls, **options))
