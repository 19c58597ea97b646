"""A qdrouterd 1.19 in edge mode, and an interior one for a router of ours in edge mode, told each thing they say."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.interop.foreign_frames import (
    AMQP_HEADER,
    RECEIVER,
    SASL_HEADER,
    SENDER,
    begin_frame,
    detach_frame,
    flow_frame,
    link_name,
    open_frame,
)
from tests.interop.foreign_messages import message
from tests.interop.foreign_octets import (
    ATTACH,
    BEGIN,
    FALSE,
    FLOW,
    INIT,
    NULL,
    OPEN,
    OUTCOME,
    TRUE,
    UINT0,
    ULONG0,
    Frame,
    Typed,
    array8,
    described,
    frame,
    list8,
    map8,
    performative,
    sasl_frame,
    smallint,
    smalluint,
    str8,
    sym8,
    ubyte,
    uint,
)
from tests.interop.foreign_router import Arrival, ForeignRouter, Pair
from tests.system.routers import IN_PROCESS, RunningRouter, listener, section

DOWNLINK = "qd.router-edge-downlink"
TRACKING = "_$qd.edge_addr_tracking"
LOOKUP = "_$qd.addr_lookup"
HEARTBEAT = "_$qd.edge_heartbeat"
MANAGEMENT = "$management"
ENDPOINTS, CORE = 0, 1
"""The channels of an edge router's sessions."""
LINK_ROUTE = "org.apache.qpid.dispatch.router.connection.linkRoute"


def edges() -> str:
    """Return the section of a listener for edge routers."""
    return listener("edges", role="edge")


# --- frames (6.2)


def terminus(kind: int, address: str | None = None, *capabilities: Typed, dynamic: bool = False) -> Typed:
    """Return a source (0x28) or a target (0x29)."""
    parts = [NULL if address is None else str8(address), UINT0, sym8("link-detach"), UINT0, TRUE if dynamic else FALSE]
    between = [NULL] * (5 if kind == 0x28 else 1)
    return described(kind, list8(*parts, *between, *capabilities) if capabilities else list8(*parts))


def source(address: str | None = None, *capabilities: Typed, dynamic: bool = False) -> Typed:
    """Return a source."""
    return terminus(0x28, address, *capabilities, dynamic=dynamic)


def target(address: str | None = None, *capabilities: Typed) -> Typed:
    """Return a target."""
    return terminus(0x29, address, *capabilities)


def link_frame(channel: int, handle: int, role: Typed, source: Typed, target: Typed, name: str = "") -> bytes:
    """Return an attach with these termini."""
    fields = [str8(name or link_name(100 * channel + handle)), uint(handle) if handle else UINT0, role]
    return frame(channel, performative(ATTACH, *fields, ubyte(2), ubyte(0), source, target, NULL, FALSE, UINT0, ULONG0))


