"""A message that has every section and every field that clients write."""

from typing import Any

from proton import Message

TEXTS = {
    **{"id": "an id", "subject": "a subject", "reply_to": "a reply", "content_type": "a/type"},
    **{"content_encoding": "none", "group_id": "a group", "reply_to_group_id": "another"},
}
NUMBERS = {
    **{"correlation_id": 7, "expiry_time": 4.0, "creation_time": 2.0, "group_sequence": 3},
    **{"priority": 7, "ttl": 60.0, "delivery_count": 2},
}


def whole_message(address: str, **fields: Any) -> bytes:
    """Return its octets; `fields` stand in for some of it."""
    every: dict[str, Any] = {
        **TEXTS,
        **NUMBERS,
        "body": {"map": [1, 2.5, None, b"octets"]},
        "user_id": b"a user",
        "durable": True,
        "first_acquirer": True,
        "properties": {"application": "property", "number": 5},
        "annotations": {"x-opt-ours": "kept"},
        "instructions": {"x-opt-delivery": "kept, too"},
    }
    octets: bytes = Message(address=address, **(every | fields)).encode()
    return octets
