"""What a router of ours does about others that break the protocol: one line in the log, and nothing else changes."""

from collections.abc import Callable

import pytest

from tests.interop.foreign_frames import (
    CONTROL,
    DATA,
    RECEIVER,
    SENDER,
    attach_frame,
    begin_frame,
    flow_frame,
    open_properties,
)
from tests.interop.foreign_mesh import Join
from tests.interop.foreign_messages import (
    AMQP_VALUE,
    advertisement,
    control_message,
    costs,
    hello,
    link_state_request,
    link_state_update,
    mobile_changes,
    mobile_request,
    number,
    string_map,
    texts,
)
from tests.interop.foreign_octets import (
    ATTACH,
    DETACH,
    END,
    LIST0,
    NULL,
    TRANSFER,
    TRUE,
    Typed,
    array8,
    described,
    frame,
    list8,
    long64,
    map8,
    performative,
    section_map,
    smallint,
    smalllong,
    str8,
    sym8,
    uint,
    written,
)
from tests.interop.foreign_router import ForeignRouter
from tests.system.management_client import ManagementClient
from tests.system.proton_client import ProtonClient
from tests.system.routers import RunningRouter
from tests.waiting import eventually

ALL, ALL_MA = "amqp:/_topo/0/all/qdrouter", "_topo/0/all/qdrouter.ma"
OURS, OURS_MA, NEIGHBOURS = "amqp:/_topo/0/A/qdrouter", "amqp:/_topo/0/A/qdrouter.ma", "amqp:/_local/qdhello"
Wrong = Callable[[ForeignRouter], bytes]


def known(router: RunningRouter, *others: ForeignRouter) -> list[dict[str, object]]:
    """Return what the router knows of these, and of all routers that are mentioned below but do not exist."""
    manage = ManagementClient(router.port)
    try:
        rows = manage.query("router.node")
    finally:
        manage.close()
    wanted = {"X", "Y", "Z", "X/Y", "mute", *(one.id for one in others)}
    fields = ("id", "instance", "protocolVersion", "linkState", "nextHop", "validOrigins", "routerLink", "cost")
    return [{field: row[field] for field in fields} for row in rows if row["id"] in wanted]


def whole_lines(text: str, module: str = "ROUTER") -> list[str]:
    """Return the warnings of the routing protocol, without the time."""
    return [line.split(" ", 3)[3] for line in text.splitlines() if f" {module} (warning) " in line]


def mau(foreign: ForeignRouter, **fields: Typed) -> bytes:
    """Return a MAU with these fields and those that every one has."""
    every = {"id": str8(foreign.id), "pv": smalllong(1), "area": str8("0")}
    body = map8(*(part for key, value in (every | fields).items() for part in (sym8(key), value)))
    return control_message("MAU", ALL_MA, body, trace=[foreign.mark])


def control(foreign: ForeignRouter, opcode: str, to: str, **fields: Typed) -> bytes:
    """Return another control message with these fields."""
    return control_message(opcode, to, string_map(**fields), trace=[foreign.mark])


def router_id(foreign: ForeignRouter, **fields: Typed) -> dict[str, Typed]:
    """Return the fields that name the sender and the version of the protocol."""
    return {"id": str8(foreign.id), "pv": smallint(1), "area": str8("0"), **fields}


NEXT = smalllong(2)
ONE_KEY = texts(["M0more"])

