"""Annotations that routers write for each other: read, remembered, and put in the place of others."""

import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.core.annotations.router_annotations import (
    REMEMBERED_MAX,
    REMEMBERED_SIZE_MAX,
    AnnotationReader,
    router_entries,
    section,
)
from routerd.wire import (
    AmqpValue,
    Array,
    Described,
    Header,
    Int,
    Message,
    NeedsMore,
    Section,
    Symbol,
    UByte,
    ULong,
    encode,
)
from routerd.wire.errors import DecodeError

PREFIX = "x-opt-qd."
USER = {Symbol("x-user"): 5}
DEFAULTS = {"error": None, "to": None, "phase": 0, "ingress": "", "hops": 0, "passed": frozenset()}
HEADERS = {
    "none": b"",
    "empty": bytes.fromhex("00537045"),
    "small": bytes.fromhex("005370c00201") + b"\x41",
    "large": bytes.fromhex("005370d0000000050000000141"),
    "with a long descriptor": bytes.fromhex("00800000000000000070") + b"\x45",
}


@pytest.fixture
def reader():
    return AnnotationReader("R")


def spliced(reader, data, start, end, annotations):
    """Return a message with another section of annotations."""
    size = reader.splice(data, start, end, reader.place, reader.stop, annotations)
    return bytes(reader.spliced[:size])


def keyed(**annotations):
    return {Symbol(PREFIX + name.replace("_", "-")): value for name, value in annotations.items()}


def map8(*parts):
    """A section of entries that are given as octets."""
    octets = b"".join(parts)
    return bytes((0, 0x53, 0x72, 0xC1, len(octets) + 1, len(parts))) + octets


def map32(*parts):
    octets = b"".join(parts)
    size = (len(octets) + 4).to_bytes(4, "big") + len(parts).to_bytes(4, "big")
    return bytes((0, 0x53, 0x72, 0xD1)) + size + octets


def sym8(text):
    return bytes((0xA3, len(text))) + text.encode()


def sym32(text):
    return b"\xb3" + len(text).to_bytes(4, "big") + text.encode()


def body(value="hello"):
    return Message(body=AmqpValue(value)).encode()


def of_section(octets):
    """A message whose annotations are these octets."""
    return octets + body()


def read(reader, octets, *, is_partial=False, before=b"", behind=b""):
    """What the annotations of a message say that lies somewhere in a larger buffer."""
    data = before + octets + behind
    return reader.read(data, len(before), len(before) + len(octets), is_partial)


def said(annotations):
    return {name: getattr(annotations, name) for name in DEFAULTS}


def decoded(annotations):
    """The entries of a section, in order."""
    return list(Message.decode(of_section(annotations)).message_annotations.items()) if annotations else []