class ForeignEdge(ForeignRouter):
    """An edge router that is connected to a router of ours."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.control_handle = -1
        self.uplink = Pair(ENDPOINTS, 0, 0)
        self.requests, self.lookups, self.heartbeat = Pair(CORE, 1, 1), Pair(CORE, 3, 3), Pair(CORE, 5, 5)
        self.answers: dict[tuple[int, int], Frame] = {}
        """By channel and our own handle: how an attach was answered."""
        self._next_handle = 2

    def hang(self, **options: Any) -> "ForeignEdge":
        """Open, and attach the eight links (6.2) without waiting for answers; then grant their credit."""
        self.open(**options)
        capability = sym8(DOWNLINK)
        termini = [
            (ENDPOINTS, SENDER, source(), target(), 0),
            (ENDPOINTS, RECEIVER, source(self.id, capability), target(None, capability), 250),
            (CORE, RECEIVER, source(TRACKING), target(), 32),
            (CORE, SENDER, NULL, target(MANAGEMENT), 0),
            (CORE, RECEIVER, source(dynamic=True), NULL, 100),
            (CORE, SENDER, NULL, target(LOOKUP), 0),
            (CORE, RECEIVER, source(dynamic=True), NULL, 250),
            (CORE, SENDER, NULL, target(HEARTBEAT), 0),
        ]
        self.say(begin_frame(ENDPOINTS), begin_frame(CORE))
        handles = {ENDPOINTS: 0, CORE: 0}
        links = []
        for channel, role, from_, to, credit in termini:
            links.append((channel, handles[channel], role, credit))
            self.say(link_frame(channel, handles[channel], role, from_, to))
            handles[channel] += 1
        for channel, handle, role, credit in links:
            self.answered(channel, handle, role, credit)
        return self

    def answered(self, channel: int, handle: int, role: Typed, credit: int) -> Frame:
        """Wait for the answer to an attach, and grant credit if we receive."""
        answer = self.answers[channel, handle] = self.wait_for(ATTACH, name=link_name(100 * channel + handle))
        if role == RECEIVER:
            self.receiving[channel, answer["handle"]] = handle
            if credit:
                self.say(flow_frame(channel, handle, credit=credit))
        return answer

    def credit_of(self, channel: int, handle: int) -> int:
        """Return the credit of the next flow for a link that we send on."""
        theirs = self.answers[channel, handle]["handle"]
        found: int = self.wait_for(FLOW, channel=channel, handle=theirs)["link-credit"]
        return found

    def attach(self, role: Typed, address: str, *capabilities: Typed, credit: int = 250) -> Pair:
        """Attach the link of an address (6.3)."""
        handle = self._next_handle
        self._next_handle += 1
        if role == RECEIVER:
            self.say(link_frame(ENDPOINTS, handle, role, source(address, *capabilities), target()))
        else:
            self.say(link_frame(ENDPOINTS, handle, role, source(), target(address, *capabilities)))
        self.answered(ENDPOINTS, handle, role, credit)
        return Pair(ENDPOINTS, handle, handle)

    def detach(self, pair: Pair) -> None:
        """Detach a link."""
        self.say(detach_frame(pair.channel, pair.sending))

    def came_on(self, channel: int, handle: int) -> Arrival:
        """Return the next message on a link that we receive on."""
        theirs = self.answers[channel, handle]["handle"]

        def find() -> Arrival | None:
            found = next((one for one in self.arrivals if (one.channel, one.handle) == (channel, theirs)), None)
            if found is not None:
                self.arrivals.remove(found)
            return found

        return self.until(find, f"a message on handle {handle} of channel {channel}")

    def dynamic_address(self, handle: int) -> str:
        """Return the address that a dynamic source has got."""
        answer = self.answers[CORE, handle]
        described_source: Any = answer.typed("source").value
        found: str = described_source[1].value[0].value
        return found

    def beat(self, count: int) -> None:
        """Send a heartbeat (6.6)."""
        self.send(self.heartbeat, message(smallint(count), header=list8(FALSE), properties=None), settled=True)

    def ask_whether_routed(self, address: str, is_sender: bool, correlation_id: str = "client-1f") -> None:
        """Send a look-up (6.7)."""
        fields = [NULL, NULL, NULL, NULL, str8(self.dynamic_address(4)), str8(correlation_id)]
        octets = message(
            list8(str8(address), TRUE if is_sender else FALSE),
            header=list8(FALSE),
            properties=list8(*fields),
            application_properties=map8(str8("version"), smalluint(1), str8("opcode"), smalluint(1)),
        )
        self.send(self.lookups, octets, settled=True)

    def propose_link_route(self, key: str = "Clr", pattern: str = "lr/#") -> int:
        """Send the CREATE for a container that is here (6.8); return the number of the delivery."""
        name = f"{self.id}/proxyLinkRoute/{key}"
        fields = [NULL, NULL, NULL, NULL, str8(self.dynamic_address(2)), str8("1")]
        about = {"operation": "CREATE", "type": LINK_ROUTE, "name": name}
        body = {"type": LINK_ROUTE, "pattern": pattern, "direction": "in", "name": name}
        octets = message(
            map8(*(str8(part) for pair in body.items() for part in pair)),
            header=list8(FALSE),
            properties=list8(*fields),
            application_properties=map8(*(str8(part) for pair in about.items() for part in pair)),
        )
        return self.send(self.requests, octets)


class ForeignInterior(ForeignRouter):
    """An interior router that a router of ours in edge mode has connected to."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.control_handle = -1
        self.attaches: list[Frame] = []

    def accept(self) -> list[bytes | Frame]:
        """Let it open; return what it has said."""
        said: list[bytes | Frame] = [self.hear_header()]
        self.say(SASL_HEADER, sasl_frame(0x40, array8(0xA3, "ANONYMOUS")))
        init = self.hear_frame()
        assert (init.code, init["mechanism"]) == (INIT, "ANONYMOUS")
        self.say(sasl_frame(OUTCOME, ubyte(0)))
        said += [init, self.hear_header(), self.hear_frame()]
        assert isinstance(said[3], Frame)
        assert said[3].code == OPEN
        self.say(AMQP_HEADER, open_frame(self.id))
        return said

    def answer_begin(self) -> int:
        """Answer the next session that it begins; return its channel."""
        channel = self.wait_for(BEGIN, remote_channel=None).channel
        self.say(begin_frame(channel, channel))
        return channel

    def answer_attach(self, *, credit: int = 250) -> Frame:
        """Answer the next link that it attaches, with the same termini; grant credit on those that it sends on."""
        attach = self.wait_for(ATTACH)
        while any(one.code == BEGIN and one["remote-channel"] is None for one in self.frames):
            self.answer_begin()
        self.attaches.append(attach)
        channel, handle = attach.channel, attach["handle"]
        role = SENDER if attach["role"] else RECEIVER
        self.say(link_frame(channel, handle, role, attach.typed("source"), attach.typed("target"), attach["name"]))
        if not attach["role"]:
            self.receiving[channel, handle] = handle
            if credit:
                self.say(flow_frame(channel, handle, credit=credit))
        return attach

    def on(self, attach: Frame) -> Pair:
        """Return our end of a link that it has attached."""
        return Pair(attach.channel, attach["handle"], attach["handle"])

    def come_on(self, attach: Frame) -> Arrival:
        """Return the next message on a link."""

        def find() -> Arrival | None:
            place = attach.channel, attach["handle"]
            found = next((one for one in self.arrivals if (one.channel, one.handle) == place), None)
            if found is not None:
                self.arrivals.remove(found)
            return found

        return self.until(find, f"a message on {attach['name']}")

    def tell(self, tracking: Frame, key: str, is_reached: bool) -> None:
        """Send a notice (6.4)."""
        octets = message(list8(str8(key), TRUE if is_reached else FALSE), header=list8(FALSE), properties=None)
        self.send(self.on(tracking), octets, settled=True)


def error_detach(channel: int, handle: int, condition: str) -> bytes:
    """Return a detach that closes a link with an error."""
    error = described(0x1D, list8(sym8(condition), NULL))
    return frame(channel, performative(0x16, uint(handle) if handle else UINT0, TRUE, error))


@contextmanager
def running_edge(router_id: str, *connectors: str) -> Iterator[RunningRouter]:
    """Start a router in edge mode."""
    text = "\n".join(
        [
            section("router", mode="edge", id=router_id),
            section("log", module="DEFAULT", enable="info+", outputFile="stderr"),
            listener("clients"),
            *connectors,
            section("address", prefix="multicast", distribution="multicast"),
            section("address", prefix="waypoint", waypoint="yes"),
            "",
        ]
    )
    with tempfile.TemporaryDirectory() as folder:
        router = RunningRouter(Path(folder), IN_PROCESS, text)
        try:
            yield router
        finally:
            router.close()

