"""A loop over transfer frames as a router has it: parse one, write it for another link, copy the payload."""

from routerd.wire.decoder import Decoder
from routerd.wire.output import Output
from routerd.wire.transfer import TransferFields, write_transfer


def relay(data: bytes, frame_size: int, count: int) -> int:
    """Relay `count` transfers that stand in data one behind the other; return the octets written."""
    decoder = Decoder(data, 0, len(data))
    fields = TransferFields()
    out = Output()
    written = 0
    for number in range(count):
        start = number * frame_size
        decoder.reset(data, start + 8, start + frame_size)
        decoder.read_descriptor()
        fields.read(decoder)
        write_transfer(
            out, 1, 7, number, fields.tag or b"", 0, 0, fields.settled == 1, fields.more, data, fields.payload,
            start + frame_size,
        )  # fmt: skip
        if out.end > 65536:
            written += len(out.take())
    return written + out.end
