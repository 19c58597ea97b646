"""What a router of ours lets other routers do differently (inter-router protocol 1.3 to 1.5, 3.1, 3.6, 3.9, 8)."""

from collections.abc import Callable

import pytest

from tests.interop.foreign_frames import ACCEPTED, CONTROL, DATA, begin_frame, detach_frame, open_properties
from tests.interop.foreign_mesh import Join
from tests.interop.foreign_messages import (
    AMQP_VALUE,
    APPLICATION_PROPERTIES,
    PROPERTIES,
    message,
    mobile_all,
    mobile_changes,
    routers_annotations,
    texts,
)
from tests.interop.foreign_octets import (
    FALSE,
    NULL,
    Typed,
    array8,
    described,
    int32,
    list8,
    map8,
    plain,
    section_map,
    smallint,
    str8,
    sym8,
    uint,
    written,
)
from tests.interop.foreign_router import ForeignRouter
from tests.system.proton_client import ProtonClient


def check_both_ways(foreign: ForeignRouter, client: ProtonClient, address: str) -> None:
    """Check that control messages and messages pass in both directions."""
    consumer = client.consumer(f"{address}.here")
    foreign.wait_until_told(f"M0{address}.here")
    foreign.announce(f"M0{address}.there")
    sent = client.producer(f"{address}.there").send("to there")
    arrival = foreign.arrival()
    foreign.settle(arrival)
    assert (section_map(arrival.octets)[AMQP_VALUE], sent.outcome()) == (str8("to there"), "accepted")
    pair = foreign.pairs[-1]
    annotations = routers_annotations(to=f"{address}.here", ingress=foreign.mark, trace=[foreign.mark])
    number = foreign.send(pair, message(str8("to here"), annotations=annotations))
    assert (consumer.take().body, foreign.outcome(pair, number)) == ("to here", ACCEPTED)


# --- connections and links

OPENS: dict[str, dict[str, Typed]] = {
    "no properties": {"properties": NULL},
    "empty properties": {"properties": map8()},
    "keys that are strings": {"properties": map8(str8("product"), str8("another"))},
    "other properties": {"properties": open_properties(unknown=list8(NULL), another=map8(uint(1), NULL))},
    "no capabilities": {"capabilities": NULL},
    "one capability": {"capabilities": sym8("ANONYMOUS-RELAY")},
    "other capabilities": {"capabilities": array8(0xA3, "qd.unheard-of")},
    "small frames": {"frame_size": uint(512)},
    "any frame size": {"frame_size": NULL},
}


@pytest.mark.parametrize("kind", OPENS)
def test_an_open_may_say_less_and_more(join: Join, client: ProtonClient, address: str, kind: str) -> None:
    check_both_ways(join(**OPENS[kind]), client, address)


def test_a_neighbour_may_do_without_the_security_layer(join: Join, client: ProtonClient, address: str) -> None:
    check_both_ways(join(security=False), client, address)


@pytest.mark.parametrize("pairs", [1, 2, 10, 12])
def test_a_neighbour_may_have_fewer_or_more_data_links(
    join: Join, client: ProtonClient, address: str, pairs: int
) -> None:
    check_both_ways(join(pairs=pairs), client, address)


class OneSession(ForeignRouter):
    """A router that has all its links on one session, and nothing but that."""

    def attach_data(self, channel: int, *capabilities: Typed, **_: object) -> object:
        """Attach a pair of data links beside those that there are."""
        return super().attach_data(0, *capabilities, begins=False, first_handle=2 * channel)


def test_all_links_may_be_on_one_session(join: Join, client: ProtonClient, address: str) -> None:
    check_both_ways(join(OneSession), client, address)


class Arrays(ForeignRouter):
    """A router that has its capability in an array of one."""

    def attach_control(self, *_: Typed) -> None:
        """Attach the control links."""
        super().attach_control(array8(0xA3, CONTROL))

    def attach_data(self, channel: int, *_: Typed, **options: object) -> object:
        """Attach a pair of data links."""
        return super().attach_data(channel, array8(0xA3, DATA), **options)


def test_the_capability_may_be_an_array_of_one(join: Join, client: ProtonClient, address: str) -> None:
    # 1.19 takes such a link for an ordinary one (1.5). Both are the same to AMQP, and so they are here.
    check_both_ways(join(Arrays), client, address)


