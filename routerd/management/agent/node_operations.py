"""What is asked of the management node itself: the schema in several forms, the nodes of the network, the log (3.5)."""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from routerd.config import ALL_TYPES, ENTITY_TYPES
from routerd.config.schema import EntityType
from routerd.core import RouterMode
from routerd.management.agent.call import Call
from routerd.management.agent.network import node_address
from routerd.management.agent.numbers import whole
from routerd.management.agent.refusals import BadRequest, NotImplementedHere
from routerd.management.agent.schema_map import ancestors, schema_map
from routerd.management.backing import Backing
from routerd.management.messages import Answer

INDENT_MAX = 16
_NO_PROFILER = "No profiler is built in: a sampling one such as py-spy takes the pid of an org.mobula.connectionActor"


class NodeOperations:
    """Answers for the management node."""

    def __init__(self, backing: Backing) -> None:
        self._backing = backing
        self._operations: Mapping[str, Callable[[Call], Awaitable[Any]]] = {
            "GET-TYPES": _types,
            "GET-ATTRIBUTES": _attributes,
            "GET-OPERATIONS": _type_operations,
            "GET-ANNOTATIONS": _annotations,
            "GET-MGMT-NODES": self._nodes,
            "GET-SCHEMA": _schema,
            "GET-JSON-SCHEMA": _json_schema,
            "GET-LOG": self._log,
            "PROFILE": _profile,
        }

    async def answer(self, call: Call) -> Answer:
        """Answer one of the operations that the node has."""
        return Answer(200, "OK", await self._operations[call.operation](call))

    async def _nodes(self, _call: Call) -> list[str]:
        if self._backing.settings.mode is not RouterMode.INTERIOR:
            return []
        return [f"{node_address(row)}/$management" for row in await self._backing.nodes()]

    async def _log(self, call: Call) -> list[list[Any]]:
        limit = call.number("limit")
        rows = await self._backing.log()
        if limit is not None and 0 <= limit < len(rows):
            rows = rows[len(rows) - limit :]
        return [
            [row.module, row.level, row.text, row.file, None if row.line is None else whole(row.line), whole(row.time)]
            for row in rows
        ]


def _asked_for(wanted: EntityType | None) -> Iterable[EntityType]:
    """Return the types to look at. Tools compare the whole list, so only a filter finds those that others lack."""
    return ENTITY_TYPES.values() if wanted is None else ALL_TYPES


async def _types(call: Call) -> dict[str, list[str]]:
    wanted = call.filter
    lines = ((one, ancestors(one)) for one in _asked_for(wanted))
    return {
        one.full_name: [base.full_name for base in bases]
        for one, bases in lines
        if wanted is None or wanted is one or wanted in bases
    }


async def _attributes(call: Call) -> dict[str, list[str]]:
    wanted = call.filter
    return {one.full_name: list(one.attributes) for one in _asked_for(wanted) if wanted in (None, one)}


async def _type_operations(call: Call) -> dict[str, list[str]]:
    wanted = call.filter
    return {one.full_name: list(one.operations) for one in _asked_for(wanted) if wanted in (None, one)}


async def _annotations(_call: Call) -> dict[str, Any]:
    return {}


async def _schema(_call: Call) -> dict[str, Any]:
    return schema_map()


async def _json_schema(call: Call) -> str:
    indent = call.number("indent")
    if indent is not None and not 0 <= indent <= INDENT_MAX:
        raise BadRequest(f"indent: {indent} is not from 0 to {INDENT_MAX}")
    return json.dumps(schema_map(), indent=indent)


async def _profile(call: Call) -> None:
    if "start" in call.properties:
        raise NotImplementedHere(_NO_PROFILER)
    raise BadRequest("Profiler not started")
