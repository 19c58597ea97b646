"""Requests and answers of management as AMQP messages (3.2, 3.4)."""

from collections.abc import Mapping
from typing import Any

from routerd.config.schema import shown
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

FAILED = 400
"""The least status of a request that was not done."""

_READING = ("READ", "QUERY", "GET")
"""The beginnings of operations that change nothing."""

FAULTS_REMEMBERED = 100
"""Limit of the different faults of requests that are logged."""


class ManagementMessages:
    """Lets an agent answer requests that come as messages. It is used in one event loop."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._faults: set[str] = set()

    async def answer(self, octets: bytes) -> bytes | None:
        """Return the answer to a request; None without a reply address."""
        try:
            message = Message.decode(octets)
        except WireError as error:
            # Once for each fault: otherwise clients could fill the log.
            if str(error) not in self._faults and len(self._faults) < FAULTS_REMEMBERED:
                self._faults.add(str(error))
                _log.warning("A request is not a message: %s", error)
            return None
        properties = message.properties
        if properties is None or not isinstance(properties.reply_to, str):
            _log.debug("A request without reply-to is dropped")
            return None
        asked = message.application_properties or {}
        if _log.is_debug:
            # The body may have passwords.
            _log.debug("Agent request Message(address=%s, properties=%s)", properties.to, shown_map(asked))
        answer = await self._agent.answer(Request(asked, _value(message.body)))
        if answer.status >= FAILED:
            _log.error("Error performing %s: %s", shown(asked.get("operation")).strip("'"), answer.description)
        try:
            return _encoded(answer, properties)
        except EncodeError as error:
            _log.error("An answer has no encoding: %s", error)
            return _encoded(Answer(500, f"EncodeError: {error}", {}), properties)


def reply_address(octets: bytes) -> str | None:
    """Return the reply address of a request; None if it asks for no answer.

    The rest of the request is not decoded: that can be much work, and messages wait meanwhile.
    """
    try:
        return Sections(octets).reply_to or None
    except (DecodeError, NeedsMore):
        return None


def refusal(octets: bytes, status: int, description: str) -> tuple[str, bytes] | None:
    """Return the answer to a refused request, and its destination; None if it asks for none."""
    reply_to = reply_address(octets)
    if reply_to is None:
        return None
    number: Any = Sections(octets).correlation_id
    asked = Properties(reply_to=reply_to, correlation_id=number)
    return reply_to, _encoded(Answer(status, description, None if _operation(octets) == "CREATE" else {}), asked)


def is_repeatable(octets: bytes) -> bool:
    """Whether a request may be repeated although it may have been done: it changes nothing."""
    return str(_operation(octets)).upper().startswith(_READING)


def _operation(octets: bytes) -> Any:
    try:
        return (Sections(octets).application_properties or {}).get("operation")
    except (DecodeError, NeedsMore):
        return None


def shown_map(properties: Mapping[str, Any]) -> str:
    """Return the properties of a request as a line of the log shows them."""
    return ", ".join(f"{shown(name)}: {shown(value)}" for name, value in properties.items()).join("{}")


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
