"""What the objects of the application have in common: a link, and its end."""

from typing import Generic, Self, TypeVar

from mobula_client.aio.watch import Watch
from mobula_client.links import RecoverableLink

L = TypeVar("L", bound=RecoverableLink)


class LinkFace(Generic[L]):
    """A link as the application has it."""

    def __init__(self, link: L) -> None:
        self.link = link
        self.watch = Watch(link)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    @property
    def name(self) -> str:
        """The name of the link."""
        return self.link.name

    async def wait_ready(self) -> None:
        """Wait until the router has attached the link; raise the reason if it refuses."""
        await self.watch.until(lambda: self.link.is_ready or self.link.end is not None)
        if self.link.end is not None:
            raise self.link.end

    async def close(self) -> None:
        """Detach, and wait until the router has answered, or is gone."""
        await self.detach()

    async def detach(self) -> None:
        """Detach without anything before it."""
        self.link.close()
        await self.watch.until(lambda: self.link.end is not None)
