"""Part 2 of the standard: version negotiation, framing, and the life of a connection (2.2 to 2.4, 2.7.1, 2.7.9)."""

import pytest

from routerd.wire.errors import FrameTooLarge, StateError
from routerd.wire.performatives import Attach, Begin, Close, Detach, Disposition, End, Flow, Open, Transfer
from routerd.wire.types import Symbol
from tests.conformance.raw_peer import (
    AMQP_HEADER,
    EMPTY_FRAME,
    OPEN,
    SASL_HEADER,
    SOURCE,
    TARGET,
    Frame,
    Peer,
    SessionPeer,
    body,
    check_closed_with,
    framed,
    octets,
    opened,
    parsed,
    split,
    transfer,
)

BEGIN = Begin(next_outgoing_id=0, incoming_window=100, outgoing_window=100)
WRONG_VERSIONS = ["00 010100", "00 000901", "00 020000", "00 010001", "01 010000", "02 010000", "ff 010000"]


# 2.1.3 and 2.7: performatives


@pytest.mark.parametrize(
    ("code", "name", "performative"),
    [
        ("10", "open", OPEN),
        ("11", "begin", BEGIN),
        ("12", "attach", Attach(name="l", handle=0, role=True)),
        ("13", "flow", Flow(incoming_window=0, next_outgoing_id=0, outgoing_window=0)),
        ("14", "transfer", Transfer(handle=0)),
        ("15", "disposition", Disposition(role=True, first=0)),
        ("16", "detach", Detach(handle=0)),
        ("17", "end", End()),
        ("18", "close", Close()),
    ],
)
def test_each_performative_has_its_descriptor(code, name, performative):
    written = body(performative)
    assert written[:3].hex() == "0053" + code
    symbol = f"amqp:{name}:list".encode()
    named = b"\x00\xa3" + bytes([len(symbol)]) + symbol + written[3:]
    assert parsed(framed(named)) == Frame(performative)


# 2.2: version negotiation


@pytest.mark.parametrize("is_client", [True, False])
def test_the_first_octets_sent_are_the_protocol_header(is_client):
    peer = Peer(is_client=is_client)
    peer.engine.open()
    if not is_client:
        assert peer.octets_sent() == b""
        peer.send_octets(AMQP_HEADER)
    sent = peer.octets_sent()
    assert sent[:8] == octets("414d5150 00 01 00 00")
    assert [type(parsed(frame).performative) for frame in split(sent[8:])] == [Open]


def test_a_client_has_its_header_ready_before_anything_arrives():
    assert Peer(is_client=True).octets_sent() == AMQP_HEADER


def test_a_server_answers_the_version_it_speaks():
    peer = Peer()
    assert peer.octets_sent() == b""
    peer.send_octets(AMQP_HEADER)
    assert peer.octets_sent() == AMQP_HEADER
    assert not peer.engine.is_finished


@pytest.mark.parametrize("version", WRONG_VERSIONS)
def test_a_client_that_gets_another_header_ends(version):
    peer = Peer(is_client=True)
    peer.octets_sent()
    peer.send_octets(b"AMQP" + octets(version))
    assert peer.engine.is_finished
    assert peer.octets_sent() == b""
    assert peer.events.names == ["violation", "closed"]


@pytest.mark.parametrize("version", WRONG_VERSIONS)
def test_a_wrong_version_is_answered_with_ours_and_the_end(version):
    peer = Peer()
    peer.send_octets(b"AMQP" + octets(version))
    assert peer.octets_sent() == AMQP_HEADER
    assert peer.engine.is_finished


@pytest.mark.parametrize("text", [b"GET / HTTP/1.1\r\n\r\n", b"OPTIONS * HTTP/1.1\r\n", b"PRI * HTTP/2.0\r\n\r\nSM"])
def test_http_is_answered_with_a_sentence_in_http_and_the_end(text):
    peer = Peer()
    peer.send_octets(text)
    head, _, body = peer.octets_sent().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert f"Content-Length: {len(body)}".encode() in head
    assert body == b"This port takes AMQP 1.0, not HTTP.\n"
    assert peer.engine.is_finished
    assert peer.events.violations == ["amqp:connection:framing-error"]


