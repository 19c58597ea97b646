"""Messages as the application has them: a body that is a Python value, or a whole `Message`."""

from typing import Any, TypeAlias

from mobula_client.engine import AmqpSequence, AmqpValue, Data, EncodeError, Message
from mobula_client.errors import UsageError

Content: TypeAlias = Any
"""A `Message`, or the body of one: octets become a data section, any other value an amqp-value."""


def message_of(content: Content) -> Message:
    """Return the message that a content is, or is the body of."""
    if isinstance(content, Message):
        return content
    if isinstance(content, (bytes, bytearray, memoryview)):
        return Message(body=Data([bytes(content)]))
    return Message(body=AmqpValue(content))


def encoded(message: Message) -> bytes:
    """Return the octets of a message. Raises UsageError for a value that AMQP does not have."""
    try:
        return message.encode()
    except EncodeError as error:
        raise UsageError(f"the message cannot be encoded: {error}") from error


def body_of(message: Message) -> Any:
    """Return the body: the octets of data sections, the value of an amqp-value, the items of sequences."""
    body = message.body
    if isinstance(body, Data):
        return b"".join(body.sections)
    if isinstance(body, AmqpValue):
        return body.value
    if isinstance(body, AmqpSequence):
        return [item for section in body.sections for item in section]
    return None
