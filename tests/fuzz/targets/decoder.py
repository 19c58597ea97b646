"""Any octets as a value, as a composite, and stepped over: a result or a typed error, and always the same story."""

from routerd.wire.composite import decode_composite, encode_composite
from routerd.wire.decoder import Decoder
from routerd.wire.encoder import encode
from routerd.wire.errors import DecodeError, InvalidField, RemoteError
from routerd.wire.limits import CodecLimits
from routerd.wire.types import identity
from tests.fuzz.broken import Broken, check
from tests.fuzz.walker import WEIGHTLESS, Beyond, Malformed, Walker

WIDE = CodecLimits(depth=128, count=WEIGHTLESS)
"""Limits that no input reaches which the walker goes through."""
NARROW = CodecLimits(depth=5, count=20, size_bytes=60)


def run(data: bytes) -> None:
    """Decode in every way."""
    stop = _check_value(data)
    _check_skip(data, stop)
    _check_narrow(data, stop)
    _check_composite(data)


def _check_value(data: bytes) -> int:
    """Decode a value, and return where it ends, -1 if there is none."""
    try:
        stop = Walker(data).value(0, len(data))[1]
        verdict = "a value"
    except Malformed as error:
        stop, verdict = -1, f"malformed: {error}"
    except Beyond:
        stop, verdict = -1, ""
    decoder = Decoder(data, 0, None, WIDE)
    try:
        value = decoder.value()
    except DecodeError as error:
        _check_error(error, data)
        check(stop < 0, f"a value was refused: {error}")
        return -1
    check(not verdict or stop == decoder.pos, f"a value of {decoder.pos} octets, which is {verdict} of {stop}")
    _check_round_trip(value, decoder.pos)
    return decoder.pos


def _check_round_trip(value: object, size: int) -> None:
    octets = encode(value, 128)
    check(len(octets) <= size, f"{octets!r} is longer than what it was decoded from")
    again = Decoder(octets, 0, None, WIDE).value()
    check(identity(again) == identity(value), f"{value!r} came back as {again!r}")
    check(encode(again, 128) == octets, f"{value!r} has two encodings")


def _check_error(error: RemoteError, data: bytes) -> None:
    check(type(error) in (DecodeError, InvalidField), f"{type(error).__name__}: {error}")
    check(error.offset is not None and 0 <= error.offset <= len(data), f"an error at octet {error.offset}: {error}")


def _check_skip(data: bytes, stop: int) -> None:
    """Stepping over a value ends where decoding it does, and may overlook what is wrong inside."""
    decoder = Decoder(data, 0, None, WIDE)
    try:
        decoder.skip()
    except DecodeError as error:
        _check_error(error, data)
        check(stop < 0, f"a value was not stepped over: {error}")
        return
    check(stop in (-1, decoder.pos), f"stepped over {decoder.pos} octets of a value of {stop}")
    check(decoder.pos <= len(data), "stepped beyond the end")


def _check_narrow(data: bytes, stop: int) -> None:
    """Limits refuse, and change nothing else."""
    decoder = Decoder(data, 0, None, NARROW)
    try:
        decoder.value()
    except DecodeError as error:
        _check_error(error, data)
        return
    check(decoder.pos == stop, f"within limits a value of {decoder.pos} octets, without of {stop}")


def _check_composite(data: bytes) -> None:
    decoder = Decoder(data, 0, None, WIDE)
    try:
        composite = decode_composite(decoder)
    except (DecodeError, InvalidField) as error:
        _check_error(error, data)
        return
    octets = bytearray()
    encode_composite(octets, composite)
    again = decode_composite(Decoder(octets, 0, None, WIDE))
    if again != composite and repr(again) != repr(composite):  # a NaN differs from itself
        raise Broken(f"{composite!r} came back as {again!r}")
    once_more = bytearray()
    encode_composite(once_more, again)
    check(once_more == octets, f"{composite!r} has two encodings")