class TestReading:
    def test_a_message_without_annotations_says_nothing(self, reader):
        for header in HEADERS.values():
            annotations = read(reader, header + body())
            assert annotations is reader.unmarked
            assert said(annotations) == DEFAULTS
            assert (reader.place, reader.stop) == (len(header), len(header))

    @pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
    @pytest.mark.parametrize("delivery_annotations", [False, True])
    def test_they_are_found_behind_whatever_may_stand_before_them(self, reader, header, delivery_annotations):
        if delivery_annotations:
            header += encode(Described(ULong(Section.DELIVERY_ANNOTATIONS.value), {Symbol("x-a"): 1}))
        entries = map8(sym8(f"{PREFIX}to"), encode("orders"))
        annotations = read(reader, header + of_section(entries), before=b"before", behind=b"behind")
        assert said(annotations) == DEFAULTS | {"to": "orders"}
        start = len(b"before") + len(header)
        assert (reader.place, reader.stop) == (start, start + len(entries))

    @pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
    def test_a_message_may_end_with_its_header(self, reader, header):
        assert read(reader, header) is reader.unmarked
        assert reader.place == reader.stop

    @pytest.mark.parametrize("symbol", [sym8, sym32])
    @pytest.mark.parametrize("mapping", [map8, map32])
    def test_all_that_a_router_writes_is_read_in_every_form(self, reader, mapping, symbol):
        entries = [
            (symbol(f"{PREFIX}phase"), encode(Int(3))),
            (symbol(f"{PREFIX}stream"), encode(Int(1))),
            (symbol(f"{PREFIX}to"), encode("orders")),
            (symbol(f"{PREFIX}ingress"), encode("0/A")),
            (symbol(f"{PREFIX}trace"), encode(["0/A", "0/B"])),
        ]
        expected = {"error": None, "to": "orders", "phase": 3, "ingress": "A", "hops": 2}
        for order in (entries, entries[::-1]):
            annotations = read(reader, of_section(mapping(*itertools.chain(*order))))
            assert said(annotations) == expected | {"passed": frozenset({"A", "B"})}

    @pytest.mark.parametrize("phase", [Int(0), UByte(9), 7, ULong(22)])
    def test_a_phase_may_be_any_kind_of_number(self, reader, phase):
        annotations = read(reader, Message(body=AmqpValue(1), message_annotations=keyed(phase=phase)).encode())
        assert (annotations.error, annotations.phase) == (None, int(phase))

    def test_steps_and_ingress_of_other_areas_name_nobody_here(self, reader):
        entries = keyed(ingress="1/A", trace=["1/A", "0/B", "C", ""])
        annotations = read(reader, Message(body=AmqpValue(1), message_annotations=entries).encode())
        assert (annotations.ingress, annotations.hops, annotations.passed) == ("1/A", 4, frozenset({"B"}))

    def test_keys_of_routers_that_nobody_knows_are_taken_out(self, reader):
        entries = keyed(to="orders") | {Symbol(PREFIX): [1], Symbol(f"{PREFIX}class"): {}, **USER}
        annotations = read(reader, Message(body=AmqpValue(1), message_annotations=entries).encode())
        assert said(annotations) == DEFAULTS | {"to": "orders"}
        assert decoded(annotations.stripped) == list(USER.items())

    def test_a_key_that_is_no_symbol_is_not_a_routers(self, reader):
        octets = of_section(map8(encode(f"{PREFIX}to"), encode("orders"), encode(ULong(5)), encode(True)))
        annotations = read(reader, octets)
        assert (annotations.to, annotations.user_count) == (None, 4)
        assert annotations.user == encode(f"{PREFIX}to") + encode("orders") + encode(ULong(5)) + encode(True)

    def test_a_key_that_only_begins_like_a_routers_is_not_one(self, reader):
        octets = of_section(map8(sym8("x-opt-q"), encode(1), sym8("x-opt-qdx"), encode(2)))
        assert (read(reader, octets).user_count, read(reader, octets).stripped) == (4, octets[: -len(body())])


