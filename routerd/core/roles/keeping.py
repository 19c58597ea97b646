"""Links that keepers inside the router answer."""

from typing import TYPE_CHECKING

from routerd.core.roles.claims import Claimant

if TYPE_CHECKING:
    from routerd.core.directory.addresses import AddressSpace
    from routerd.core.inside.link_keeper import LinkKeeper
    from routerd.core.links.peer import Peer
    from routerd.wire import Attach, Error
    from routerd.wire.link import Link


class Keeping:
    """The keepers by address key, and their links."""

    def __init__(self) -> None:
        self.keepers: dict[str, LinkKeeper] = {}
        self._kept: dict[Link, LinkKeeper] = {}

    def keep(self, link: "Link", keeper: "LinkKeeper") -> None:
        """Leave a link to its keeper, which gets the link's events."""
        self._kept[link] = keeper

    def keeper_of(self, link: "Link") -> "LinkKeeper | None":
        """Return the keeper of a link."""
        return self._kept.get(link)

    def ended(self, link: "Link", error: "Error | None") -> None:
        """Tell the keeper of a link that it is over."""
        keeper = self._kept.pop(link, None)
        if keeper is not None:
            keeper.detached(link, error)


class KeptClaim(Claimant):
    """Passes answers to the keeper that attached the link."""

    def __init__(self, keeping: Keeping) -> None:
        self._keeping = keeping

    def claim(self, peer: "Peer", link: "Link", performative: "Attach") -> "bool | Error":
        """Pass the answer on."""
        keeper = self._keeping.keeper_of(link)
        if keeper is None:
            return False
        keeper.attached(link, performative)
        return True


class KeeperClaim(Claimant):
    """Has the keeper of an address answer a new link, or refuse it."""

    def __init__(self, keeping: Keeping, space: "AddressSpace") -> None:
        self._keeping = keeping
        self._space = space

    def claim(self, peer: "Peer", link: "Link", performative: "Attach") -> "bool | Error":
        """Ask the keeper of the address, if there is one."""
        if not self._keeping.keepers or peer.is_inner:
            return False
        terminus = performative.source if link.is_sender else performative.target
        text = getattr(terminus, "address", None)
        key = self._space.key(text, 0, peer.tenant) if isinstance(text, str) else ""
        keeper = self._keeping.keepers.get(key)
        if keeper is None:
            return False
        error = keeper.refusal(link)
        if error is not None:
            return error
        if not keeper.keeps(link):
            return False
        self._keeping.keep(link, keeper)
        keeper.attached(link, performative)
        return True