class AmongOthers(ForeignRouter):
    """A router with more capabilities."""

    def attach_control(self, *_: Typed) -> None:
        """Attach the control links."""
        super().attach_control(array8(0xA3, "qd.another", CONTROL))


def test_the_capability_may_be_one_of_several(join: Join, client: ProtonClient, address: str) -> None:
    check_both_ways(join(AmongOthers), client, address)


def test_a_connection_may_have_sessions_that_are_not_used(join: Join, client: ProtonClient, address: str) -> None:
    foreign = join()
    foreign.say(*(begin_frame(channel) for channel in range(30, 35)))
    check_both_ways(foreign, client, address)


# --- control messages

Respell = Callable[[str, dict[int, Typed]], None]


def each(typed: Typed, change: Callable[[Typed], Typed]) -> Typed:
    """Return a value with every value in it changed, from the inside."""
    code, value = typed
    if code in (0xC0, 0xC1, 0xD0, 0xD1):
        typed = Typed(code, tuple(each(one, change) for one in value))
    return change(typed)


def numbers_as(code: int) -> Respell:
    """Return a spelling with all numbers of one type."""
    numbers = (0x54, 0x55, 0x71, 0x81)

    def respell(_: str, sections: dict[int, Typed]) -> None:
        body = sections[AMQP_VALUE]
        sections[AMQP_VALUE] = each(body, lambda one: Typed(code, one.value) if one.code in numbers else one)

    return respell


def texts_as(code: int) -> Respell:
    """Return a spelling with all keys and texts of one type."""

    def respell(_: str, sections: dict[int, Typed]) -> None:
        for section in (AMQP_VALUE, APPLICATION_PROPERTIES):
            sections[section] = each(
                sections[section], lambda one: Typed(code, one.value) if one.code in (0xA1, 0xA3) else one
            )

    return respell


def widened(_: str, sections: dict[int, Typed]) -> None:
    """Write everything with four octets of size, small or not."""
    wide = {0xA1: 0xB1, 0xA3: 0xB3, 0xC0: 0xD0, 0xC1: 0xD1}
    empty = Typed(0xD0, ())
    for code in sections:
        sections[code] = each(
            sections[code],
            lambda one: empty if one.code == 0x45 else Typed(wide.get(one.code, one.code), one.value),
        )


def with_more(_: str, sections: dict[int, Typed]) -> None:
    """Have fields that nobody knows, before and behind the others."""
    body = sections[AMQP_VALUE].value
    more = (str8("unknown"), list8(map8(uint(1), NULL))), (sym8("x"), described(0x99, NULL))
    sections[AMQP_VALUE] = Typed(0xD1, (*more[0], *body, *more[1]))
    application = sections[APPLICATION_PROPERTIES].value
    sections[APPLICATION_PROPERTIES] = map8(str8("before"), smallint(1), *application, str8("behind"), FALSE)


def reversed_fields(_: str, sections: dict[int, Typed]) -> None:
    """Have the fields the other way round."""
    fields = sections[AMQP_VALUE].value
    pairs = list(zip(fields[::2], fields[1::2], strict=True))
    sections[AMQP_VALUE] = Typed(0xD1, tuple(part for pair in reversed(pairs) for part in pair))


def without(*names: str) -> Respell:
    """Return a spelling that lacks fields."""

    def respell(_: str, sections: dict[int, Typed]) -> None:
        fields = sections[AMQP_VALUE].value
        pairs = zip(fields[::2], fields[1::2], strict=True)
        kept = tuple(part for pair in pairs if pair[0].value not in names for part in pair)
        sections[AMQP_VALUE] = Typed(0xD1, kept)

    return respell


def version_0(_: str, sections: dict[int, Typed]) -> None:
    """Say version 0."""
    fields = sections[AMQP_VALUE].value
    at = [one.value for one in fields[::2]].index("pv") * 2 + 1
    sections[AMQP_VALUE] = Typed(0xD1, (*fields[:at], smallint(0), *fields[at + 1 :]))


def other_scheme(_: str, sections: dict[int, Typed]) -> None:
    """Leave out the scheme of addresses that have one, and give it to the others."""
    to: str = plain(sections[PROPERTIES])[2]
    other = to.removeprefix("amqp:/") if to.startswith("amqp:/") else f"amqp:/{to}"
    sections[PROPERTIES] = list8(NULL, NULL, str8(other))