class TestFaults:
    @pytest.mark.parametrize(
        ("entries", "description"),
        [
            ({"to": 5}, "annotation x-opt-qd.to is not a string"),
            ({"to": Symbol("orders")}, "annotation x-opt-qd.to is not a string"),
            ({"to": None}, "annotation x-opt-qd.to is not a string"),
            ({"ingress": b"A"}, "annotation x-opt-qd.ingress is not a string"),
            ({"trace": "0/A"}, "annotation x-opt-qd.trace is not a list of strings"),
            ({"trace": [Symbol("0/A")]}, "annotation x-opt-qd.trace is not a list of strings"),
            ({"trace": ["0/A", 1]}, "annotation x-opt-qd.trace is not a list of strings"),
            ({"trace": Array("string", ["0/A"])}, "annotation x-opt-qd.trace is not a list of strings"),
            ({"phase": "1"}, "annotation x-opt-qd.phase: '1' is not a phase (0 to 9, or 22)"),
            ({"phase": True}, "annotation x-opt-qd.phase: True is not a phase (0 to 9, or 22)"),
            ({"phase": 10}, "annotation x-opt-qd.phase: 10 is not a phase (0 to 9, or 22)"),
            ({"phase": -1}, "annotation x-opt-qd.phase: -1 is not a phase (0 to 9, or 22)"),
            ({"phase": 1 << 40}, "annotation x-opt-qd.phase: 1099511627776 is not a phase (0 to 9, or 22)"),
            ({"phase": -(1 << 40)}, "annotation x-opt-qd.phase: -1099511627776 is not a phase (0 to 9, or 22)"),
        ],
    )
    def test_what_is_of_another_type_than_it_should_be_is_an_invalid_field(self, reader, entries, description):
        octets = Message(body=AmqpValue(1), message_annotations=keyed(**entries) | USER).encode()
        annotations = read(reader, octets)
        assert (annotations.error.condition, annotations.error.description) == ("amqp:invalid-field", description)
        assert decoded(annotations.onward) == decoded(annotations.stripped) == list(USER.items())

    @pytest.mark.parametrize(
        "octets",
        [
            pytest.param(map8(sym8("x-a")), id="a key without a value"),
            pytest.param(map8(sym8("x-a"), encode(1), sym8("x-b")), id="an odd count"),
            pytest.param(bytes.fromhex("005372c104") + b"\x00" + encode(1) + b"\x40", id="more than its entries"),
            pytest.param(bytes.fromhex("005372c10305") + encode(1), id="fewer entries than it counts"),
            pytest.param(bytes.fromhex("005372c1025500"), id="a count beyond its octets"),
            pytest.param(bytes.fromhex("005372c00101"), id="a list"),
            pytest.param(bytes.fromhex("00537245"), id="an empty list"),
            pytest.param(bytes.fromhex("005372a10178"), id="a string"),
            pytest.param(map8(sym8(f"{PREFIX}to"), b"\xa1\x01\xff"), id="a string that is no UTF-8"),
            pytest.param(map8(b"\xa3\x01\xff", encode(1)), id="a symbol that is no ASCII"),
            pytest.param(map8(sym8(f"{PREFIX}trace"), b"\xc0\x02\x01\x99"), id="a list of no type"),
            pytest.param(map8(b"\x99", encode(1)), id="a key of no type"),
            pytest.param(map8(sym8("x-a"), b"\x99"), id="a value of no type"),
            pytest.param(map8(sym8("x-a"), b"\xa1\x20x"), id="a value that goes on behind the map"),
            pytest.param(map32(b"\xa3\x20x"), id="a key that goes on behind the map"),
            pytest.param(bytes.fromhex("005372c100"), id="a small map without a count"),
            pytest.param(bytes.fromhex("005372d1000000020000"), id="a map too small for its count"),
        ],
    )
    def test_what_is_no_map_of_entries_is_malformed(self, reader, octets):
        with pytest.raises(DecodeError) as caught:
            read(reader, octets + bytes(40))
        assert caught.value.condition == "amqp:decode-error"

    @pytest.mark.parametrize("size", range(4, 40))
    def test_what_is_cut_needs_more_and_cut_for_good_is_malformed(self, reader, size):
        octets = HEADERS["small"] + map8(sym8(f"{PREFIX}to"), encode("orders"), sym8(f"{PREFIX}phase"), encode(2))
        assert size < len(octets)
        with pytest.raises(NeedsMore):
            read(reader, octets[:size], is_partial=True, behind=b"?" * 40)
        if size not in (len(HEADERS["small"]),):
            with pytest.raises(DecodeError):
                read(reader, octets[:size], behind=b"?" * 40)

    def test_what_is_cut_behind_the_annotations_is_read(self, reader):
        octets = map8(sym8(f"{PREFIX}to"), encode("orders"))
        assert read(reader, octets + body()[:5], is_partial=True).to == "orders"
        assert read(reader, body()[:7], is_partial=True) is reader.unmarked


