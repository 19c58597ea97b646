"""The sections of a message by their descriptors, and what can be known of one while a message is arriving."""

from enum import IntEnum


class Section(IntEnum):
    """The descriptor of a section; the order is that in which sections follow each other (3.2)."""

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
    """Whether a message has a section, so far as its octets tell."""

    ABSENT = 0
    FOUND = 1
    NEEDS_MORE = 2