def with_host(_: str, sections: dict[int, Typed]) -> None:
    """Name a host in addresses."""
    to: str = plain(sections[PROPERTIES])[2]
    sections[PROPERTIES] = list8(NULL, NULL, str8(f"amqp://here/{to.removeprefix('amqp:/')}"))


def without_annotations(_: str, sections: dict[int, Typed]) -> None:
    """Say nothing of ingress and trace."""
    del sections[0x72]


def without_header(_: str, sections: dict[int, Typed]) -> None:
    """Have no header."""
    del sections[0x70]


def with_all_sections(_: str, sections: dict[int, Typed]) -> None:
    """Have delivery-annotations and a footer, too, and a full header."""
    sections[0x70] = list8(FALSE, Typed(0x50, 9), uint(1000), FALSE, uint(1))
    sections[0x71] = map8(sym8("x-delivery"), NULL)
    sections[0x78] = map8(sym8("x-footer"), NULL)


SPELLINGS: dict[str, Respell] = {
    **{f"numbers as {name}": numbers_as(code) for name, code in {"int": 0x71, "uint": 0x70, "ulong": 0x80}.items()},
    "numbers as long": numbers_as(0x81),
    "texts as strings": texts_as(0xA1),
    "texts as symbols": texts_as(0xA3),
    "wide": widened,
    "more fields": with_more,
    "fields in another order": reversed_fields,
    "no area": without("area"),
    "no version": without("pv"),
    "version 0": version_0,
    "no instance": without("instance"),
    "no hints": without("hints"),
    "the other form of addresses": other_scheme,
    "addresses with a host": with_host,
    "no annotations": without_annotations,
    "no header": without_header,
    "all sections": with_all_sections,
}


class Spelled(ForeignRouter):
    """A router that writes control messages in another way."""

    respell: Respell

    def spelled(self, opcode: str, octets: bytes) -> bytes:
        """Return a control message as this router writes it."""
        sections = section_map(octets)
        self.respell(opcode, sections)
        return b"".join(written(described(code, sections[code])) for code in sorted(sections))


@pytest.mark.parametrize("name", SPELLINGS)
def test_control_messages_may_be_written_in_many_ways(
    join: Join, client: ProtonClient, address: str, name: str
) -> None:
    kind = type("Kind", (Spelled,), {"respell": staticmethod(SPELLINGS[name])})
    foreign = join(kind)
    check_both_ways(foreign, client, address)
    foreign.ask_addresses()
    assert f"M0{address}.here" in foreign.control("MAU").value.get("exist", [])


def test_small_numbers_may_be_ubytes(join: Join, client: ProtonClient, address: str) -> None:
    def respell(_: str, sections: dict[int, Typed]) -> None:
        sections[AMQP_VALUE] = each(
            sections[AMQP_VALUE], lambda one: Typed(0x50, one.value) if one.code in (0x54, 0x55) else one
        )

    check_both_ways(join(type("Kind", (Spelled,), {"respell": staticmethod(respell)})), client, address)


@pytest.mark.parametrize("opcode", ["HELLO", "RA", "LSU", "MAU"])
def test_what_is_told_twice_does_no_harm(join: Join, client: ProtonClient, address: str, opcode: str) -> None:
    class Twice(ForeignRouter):
        def send_control(self, kind: str, *arguments: object, **options: object) -> None:
            for _ in range(2 if kind == opcode else 1):
                super().send_control(kind, *arguments, **options)  # type: ignore[arg-type]

    check_both_ways(join(Twice), client, address)


def test_hints_that_do_not_fit_are_ignored(join: Join, client: ProtonClient, address: str) -> None:
    # 3.2
    foreign = join()
    body = plain(mobile_changes(foreign.id, 1, [f"M0{address}"]))
    foreign.mobile_seq = 1
    hints = list8(smallint(3), smallint(3), smallint(99))
    fields = {"id": str8(foreign.id), "pv": int32(1), "mobile_seq": int32(1), "hints": hints}
    fields |= {"add": texts(body["add"]), "del": texts([])}
    octets = map8(*(part for key, value in fields.items() for part in (sym8(key), value)))
    foreign.send_control("MAU", "_topo/0/all/qdrouter.ma", octets)
    foreign.ask_links()
    client.producer(address).send("one", settled=True)
    assert section_map(foreign.arrival().octets)[AMQP_VALUE] == str8("one")