class TestWriting:
    def test_entries_have_the_order_that_routers_keep(self):
        octets, count = router_entries(to="orders", phase=2, is_streaming=True, ingress="0/A", trace=["0/A", "0/B"])
        expected = keyed(phase=2, stream=1, to="orders", ingress="0/A", trace=["0/A", "0/B"])
        assert (decoded(section(octets, count)), count) == (list(expected.items()), 10)
        assert octets.startswith(sym8(f"{PREFIX}phase") + b"\x54\x02" + sym8(f"{PREFIX}stream") + b"\x54\x01")

    def test_what_is_not_there_is_left_out(self):
        octets, count = router_entries(to=None, phase=0, is_streaming=False, ingress="0/A", trace=["0/A"])
        assert (decoded(section(octets, count)), count) == (list(keyed(ingress="0/A", trace=["0/A"]).items()), 4)

    def test_a_message_that_enters_has_us_as_ingress_and_only_step(self, reader):
        for to, phase in ((None, 0), ("orders", 0), ("orders", 3)):
            expected = {"phase": phase} if phase else {}
            expected |= {} if to is None else {"to": to}
            octets, count = reader.entry(to, phase)
            assert decoded(section(octets, count)) == list(keyed(**expected, ingress="0/R", trace=["0/R"]).items())

    @pytest.mark.parametrize(
        ("size", "count", "start"),
        [
            (0xFE, 0xFF, bytes((0, 0x53, 0x72, 0xC1, 0xFF, 0xFF))),
            (0xFF, 2, bytes.fromhex("005372d10000010300000002")),
            (0x20, 0x100, bytes.fromhex("005372d10000002400000100")),
        ],
    )
    def test_a_section_is_as_small_as_its_entries_allow(self, size, count, start):
        assert section(b"x" * size, count) == start + b"x" * size

    def test_no_entries_are_no_section(self):
        assert section(b"", 0) == b""

    def test_user_entries_come_first_and_stay_as_they_are_wherever_they_stood(self, reader):
        first, last = sym32("x-first") + b"\x71\x00\x00\x00\x01", sym8("x-last") + b"\xd1\x00\x00\x00\x04" + bytes(4)
        parts = [first[:12], first[12:], sym8(f"{PREFIX}trace"), encode(["0/A"]), last[:8], last[8:]]
        annotations = read(reader, of_section(map8(*parts)))
        assert (annotations.user, annotations.user_count) == (first + last, 4)
        assert annotations.stripped == section(first + last, 4)
        octets, count = router_entries(to=None, phase=0, is_streaming=False, ingress="0/R", trace=["0/A", "0/R"])
        assert annotations.onward == section(first + last + octets, 4 + count)

    def test_the_next_router_is_told_what_we_were_and_that_we_were_passed(self, reader):
        annotations = keyed(phase=2, stream=1, to="orders", ingress="0/A", trace=["0/A", "1/X"])
        annotations = read(reader, Message(body=AmqpValue(1), message_annotations=annotations).encode())
        expected = keyed(phase=2, stream=1, to="orders", ingress="0/A", trace=["0/A", "1/X", "0/R"])
        assert decoded(annotations.onward) == list(expected.items())
        assert annotations.stripped == b""

    def test_a_message_of_a_neighbour_that_marks_nothing_enters_here(self, reader):
        assert decoded(reader.unmarked.onward) == list(keyed(ingress="0/R", trace=["0/R"]).items())
        assert reader.unmarked.stripped == b""

    @pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
    @pytest.mark.parametrize("there", [b"", map8(sym8("x-a"), encode(1)), map32(sym8(f"{PREFIX}to"), encode("o"))])
    @pytest.mark.parametrize("instead", [b"", map8(sym8("x-b"), encode(22))])
    def test_a_section_takes_the_place_of_another(self, reader, header, there, instead):
        data = b"??" + header + there + body() + b"?"
        end = len(data) - 1
        reader.read(data, 2, end, False)
        assert spliced(reader, data, 2, end, instead) == header + instead + body()
        reader.read(bytearray(data), 2, end, False)
        assert spliced(reader, bytearray(data), 2, end, instead) == header + instead + body()


