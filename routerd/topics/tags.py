"""The delivery tags towards subscribers, which every router derives from a publisher's names and tags alike."""

from hashlib import sha256

from routerd.topics.names import ClientName

_KEY_OCTETS = 8
_TAG_OCTETS_MAX = 23
"""The longest tag of a publisher that a delivery tag of AMQP, 32 octets, can hold beside the key and the length."""
_HASHED = 0xFF
_LENGTHS = [bytes([length]) for length in range(_TAG_OCTETS_MAX + 1)]


def publisher_key(publisher: ClientName) -> bytes:
    """Return what the delivery tags of a publisher begin with."""
    return sha256(f"{publisher.container}\0{publisher.link}".encode()).digest()[:_KEY_OCTETS]


def delivery_tag(key: bytes, tag: bytes) -> bytes:
    """Return the tag of a publisher's delivery towards subscribers."""
    if len(tag) > _TAG_OCTETS_MAX:
        return key + bytes([_HASHED]) + sha256(tag).digest()[:_TAG_OCTETS_MAX]
    return key + _LENGTHS[len(tag)] + tag


def key_of(tag: bytes) -> bytes:
    """Return the key of the publisher that a delivery tag is of."""
    return tag[:_KEY_OCTETS]


def is_delivery_tag(tag: bytes) -> bool:
    """Return whether a tag has the form of those that `delivery_tag` makes."""
    if len(tag) <= _KEY_OCTETS:
        return False
    length = tag[_KEY_OCTETS]
    own = len(tag) - _KEY_OCTETS - 1
    return own == _TAG_OCTETS_MAX if length == _HASHED else length == own <= _TAG_OCTETS_MAX