def test_after_a_header_mismatch_input_is_read_and_ignored():
    peer = Peer()
    peer.send(b"AMQP" + octets("00 010100"), OPEN, b"\xff" * 50)
    peer.send(AMQP_HEADER, OPEN)
    assert peer.octets_sent() == AMQP_HEADER
    assert peer.events.names == ["violation", "closed"]


@pytest.mark.parametrize("text", [b"GETTING\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03", bytes(8)])
def test_octets_that_are_no_header_are_answered_with_ours_and_the_end(text):
    peer = Peer()
    peer.send_octets(text)
    assert peer.octets_sent() == AMQP_HEADER
    assert peer.engine.is_finished


def test_a_bare_amqp_header_where_sasl_is_required_gets_the_sasl_header(sasl_server):
    peer = Peer(sasl=sasl_server)
    peer.send(AMQP_HEADER, OPEN)
    assert peer.octets_sent() == SASL_HEADER
    assert peer.engine.is_finished
    assert peer.events.opens == []


# 2.3: framing


def test_an_extended_header_is_skipped():
    peer = Peer()
    inside = body(OPEN)
    peer.send_octets(AMQP_HEADER)
    peer.send_octets((len(inside) + 16).to_bytes(4, "big") + octets("04 00 0000 ffffffffffffffff") + inside)
    assert peer.events.opens == [OPEN]


def test_the_size_of_a_frame_counts_all_its_octets():
    peer = SessionPeer()
    sender = peer.attached_sender(credit=2)
    sender.send(b"x" * 300)
    sender.send(b"")
    sent = peer.octets_sent()
    frames = split(sent)
    assert b"".join(frames) == sent
    assert [parsed(frame).payload for frame in frames] == [b"x" * 300, b""]
    assert {frame[4] for frame in frames} == {2}


@pytest.mark.parametrize("size", [0, 1, 4, 7])
def test_a_size_below_eight_is_a_framing_error(size):
    peer = opened()
    peer.send_octets(size.to_bytes(4, "big") + octets("02 00 0000"))
    check_closed_with(peer, "amqp:connection:framing-error")


@pytest.mark.parametrize("doff", [0, 1])
def test_a_doff_below_two_is_a_framing_error(doff):
    peer = opened()
    peer.send_octets(octets("00000008") + bytes([doff]) + octets("00 0000"))
    check_closed_with(peer, "amqp:connection:framing-error")


@pytest.mark.parametrize("doff", [3, 255])
def test_a_doff_behind_the_end_of_the_frame_is_a_framing_error(doff):
    peer = opened()
    peer.send_octets(octets("00000008") + bytes([doff]) + octets("00 0000"))
    check_closed_with(peer, "amqp:connection:framing-error")


@pytest.mark.parametrize("kind", [1, 2, 255])
def test_an_undefined_frame_type_is_a_framing_error(kind):
    peer = opened()
    peer.send(framed(BEGIN, kind=kind))
    check_closed_with(peer, "amqp:connection:framing-error")


def test_octets_six_and_seven_are_the_channel():
    peer = opened()
    peer.send_octets(framed(BEGIN)[:6] + octets("0102") + body(BEGIN))
    peer.events.sessions[0].begin()
    (frame,) = split(peer.octets_sent())
    assert frame[6:8] == octets("0000")
    assert parsed(frame).performative.remote_channel == 0x0102


@pytest.mark.parametrize("text", ["00 53 19 45", "00 53 40 45", "00 53 24 45", "45", "a1 01 78", "00 a3 01 78 45"])
def test_a_body_that_is_no_performative_is_refused(text):
    peer = SessionPeer()
    peer.send(framed(octets(text)))
    check_closed_with(peer, "amqp:decode-error")


def test_octets_behind_a_performative_are_payload_of_transfer_alone():
    peer = SessionPeer()
    peer.attached_receiver(credit=1)
    peer.send(transfer(0, b"payload"))
    assert peer.events.arrivals[0].octets == b"payload"
    peer.send(framed(Detach(handle=0), b"payload"))
    check_closed_with(peer, "amqp:decode-error")


def test_frames_cut_at_any_octet_mean_the_same():
    stream = AMQP_HEADER + framed(OPEN) + framed(BEGIN) + EMPTY_FRAME + framed(End()) + framed(Close())
    for cut in range(len(stream) + 1):
        peer = Peer()
        peer.send_octets(stream[:cut])
        peer.send_octets(stream[cut:])
        assert peer.events.names == ["opened", "begun", "ended", "closed"]


