"""The names of clients' links, and of routers' lives."""

from typing import NamedTuple


class ClientName(NamedTuple):
    """Names a publisher or a subscriber: a link of a container."""

    container: str
    link: str

    def __str__(self) -> str:
        return f"{self.container}/{self.link}"


class Place(NamedTuple):
    """One life of a router: after a restart it has another incarnation, which is higher."""

    router: str
    incarnation: int


NOWHERE = Place("", 0)