class TestMemory:
    def test_the_same_octets_are_read_once(self, reader):
        octets = of_section(map8(sym8(f"{PREFIX}to"), encode("orders")))
        annotations = read(reader, octets)
        assert read(reader, HEADERS["large"] + octets) is annotations
        assert read(reader, of_section(map8(sym8(f"{PREFIX}to"), encode("others")))) is not annotations

    @pytest.mark.parametrize(("size", "is_remembered"), [(REMEMBERED_SIZE_MAX, True), (REMEMBERED_SIZE_MAX + 1, False)])
    def test_only_sections_of_a_moderate_size_are_remembered(self, reader, size, is_remembered):
        frame = len(map32(sym8("x-a"), encode(b"")))
        octets = map32(sym8("x-a"), b"\xb0" + (size - frame - 3).to_bytes(4, "big") + bytes(size - frame - 3))
        assert len(octets) == size
        assert (read(reader, of_section(octets)) is read(reader, of_section(octets))) is is_remembered

    def test_there_is_an_end_to_what_is_remembered(self, reader):
        first = of_section(map8(sym8("x-a"), encode(UByte(0))))
        annotations = read(reader, first)
        for number in range(REMEMBERED_MAX - 1):
            read(reader, of_section(map8(sym8("x-b"), b"\x71" + number.to_bytes(4, "big"))))
        assert read(reader, first) is annotations
        read(reader, of_section(map8(sym8("x-c"), encode(1))))
        assert read(reader, first) is not annotations

    def test_nothing_that_is_wrong_is_remembered_as_right(self, reader):
        octets = of_section(map8(sym8("x-a")))
        for _ in range(2):
            with pytest.raises(DecodeError):
                read(reader, octets)


texts = st.text(max_size=8)
keys = st.one_of(
    st.sampled_from([Symbol(PREFIX + name) for name in ("to", "phase", "stream", "ingress", "trace", "class", "")]),
    st.from_regex(r"x-opt-[a-z]{0,5}", fullmatch=True).map(Symbol),
    st.integers(0, 255).map(ULong),
)
values = st.one_of(
    texts, st.integers(-10, 30), st.booleans(), st.none(), st.lists(texts, max_size=3), st.binary(max_size=9)
)


@given(
    entries=st.dictionaries(keys, values, max_size=8),
    header=st.sampled_from(sorted(HEADERS.values())),
    cut=st.integers(0, 400),
)
def test_whatever_is_read_users_annotations_and_all_else_get_through(entries, header, cut):
    reader = AnnotationReader("R")
    octets = header + Message(body=AmqpValue("hello"), message_annotations=entries).encode()
    ours = {key for key in entries if isinstance(key, Symbol) and key.startswith(PREFIX)}
    user = {key: value for key, value in entries.items() if key not in ours}
    with_header = Message.decode(header + body()).header
    annotations = reader.read(octets, 0, len(octets), False)
    stripped = Message.decode(spliced(reader, octets, 0, len(octets), annotations.stripped))
    assert stripped == Message(header=with_header, message_annotations=user or None, body=AmqpValue("hello"))
    onward = Message.decode(spliced(reader, octets, 0, len(octets), annotations.onward))
    assert (onward.header, onward.body) == (with_header, AmqpValue("hello"))
    assert list((onward.message_annotations or {}).items())[: len(user)] == list(user.items())
    assert read(AnnotationReader("S"), spliced(reader, octets, 0, len(octets), annotations.onward)).error is None
    with contextlib.suppress(NeedsMore):
        assert reader.read(octets[:cut], 0, min(cut, len(octets)), True) in (annotations, reader.unmarked)


@given(st.binary(max_size=60))
def test_any_octets_are_read_or_malformed(octets):
    reader = AnnotationReader("R")
    for start in (b"", bytes.fromhex("005372c1"), HEADERS["empty"] + bytes.fromhex("005372d1000000")):
        data = start + octets
        for is_partial in (False, True):
            try:
                annotations = reader.read(data, 0, len(data), is_partial)
            except (NeedsMore, DecodeError):
                continue
            assert spliced(reader, data, 0, len(data), annotations.stripped) is not None
            assert 0 <= reader.place <= reader.stop <= len(data)


def test_a_header_does_not_matter_to_what_is_read():
    reader = AnnotationReader("R")
    annotations = keyed(to="orders")
    plain = read(reader, Message(body=AmqpValue(1), message_annotations=annotations).encode())
    for header in (Header(), Header(durable=True), Header(priority=9), Header(durable=True, delivery_count=7)):
        octets = Message(header=header, body=AmqpValue(1), message_annotations=annotations).encode()
        assert read(reader, octets) is plain
