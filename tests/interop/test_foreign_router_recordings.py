"""The recorded octets are what their comments say, by proton's reading and by the tests' own."""

import re
from typing import Any

import pytest
from proton import Data, Message, symbol

from tests.interop.foreign_frames import (
    CONTROL,
    DATA,
    RECEIVER,
    SENDER,
    attach_frame,
    begin_frame,
    flow_frame,
    link_name,
    open_frame,
)
from tests.interop.foreign_octets import ATTACH, TRANSFER, Frame, frame, read, read_all, read_frame, str8, sym8
from tests.interop.foreign_recordings import filled, recording

PAIRS = ((0, RECEIVER), (1, SENDER))
CONVERSATIONS = ("connector", "listener")


def frames(conversation: str, part: str) -> list[Frame]:
    """Return the frames of a part."""
    octets, found = recording(conversation)[part], []
    octets = re.sub(rb"^AMQP[\x00\x03]\x01\x00\x00", b"", octets)
    while octets:
        size = int.from_bytes(octets[:4], "big")
        found.append(read_frame(octets[:size]))
        octets = octets[size:]
    return found


def all_frames() -> list[tuple[str, str, Frame]]:
    """Return all recorded frames."""
    return [(name, part, one) for name in CONVERSATIONS for part in recording(name) for one in frames(name, part)]


def test_every_frame_is_written_again_as_it_was_read() -> None:
    for _, _, one in all_frames():
        values = [read(one.octets, 8)[0], *read_all(one.payload)]
        assert frame(one.channel, *values, kind=one.octets[5]) == one.octets


def test_proton_reads_every_performative() -> None:
    for _, _, one in all_frames():
        data = Data()
        octets = one.octets[8 : len(one.octets) - len(one.payload)]
        assert data.decode(octets) == len(octets)
        data.rewind()
        assert data.next() == Data.DESCRIBED
        described = data.get_py_described()
        assert (described.descriptor, len(described.value)) == (one.code, len(one.fields))


def test_the_opening_of_the_connector_is_what_the_composed_router_says() -> None:
    parts = recording("connector")
    assert parts["open"] == b"AMQP\x00\x01\x00\x00" + open_frame("B", hostname=str8("127.0.0.1"))
    assert parts["begins"] == b"".join(begin_frame(channel) for channel in range(11))
    assert parts["flows"] == b"".join(flow_frame(channel, 0) for channel in range(11))
    assert parts["attaches"] == b"".join(
        attach_frame(channel, link_name(2 * channel + handle), handle, role, sym8(DATA if channel else CONTROL))
        for channel in range(11)
        for handle, role in PAIRS
    )


def test_names_of_links_are_filled_in_where_they_are_unknown() -> None:
    names = [f"qdlink.{number:015d}".encode() for number in range(22)]
    octets = filled(recording("listener")["attaches"], names)
    found = []
    while octets:
        size = int.from_bytes(octets[:4], "big")
        found.append(read_frame(octets[:size])["name"].encode())
        octets = octets[size:]
    assert found == names
    assert {one.code for one in frames("listener", "attaches")} == {ATTACH}


MESSAGES: dict[tuple[str, str], tuple[str | None, Any, dict[Any, Any] | None]] = {
    ("connector", "hello"): ("amqp:/_local/qdhello", ("HELLO", {"id": "B", "seen": ["A"]}), None),
    ("connector", "advertisement"): ("amqp:/_topo/0/all/qdrouter", ("RA", {"id": "B", "ls_seq": 1}), None),
    ("connector", "addresses"): ("_topo/0/all/qdrouter.ma", ("MAU", {"mobile_seq": 1, "add": ["M0foo"]}), None),
    ("connector", "addresses gone"): ("_topo/0/all/qdrouter.ma", ("MAU", {"mobile_seq": 2, "del": ["M0foo"]}), None),
    ("connector", "question of C"): ("amqp:/_topo/0/A/qdrouter.ma", ("MAR", {"id": "C", "have_seq": 0}), None),
    ("connector", "links 2"): ("amqp:/_topo/0/A/qdrouter", ("LSU", {"ls_seq": 2}), None),
    ("connector", "message"): (None, "back", {"x-user": 7, "x-opt-qd.to": "here"}),
    ("connector", "message from C"): ("here", "plain", {"x-opt-qd.ingress": "0/C", "x-opt-qd.trace": ["0/C", "0/B"]}),
    ("listener", "question"): ("amqp:/_topo/0/B/qdrouter", ("LSR", {"id": "A"}), None),
    ("listener", "addresses"): ("amqp:/_topo/0/B/qdrouter.ma", ("MAU", {"exist": ["M0there"], "hints": [3]}), None),
    ("listener", "message"): (None, "hi", {"x-user": 5, "x-opt-qd.to": "foo", "x-opt-qd.trace": ["0/A"]}),
}


@pytest.mark.parametrize(("conversation", "part"), MESSAGES)
def test_proton_reads_the_messages(conversation: str, part: str) -> None:
    address, body, annotations = MESSAGES[conversation, part]
    (one,) = frames(conversation, part)
    assert one.code == TRANSFER
    found = Message()
    found.decode(one.payload)
    assert found.address == address
    if isinstance(body, tuple):
        opcode, said = body
        assert list(found.properties.values()) == [opcode]
        assert {key: found.body[symbol(key) if opcode in ("MAU", "MAR") else key] for key in said} == said
    else:
        assert found.body == body
    assert {key: found.annotations[symbol(key)] for key in annotations or {}} == (annotations or {})