# 2.4.1, 2.4.2 and 2.7.1: open


def test_open_is_the_first_frame_sent():
    early = Peer(is_client=True)
    with pytest.raises(StateError):
        early.engine.session().begin()
    assert early.octets_sent() == AMQP_HEADER
    peer = Peer(is_client=True)
    peer.engine.open()
    peer.engine.session().begin()
    frames = split(peer.octets_sent()[8:])
    assert [type(parsed(frame).performative) for frame in frames] == [Open, Begin]


def test_what_answers_itself_waits_for_our_open():
    peer = Peer()
    peer.send(AMQP_HEADER, OPEN, BEGIN, End())
    answers = [parsed(frame).performative for frame in split(peer.octets_sent()[8:])]
    if not answers:
        peer.engine.open()
        answers = peer.sent()
    assert [type(each) for each in answers] == [Open, Begin, End]


@pytest.mark.parametrize("frame", [BEGIN, Close(), Flow(incoming_window=0, next_outgoing_id=0, outgoing_window=0)])
def test_a_frame_before_open_is_refused(frame):
    peer = Peer()
    peer.send(AMQP_HEADER, frame, OPEN)
    sent = peer.octets_sent()
    assert sent[:8] == AMQP_HEADER
    engines_open, close = (parsed(each).performative for each in split(sent[8:]))
    assert isinstance(engines_open, Open)
    assert close.error.condition == "amqp:illegal-state"
    assert peer.events.violations == ["amqp:illegal-state"]
    assert peer.events.opens == []


def test_open_is_sent_on_channel_zero():
    peer = Peer(is_client=True)
    peer.engine.open()
    (frame,) = split(peer.octets_sent()[8:])
    assert frame[6:8] == octets("0000")


def test_an_open_on_another_channel_is_refused():
    peer = Peer()
    peer.send(AMQP_HEADER, framed(OPEN, channel=1))
    assert peer.events.opens == []
    assert len(peer.events.violations) == 1


def test_before_the_peers_open_our_frames_have_at_most_512_octets():
    peer = Peer(is_client=True, hostname="h" * 600)
    with pytest.raises(FrameTooLarge):
        peer.engine.open()
    peer = Peer(is_client=True)
    peer.engine.open()
    session = peer.engine.session()
    session.begin()
    with pytest.raises(FrameTooLarge):
        session.sender("n" * 600).attach(source=SOURCE, target=TARGET)
    with pytest.raises(StateError):
        peer.engine.session()
    assert {len(frame) <= 512 for frame in split(peer.octets_sent()[8:])} == {True}


def test_our_frames_stay_within_the_peers_max_frame_size():
    peer = SessionPeer(peers_open=Open(container_id="peer", max_frame_size=600))
    sender = peer.attached_sender(credit=1)
    sender.send(b"x" * 5000)
    frames = split(peer.octets_sent())
    assert max(map(len, frames)) <= 600
    assert b"".join(parsed(frame).payload for frame in frames) == b"x" * 5000


def test_frames_pipelined_behind_open_are_handled():
    peer = Peer()
    attach = Attach(name="l", handle=0, role=False, source=SOURCE, target=TARGET, initial_delivery_count=0)
    peer.send(AMQP_HEADER, OPEN, BEGIN, attach)
    assert peer.events.names == ["opened", "begun", "attached"]
    peer.engine.open()
    peer.events.sessions[0].begin()
    peer.events.links[0].attach(source=SOURCE, target=TARGET)
    sent = peer.octets_sent()
    assert sent[:8] == AMQP_HEADER
    assert [type(parsed(each).performative) for each in split(sent[8:])] == [Open, Begin, Attach]


def test_an_open_without_container_id_is_refused():
    peer = Peer()
    peer.send(AMQP_HEADER, framed(octets("00 53 10 45")))
    assert peer.events.violations == ["amqp:decode-error"]
    assert peer.events.opens == []


