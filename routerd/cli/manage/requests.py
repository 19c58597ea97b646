"""The subcommands of `routermanage`: what each asks of a management node, and what of the answer is printed."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from routerd.cli.manage.attribute_arguments import parse_attributes
from routerd.cli.manage.failures import WrongUse
from routerd.cli.manage.node import NODE_TYPE, Node
from routerd.cli.manage.schema_names import check_attributes, entity_type, full_type


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What was typed."""

    operation: str
    """In upper case."""
    type: str | None = None
    """In full."""
    name: str | None = None
    identity: str | None = None
    arguments: tuple[str, ...] = ()
    body: Any = None
    properties: Mapping[str, Any] | None = None
    given: Any = None
    """What stdin had, if it was to be read: a map, or a list of maps."""

    def target(self) -> dict[str, Any]:
        """Return the properties that say which entity is meant; the identity is enough of a name."""
        if self.identity is None and self.name is None:
            raise WrongUse(f"{self.operation.lower()} needs --name or --identity")
        properties = {"type": self.type, "identity": self.identity}
        if self.identity is None:
            properties["name"] = self.name
        return {name: value for name, value in properties.items() if value is not None}


Act = Callable[[Node], Any]
"""Asks a node, and returns what is to be printed: NOTHING, a text as it is, or a value as JSON."""

NOTHING = object()


def prepare(command: Command) -> Act:
    """Return what does what was typed; WrongUse if that makes no sense, before any router is asked."""
    return _PREPARERS.get(command.operation, _custom)(command)


def _query(command: Command) -> Act:
    for argument in command.arguments:
        if "=" in argument:
            raise WrongUse(f"query takes names of attributes, and {argument!r} is none")
    check_attributes(entity_type(command.type), command.arguments)

    def act(node: Node) -> Any:
        rows = node.query(command.type, command.arguments)
        return [{name: value for name, value in row.items() if value is not None} for row in rows]

    return act


def _read(command: Command) -> Act:
    _no_arguments(command)
    target = command.target()
    return lambda node: node.call("READ", target)


def _create(command: Command) -> Act:
    if command.given is not None:
        return _each(command.given, lambda one: _create_one(one, command))
    return _create_one(parse_attributes(command.arguments, entity_type(command.type)), command)


def _create_one(attributes: Mapping[str, Any], command: Command) -> Act:
    type_name = _type_of(attributes) or command.type
    if type_name is None:
        raise WrongUse("create needs --type, or a `type` among the attributes")
    name = attributes.get("name") if command.name is None else command.name
    properties = {"type": type_name} if name is None else {"type": type_name, "name": name}
    body = {key: value for key, value in attributes.items() if key not in ("type", "name")}
    return lambda node: node.call("CREATE", properties, body)


def _update(command: Command) -> Act:
    if command.given is not None:
        return _each(command.given, lambda one: _update_one(one, command))
    if not command.arguments:
        raise WrongUse("update needs NAME=VALUE arguments, or --stdin")
    attributes = parse_attributes(command.arguments, entity_type(command.type), is_update=True)
    target = command.target()
    return lambda node: node.call("UPDATE", target, attributes)


def _update_one(attributes: Mapping[str, Any], command: Command) -> Act:
    target = replace(
        command,
        type=_type_of(attributes) or command.type,
        name=attributes.get("name", command.name),
        identity=attributes.get("identity", command.identity),
    ).target()
    body = {key: value for key, value in attributes.items() if key not in ("type", "name", "identity")}
    return lambda node: node.call("UPDATE", target, body)


def _delete(command: Command) -> Act:
    _no_arguments(command)
    target = command.target()

    def act(node: Node) -> Any:
        node.call("DELETE", target)
        return NOTHING

    return act


def _about_types(command: Command) -> Act:
    if len(command.arguments) > 1:
        raise WrongUse(f"{command.operation.lower()} takes one type")
    wanted = full_type(command.arguments[0]) if command.arguments else command.type
    return lambda node: node.ask(command.operation, entityType=wanted)


def _management_nodes(command: Command) -> Act:
    _no_arguments(command)
    return lambda node: node.ask(command.operation)


def _custom(command: Command) -> Act:
    properties = {**parse_attributes(command.arguments), **(command.properties or {})}
    for name in ("type", "name", "identity"):
        value = getattr(command, name)
        if value is not None:
            properties.setdefault(name, value)
    if properties.keys().isdisjoint(("type", "name", "identity")):
        # It is meant for the node itself.
        properties = {"type": NODE_TYPE, "name": "self", **properties}

    def act(node: Node) -> Any:
        answer = node.call(command.operation, properties, command.body)
        return NOTHING if answer is None or answer == "" else answer

    return act


def _each(given: Any, prepare_one: Callable[[Mapping[str, Any]], Act]) -> Act:
    if isinstance(given, Mapping):
        return prepare_one(given)
    if isinstance(given, list) and all(isinstance(one, Mapping) for one in given):
        acts = [prepare_one(one) for one in given]
        return lambda node: [act(node) for act in acts]
    raise WrongUse("stdin has to hold a JSON map or a list of maps")


def _type_of(attributes: Mapping[str, Any]) -> str | None:
    name = attributes.get("type")
    return full_type(name) if isinstance(name, str) else None


def _no_arguments(command: Command) -> None:
    if command.arguments:
        raise WrongUse(f"{command.operation.lower()} takes no arguments, and there is {command.arguments[0]!r}")


_PREPARERS: dict[str, Callable[[Command], Act]] = {
    "QUERY": _query,
    "READ": _read,
    "CREATE": _create,
    "UPDATE": _update,
    "DELETE": _delete,
    "GET-TYPES": _about_types,
    "GET-ATTRIBUTES": _about_types,
    "GET-OPERATIONS": _about_types,
    "GET-ANNOTATIONS": _about_types,
    "GET-MGMT-NODES": _management_nodes,
}
CUSTOM = ("GET-SCHEMA", "GET-JSON-SCHEMA", "GET-LOG", "PROFILE")
"""Operations that are sent as they are typed, and known to exist."""
OPERATIONS: Sequence[str] = tuple(one.lower() for one in (*_PREPARERS, *CUSTOM))


def parse_json(text: str, what: str) -> Any:
    """Return a JSON value that was given; WrongUse if it is none."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise WrongUse(f"{what} is not JSON: {error}") from None
