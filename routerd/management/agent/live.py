"""What runs now: connections, links, addresses and their like, by the numbers that the log has (3.3, 4.2)."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from routerd.config import ConfiguredEntity, configurable, find_entity_type
from routerd.config.kinds import ADDRESS, AUTO_LINK, BINDING, EXCHANGE, LINK_ROUTE, ROUTER
from routerd.config.schema import CONNECTION, CONSOLE, ROUTER_ADDRESS, ROUTER_LINK, EntityType
from routerd.management.agent.address_creation import create_address
from routerd.management.agent.call import Call
from routerd.management.agent.columns import Columns, as_map, cells
from routerd.management.agent.config_columns import (
    CONFIG_ADDRESS_COLUMNS,
    OTHER_CONFIG_TYPES,
    other_columns,
    use_columns,
)
from routerd.management.agent.connection_changes import update_connection
from routerd.management.agent.container_uses import use_rows
from routerd.management.agent.entity_index import LIVE_NAME, NUMBER, EntityIndex
from routerd.management.agent.exchange_creation import create_binding, create_exchange
from routerd.management.agent.exchanges import binding_rows, exchange_rows
from routerd.management.agent.numbered_creation import create_numbered
from routerd.management.agent.problems import check_unsupported
from routerd.management.agent.query import Pages, result
from routerd.management.agent.refusals import BadRequest, Forbidden, NotFound, Refusal, not_implemented
from routerd.management.agent.removal import delete
from routerd.management.agent.router_columns import ROUTER_COLUMNS, router_row
from routerd.management.agent.traffic_columns import (
    ADDRESS_COLUMNS,
    CONNECTION_COLUMNS,
    LINK_COLUMNS,
    address_sums,
    halves_joined,
    is_of_client,
)
from routerd.management.agent.use_creation import create_auto_link, create_link_route
from routerd.management.backing import Backing
from routerd.management.messages import Answer

NO_TARGET = "No name or identity provided"

Gather = Callable[[Backing, Collection[Any]], Awaitable[Sequence[Any]]]
Show = Callable[[Sequence[ConfiguredEntity], Backing], Awaitable[Sequence[Any]]]
"""Returns the rows of configured entities."""


class Create(Protocol):
    """Has the router take a new entity, and returns it."""

    def __call__(self, call: Call, *, backing: Backing, index: EntityIndex) -> Awaitable[ConfiguredEntity]:
        """Do what a request wants; raises BadRequest, ChangeRefused."""


Update = Callable[[Call, Backing], Awaitable[dict[str, Any]]]
"""Does what a request wants, and returns what its target is then."""


@dataclass(frozen=True, slots=True)
class _LiveType:
    """What clients can see of a type, and what they can't do with it."""

    type: EntityType
    columns: Columns
    gather: Gather
    forbidden: frozenset[str] = field(default=frozenset(), kw_only=True)
    create: Create | None = field(default=None, kw_only=True)
    update: Update | None = field(default=None, kw_only=True)
    show: Show | None = field(default=None, kw_only=True)
    """For configured entities that are not their own rows."""
    is_read_by_name: bool = field(default=True, kw_only=True)
    no_target: Callable[[], Refusal] = field(default=lambda: BadRequest(NO_TARGET), kw_only=True)
    """Why a request that names none is not done."""


async def _router(backing: Backing, names: Collection[Any]) -> Sequence[Any]:
    return [await router_row(backing, names)]


async def _connections(backing: Backing, _names: Collection[Any]) -> Sequence[Any]:
    # Like qdrouterd: a connection is there once both ends have opened it.
    return [row for row in await backing.connections() if is_of_client(row) and row.is_open]


async def _links(backing: Backing, _names: Collection[Any]) -> Sequence[Any]:
    return halves_joined(await backing.links())


async def _addresses(backing: Backing, _names: Collection[Any]) -> Sequence[Any]:
    return address_sums(await backing.addresses())


