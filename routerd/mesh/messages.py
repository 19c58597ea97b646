"""The control messages that routers exchange, as values and as the bodies they travel in.

HELLO is for neighbours. RA (router advertisement) tells all routers how far a router's link state and its list of
addresses have come; who knows less asks for the link state by LSR and is answered by LSU, and for the addresses by MAR
and MAU. A MAU with changes goes to all routers before anyone asks. What we write has the types and the order that
existing routers use; what we read may have any (3.1, 3.2).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from routerd.mesh.errors import MalformedControl
from routerd.mesh.fields import PROTOCOL_VERSION, Fields
from routerd.wire import Int, Symbol

AREA = "0"
NEIGHBOUR_ENGINE = "qdhello"
ROUTER_ENGINE = "qdrouter"
MOBILE_ENGINE = "qdrouter.ma"
TO_NEIGHBOURS = f"amqp:/_local/{NEIGHBOUR_ENGINE}"
TO_ALL_ROUTERS = f"amqp:/_topo/{AREA}/all/{ROUTER_ENGINE}"
TO_ALL_MOBILE = f"_topo/{AREA}/all/{MOBILE_ENGINE}"

_MOBILE_OPCODES = ("MAU", "MAR")
_AREA_AS_VERSION_1 = {"pv": Int(PROTOCOL_VERSION), "area": AREA}


@dataclass(frozen=True, slots=True)
class ControlMessage:
    """A message of a control link: what routing needs of its sections."""

    to: str
    opcode: str
    body: Mapping[str, Any]
    ingress: str | None = None
    """The router that it came into the mesh by, as `0/<id>`."""
    trace: tuple[str, ...] = ()
    """The routers that it has passed."""

    @property
    def opcode_key(self) -> str:
        """The key of the opcode among the application properties."""
        return Symbol("opcode") if self.opcode in _MOBILE_OPCODES else "opcode"


@dataclass(frozen=True, slots=True)
class Hello:
    """A greeting to a neighbour."""

    OPCODE: ClassVar = "HELLO"
    id: str
    instance: int = 0
    """Another one after each start of the router; 0 says nothing."""
    seen: tuple[str, ...] = ()
    """The neighbours that it has heard lately."""

    def to_body(self) -> dict[str, Any]:
        return {"id": self.id, **_AREA_AS_VERSION_1, "instance": _number(self.instance), "seen": [*self.seen]}

    @classmethod
    def from_body(cls, body: object) -> Self:
        fields = Fields(body)
        return cls(fields.sender(), fields.number("instance", 0), fields.routers("seen"))


@dataclass(frozen=True, slots=True)
class RouterAdvertisement:
    """The sequence numbers of a router's link state and list of addresses."""

    OPCODE: ClassVar = "RA"
    id: str
    instance: int
    ls_seq: int
    mobile_seq: int

    def to_body(self) -> dict[str, Any]:
        return {
            "id": self.id,
            **_AREA_AS_VERSION_1,
            "instance": _number(self.instance),
            "ls_seq": _number(self.ls_seq),
            "mobile_seq": _number(self.mobile_seq),
        }

    @classmethod
    def from_body(cls, body: object) -> Self:
        fields = Fields(body)
        return cls(fields.sender(), fields.number("instance", 0), fields.number("ls_seq"), fields.number("mobile_seq"))


@dataclass(frozen=True, slots=True)
class LinkStateRequest:
    """Asks a router for its link state."""

    OPCODE: ClassVar = "LSR"
    id: str

    def to_body(self) -> dict[str, Any]:
        return {"id": self.id, **_AREA_AS_VERSION_1}

    @classmethod
    def from_body(cls, body: object) -> Self:
        return cls(Fields(body).sender())


@dataclass(frozen=True, slots=True)
class LinkStateUpdate:
    """The neighbours of a router, and what the links to them cost."""

    OPCODE: ClassVar = "LSU"
    id: str
    instance: int
    ls_seq: int
    peers: Mapping[str, int]
    about: str = ""
    """The router that the neighbours are of, when it is not the sender."""

    def to_body(self) -> dict[str, Any]:
        ls_seq = _number(self.ls_seq)
        return {
            "id": self.id,
            **_AREA_AS_VERSION_1,
            "instance": _number(self.instance),
            "ls_seq": ls_seq,
            "ls": {
                "id": self.about or self.id,
                "area": AREA,
                "ls_seq": ls_seq,
                "peers": {router: _number(cost) for router, cost in self.peers.items()},
            },
        }

    @classmethod
    def from_body(cls, body: object) -> Self:
        fields = Fields(body)
        router = fields.sender()
        instance = fields.number("instance", 0)
        fields.number("ls_seq")
        state = fields.inner("ls")
        about = state.router("id")
        return cls(router, instance, state.number("ls_seq"), state.costs("peers"), "" if about == router else about)


@dataclass(frozen=True, slots=True)
class MobileAddressRequest:
    """Asks a router for its addresses."""

    OPCODE: ClassVar = "MAR"
    id: str
    have_seq: int
    """The sequence number that the sender has."""

    def to_body(self) -> dict[str, Any]:
        return {**_mobile_head(self.id), Symbol("have_seq"): self.have_seq}

    @classmethod
    def from_body(cls, body: object) -> Self:
        fields = Fields(body)
        return cls(fields.sender(), fields.number("have_seq"))


@dataclass(frozen=True, slots=True)
class MobileAddressUpdate:
    """The addresses of a router: the changes, or all of them."""

    OPCODE: ClassVar = "MAU"
    id: str
    mobile_seq: int
    add: tuple[str, ...] | None = None
    delete: tuple[str, ...] | None = None
    exist: tuple[str, ...] | None = None
    """All addresses; what was added and deleted is then left out."""
    hints: tuple[int, ...] | None = field(default=None, kw_only=True)
    """The treatments of the addresses that are there or added; none when a peer told another number of them."""

    def to_body(self) -> dict[str, Any]:
        hints: dict[str, Any] = {Symbol("hints"): [Int(hint) for hint in self.hints or ()]}
        body: dict[str, Any] = {**_mobile_head(self.id), Symbol("mobile_seq"): self.mobile_seq}
        if self.exist is not None:
            return {**body, Symbol("exist"): [*self.exist], **hints}
        return {**body, **hints, Symbol("add"): list(self.add or ()), Symbol("del"): list(self.delete or ())}

    @classmethod
    def from_body(cls, body: object) -> Self:
        fields = Fields(body)
        router = fields.sender()
        sequence = fields.number("mobile_seq")
        hints = fields.numbers("hints") if "hints" in fields else None
        if "exist" in fields:
            if "add" in fields or "del" in fields:
                raise MalformedControl("exist stands beside add or del")
            exist = fields.texts("exist")
            return cls(router, sequence, exist=exist, hints=_fitting(hints, exist))
        add, delete = fields.texts("add"), fields.texts("del")
        return cls(router, sequence, add, delete, hints=_fitting(hints, add))


Control = Hello | RouterAdvertisement | LinkStateRequest | LinkStateUpdate | MobileAddressRequest | MobileAddressUpdate


def _fitting(hints: tuple[int, ...] | None, addresses: tuple[str, ...]) -> tuple[int, ...] | None:
    return hints if hints is not None and len(hints) == len(addresses) else None


def _mobile_head(router: str) -> dict[str, Any]:
    return {Symbol("id"): router, Symbol("pv"): PROTOCOL_VERSION, Symbol("area"): AREA}


def _number(value: int) -> int:
    return Int(value) if Int.LOW <= value <= Int.HIGH else value
