"""Control messages: what they look like on the wire, and what of it peers may do otherwise."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.mesh import (
    ControlMessage,
    Hello,
    LinkStateRequest,
    LinkStateUpdate,
    MalformedControl,
    MobileAddressRequest,
    MobileAddressUpdate,
    RouterAdvertisement,
    UnsupportedVersion,
)
from routerd.wire import Array, Int, PairMap, Symbol, UInt, ULong, decode, encode

BEYOND_INT = 5_000_000_000
KINDS = (
    Hello,
    RouterAdvertisement,
    LinkStateRequest,
    LinkStateUpdate,
    MobileAddressRequest,
    MobileAddressUpdate,
)


def with_symbols(**fields):
    return {Symbol(name.rstrip("_")): value for name, value in fields.items()}


MESSAGES = [
    (
        Hello("A", 1795176291, ("B", "C")),
        {"id": "A", "pv": Int(1), "area": "0", "instance": Int(1795176291), "seen": ["B", "C"]},
    ),
    (
        RouterAdvertisement("A", 7, 1, 2),
        {"id": "A", "pv": Int(1), "area": "0", "instance": Int(7), "ls_seq": Int(1), "mobile_seq": Int(2)},
    ),
    (
        RouterAdvertisement("A", BEYOND_INT, 1, 2),
        {"id": "A", "pv": Int(1), "area": "0", "instance": BEYOND_INT, "ls_seq": Int(1), "mobile_seq": Int(2)},
    ),
    (LinkStateRequest("A"), {"id": "A", "pv": Int(1), "area": "0"}),
    (
        LinkStateUpdate("A", 7, 3, {"B": 1, "C": 20}),
        {
            "id": "A",
            "pv": Int(1),
            "area": "0",
            "instance": Int(7),
            "ls_seq": Int(3),
            "ls": {"id": "A", "area": "0", "ls_seq": Int(3), "peers": {"B": Int(1), "C": Int(20)}},
        },
    ),
    (MobileAddressRequest("A", 4), with_symbols(id="A", pv=1, area="0", have_seq=4)),
    (
        MobileAddressUpdate("A", 5, ("M0a", "Clr"), ("M0b",), hints=(3, 4)),
        with_symbols(id="A", pv=1, area="0", mobile_seq=5, hints=[Int(3), Int(4)], add=["M0a", "Clr"], del_=["M0b"]),
    ),
    (
        MobileAddressUpdate("A", 5, exist=("HE",), hints=(3,)),
        with_symbols(id="A", pv=1, area="0", mobile_seq=5, exist=["HE"], hints=[Int(3)]),
    ),
    (
        MobileAddressUpdate("A", 5, exist=(), hints=()),
        with_symbols(id="A", pv=1, area="0", mobile_seq=5, exist=[], hints=[]),
    ),
]


@pytest.mark.parametrize(("message", "body"), MESSAGES)
def test_a_body_has_the_types_and_the_order_of_existing_routers(message, body):
    assert encode(message.to_body()) == encode(body)
    assert type(message).from_body(decode(encode(body))) == message


def other_strings(value, make):
    """Return a value with all of its texts made anew."""
    match value:
        case str():
            return make(value)
        case dict():
            return {other_strings(key, make): other_strings(item, make) for key, item in value.items()}
        case list():
            return [other_strings(each, make) for each in value]
    return value


@pytest.mark.parametrize(("message", "body"), MESSAGES)
@pytest.mark.parametrize("make", [str, Symbol])
def test_texts_may_be_strings_or_symbols(message, body, make):
    read = type(message).from_body(decode(encode(other_strings(body, make))))
    assert read == message
    assert type(read.id) is str


@pytest.mark.parametrize("number", [int, UInt, ULong, Int])
def test_numbers_may_be_of_any_integer_type(number):
    body = {"id": "A", "pv": number(1), "instance": number(7), "ls_seq": number(1), "mobile_seq": number(2)}
    read = RouterAdvertisement.from_body(decode(encode(body)))
    assert read == RouterAdvertisement("A", 7, 1, 2)
    assert {type(value) for value in (read.instance, read.ls_seq, read.mobile_seq)} == {int}


def test_a_map_with_keys_that_only_amqp_tells_apart_is_read():
    body = PairMap([("id", "A"), (UInt(1), 0), (True, 0), (Symbol("seen"), ["B"])])
    assert Hello.from_body(body) == Hello("A", 0, ("B",))


def test_order_version_area_and_unknown_fields_are_of_no_account():
    assert Hello.from_body({"seen": [], "other": [None], "area": "9", "id": "A"}) == Hello("A")


def test_the_opcode_of_messages_about_addresses_is_a_symbol_key():
    keys = {
        opcode: ControlMessage("to", opcode, {}).opcode_key for opcode in ("HELLO", "RA", "LSR", "LSU", "MAU", "MAR")
    }
    assert {opcode for opcode, key in keys.items() if isinstance(key, Symbol)} == {"MAU", "MAR"}
    assert set(keys.values()) == {"opcode"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_later_version_of_the_protocol_is_told_apart_from_what_is_malformed(kind):
    with pytest.raises(UnsupportedVersion) as caught:
        kind.from_body({"id": "A", "pv": 2})
    assert str(caught.value) == "router A speaks version 2 of the protocol, and only 1 is known"
    assert (caught.value.router, caught.value.version) == ("A", 2)


HEAD = {"id": "A", "pv": 1}
STATE = {"id": "A", "ls_seq": 1, "peers": {"B": 1}}
UPDATE = {**HEAD, "ls_seq": 1, "ls": STATE}


@pytest.mark.parametrize(
    ("kind", "body", "reason"),
    [
        (Hello, ["id", "A"], "the body is not a map"),
        (Hello, {"seen": []}, "id is not text"),
        (Hello, {"id": 7, "seen": []}, "id is not text"),
        (Hello, {"id": "", "seen": []}, "id is not the id of a router"),
        (Hello, {"id": "A/B", "seen": []}, "id is not the id of a router"),
        (Hello, {"id": "A" * 1025, "seen": []}, "id is not the id of a router"),
        (Hello, {"id": "A", "pv": "1", "seen": []}, "pv is not an integer"),
        (Hello, {"id": "A", "pv": True, "seen": []}, "pv is not an integer"),
        (Hello, {"id": "A", "pv": -1, "seen": []}, "pv is -1, not from 0 to 9223372036854775807"),
        (Hello, HEAD, "seen is not a list"),
        (Hello, {**HEAD, "seen": Array("string", ["B"])}, "seen is not a list"),
        (Hello, {**HEAD, "seen": "A"}, "seen is not a list"),
        (Hello, {**HEAD, "seen": [1]}, "seen is not text"),
        (Hello, {**HEAD, "instance": True, "seen": []}, "instance is not an integer"),
        (RouterAdvertisement, {**HEAD, "ls_seq": "1", "mobile_seq": 1}, "ls_seq is not an integer"),
        (RouterAdvertisement, {**HEAD, "ls_seq": -1, "mobile_seq": 1}, f"ls_seq is -1, not from 0 to {2**63 - 1}"),
        (RouterAdvertisement, {**HEAD, "ls_seq": 1}, "mobile_seq is not an integer"),
        (RouterAdvertisement, {**HEAD, "mobile_seq": 1}, "ls_seq is not an integer"),
        (
            RouterAdvertisement,
            {**HEAD, "ls_seq": 2**63, "mobile_seq": 1},
            f"ls_seq is {2**63}, not from 0 to {2**63 - 1}",
        ),
        (LinkStateUpdate, {**HEAD, "ls": STATE}, "ls_seq is not an integer"),
        (LinkStateUpdate, {**HEAD, "ls_seq": 1}, "the field ls is not a map"),
        (LinkStateUpdate, {**UPDATE, "ls": {**STATE, "id": None}}, "id is not text"),
        (LinkStateUpdate, {**UPDATE, "ls": {**STATE, "peers": None}}, "the field peers is not a map"),
        (LinkStateUpdate, {**UPDATE, "ls": {**STATE, "peers": {"B": 0}}}, "peers is 0, not from 1 to 2147483647"),
        (LinkStateUpdate, {**UPDATE, "ls": []}, "the field ls is not a map"),
        (LinkStateUpdate, {**UPDATE, "ls": {**STATE, "peers": {"B": "1"}}}, "peers is not an integer"),
        (LinkStateUpdate, {**UPDATE, "ls": {**STATE, "peers": {"B": -1}}}, "peers is -1, not from 1 to 2147483647"),
        (LinkStateUpdate, {**UPDATE, "ls": {**STATE, "peers": {"B/C": 1}}}, "peers is not the id of a router"),
        (MobileAddressRequest, HEAD, "have_seq is not an integer"),
        (MobileAddressUpdate, {**HEAD, "add": [], "del": []}, "mobile_seq is not an integer"),
        (MobileAddressUpdate, {**HEAD, "mobile_seq": 1, "add": []}, "del is not a list"),
        (MobileAddressUpdate, {**HEAD, "mobile_seq": 1, "del": []}, "add is not a list"),
        (MobileAddressUpdate, {**HEAD, "mobile_seq": 1, "exist": [], "add": []}, "exist stands beside add or del"),
        (MobileAddressUpdate, {**HEAD, "mobile_seq": 1, "exist": [], "del": []}, "exist stands beside add or del"),
        (MobileAddressUpdate, {**HEAD, "mobile_seq": 1, "exist": "M0a"}, "exist is not a list"),
        (MobileAddressUpdate, {**HEAD, "mobile_seq": 1, "exist": [1]}, "exist is not text"),
        (MobileAddressUpdate, {**HEAD, "mobile_seq": 1, "exist": [], "hints": ["3"]}, "hints is not an integer"),
    ],
)
def test_what_is_malformed_is_told_by_its_reason(kind, body, reason):
    with pytest.raises(MalformedControl) as caught:
        kind.from_body(body)
    assert caught.value.reason == str(caught.value) == reason


@pytest.mark.parametrize("hints", [None, [], [Int(3)], [Int(1), Int(2), Int(3)]])
def test_hints_that_do_not_fit_the_addresses_are_left_out(hints):
    body = {**HEAD, "mobile_seq": 1, "add": ["M0a", "M0b"], "del": [], "hints": hints}
    assert MobileAddressUpdate.from_body(body) == MobileAddressUpdate("A", 1, ("M0a", "M0b"), ())


def test_a_link_state_of_another_router_than_the_sender_says_so():
    body = {**UPDATE, "ls": {**STATE, "id": "X", "ls_seq": 9}}
    update = LinkStateUpdate("A", 0, 9, {"B": 1}, "X")
    assert LinkStateUpdate.from_body(body) == update
    assert update.to_body()["ls"]["id"] == "X"


VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.text(max_size=4), st.binary(max_size=4), st.just(Array("int", []))
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(("id", "pv", "instance", "seen", "ls_seq", "ls", "mobile_seq", "add", "del", "exist", "hints"))


@given(kind=st.sampled_from(KINDS), body=VALUES | st.dictionaries(FIELDS, VALUES))
def test_any_body_is_read_or_malformed(kind, body):
    with suppress(MalformedControl):
        assert isinstance(kind.from_body(body).id, str)