IGNORED: dict[str, Wrong] = {
    "no message": lambda _: b"\x00\x53\x75\xa0\x01",
    "no octets but one": lambda _: b"\xff",
    "no opcode": lambda foreign: written(described(AMQP_VALUE, string_map(id=str8("X")))),
    "an opcode that is a number": lambda foreign: (
        written(described(0x73, list8(NULL, NULL, str8(ALL))))
        + written(described(0x74, map8(str8("opcode"), smallint(1))))
        + written(described(AMQP_VALUE, advertisement("X", 1, 1, 1)))
    ),
    "no address": lambda foreign: (
        written(described(0x74, map8(str8("opcode"), str8("RA"))))
        + written(described(AMQP_VALUE, advertisement("X", 1, 1, 1)))
    ),
    "a body that is a list": lambda foreign: control_message("RA", ALL, LIST0, trace=[foreign.mark]),
    "a body of null": lambda foreign: control_message("RA", ALL, NULL, trace=[foreign.mark]),
    "a trace that is a string": lambda foreign: control_message(
        "LSR", OURS, link_state_request(foreign.id), trace=["0/X"]
    ).replace(b"\xc0\x06\x01\xa1\x03", b"\xa0\x06\x01\xa1\x03"),
    "HELLO without an id": lambda foreign: control(foreign, "HELLO", NEIGHBOURS, pv=smallint(1), seen=LIST0),
    "HELLO with an id of two parts": lambda foreign: control(
        foreign, "HELLO", NEIGHBOURS, **router_id(foreign, id=str8("X/Y"), seen=texts(["A"]))
    ),
    "HELLO without what was seen": lambda foreign: control(
        foreign, "HELLO", NEIGHBOURS, **router_id(foreign, instance=number(1))
    ),
    "HELLO with an array of what was seen": lambda foreign: control(
        foreign, "HELLO", NEIGHBOURS, **router_id(foreign, seen=array8(0xA1, "A"))
    ),
    "HELLO of version 2": lambda foreign: control(
        foreign, "HELLO", NEIGHBOURS, **router_id(foreign, pv=smallint(2), instance=number(9), seen=texts(["A"]))
    ),
    "RA of version 2": lambda foreign: control(
        foreign, "RA", ALL, **router_id(foreign, pv=smallint(2), ls_seq=number(9), mobile_seq=number(9))
    ),
    "RA without a sequence": lambda foreign: control(foreign, "RA", ALL, **router_id(foreign, mobile_seq=number(9))),
    "RA with true for a sequence": lambda foreign: control(
        foreign, "RA", ALL, **router_id(foreign, ls_seq=TRUE, mobile_seq=number(9))
    ),
    "RA with a sequence in words": lambda foreign: control(
        foreign, "RA", ALL, **router_id(foreign, ls_seq=str8("9"), mobile_seq=number(9))
    ),
    "LSU without links": lambda foreign: control(foreign, "LSU", OURS, **router_id(foreign, ls_seq=number(9))),
    "LSU with links that are a list": lambda foreign: control(
        foreign, "LSU", OURS, **router_id(foreign, ls_seq=number(9), ls=LIST0)
    ),
    "LSU without neighbours": lambda foreign: control(
        foreign, "LSU", OURS, **router_id(foreign, ls_seq=number(9), ls=string_map(id=str8("X"), ls_seq=number(9)))
    ),
    "LSU of another router": lambda foreign: control(
        foreign,
        "LSU",
        OURS,
        **router_id(
            foreign, ls_seq=number(9), ls=string_map(id=str8("X"), ls_seq=number(9), peers=costs({"A": 1, "Y": 1}))
        ),
    ),
    "LSU with a cost of 0": lambda foreign: control_message(
        "LSU", OURS, link_state_update(foreign.id, foreign.instance, 9, {"A": 0}), trace=[foreign.mark]
    ),
    "LSU with a cost below 0": lambda foreign: control_message(
        "LSU", OURS, link_state_update(foreign.id, foreign.instance, 9, {"A": -1}), trace=[foreign.mark]
    ),
    "MAU with add and exist": lambda foreign: mau(foreign, mobile_seq=NEXT, add=ONE_KEY, exist=ONE_KEY),
    "MAU with add, del and exist": lambda foreign: mau(
        foreign, mobile_seq=NEXT, **{"add": ONE_KEY, "del": LIST0, "exist": ONE_KEY}
    ),
    "MAU with add alone": lambda foreign: mau(foreign, mobile_seq=NEXT, add=ONE_KEY),
    "MAU with del alone": lambda foreign: mau(foreign, mobile_seq=NEXT, **{"del": ONE_KEY}),
    "MAU with nothing": lambda foreign: mau(foreign, mobile_seq=NEXT),
    "MAU without a sequence": lambda foreign: mau(foreign, exist=ONE_KEY),
    "MAU with an array": lambda foreign: mau(foreign, mobile_seq=NEXT, exist=array8(0xA1, "M0more")),
    "MAU with numbers for addresses": lambda foreign: mau(foreign, mobile_seq=NEXT, exist=list8(smallint(1))),
    "MAU of version 2": lambda foreign: mau(foreign, pv=smalllong(2), mobile_seq=NEXT, exist=ONE_KEY),
    "MAR without a sequence": lambda foreign: control_message(
        "MAR", OURS_MA, map8(sym8("id"), str8(foreign.id)), trace=[foreign.mark]
    ),
}


