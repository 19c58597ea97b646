"""Part 3 of the standard, delivery states: how each looks, and that all of them arrive."""

import pytest

from routerd.wire.amqp_error import Error
from routerd.wire.composite import decode_composite, encode_composite
from routerd.wire.decoder import Decoder
from routerd.wire.errors import DecodeError
from routerd.wire.outcomes import Accepted, Modified, Received, Rejected, Released
from routerd.wire.performatives import Disposition
from routerd.wire.types import Described, Symbol, UInt, ULong
from tests.conformance.raw_peer import SessionPeer, transfer


def octets(text: str) -> bytes:
    return bytes.fromhex(text)


def composite(text: str) -> object:
    return decode_composite(Decoder(octets(text)))


def written(value: object) -> bytes:
    out = bytearray()
    encode_composite(out, value)
    return bytes(out)


@pytest.mark.parametrize(
    ("text", "symbol", "state"),
    [
        ("00 53 23 c0 05 02 52 03 53 c8", "amqp:received:list", Received(section_number=3, section_offset=200)),
        ("00 53 24 45", "amqp:accepted:list", Accepted()),
        ("00 53 25 45", "amqp:rejected:list", Rejected()),
        ("00 53 26 45", "amqp:released:list", Released()),
        ("00 53 27 45", "amqp:modified:list", Modified()),
    ],
)
def test_every_delivery_state_has_its_descriptor(text, symbol, state):
    assert composite(text) == state
    assert written(state) == octets(text)
    by_symbol = b"\x00\xa3" + bytes([len(symbol)]) + symbol.encode() + octets(text)[3:]
    assert decode_composite(Decoder(by_symbol)) == state


def test_an_unknown_delivery_state_is_passed_on_untouched():
    transactional = "00 53 15 c0 0f 05 41 43 40 41 00 53 34 c0 05 02 a0 01 09 40"
    disposition = composite(transactional)
    state = Described(ULong(0x34), [b"\x09", None])
    assert disposition == Disposition(role=True, first=0, settled=True, state=state)
    assert written(disposition) == octets(transactional)


@pytest.mark.parametrize("text", ["00 53 23 45", "00 53 23 c0 03 01 52 03", "00 53 23 c0 04 02 40 53 c8"])
def test_received_needs_section_number_and_offset(text):
    with pytest.raises(DecodeError):
        composite(text)


def test_rejected_carries_its_error():
    text = "00 53 25 c0 18 01 00 53 1d c0 12 03 a3 01 78 a1 02 6e6f c1 08 02 a3 03 6b6579 52 01"
    state = Rejected(error=Error(condition="x", description="no", info={Symbol("key"): UInt(1)}))
    assert composite(text) == state
    assert written(state) == octets(text)


def test_modified_carries_all_its_fields():
    text = "00 53 27 c0 0e 03 41 41 c1 09 02 a3 05 782d6f7074 40"
    state = Modified(delivery_failed=True, undeliverable_here=True, message_annotations={Symbol("x-opt"): None})
    assert composite(text) == state
    assert written(state) == octets(text)
    assert composite("00 53 27 c0 03 02 40 42") == Modified(undeliverable_here=False)


@pytest.mark.parametrize(
    ("decide", "state"),
    [
        (lambda delivery: delivery.accept(), Accepted()),
        (lambda delivery: delivery.reject(Error(condition="x:bad")), Rejected(error=Error(condition="x:bad"))),
        (lambda delivery: delivery.release(), Released()),
        (
            lambda delivery: delivery.modify(delivery_failed=True, message_annotations={Symbol("x-opt"): "v"}),
            Modified(delivery_failed=True, undeliverable_here=False, message_annotations={Symbol("x-opt"): "v"}),
        ),
        (lambda delivery: delivery.update(Described(ULong(0x34), [b"t"]), True), Described(ULong(0x34), [b"t"])),
    ],
)
def test_each_outcome_of_the_receiver_reaches_the_sender(decide, state):
    peer = SessionPeer()
    peer.attached_receiver("in", handle=0, credit=1)
    peer.send(transfer(0))
    decide(peer.events.deliveries[0])
    assert peer.sent() == [Disposition(role=True, first=0, settled=True, state=state)]
    delivery = peer.attached_sender("out", handle=1, credit=1).send(b"m")
    peer.send(Disposition(role=True, first=0, settled=True, state=state))
    assert (delivery.remote_state, delivery.remote_settled) == (state, True)
