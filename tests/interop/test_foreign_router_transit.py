"""What a router of ours passes on between others: messages and control messages (2.2, 2.3, 3.1 of the protocol)."""


import pytest

from tests.interop.foreign_frames import ACCEPTED
from tests.interop.foreign_mesh import Join
from tests.interop.foreign_messages import (
    AMQP_VALUE,
    ANNOTATIONS,
    APPLICATION_PROPERTIES,
    HEADER,
    PROPERTIES,
    advertisement,
    annotations_of,
    link_state_request,
    link_state_update,
    message,
    mobile_changes,
    routers_annotations,
    string_map,
)
from tests.interop.foreign_octets import (
    FALSE,
    NULL,
    Typed,
    list8,
    long64,
    map8,
    plain,
    section_map,
    smallint,
    smalllong,
    smalluint,
    str8,
    sym8,
    ubyte,
    uint,
)

ALL, ALL_MA = "amqp:/_topo/0/all/qdrouter", "_topo/0/all/qdrouter.ma"


# --- messages


def test_a_message_in_transit_keeps_what_it_says_and_has_its_trace_go_on(join: Join, address: str) -> None:
    # 2.3
    here, there = join(), join()
    there.announce(f"M0{address}")
    there.ask_links()
    annotations = [sym8("x-user"), smallint(1), *routers_annotations(to=address, ingress="0/X", trace=["0/X"])]
    octets = message(str8("one"), annotations=annotations, properties=list8(NULL, NULL, str8("elsewhere")))
    pair = here.pairs[4]
    # X is not known here: nothing says that its paths lead elsewhere.
    number = here.send(pair, octets)
    arrival = there.arrival()
    there.settle(arrival)
    assert here.outcome(pair, number) == ACCEPTED
    assert annotations_of(arrival.octets) == [
        ("x-user", 1),
        ("x-opt-qd.to", address),
        ("x-opt-qd.ingress", "0/X"),
        ("x-opt-qd.trace", ["0/X", "0/A"]),
    ]
    sections = section_map(arrival.octets)
    assert plain(sections[0x73]) == [None, None, "elsewhere"]
    assert sections[AMQP_VALUE] == str8("one")


def test_a_message_without_annotations_enters_the_network_here(join: Join, address: str) -> None:
    # 2.2
    here, there = join(), join()
    there.announce(f"M0{address}")
    there.ask_links()
    here.send(here.pairs[4], message(str8("one"), properties=list8(NULL, NULL, str8(address))), settled=True)
    assert annotations_of(there.arrival().octets) == [("x-opt-qd.ingress", "0/A"), ("x-opt-qd.trace", ["0/A"])]


def test_a_message_is_not_passed_on_to_a_router_that_it_has_passed(join: Join, address: str) -> None:
    here, there = join(), join()
    there.announce(f"M0{address}")
    there.ask_links()
    annotations = routers_annotations(to=address, ingress=there.mark, trace=[there.mark, here.mark])
    pair = here.pairs[4]
    number = here.send(pair, message(str8("one"), annotations=annotations))
    assert plain(here.outcome(pair, number))[0] == 0x26
    here.send(pair, message(str8("two"), annotations=routers_annotations(to=address)), settled=True)
    assert section_map(there.arrival().octets)[AMQP_VALUE] == str8("two")


# --- control messages

BODIES: dict[str, tuple[str, str, Typed]] = {
    "RA": ("RA", ALL, advertisement("N", 7, 1, 300)),
    "MAU": ("MAU", ALL_MA, mobile_changes("N", 200, ["M0n"], ["M0m"])),
    "other types": (
        "RA",
        ALL,
        string_map(
            id=sym8("N"), pv=ubyte(1), ls_seq=uint(1 << 20), mobile_seq=long64(1 << 40), more=list8(NULL, FALSE)
        ),
    ),
    "symbols": ("RA", ALL, map8(sym8("id"), str8("N"), sym8("ls_seq"), smalllong(1), sym8("mobile_seq"), smallint(1))),
    "what is not understood": ("NEW", ALL, string_map(id=str8("N"), more=map8(smalluint(1), NULL))),
}


@pytest.mark.parametrize("name", BODIES)
def test_what_is_for_all_routers_is_passed_on_as_it_is_with_a_longer_trace(join: Join, name: str) -> None:
    here, there = join(), join()
    there.ask_links()
    opcode, to, body = BODIES[name]
    here.send_control(opcode, to, body, trace=["0/N", here.mark])
    found = there.until(lambda: next((one for one in there.controls if one.value["id"] == "N"), None), "it comes")
    trace = list8(str8("0/N"), str8(here.mark), str8("0/A"))
    assert found.sections == {
        HEADER: list8(FALSE),
        ANNOTATIONS: map8(sym8("x-opt-qd.ingress"), str8("0/N"), sym8("x-opt-qd.trace"), trace),
        PROPERTIES: list8(NULL, NULL, str8(to)),
        APPLICATION_PROPERTIES: map8(sym8("opcode") if opcode == "MAU" else str8("opcode"), str8(opcode)),
        AMQP_VALUE: body,
    }


def test_what_is_for_all_routers_does_not_go_back_nor_to_whom_it_has_passed(join: Join) -> None:
    here, there, elsewhere = join(), join(), join()
    elsewhere.ask_links()
    here.send_control("RA", ALL, advertisement("N", 7, 1, 1), trace=["0/N", there.mark, here.mark])
    elsewhere.until(lambda: next((one for one in elsewhere.controls if one.value["id"] == "N"), None), "it comes")
    for one in (here, there):
        one.ask_links()
        assert "N" not in {control.value["id"] for control in one.controls}


def test_what_is_for_another_router_goes_there_alone(join: Join) -> None:
    here, there, elsewhere = join(), join(), join()
    elsewhere.ask_links()
    to = f"amqp:/_topo/0/{there.id}/qdrouter"
    here.send_control("LSR", to, link_state_request("N"), trace=["0/N", here.mark])
    found = there.until(lambda: next((one for one in there.controls if one.value["id"] == "N"), None), "it comes")
    assert (found.to, found.body, found.trace) == (to, link_state_request("N"), ["0/N", here.mark, "0/A"])
    for one in (here, elsewhere):
        one.ask_links()
        assert "N" not in {control.value["id"] for control in one.controls}


def test_an_answer_may_go_to_a_router_behind_another(join: Join) -> None:
    here, there = join(), join()
    here.send_links({"A": 1, "N": 1}, ls_seq=2)
    here.send_links({here.id: 1}, router="N")
    here.ask_links()
    to = "_topo/0/N/qdrouter"
    there.send_control("LSU", to, link_state_update(there.id, 1, 1, {"A": 1}))
    found = here.until(lambda: next((one for one in here.controls if one.to == to), None), "it comes")
    assert (found.opcode, found.trace) == ("LSU", [there.mark, "0/A"])
    assert found.value["ls"]["peers"] == {"A": 1}


def test_hello_is_for_neighbours_alone(join: Join) -> None:
    here, there = join(), join()
    there.ask_links()
    here.greet("A")
    here.ask_links()
    there.ask_links()
    assert {one.value["id"] for one in there.controls if one.opcode == "HELLO"} <= {"A"}