@pytest.mark.parametrize("name", IGNORED)
def test_a_control_message_that_is_wrong_is_ignored_with_one_line(
    router: RunningRouter, join: Join, client: ProtonClient, address: str, name: str
) -> None:
    foreign = join()
    foreign.announce(f"M0{address}")
    producer = client.producer(address)
    producer.wait_for_credit()
    before, logged = known(router, foreign), len(router.log())
    for _ in range(2):
        foreign.send(foreign.control_pair, IGNORED[name](foreign), settled=True)
    foreign.ask_links()
    eventually(lambda: whole_lines(router.log()[logged:]), "there is a line")
    producer.send("one", settled=True)
    assert section_map(foreign.arrival().octets)[AMQP_VALUE] == str8("one")
    assert len(whole_lines(router.log()[logged:])) == 1
    assert known(router, foreign) == before


SILENT: dict[str, Wrong] = {
    "links of a lower sequence": lambda foreign: control_message(
        "LSU", OURS, link_state_update(foreign.id, foreign.instance, 0, {"A": 1, "X": 1}), trace=[foreign.mark]
    ),
    "links of the same sequence": lambda foreign: control_message(
        "LSU", OURS, link_state_update(foreign.id, foreign.instance, 1, {"A": 1, "X": 1}), trace=[foreign.mark]
    ),
    "changes of a lower sequence": lambda foreign: control_message(
        "MAU", ALL_MA, mobile_changes(foreign.id, 0, ["M0more"]), trace=[foreign.mark]
    ),
    "changes of the same sequence": lambda foreign: control_message(
        "MAU", ALL_MA, mobile_changes(foreign.id, 1, [], ["M0more"]), trace=[foreign.mark]
    ),
    "changes of a router that is not known": lambda foreign: control_message(
        "MAU", ALL_MA, mobile_changes("X", 1, ["M0more"]), trace=["0/X", foreign.mark]
    ),
    "a question of a router that is not known": lambda foreign: control_message(
        "MAR", OURS_MA, mobile_request("X", 0), trace=["0/X", foreign.mark]
    ),
    "our own links": lambda foreign: control_message(
        "LSU", OURS, link_state_update("A", 1, 9, {"X": 1}), trace=[foreign.mark]
    ),
    "our own addresses": lambda foreign: control_message(
        "MAU", ALL_MA, mobile_changes("A", 99, ["M0more"]), trace=[foreign.mark]
    ),
    "a message that was here before": lambda foreign: control_message(
        "RA", ALL, advertisement("X", 1, 1, 1), trace=["0/X", "0/A", foreign.mark]
    ),
    "an opcode that is not known": lambda foreign: control_message(
        "WHAT", ALL, string_map(id=str8("X")), trace=[foreign.mark]
    ),
    "HELLO to all": lambda foreign: control_message("HELLO", ALL, hello("X", 1, ["A"]), trace=[foreign.mark]),
    "RA to neighbours": lambda foreign: control_message(
        "RA", NEIGHBOURS, advertisement("X", 1, 1, 1), trace=[foreign.mark]
    ),
    "a message to nowhere": lambda foreign: control_message(
        "RA", "amqp:/_topo/0/Z/qdrouter", advertisement("X", 1, 1, 1), trace=[foreign.mark]
    ),
    "a message to a client's address": lambda foreign: control_message(
        "RA", "somewhere", advertisement("X", 1, 1, 1), trace=[foreign.mark]
    ),
}


