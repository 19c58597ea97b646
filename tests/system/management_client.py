"""Requests to a router's management by proton's own blocking client, as scripts make them."""

import contextlib
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from proton import ConnectionException, Message, Timeout
from proton.utils import BlockingConnection

from tests.waiting import WITHIN_S

PREFIX = "org.apache.qpid.dispatch."
NODE = {"type": "org.amqp.management", "name": "self"}
CLOSED_WITHIN_S = 5.0
"""A client whose router died under it would wait for the answer to its close, and use the processor for it."""


@dataclass(frozen=True, slots=True)
class Told:
    """An answer."""

    status: int
    description: str
    body: Any
    correlation_id: Any


class ManagementClient:
    """One connection, a producer for an agent's address, and a dynamic consumer for its answers."""

    def __init__(self, port: int, address: str = "$management") -> None:
        self._connection = BlockingConnection(f"127.0.0.1:{port}", timeout=WITHIN_S)
        self._answers = self._connection.create_receiver(None, dynamic=True)
        self._requests = self._connection.create_sender(address)
        self._number = 0

    @property
    def reply_to(self) -> str:
        """Where answers go."""
        address: str = self._answers.link.remote_source.address
        return address

    def ask(self, properties: dict[str, Any], body: Any = None, *, correlation_id: Any = None) -> Told:
        """Make a request and return the answer."""
        self.send(properties, body, reply_to=self.reply_to, correlation_id=correlation_id)
        return self.receive()

    def send(self, properties: dict[str, Any], body: Any = None, **fields: Any) -> None:
        """Make a request, and do not wait."""
        if fields.get("correlation_id") is None:
            self._number += 1
            fields["correlation_id"] = self._number
        self._requests.send(Message(properties=properties, body=body, **fields))

    def receive(self) -> Told:
        """Return the next answer."""
        message = self._answers.receive(timeout=WITHIN_S)
        number = message.correlation_id
        return Told(
            int(message.properties["statusCode"]),
            message.properties["statusDescription"],
            message.body,
            # Octets are lent for as long as there is the message.
            bytes(number) if isinstance(number, memoryview) else number,
        )

    def query(self, entity_type: str, *attributes: str, **properties: Any) -> list[dict[str, Any]]:
        """Return all entities of a type."""
        name = entity_type if entity_type.startswith("org.") else PREFIX + entity_type
        asked = {"operation": "QUERY", "entityType": name, **NODE, **properties}
        told = self.ask(asked, {"attributeNames": list(attributes)})
        assert told.status == 200, told
        return [dict(zip(told.body["attributeNames"], row, strict=True)) for row in told.body["results"]]

    def create(self, entity_type: str, name: str, **attributes: Any) -> Told:
        """Create an entity."""
        return self.ask({"operation": "CREATE", "type": PREFIX + entity_type, "name": name}, attributes)

    def delete(self, entity_type: str, name: str) -> Told:
        """Delete an entity."""
        return self.ask({"operation": "DELETE", "type": PREFIX + entity_type, "name": name})

    def close(self) -> None:
        """Leave, if the router is still there to hear it."""
        self._connection.timeout = CLOSED_WITHIN_S
        with contextlib.suppress(ConnectionException, Timeout):
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
