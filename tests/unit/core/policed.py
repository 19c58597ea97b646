"""Workers of a router in memory that hold their clients against policy; several ask one ledger."""

from typing import Any

from routerd.core import Gate, GroupSettings, Ledger, Observer, PolicySettings, ServiceRules, VhostSettings
from routerd.wire import Connection, ConnectionConfig
from tests.routers import Client, Workers

ANYBODY = {"users": ("*",), "from_any_host": True}
OPEN_TO_ALL = ANYBODY | {"sources": ("*",), "targets": ("*",)}


def group(name: str = "g", **options: Any) -> GroupSettings:
    """A group of everybody, who may do everything that has to be allowed by name."""
    return GroupSettings(name=name, **OPEN_TO_ALL | options)


def vhost(hostname: str = "$default", *groups: GroupSettings, **options: Any) -> VhostSettings:
    """A vhost with these groups."""
    return VhostSettings(hostname=hostname, groups=groups, **options)


class Watcher(Observer):
    """Remembers what policy refused, in the order of that."""

    def __init__(self) -> None:
        self.seen: list[tuple[Any, ...]] = []

    def connection_allowed(self, peer: Any, user: str, host: str, vhost: str, group: str) -> None:
        self.seen.append(("allowed", user, host, vhost, group))

    def connection_denied(self, peer: Any, user: str, host: str, vhost: str, reason: str) -> None:
        self.seen.append(("denied", user, host, vhost, reason))

    def session_denied(self, peer: Any, grant: Any) -> None:
        self.seen.append(("session denied", grant.user))

    def link_denied(self, peer: Any, grant: Any, link: Any, what: str) -> None:
        self.seen.append(("link denied", grant.user, what))

    def message_size_denied(self, peer: Any, link: int) -> None:
        self.seen.append(("message size denied", link))

    def policy_summary(self, peer: Any, grant: Any, counters: Any) -> None:
        self.seen.append(("summary", grant.user, grant.denials))


class Shell:
    """Where a connection comes from."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.is_ending = False

    def end_soon(self) -> None:
        self.is_ending = True


class Guest(Client):
    """A client that remembers what it was told when something was refused: condition and description."""

    def __init__(self, workers: Workers) -> None:
        super().__init__(workers)
        self.end: tuple[str, str] | None = None
        """Of the connection."""
        self.refusals: dict[str, tuple[str, str]] = {}
        """Of links, by name."""
        self.ends: list[tuple[str, str] | None] = []
        """Of sessions."""

    @property
    def is_in(self) -> bool:
        """Whether the connection is open at both ends."""
        return bool(self.opens) and not self.connection.is_finished

    def pump(self) -> None:
        """Carry everything as far as it goes."""
        self._workers.pump()

    def on_closed(self, connection: Any, error: Any) -> None:
        super().on_closed(connection, error)
        self.end = _told(error)

    def on_link_detached(self, link: Any, closed: bool, error: Any) -> None:
        super().on_link_detached(link, closed, error)
        if error is not None:
            self.refusals[link.name] = (str(error.condition), error.description)

    def on_session_ended(self, session: Any, error: Any) -> None:
        super().on_session_ended(session, error)
        self.ends.append(_told(error))


def _told(error: Any) -> tuple[str, str] | None:
    return None if error is None else (str(error.condition), error.description)


class Policed(Workers):
    """Workers with a gate each."""

    def __init__(
        self,
        *vhosts: VhostSettings,
        workers: int = 1,
        policy: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.policy = PolicySettings(**{"is_enforced": True} | (policy or {}))
        self.vhosts = vhosts
        self.ledger: Ledger | None = Ledger(self.policy.max_connections) if workers > 1 else None
        self.watchers: dict[int, Watcher] = {}
        super().__init__(workers, **options)

    def start(self, index: int) -> Any:
        worker = super().start(index)
        watcher = self.watchers[index] = Watcher()
        worker.router.policy.gate = Gate(
            self.policy, self.vhosts, watcher, worker.router.connections.go_on, is_alone=self.ledger is None
        )
        return worker

    def gate(self, index: int = 0) -> Gate:
        """The gate of a worker."""
        found: Gate = self.workers[index].router.policy.gate
        return found

    @property
    def seen(self) -> list[tuple[Any, ...]]:
        """What the first worker's policy said, since this was asked last."""
        found, self.watchers[0].seen = self.watchers[0].seen, []
        return found

    def connect(
        self,
        hostname: str | None = None,
        *,
        user: str = "",
        host: str = "127.0.0.1:40000",
        worker: int = 0,
        peer: dict[str, Any] | None = None,
        policy_vhost: str | None = None,
        ours: dict[str, Any] | None = None,
        is_made_by_us: bool = False,
        service_rules: ServiceRules | None = None,
        **config: Any,
    ) -> Guest:
        """A client that has opened, or tried to; `ours` is said by the listener."""
        at = self.workers[worker]
        client = Guest(self)
        connection = Connection(
            ConnectionConfig(**{"container_id": "client", "hostname": hostname} | config),
            client,
            is_client=not is_made_by_us,
        )
        record = at.router.connections.new_peer(**(peer or {}))
        record.user = user
        record.shell = Shell(host)
        record.policy_vhost = policy_vhost
        record.service_rules = service_rules
        record.is_initiator = is_made_by_us
        options = {"container_id": self.settings.id} | (ours or {})
        server = at.end(record, ConnectionConfig(**options), is_client=is_made_by_us)
        if is_made_by_us:
            server.open()
            client.connection, client.line = connection, self.line(connection, server, at)
            self.pump()
            if client.end is None:
                client.session = connection.session()
                client.session.begin()
        else:
            client.connect(connection, self.line(connection, server, at))
        self.pump()
        return client

    def pump(self, seconds: float = 0.0) -> None:
        super().pump(seconds)
        while self.ledger is not None and self.carry_reports():
            super().pump()

    def carry_reports(self) -> bool:
        """Have the ledger answer what there is; whether there was anything."""
        has_moved = False
        for index, worker in self.workers.items():
            account = worker.router.policy.gate.account
            report = account.report()
            if report is not None and self.ledger is not None:
                has_moved = True
                incarnation = worker.sibling.incarnation
                self.ledger.take(index, incarnation, report)
                if self.ledger.lacks_sockets(index):
                    for other, of in self.ledger.lenders(index):
                        self.ledger.recalled(other, of, self.gate(other).account.recall())
                account.answered(self.ledger.decide(index, incarnation, report))
        return has_moved


__all__ = ["Guest", "Policed", "Shell", "Watcher", "group", "vhost"]