@pytest.mark.parametrize("name", SILENT)
def test_what_is_out_of_place_changes_nothing(
    router: RunningRouter, join: Join, client: ProtonClient, address: str, name: str
) -> None:
    foreign = join()
    foreign.announce(f"M0{address}")
    producer = client.producer(address)
    producer.wait_for_credit()
    before = known(router, foreign)
    for _ in range(2):
        foreign.send(foreign.control_pair, SILENT[name](foreign), settled=True)
    foreign.ask_links()
    producer.send("one", settled=True)
    assert section_map(foreign.arrival().octets)[AMQP_VALUE] == str8("one")
    assert known(router, foreign) == before
    assert client.producer(None).send("two", address="more").outcome() == "released"


def test_a_neighbour_with_our_id_is_ignored_with_one_line(router: RunningRouter) -> None:
    logged = len(router.log())
    with ForeignRouter.to(router.port_of("routers"), "A") as foreign:
        foreign.open()
        foreign.attach_control()
        for _ in range(3):
            foreign.greet("A")
        foreign.send_control("RA", ALL, advertisement("A", foreign.instance, 9, 9))
        foreign.control("HELLO")
        eventually(lambda: whole_lines(router.log()[logged:]), "there is a line")
        foreign.control("HELLO")
        assert len(whole_lines(router.log()[logged:])) == 1


def test_addresses_of_no_class_are_left_out_with_one_line(
    router: RunningRouter, join: Join, client: ProtonClient, address: str
) -> None:
    foreign = join()
    logged = len(router.log())
    foreign.announce("Lqdhello", "Tqdrouter", "RA", "Mx", "", "A1", f"M0{address}")
    client.producer(address).send("one", settled=True)
    assert section_map(foreign.arrival().octets)[AMQP_VALUE] == str8("one")
    eventually(lambda: whole_lines(router.log()[logged:]), "there is a line")
    assert len(whole_lines(router.log()[logged:])) == 1
    foreign.ask_links()


COSTS = {
    "an int": (smallint(5), 5),
    "lower than ours": (smallint(-5), 1),
    "a boolean": (TRUE, 1),
    "a text": (str8("7"), 1),
    "a list": (LIST0, 1),
    "beyond an int": (long64(1 << 40), 0x7FFFFFFF),
}


@pytest.mark.parametrize("kind", COSTS)
def test_a_cost_that_is_none_is_not_honoured_and_one_that_is_too_high_only_so_far(join: Join, kind: str) -> None:
    # 1.3: it is an int.
    told, expected = COSTS[kind]
    foreign = join(properties=open_properties(**{"qd.inter-router-cost": told}))
    assert foreign.cost() == expected


# --- links


def refusal(foreign: ForeignRouter, channel: int) -> tuple[bool, str]:
    """Return whether a link is closed with the answer to its attach, and the condition."""
    answer = foreign.wait_for(ATTACH, channel=channel)
    detach = foreign.wait_for(DETACH, channel=channel)
    assert detach["handle"] == answer["handle"]
    return detach["closed"], detach["error"][1][0]


@pytest.mark.parametrize("role", [RECEIVER, SENDER], ids=["receiver", "sender"])
def test_links_of_clients_are_refused_before_there_are_control_links(router: RunningRouter, role: Typed) -> None:
    # 1.5
    with ForeignRouter.to(router.port_of("routers"), "early") as foreign:
        foreign.open()
        foreign.say(begin_frame(0), attach_frame(0, "plain", 0, role, address="somewhere"))
        assert refusal(foreign, 0) == (True, "qd:connection-role")


