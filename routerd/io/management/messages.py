"""Requests and answers of management as AMQP messages (3.2, 3.4)."""

from typing import Any

from routerd.io.logs import module_log
from routerd.management import Agent, Answer, Request
from routerd.wire import (
    AmqpSequence,
    AmqpValue,
    Data,
    DecodeError,
    EncodeError,
    Header,
    Int,
    Message,
    NeedsMore,
    Properties,
    Sections,
    WireError,
)

_log = module_log("AGENT")

_READING = ("READ", "QUERY", "GET")
"""What operations begin with that change nothing."""

FAULTS_REMEMBERED = 100
"""Different faults of requests that are logged; what comes after is not."""


class ManagementMessages:
    """Has an agent answer requests that come as messages. To be used in one event loop."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._faults: set[str] = set()

    async def answer(self, octets: bytes) -> bytes | None:
        """Return the answer to a request; None for one that names nobody to answer to."""
        try:
            message = Message.decode(octets)
        except WireError as error:
            # Once for each fault: clients could fill the log.
            if str(error) not in self._faults and len(self._faults) < FAULTS_REMEMBERED:
                self._faults.add(str(error))
                _log.warning("A request is not a message: %s", error)
            return None
        properties = message.properties
        if properties is None or not isinstance(properties.reply_to, str):
            _log.debug("A request without reply-to is dropped")
            return None
        answer = await self._agent.answer(Request(message.application_properties or {}, _value(message.body)))
        try:
            return _encoded(answer, properties)
        except EncodeError as error:
            _log.error("An answer has no encoding: %s", error)
            return _encoded(Answer(500, f"EncodeError: {error}", {}), properties)


def reply_address(octets: bytes) -> str | None:
    """Return where the answer to a request goes; None for one that asks for none.

    Nothing else of it is decoded: that can be much work, and this is done where messages wait meanwhile.
    """
    try:
        return Sections(octets).reply_to or None
    except (DecodeError, NeedsMore):
        return None


def refusal(octets: bytes, status: int, description: str) -> tuple[str, bytes] | None:
    """Return the answer to a request that is not done, and where it goes; None for one that asks for none."""
    reply_to = reply_address(octets)
    if reply_to is None:
        return None
    number: Any = Sections(octets).correlation_id
    asked = Properties(reply_to=reply_to, correlation_id=number)
    return reply_to, _encoded(Answer(status, description, None if _operation(octets) == "CREATE" else {}), asked)


def is_repeatable(octets: bytes) -> bool:
    """Whether a request that may have been done can be done again, since it changes nothing."""
    return str(_operation(octets)).upper().startswith(_READING)


def _operation(octets: bytes) -> Any:
    try:
        return (Sections(octets).application_properties or {}).get("operation")
    except (DecodeError, NeedsMore):
        return None


def _value(body: Any) -> Any:
    match body:
        case AmqpValue(value):
            return value
        case Data(sections):
            return b"".join(sections)
        case AmqpSequence(sections):
            return [value for section in sections for value in section]
    return None


def _encoded(answer: Answer, asked: Properties) -> bytes:
    return Message(
        header=Header(),
        properties=Properties(to=asked.reply_to, correlation_id=asked.correlation_id),
        application_properties={"statusCode": Int(answer.status), "statusDescription": answer.description},
        body=AmqpValue(answer.body),
    ).encode()
