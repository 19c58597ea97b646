"""The errors of the routing protocol: what peers did wrong, and what our caller did."""


class MeshError(Exception):
    """The root of everything that routerd.mesh raises on purpose."""


class MalformedControl(MeshError):
    """A control message of a peer without the fields that it must have."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnsupportedVersion(MalformedControl):
    """A control message of a later version of the protocol."""

    def __init__(self, router: str, version: int) -> None:
        super().__init__(f"router {router} speaks version {version} of the protocol, and only 1 is known")
        self.router = router
        self.version = version


class NotAdvertisable(MeshError):
    """Our caller wants an address that no other router may be told of."""

    def __init__(self, key: str) -> None:
        super().__init__(f"{key[:80]!r} is not the key of a mobile address, a link route or an edge router")
        self.key = key


class ForeignCheckpoint(MeshError):
    """Our caller resumes a router from the checkpoint of another."""

    def __init__(self, router: str, other: str) -> None:
        super().__init__(f"router {router} can't be resumed from a checkpoint of {other}")
        self.router = router
        self.other = other
