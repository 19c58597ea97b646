"""The errors of the actors. They cross processes, so each can be pickled: its arguments are its constructor's."""


class ActorsError(Exception):
    """The root of everything that is raised on purpose here."""

    is_explained = True
    """Its text says what happened and what to do: the log needs no traceback."""


class CallFailed(ActorsError):
    """A call that brought no answer: nobody knows whether it was carried out."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(what, reason)
        self.what, self.reason = what, reason

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}"


class PeerGone(CallFailed):
    """The process that was called has ended, or never was; Ray may start it again."""


class PeerAbsent(PeerGone):
    """There is no process to call: the call was not made."""


class NoAnswer(CallFailed):
    """The answer did not come in time."""


class JoinFailed(ActorsError):
    """A Ray that cannot be joined."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(address, reason)
        self.address, self.reason = address, reason

    def __str__(self) -> str:
        return f"Ray at {self.address} cannot be joined: {self.reason}"


class NoRoom(ActorsError):
    """A file system that has no room for a Ray of the router's own."""

    def __init__(self, shortage: str) -> None:
        super().__init__(shortage)
        self.shortage = shortage

    def __str__(self) -> str:
        return f"{self.shortage}: make room, or name another runtime_directory"


class AuthorityUnavailable(ActorsError):
    """Certificates for the fabric between hosts that cannot be made."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"the openssl command (version 3) cannot make certificates: {self.reason}"


class RouterExists(ActorsError):
    """Another router of this id runs in the same namespace of the same Ray."""

    def __init__(self, router_id: str, namespace: str) -> None:
        super().__init__(router_id, namespace)
        self.router_id, self.namespace = router_id, namespace

    def __str__(self) -> str:
        return f"router {self.router_id} runs already in namespace {self.namespace} of this Ray"


class RouterLost(ActorsError):
    """A router that has ended by itself."""


class FolderRefused(ActorsError):
    """A runtime folder that others could write into."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.folder = folder

    def __str__(self) -> str:
        return f"runtime folder {self.folder} must be ours, and writable by nobody else"