def test_every_field_of_open_reaches_the_other_side():
    full = Open(
        container_id="peer",
        hostname="host",
        max_frame_size=4096,
        channel_max=9,
        idle_time_out=60000,
        outgoing_locales=("en-US", "de-DE"),
        incoming_locales=("de-DE",),
        offered_capabilities=("ANONYMOUS-RELAY",),
        desired_capabilities=("a", "b"),
        properties={Symbol("product"): "tests"},
    )
    peer = Peer(
        hostname="host",
        max_frame_size=4096,
        channel_max=9,
        idle_timeout_s=120,
        outgoing_locales=("en-US", "de-DE"),
        incoming_locales=("de-DE",),
        offered_capabilities=("ANONYMOUS-RELAY",),
        desired_capabilities=("a", "b"),
        properties={Symbol("product"): "tests"},
    )
    peer.send(AMQP_HEADER, full)
    assert peer.events.opens == [full]
    peer.engine.open()
    (frame,) = split(peer.octets_sent()[8:])
    full.container_id = "engine"
    assert parsed(frame).performative == full
    bare = Peer()
    bare.send(AMQP_HEADER, OPEN)
    assert bare.events.opens[0].hostname is None


def test_every_field_of_open_has_its_default():
    peer = Peer()
    peer.send(AMQP_HEADER, framed(octets("00 53 10 c0 04 01 a1 01 63")))
    assert peer.events.opens == [
        Open(
            container_id="c",
            hostname=None,
            max_frame_size=4294967295,
            channel_max=65535,
            idle_time_out=None,
            outgoing_locales=(),
            incoming_locales=(),
            offered_capabilities=(),
            desired_capabilities=(),
            properties=None,
        )
    ]


def test_a_frame_over_our_max_frame_size_is_a_framing_error():
    peer = opened(max_frame_size=1020)
    peer.send_octets((1020).to_bytes(4, "big") + octets("ff 00 0000") + bytes(1012))
    assert peer.events.names == ["opened"]
    peer.send_octets((1021).to_bytes(4, "big") + octets("02 00 0000"))
    check_closed_with(peer, "amqp:connection:framing-error")


def test_frames_of_512_octets_are_always_taken():
    peer = SessionPeer(max_frame_size=512)
    peer.attached_receiver(credit=1)
    frame = transfer(0, b"x" * (512 - len(transfer(0, b""))))
    assert len(frame) == 512
    peer.send(frame)
    assert peer.events.names[-1] == "transfer"
    with pytest.raises(ValueError, match="max_frame_size"):
        Peer(max_frame_size=511)


@pytest.mark.parametrize("size", [0, 511])
def test_a_max_frame_size_below_512_is_refused(size):
    peer = Peer()
    peer.send(AMQP_HEADER, Open(container_id="peer", max_frame_size=size))
    assert peer.events.violations == ["amqp:invalid-field"]
    assert peer.events.opens == []


def test_a_second_open_is_refused():
    peer = opened()
    peer.send(OPEN)
    check_closed_with(peer, "amqp:illegal-state")


def test_properties_are_sent_with_symbols_as_keys():
    peer = Peer(is_client=True, properties={"product": "x", Symbol("version"): "y"})
    peer.engine.open()
    (frame,) = split(peer.octets_sent()[8:])
    pairs = octets("a3 07 70726f64756374 a1 01 78 a3 07 76657273696f6e a1 01 79")
    assert frame.endswith(octets("c1 19 04") + pairs)


def test_a_performative_larger_than_a_frame_is_not_sent():
    peer = SessionPeer(peers_open=Open(container_id="peer", max_frame_size=512))
    with pytest.raises(FrameTooLarge):
        peer.session.sender("n" * 600).attach(source=SOURCE, target=TARGET)
    assert peer.octets_sent() == b""


def test_undecodable_octets_close_with_decode_error():
    peer = opened()
    peer.send(framed(octets("00 53 11 c0 09 01 40")))
    check_closed_with(peer, "amqp:decode-error")


def test_an_error_without_condition_is_refused():
    peer = opened()
    peer.send(framed(octets("00 53 18 c0 05 01 00 53 1d 45")))
    check_closed_with(peer, "amqp:decode-error")


def test_error_descriptions_are_ascii_english():
    for wrong in (octets("00000007 02000000"), framed(b"\x00\x53\x19\x45"), framed(OPEN), framed(End())):
        peer = opened()
        peer.send(wrong)
        (close,) = peer.sent()
        assert close.error.description.isascii()
        assert " " in close.error.description