@pytest.mark.parametrize("role", [RECEIVER, SENDER], ids=["receiver", "sender"])
def test_links_of_clients_that_no_route_is_for_are_refused_later(join: Join, role: Typed) -> None:
    # 1.5, 5.6
    foreign = join()
    foreign.say(begin_frame(11), attach_frame(11, "plain", 0, role, address="somewhere"))
    assert refusal(foreign, 11) == (True, "qd:no-route-to-dest")
    foreign.ask_links()


@pytest.mark.parametrize("capability", [CONTROL, DATA])
@pytest.mark.parametrize("role", [RECEIVER, SENDER], ids=["receiver", "sender"])
def test_links_of_routers_are_refused_where_clients_connect(
    router: RunningRouter, role: Typed, capability: str
) -> None:
    # 1.5
    with ForeignRouter.to(router.port_of("clients"), "astray") as foreign:
        foreign.open()
        foreign.say(begin_frame(0), attach_frame(0, "qdlink.000000000000000", 0, role, sym8(capability)))
        assert refusal(foreign, 0) == (True, "qd:forbidden")


def test_a_connection_with_no_control_links_is_of_no_use_and_does_no_harm(router: RunningRouter) -> None:
    with ForeignRouter.to(router.port_of("routers"), "mute") as foreign:
        foreign.open()
        foreign.attach_data(0)
        assert known(router) == []


def test_control_messages_without_credit_wait_and_the_latest_follow(router: RunningRouter, join: Join) -> None:
    class Stingy(ForeignRouter):
        def attach_control(self, *capabilities: Typed) -> None:
            self.say(begin_frame(0))
            self._attach(self.control_pair, 0, (sym8(CONTROL),))
            self.control_handle = self.wait_for(ATTACH, channel=0, role=False)["handle"]
            self.receiving[0, self.control_handle] = 0

    with Stingy.to(router.port_of("routers"), "stingy") as foreign:
        foreign.open()
        foreign.attach_control()
        foreign.greet("A")
        foreign.wait_for(ATTACH, channel=0, role=True)
        foreign.say(flow_frame(0, 0, sent=1))
        assert foreign.control("HELLO").value["id"] == "A"
        assert foreign.control("LSR").to == "amqp:/_topo/0/stingy/qdrouter"


BROKEN = {
    "a frame shorter than its header": bytes.fromhex("00000004 02000000"),
    "a performative that is none": frame(0, described(0x7F, LIST0)),
    "octets": b"\x00" * 64,
}


def test_a_neighbour_whose_session_of_control_is_ended_is_lost_at_once(
    join: Join, client: ProtonClient, address: str
) -> None:
    # 1.9; the connection and its other sessions stay.
    foreign = join()
    foreign.announce(f"M0{address}")
    producer = client.producer(address)
    producer.wait_for_credit()
    foreign.say(frame(0, performative(TRANSFER, uint(99), uint(0), NULL)))
    assert foreign.wait_for(END, channel=0)["error"][1][0] == "amqp:session:unattached-handle"
    foreign.say(frame(0, performative(END)))
    producer.wait_for_no_credit()


@pytest.mark.parametrize("name", BROKEN)
def test_a_neighbour_that_breaks_the_framing_is_lost_and_others_stay(
    router: RunningRouter, join: Join, client: ProtonClient, address: str, name: str
) -> None:
    good, bad = join(), join()
    good.announce(f"M0{address}.good")
    bad.announce(f"M0{address}.bad")
    lost, kept = client.producer(f"{address}.bad"), client.producer(f"{address}.good")
    lost.wait_for_credit()
    kept.wait_for_credit()
    bad.say(BROKEN[name])
    lost.wait_for_no_credit()
    kept.send("one", settled=True)
    assert section_map(good.arrival().octets)[AMQP_VALUE] == str8("one")
    assert good.cost() == 1
