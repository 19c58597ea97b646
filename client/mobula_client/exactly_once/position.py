"""The rest of a message, for a receiver that has a part of it (AMQP 1.0 section 3.4.1)."""

from typing import Any

from mobula_client.engine import Decoder, Received


def rest_of(octets: bytes, state: Any) -> bytes:
    """Return what the receiver does not have yet, by the state that it gave; all if it gave none."""
    if not isinstance(state, Received):
        return octets
    decoder = Decoder(octets)
    start = section = 0
    while section < state.section_number and decoder.pos < len(octets):
        decoder.skip()
        start = decoder.pos
        section += 1
    return octets[start + state.section_offset :]
