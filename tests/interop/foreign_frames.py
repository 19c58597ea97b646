"""Frames as qdrouterd 1.19 writes them: what it opens a connection with, its links, and its transfers (1.2 to 1.5)."""

from tests.interop.foreign_octets import (
    ATTACH,
    BEGIN,
    DETACH,
    DISPOSITION,
    FALSE,
    FLOW,
    NULL,
    OPEN,
    TRANSFER,
    TRUE,
    UINT0,
    ULONG0,
    Typed,
    array8,
    described,
    frame,
    list8,
    map8,
    performative,
    smallint,
    smalluint,
    str8,
    sym8,
    ubyte,
    uint,
    ushort,
    vbin8,
)

AMQP_HEADER, SASL_HEADER = b"AMQP\x00\x01\x00\x00", b"AMQP\x03\x01\x00\x00"
CONTROL, DATA = "qd.router", "qd.router-data"
CREDIT = 250
PRIORITIES = 10
WINDOW = 0x7FFFFFFF
FRAME_SIZE = 16384
RECEIVER, SENDER = TRUE, FALSE
RECEIVING, SENDING = 0, 1
"""The handles of a pair of links."""
ACCEPTED = described(0x24, Typed(0x45, ()))
CAPABILITIES = array8(0xA3, "ANONYMOUS-RELAY", "qd.streaming-links")
_TRANSFER_OVERHEAD = 64


def open_properties(number: int = 1, **more: Typed) -> Typed:
    """Return the properties of an open (1.3)."""
    known = {
        "product": str8("qpid-dispatch-router"),
        "version": str8("1.19.0"),
        "qd.conn-id": smallint(number),
        **more,
        "qd.annotations-version": smallint(1),
    }
    return map8(*(part for key, value in known.items() for part in (sym8(key), value)))


def open_frame(router: str, *, hostname: Typed = NULL, **other: Typed) -> bytes:
    """Return an open; `frame_size`, `capabilities` and `properties` may be others."""
    limits = [other.get("frame_size", uint(FRAME_SIZE)), ushort(32767), uint(8000)]
    capabilities = other.get("capabilities", CAPABILITIES)
    more = NULL, NULL, capabilities, capabilities, other.get("properties", open_properties())
    return frame(0, performative(OPEN, str8(router), hostname, *limits, *more))


def begin_frame(channel: int, remote_channel: int | None = None) -> bytes:
    """Return a begin, or the answer to one."""
    remote = NULL if remote_channel is None else ushort(remote_channel)
    return frame(channel, performative(BEGIN, remote, UINT0, uint(WINDOW), uint(WINDOW)))


def attach_frame(
    channel: int,
    name: str,
    handle: int,
    role: Typed,
    *capabilities: Typed,
    address: str | None = None,
    expiry: str = "link-detach",
) -> bytes:
    """Return an attach with a source and a target that are alike."""
    parts = [NULL if address is None else str8(address), UINT0, sym8(expiry), UINT0, FALSE, NULL]
    source = described(0x28, list8(*parts, NULL, NULL, NULL, NULL, *capabilities))
    target = described(0x29, list8(*parts, *capabilities))
    fields = [str8(name), _uint(handle), role, ubyte(2), ubyte(0), source, target, NULL, FALSE, UINT0, ULONG0]
    return frame(channel, performative(ATTACH, *fields))


def flow_frame(
    channel: int, handle: int, received: int = 0, *, arrived: int = 0, sent: int = 0, credit: int = CREDIT
) -> bytes:
    """Return a flow with credit on a link where so many messages came, and so many frames on its session."""
    session = [_uint(arrived), uint(WINDOW), _uint(sent), uint(WINDOW)]
    return frame(channel, performative(FLOW, *session, _uint(handle), _uint(received), _uint(credit), UINT0, FALSE))


def transfer_frames(
    channel: int, handle: int, number: int, payload: bytes, *, settled: bool, frame_size: int = FRAME_SIZE
) -> list[bytes]:
    """Return a delivery in as many frames as it takes."""
    room = frame_size - _TRANSFER_OVERHEAD
    parts = [payload[at : at + room] for at in range(0, len(payload), room)]
    found = []
    for at, part in enumerate(parts):
        more = TRUE if at + 1 < len(parts) else FALSE
        first = (NULL, NULL, NULL) if at else (_uint(number), vbin8(number.to_bytes(8, "big")), UINT0)
        fields = [_uint(handle), *first, TRUE if settled else FALSE, more]
        found.append(frame(channel, performative(TRANSFER, *fields), payload=part))
    return found


def disposition_frame(channel: int, number: int, state: Typed = ACCEPTED) -> bytes:
    """Return the settlement of a delivery that was received."""
    return frame(channel, performative(DISPOSITION, RECEIVER, _uint(number), _uint(number), TRUE, state))


def detach_frame(channel: int, handle: int) -> bytes:
    """Return a detach that closes a link."""
    return frame(channel, performative(DETACH, _uint(handle), TRUE))


def link_name(at: int) -> str:
    """Return the name of the n-th link."""
    return f"qdlink.{at:015d}"


def _uint(value: int) -> Typed:
    return smalluint(value) if 0 < value < 0x100 else uint(value) if value else UINT0