# --- what becomes of other routers


def test_another_instance_is_another_start(join: Join, client: ProtonClient, address: str) -> None:
    # 3.6: its addresses are forgotten, and its sequences begin anew.
    foreign = join()
    foreign.announce(f"M0{address}", f"M0{address}.2")
    producer = client.producer(address)
    producer.wait_for_credit()
    foreign.controls.clear()
    foreign.instance += 1
    foreign.mobile_seq = 0
    foreign.greet("A")
    foreign.control("LSR")
    producer.wait_for_no_credit()
    foreign.send_links({"A": 1})
    foreign.advertise()
    foreign.announce(f"M0{address}")
    producer.send("again", settled=True)
    assert section_map(foreign.arrival().octets)[AMQP_VALUE] == str8("again")
    # It may ask, if what was told comes late, but as one that knows nothing.
    assert all(one.value["have_seq"] == 0 for one in foreign.controls if one.opcode == "MAR")


def test_a_change_of_addresses_that_does_not_follow_makes_a_question(
    join: Join, client: ProtonClient, address: str
) -> None:
    # 3.9
    foreign = join()
    foreign.announce(f"M0{address}.1")
    foreign.controls.clear()
    foreign.mobile_seq = 4
    foreign.announce(f"M0{address}.5")
    asked = foreign.control("MAR")
    assert (asked.value["id"], asked.value["have_seq"]) == ("A", 1)
    body = mobile_all(foreign.id, 5, [f"M0{address}.5"])
    foreign.send_control("MAU", "amqp:/_topo/0/A/qdrouter.ma", body)
    client.producer(f"{address}.5").send("one", settled=True)
    assert section_map(foreign.arrival().octets)[AMQP_VALUE] == str8("one")
    assert client.producer(None).send("two", address=f"{address}.1").outcome() == "released"


def test_a_list_of_all_addresses_may_take_many_frames(join: Join, client: ProtonClient, address: str) -> None:
    foreign = join()
    keys = [f"M0{address}.{number}" for number in range(3000)]
    foreign.mobile_seq = 1
    body = mobile_all(foreign.id, 1, keys)
    assert len(written(body)) > 5 * 16384
    foreign.send_control("MAU", "amqp:/_topo/0/A/qdrouter.ma", body)
    foreign.ask_links()
    client.producer(f"{address}.2999").send("one", settled=True)
    assert section_map(foreign.arrival().octets)[AMQP_VALUE] == str8("one")


def test_a_list_of_all_addresses_is_told_in_the_frames_that_the_neighbour_takes(
    join: Join, client: ProtonClient, address: str
) -> None:
    for number in range(100):
        client.consumer(f"{address}.{number}")
    foreign = join(frame_size=uint(512))
    foreign.ask_addresses()
    keys = {f"M0{address}.{number}" for number in range(100)}
    untold = set(keys)
    while untold:
        told = foreign.told_of_addresses().value
        untold -= {*told.get("exist", ()), *told.get("add", ())}
    # The router knows all of them now, which it may not have when it was first asked.
    foreign.ask_addresses()
    listed = foreign.told_of_addresses()
    while not keys <= set(listed.value.get("exist", ())):
        listed = foreign.told_of_addresses()
    assert len(listed.octets) > 512


def test_a_neighbour_whose_control_link_is_detached_is_lost_at_once(
    join: Join, client: ProtonClient, address: str
) -> None:
    # 1.9: at once, and the connection stays.
    foreign = join()
    foreign.announce(f"M0{address}")
    producer = client.producer(address)
    producer.wait_for_credit()
    foreign.say(detach_frame(0, 0))
    producer.wait_for_no_credit()


def test_parts_of_frames_may_come_one_octet_at_a_time(join: Join, client: ProtonClient, address: str) -> None:
    class Slow(ForeignRouter):
        def say(self, *octets: bytes) -> None:
            for one in b"".join(octets):
                self.socket.sendall(bytes([one]))

    check_both_ways(join(Slow, pairs=1), client, address)
