"""Any octets behind a good header, into a server whose application goes along with everything."""

from tests.fuzz import octets as o
from tests.fuzz.play import CONFIGS, SMALL, Step, play

CONFIG = {0: SMALL, 1: CONFIGS[1]}


def run(data: bytes) -> None:
    """Receive them whole and in pieces."""
    play(CONFIG[len(data) & 1], [Step(octets=o.AMQP_HEADER + data)], b"", is_client=False)