def _configured(entity_type: EntityType) -> Gather:
    async def gather(backing: Backing, _names: Collection[Any]) -> Sequence[Any]:
        return [one for one in backing.entities if one.type is entity_type]

    return gather


async def _link_routes(backing: Backing, _names: Collection[Any]) -> Sequence[Any]:
    return await use_rows([one for one in backing.entities if one.type is LINK_ROUTE], backing)


async def _auto_links(backing: Backing, _names: Collection[Any]) -> Sequence[Any]:
    return await use_rows([one for one in backing.entities if one.type is AUTO_LINK], backing)


async def _exchanges(backing: Backing, _names: Collection[Any]) -> Sequence[Any]:
    return await exchange_rows([one for one in backing.entities if one.type is EXCHANGE], backing)


async def _bindings(backing: Backing, _names: Collection[Any]) -> Sequence[Any]:
    return await binding_rows([one for one in backing.entities if one.type is BINDING], backing)


async def _update_connection(call: Call, backing: Backing) -> dict[str, Any]:
    return await update_connection(call, backing, await _connections(backing, ()))


async def _update_link(call: Call, backing: Backing) -> dict[str, Any]:
    if not isinstance(call.body, Mapping) or "adminStatus" not in call.body or (call.identity or call.name) is None:
        raise BadRequest("Bad Request")
    # The value says nothing, as in the routers that these clients know.
    return as_map(LINK_COLUMNS, row_wanted(call, LINK_COLUMNS, await _links(backing, ())))


async def _none(_backing: Backing, _names: Collection[Any]) -> Sequence[Any]:
    return ()


_ALL = (
    _LiveType(ROUTER, ROUTER_COLUMNS, _router, forbidden=frozenset({"CREATE", "READ", "DELETE"})),
    _LiveType(
        CONNECTION,
        CONNECTION_COLUMNS,
        _connections,
        forbidden=frozenset({"DELETE"}),
        update=_update_connection,
        is_read_by_name=False,
    ),
    _LiveType(ROUTER_LINK, LINK_COLUMNS, _links, update=_update_link),
    _LiveType(ROUTER_ADDRESS, ADDRESS_COLUMNS, _addresses, no_target=NotFound),
    _LiveType(ADDRESS, CONFIG_ADDRESS_COLUMNS, _configured(ADDRESS), create=create_address),
    _LiveType(LINK_ROUTE, use_columns(LINK_ROUTE), _link_routes, create=create_link_route, show=use_rows),
    _LiveType(AUTO_LINK, use_columns(AUTO_LINK), _auto_links, create=create_auto_link, show=use_rows),
    _LiveType(EXCHANGE, use_columns(EXCHANGE), _exchanges, create=create_exchange, show=exchange_rows),
    _LiveType(
        BINDING,
        use_columns(BINDING),
        _bindings,
        create=create_binding,
        show=binding_rows,
        no_target=lambda: BadRequest("No binding name or identity provided"),
    ),
    *(_LiveType(one, other_columns(one), _configured(one)) for one in OTHER_CONFIG_TYPES),
    _LiveType(CONSOLE, {}, _none, forbidden=frozenset({"QUERY", "CREATE", "READ", "UPDATE", "DELETE"})),
)
_LIVE_TYPES: Mapping[str, _LiveType] = {one.type.name: one for one in _ALL}


def live_type(call: Call) -> EntityType | None:
    """Return the type, if it is one whose live view a request is about.

    To look at them, the operation has to be in capitals; otherwise the general view answers. The general view also
    answers for `router` without its prefix, with what the live view has and what is configured.
    """
    operation = call.operation
    if operation not in ("CREATE", "UPDATE", "DELETE") and not (operation in ("QUERY", "READ") and call.is_exact):
        return None
    name = call.filter_name or call.type_name
    found = None if name is None else find_entity_type(name)
    if found is None or found.name not in _LIVE_TYPES or (found is ROUTER and name != ROUTER.full_name):
        return None
    return found


