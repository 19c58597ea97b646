"""What is to be done: the options of a run, checked, and the part that each process has in it."""

from dataclasses import dataclass
from enum import StrEnum

STAMP_SIZE = 8


class PlanError(ValueError):
    """The options of a run contradict each other, or one is out of its range."""


class Mode(StrEnum):
    """What a run measures."""

    TRAFFIC = "traffic"
    ATTACH = "attach"
    IDLE = "idle"


class Side(StrEnum):
    """The part of a process: who starts the traffic, and who must be there before."""

    SENDING = "sending"
    RECEIVING = "receiving"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run."""

    mode: Mode = Mode.TRAFFIC
    host: str = "127.0.0.1"
    port: int = 5672
    receive_at: tuple[str, int] | None = None
    """Where the receiving side connects, if not to the same host and port."""
    is_direct: bool = False
    """Whether the receiving side listens, and the sending side connects to it."""
    is_listening: bool = False
    """Whether only the receiving side runs, listening on host and port."""
    senders: int = 0
    receivers: int = 0
    requesters: int = 0
    responders: int = 0
    connections: int = 0
    """Connections of each side; 0 is one for each link."""
    links: int = 0
    """Links of each connection, when they are attached and no more."""
    address: str = "routerbench"
    """A pattern, in which {} stands for the number of the address."""
    addresses: int = 1
    rate: float = 0.0
    """Messages a second, of all senders together; 0 is as fast as possible."""
    size: int = 100
    is_settled: bool = False
    is_multicast: bool = False
    """Whether each receiver of an address is to get every message."""
    credit: int = 1000
    in_flight: int = 1
    count: int = 0
    seconds: float = 0.0
    warmup_s: float = 0.0
    processes: int = 1
    """Processes of each side; 0 is one for everything."""
    patience_s: float = 10.0
    """How long nothing may move before the run is given up."""
    hostname: str | None = None
    is_sasl: bool = False
    """Whether we connect with SASL ANONYMOUS instead of no SASL."""
    is_tls: bool = False
    ca_file: str | None = None
    """The authorities that the router's certificate is held against; None for those of the system."""
    is_websocket: bool = False
    """Whether AMQP goes over WebSocket, over TLS if that is wanted, too."""

    def __post_init__(self) -> None:
        for option, value, least in (
            ("--size", self.size, STAMP_SIZE),
            ("--credit", self.credit, 1),
            ("--in-flight", self.in_flight, 1),
            ("--addresses", self.addresses, 1),
            ("--connections", self.connections, 0),
            ("--links", self.links, 0),
            ("--count", self.count, 0),
            ("--seconds", self.seconds, 0),
            ("--warmup", self.warmup_s, 0),
            ("--rate", self.rate, 0),
            ("--processes", self.processes, 0),
        ):
            if value < least:
                raise PlanError(f"{option} is {value}, and must be {least} at least")
        if self.mode is not Mode.TRAFFIC and (self.is_listening or not self.connections):
            raise PlanError(f"--{self.mode.value} needs --connections, and no --listen")
        if self.mode is Mode.TRAFFIC and not (self.senders or self.requesters) and not self.receiving:
            raise PlanError("nothing to do: give --senders, --receivers, --requesters or --responders")
        if self.is_tls and (self.is_direct or self.is_listening):
            raise PlanError("--tls is for connections to a router: give no --direct and no --listen")
        if self.is_websocket and (self.is_direct or self.is_listening):
            raise PlanError("--websocket is for connections to a router: give no --direct and no --listen")
        if (self.senders and self.responders) or (self.requesters and self.receivers):
            raise PlanError("senders go with receivers, and requesters with responders")

    @property
    def sending(self) -> int:
        """How many links start the traffic."""
        return self.senders + self.requesters

    @property
    def receiving(self) -> int:
        """How many links wait for it."""
        return self.receivers + self.responders

    def address_of(self, index: int) -> str:
        """Return the address of a link."""
        number = index % self.addresses
        if "{}" in self.address:
            return self.address.replace("{}", str(number))
        return f"{self.address}.{number}" if self.addresses > 1 else self.address

    def expected(self, sent: int) -> int:
        """Return how many messages should arrive when `sent` were sent evenly; -1 if we do not receive them."""
        if self.requesters:
            return sent
        if not self.receiving and not self.is_direct:
            return -1
        if not self.is_multicast:
            return sent
        return sent * self.receivers // min(self.addresses, self.senders)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one process does of a plan."""

    plan: Plan
    number: int
    sides: tuple[Side, ...]
    sending: range
    """The links of the sending side that are its own."""
    receiving: range
    standing: range
    """The connections whose links are only attached."""
    quota: int
    """Measured messages to send; 0 is no bound."""

    @property
    def name(self) -> str:
        """What to call the process."""
        return "+".join(side.value for side in self.sides)


def parts_of(plan: Plan) -> list[Part]:
    """Return what each process does, those of the receiving side first."""
    sides = [side for side, present in ((Side.RECEIVING, plan.receiving), (Side.SENDING, plan.sending)) if present]
    if plan.mode is not Mode.TRAFFIC:
        sides = [Side.RECEIVING, Side.SENDING] if plan.is_direct else [Side.SENDING]
    if plan.processes == 0:
        return _one_part(plan, tuple(sides))
    parts: list[Part] = []
    for side in sides:
        for share in _shares(plan, side):
            sending, receiving, standing, quota = share
            parts.append(
                Part(
                    plan=plan,
                    number=len(parts),
                    sides=(side,),
                    sending=sending,
                    receiving=receiving,
                    standing=standing,
                    quota=quota,
                )
            )
    return parts


def _one_part(plan: Plan, sides: tuple[Side, ...]) -> list[Part]:
    standing = 0 if plan.mode is Mode.TRAFFIC else plan.connections
    return [
        Part(
            plan=plan,
            number=0,
            sides=sides,
            sending=range(plan.sending),
            receiving=range(plan.receiving),
            standing=range(standing),
            quota=plan.count,
        )
    ]


def _shares(plan: Plan, side: Side) -> list[tuple[range, range, range, int]]:
    none = range(0)
    if side is Side.RECEIVING:
        # The side that listens is one process: it has one socket to listen on.
        is_passive = plan.is_direct or plan.is_listening
        ranges = [range(plan.receiving)] if is_passive else _split(plan.receiving, plan.processes)
        return [(none, share, none, 0) for share in ranges]
    if plan.mode is not Mode.TRAFFIC:
        return [(none, none, share, 0) for share in _split(plan.connections, plan.processes)]
    return [
        (share, none, none, plan.count * share.stop // plan.sending - plan.count * share.start // plan.sending)
        for share in _split(plan.sending, plan.processes)
    ]


def _split(count: int, processes: int) -> list[range]:
    shares = [range(count * number // processes, count * (number + 1) // processes) for number in range(processes)]
    return [share for share in shares if share]
