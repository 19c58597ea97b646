"""The descriptors of the sections of a message, and the presence of a section while a message arrives."""

from enum import IntEnum


class Section(IntEnum):
    """The descriptor of a section, in the order of sections in a message (3.2)."""

    HEADER = 0x70
    DELIVERY_ANNOTATIONS = 0x71
    MESSAGE_ANNOTATIONS = 0x72
    PROPERTIES = 0x73
    APPLICATION_PROPERTIES = 0x74
    DATA = 0x75
    AMQP_SEQUENCE = 0x76
    AMQP_VALUE = 0x77
    FOOTER = 0x78


class Presence(IntEnum):
    """Whether a message has a section, as far as its octets show."""

    ABSENT = 0
    FOUND = 1
    NEEDS_MORE = 2