def live_columns(entity_type: EntityType) -> tuple[str, ...]:
    """Return what the live view has of a type, nothing if it has it not."""
    live = _LIVE_TYPES.get(entity_type.name)
    return () if live is None else tuple(live.columns)


class LiveView:
    """Answers for what runs now."""

    def __init__(self, backing: Backing, index: EntityIndex, pages: Pages) -> None:
        self._backing = backing
        self._index = index
        self._pages = pages
        self._operations: Mapping[str, Callable[[Call, _LiveType], Awaitable[Answer]]] = {
            "QUERY": self._query,
            "READ": self._read,
            "CREATE": self._create,
            "UPDATE": self._update,
            "DELETE": self._delete,
        }

    async def answer(self, call: Call, entity_type: EntityType) -> Answer:
        """Answer a request about a type of the live view."""
        live = _LIVE_TYPES[entity_type.name]
        if call.operation in live.forbidden:
            raise Forbidden()
        return await self._operations[call.operation](call, live)

    async def _query(self, call: Call, live: _LiveType) -> Answer:
        names = call.attribute_names or list(live.columns)
        view = f"live {live.type.name}"
        rows = await self._pages.page(call, view, names, lambda: live.gather(self._backing, names))
        return Answer(200, "OK", result(names, cells(live.columns, names, rows)))

    async def _read(self, call: Call, live: _LiveType) -> Answer:
        if not live.is_read_by_name and call.identity is None and call.name is not None:
            raise BadRequest("Name not supported. Identity required")
        return Answer(200, "OK", await self._shown(live, await self._target(call, live)))

    async def _shown(self, live: _LiveType, row: Any) -> dict[str, Any]:
        if live.show is not None:
            [row] = await live.show([row], self._backing)
        return as_map(live.columns, row)

    async def _create(self, call: Call, live: _LiveType) -> Answer:
        if "CREATE" not in live.type.operations:
            raise not_implemented(call.operation, live.type)
        if configurable(live.type) is None:
            check_unsupported(call, live.type)
        create = live.create or partial(create_numbered, entity_type=live.type)
        entity = await create(call, backing=self._backing, index=self._index)
        return Answer(201, "Created", await self._shown(live, entity))

    async def _update(self, call: Call, live: _LiveType) -> Answer:
        if live.update is None:
            raise not_implemented(call.operation, live.type)
        return Answer(200, "OK", await live.update(call, self._backing))

    async def _delete(self, call: Call, live: _LiveType) -> Answer:
        if "DELETE" not in live.type.operations:
            raise not_implemented(call.operation, live.type)
        await delete(await self._target(call, live), self._backing, self._index)
        return Answer(204, "No Content", {})

    async def _target(self, call: Call, live: _LiveType) -> Any:
        """Return the row that a request is about."""
        if call.identity is None and call.name is None:
            raise live.no_target()
        if live.type.is_numbered:
            return self._configured(call, live.type)
        return row_wanted(call, live.columns, await live.gather(self._backing, ()))

    def _configured(self, call: Call, entity_type: EntityType) -> ConfiguredEntity:
        if call.identity is not None:
            found = self._index.find(NUMBER, entity_type.name, call.identity)
        else:
            found = self._index.find(LIVE_NAME, entity_type.name, call.name or "")
        if found is None:
            raise NotFound()
        return found


def row_wanted(call: Call, columns: Columns, rows: Sequence[Any]) -> Any:
    """Return the row that a request names: identity comes before name."""
    wanted, column = (call.name, "name") if call.identity is None else (call.identity, "identity")
    read = columns[column]
    for row in rows:
        if read(row) == wanted:
            return row
    raise NotFound()


def failure_body(operation: str, status: int) -> Any:
    """Return the body of an answer that says no."""
    if operation == "QUERY":
        return result((), [])
    return None if operation == "CREATE" or (operation == "READ" and status == 403) else {}
