"""What a foreign router says in the recorded conversations, as octets: tests/vectors/inter-router."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "vectors" / "inter-router"
UNKNOWN = b"?"
"""Stands for an octet that only the conversation itself says: names of links that the router under test chose."""


@cache
def recording(conversation: str) -> dict[str, bytes]:
    """Return the parts of a conversation, in order: each some frames, after `[name]`; `#` begins a comment."""
    parts: dict[str, bytes] = {}
    name = ""
    for line in (FOLDER / f"{conversation}.hex").read_text().splitlines():
        digits = line.partition("#")[0].strip()
        if digits.startswith("["):
            name = digits.strip("[]")
            assert name not in parts
            parts[name] = b""
        else:
            octets = [UNKNOWN if one == "??" else bytes.fromhex(one) for one in digits.split()]
            parts[name] = parts.get(name, b"") + b"".join(octets)
    assert parts.pop("") == b"", "octets stand below the name of a part"
    return parts


def filled(octets: bytes, names: Iterable[bytes]) -> bytes:
    """Return recorded octets with names in the places of those that are unknown."""
    waiting = iter(names)
    found = re.sub(rb"\?{22}", lambda place: next(waiting), octets)
    assert next(waiting, None) is None, "there are more names than places"
    return found
