"""Writes docs/management.md from the schema and the examples: `python -m routerd.management.document [FILE]`."""

import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from routerd.config import ALL_TYPES, CHANGES, CONFIGURABLES, Configurable
from routerd.config.schema import CONNECTION_LINK_ROUTE, Attribute, EntityType, Purpose, Rights
from routerd.management.agent.live import live_columns
from routerd.management.agent.node_operations import INDENT_MAX
from routerd.management.agent.query import SNAPSHOT_AGE_S
from routerd.management.examples import EXAMPLES, Example

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "management.md"

_INTRODUCTION = f"""# Management

<!-- Written by `python -m routerd.management.document` from the management schema; a test compares. -->

AMQP messages watch and change a router: requests to its management node, and answers. The commands `routerstat`,
`routermanage`, `qdstat` and `qdmanage` work like this. Programs can do the same with any AMQP client.
[configuration.md](configuration.md) describes all attributes that can be configured.

## Addresses

| address | reaches |
|---|---|
| `$management` | the router that the client is connected to |
| `_local/$management` | the same, also from a listener with `multiTenant` |
| `_local/$_management_internal` | the same, as qdrouterd has it |
| `_topo/0/ID/$management` | the router with this id |

## Requests

The client has a receiver with a dynamic source, and a sender to one of these addresses. A request is a message with

* `reply-to`: the address of that receiver. A request without it has no answer;
* `correlation-id`, if the client wants one back: any that AMQP has;
* application-properties, which say what is asked;
* a body that is an AMQP value: a map of attributes, or for QUERY a map with `attributeNames`.

| application-property | of | says |
|---|---|---|
| `operation` | all | what to do |
| `type` | CREATE, READ, UPDATE, DELETE | the type of the entity |
| `name`, `identity` | READ, UPDATE, DELETE | which entity |
| `name` | CREATE | what it is to be called; the body may say it as well |
| `entityType` | QUERY, GET-... | the type that the answer is about |
| `offset`, `count` | QUERY | how many rows are left out, and how many come; all with a `count` of 0 |
| `limit` | GET-LOG | how many lines, the newest; all without it |
| `indent` | GET-JSON-SCHEMA | how far to indent the text, 0 to {INDENT_MAX} |

Operations may be written in small letters and with `_` for `-`; but see *Two views*. Types are named in full, without
`org.apache.qpid.dispatch.` and `org.mobula.`, or by their section in the configuration file: `address` is
`org.apache.qpid.dispatch.router.config.address`.

With python-qpid-proton:

```python
from proton import Message
from proton.utils import BlockingConnection, SyncRequestResponse

node = SyncRequestResponse(BlockingConnection("localhost:5672"), "$management")
answer = node.call(Message(
    properties={{"operation": "QUERY", "entityType": "org.apache.qpid.dispatch.connection",
                "type": "org.amqp.management", "name": "self"}},
    body={{"attributeNames": ["identity", "host"]}},
))
print(answer.properties["statusCode"], answer.body["results"])
```

## Answers

The answer has the `correlation-id` of the request, the application-properties `statusCode` (an int) and
`statusDescription` (a sentence), and a body that is an AMQP value. It comes settled. The request itself is accepted
when its answer is on its way, whatever that says. Until then it counts for the credit of its sender, and senders take
turns. A request is released where its sender leaves too many answers waiting: give credit to the link for answers.

| status | sentence | when |
|---|---|---|
| 200 | OK | all is well, and neither of the two below |
| 201 | Created | CREATE |
| 204 | No Content | DELETE |
| 400 | what is wrong | the request is wrong, does not fit what there is, or the router refuses the change |
| 403 | Forbidden, or what forbids it | nobody may do this, or the router's section does not allow it |
| 404 | Not Found, or what was not found | no such entity; in the general view, no such attribute |
| 500 | what went wrong | part of the router gave no answer in time, or the router has a fault |
| 501 | Operation ... not implemented for ... | the type has no such operation; the list says which it has |
| 503 | why nobody answers | the part that answers is being started, or has died; a change says whether it may be made |

A level of the log that there is not has status 500 too, as with other routers. After 400 and above nothing
is changed, save where the sentence of a 503 says that it is not known.
A change takes effect in all connection actors or in none.

## Two views

Of some types there are two views, as in other routers of this kind.

* The **live view** has the connections, links and addresses of now, by numbers. The identity of a connection or link
  is its number in the log, `[C7]` or `[L12]`. The view answers for `router`, `connection`, `router.link`,
  `router.address`, `router.config.*` and `router.connection.linkRoute`, if QUERY and READ are written in capitals. A
  map has all columns, those that are null too. A column that there is not is null.
* The **general view** has what has a name: listeners, connectors, modules of the log, `logStats/AGENT`, the routers of
  the network as `router.node/ID`. It answers for all other types; for those above if the operation is in small letters,
  and then has what the configuration file says, as `address/0`; and for all that it has if there is no type. A map
  leaves out what is null. A query leaves out entities that have null in all columns, and refuses attributes that the
  type has not.
* `router` without its prefix is the general view: what is configured, and what is counted beside it.

Numbers are AMQP ints in the general view, or longs where an int is too small; in the live view they are uint, ulong,
int or long, by attribute.

## Link routes of a connection

A peer of any role can ask the router to route links to it. Examples are a container that comes and goes, and an edge
router for its containers. The peer makes entities of `router.connection.linkRoute` by CREATE, with `pattern`,
`direction` and perhaps `name`. It ends them by DELETE. Links are routed at once, by all workers and all routers. Only
the peer's connection sees such a link route, by READ and QUERY. The link route ends with the connection. Links that are
routed stay.

* The request has to come on a link whose target is `$management` of this router, and its operation in capitals. What
  comes to another router, or on a link without an address, is not of the connection and refused.
* `managementAccess` has to allow changes, except to edge routers, and policy `allowDynamicLinkRoutes`.
* Two may have one name, or one pattern: the identity tells them apart. A connection has 1000 at most.

## Names

An identity is given by the router and stays. That of a topic, of its publishers and of its subscriptions is made of
names: `topic/ADDRESS`, `publisher/ADDRESS/CONTAINER/LINK` and `subscription/ADDRESS/CONTAINER/LINK`. In names of
clients `%` is written as `%25`, and `/` as `%2F`.

A name is given by whoever creates the entity; without one the identity stands in for it. No two listeners or connectors
have one name or identity, no two addresses one name or pattern. Passwords are shown to nobody.

## Pages

A client that asks for page after page with `offset` and `count` gets the rows of the moment of its first request. It
has to ask for the next page within {SNAPSHOT_AGE_S:.0f} s, with the same type and attributes, where the last one ended.
No row is left out or told twice because an entity came or went. The rows are in the order in which the entities were
made.
"""

_OPERATIONS = """## Operations

| operation | what it does | body of the answer |
|---|---|---|
| QUERY | tells attributes of all entities of a type | a map: `attributeNames`, and `results`, a list of rows |
| READ | tells all of one entity; without a name, of the management node | a map of attributes |
| CREATE | makes an entity with the attributes in the body | a map of attributes |
| UPDATE | gives attributes the values in the body | a map of attributes |
| DELETE | ends an entity | an empty map |
| GET-TYPES | tells the types; with `entityType` those built on it | a map: the types that each is built on |
| GET-ATTRIBUTES | tells the attributes of the types | a map of lists |
| GET-OPERATIONS | tells the operations of the types | a map of lists |
| GET-ANNOTATIONS | tells nothing, as there are none | an empty map |
| GET-MGMT-NODES | tells the management nodes of all interior routers, its own first | a list; empty if it is none |
| GET-SCHEMA | tells the schema | a map: `prefix`, and `entityTypes` by short names |
| GET-JSON-SCHEMA | tells the same as text | JSON |
| GET-LOG | tells the last lines of the log of all processes | a list of lists, the oldest first |
| PROFILE | is refused: there is no profiler built in | |

Without `entityType` these answers have only what other routers of this kind have, too: tools compare them. A request
for what begins with `org.mobula.` names it.

A line of the log is a list of module, level, text, file, line and the seconds since 1970. To profile, a sampling
profiler such as py-spy needs the `pid` of a connection actor.

Without a policy everybody may read, and nobody may change anything: CREATE, UPDATE and DELETE have status 403, and the
sentence names the setting. `managementAccess: change` in the section `router` allows changes to everybody who reaches
the router, as `qdrouterd` does. Where `enableVhostPolicy` is `yes`, policy says who may change what. Requests name
files of `managementFileDir` alone. [security.md](security.md#what-management-can-make-the-router-do) says more.

What can be changed while the router runs:

CHANGES_BY_KIND
* UPDATE of `connection`, by its identity: `adminStatus` `deleted` closes it, `enableProtocolTrace` switches the trace
  of its frames.
* UPDATE of `router.link` takes `adminStatus`, and nothing comes of it.
* DELETE of `subscription`, by its identity, ends a subscription of a topic. Its link ends with `amqp:resource-deleted`.
  A client that is away is not told; when it comes back it has a new subscription. Publishers wait for the old one no
  longer.

## Examples

Each is `properties | body` and below it the answer. They were asked one after the other of a router with a listener
`clients`, an address `news` in its file, and two connections.
"""
_ATTRIBUTES = """## Attributes that the router sets

Those that are configured are in [configuration.md](configuration.md).
"""


def document() -> str:
    """Return the document."""
    shown = [one for one in ALL_TYPES if one.purpose is not Purpose.BASE and _counts(one)]
    parts = [
        _INTRODUCTION,
        _OPERATIONS.replace("CHANGES_BY_KIND", "\n".join(map(_changes, filter(_is_changeable, CONFIGURABLES)))),
        *map(_example, EXAMPLES),
        _types(),
        _ATTRIBUTES,
        *map(_chapter, shown),
    ]
    return "\n".join(parts)


def _is_changeable(kind: Configurable[Any]) -> bool:
    return kind.is_changeable


def _changes(kind: Configurable[Any]) -> str:
    *others, last = (one for one in kind.type.operations if one in CHANGES)
    operations = f"{', '.join(others)} and {last}" if others else last
    # Types with two views have section names that others have, too: `address`.
    name = kind.type.name if kind.type.is_numbered else kind.section
    return textwrap.fill(f"* {operations} of `{name}`. {kind.change_notes}".rstrip(), 118, subsequent_indent="  ")


def _example(example: Example) -> str:
    request, answer = example.request, example.answer
    asked = _json(request.properties) + ("" if request.body is None else f" | {_json(request.body)}")
    told = "" if answer.body in (None, {}) else f" | {_json(answer.body)}"
    return f"{example.title}\n\n```\n{asked}\n→ {answer.status} {answer.description}{told}\n```\n"


def _json(value: Any) -> str:
    return json.dumps(value)


def _types() -> str:
    rows = "\n".join(map(_type_row, (one for one in ALL_TYPES if one.purpose is not Purpose.BASE)))
    return f"""## Types

| type | operations | what it is |
|---|---|---|
{rows}
"""


def _type_row(entity_type: EntityType) -> str:
    operations = ", ".join(entity_type.operations)
    return f"| `{entity_type.full_name}` | {operations} | {entity_type.description}{_support(entity_type)} |"


def _support(entity_type: EntityType) -> str:
    if entity_type is CONNECTION_LINK_ROUTE:
        return " [Its own section](#link-routes-of-a-connection) says how."
    is_missing = entity_type.purpose is Purpose.CONFIGURATION and not entity_type.is_supported
    return " Not supported yet." if is_missing else ""


def _counts(entity_type: EntityType) -> bool:
    is_there = entity_type.purpose is Purpose.OPERATIONAL or entity_type.is_supported
    return is_there and any(True for _ in _shown_attributes(entity_type))


def _shown_attributes(entity_type: EntityType) -> Iterator[tuple[str, Attribute | None]]:
    """Yield what is shown and not configured, by its name: that of the schema, then what only the live view has."""
    for one in entity_type.own_attributes:
        is_configured = entity_type.purpose is not Purpose.OPERATIONAL and one.is_settable
        if not is_configured:
            yield one.name, one
    for name in live_columns(entity_type):
        if name not in entity_type.attributes and name not in entity_type.old_names:
            yield name, None


def _chapter(entity_type: EntityType) -> str:
    rows = "\n".join(_row(name, one) for name, one in _shown_attributes(entity_type))
    return f"""### `{entity_type.full_name}`

{entity_type.description}

| attribute | value | meaning |
|---|---|---|
{rows}
"""


_BEYOND_SCHEMA = {
    "linksBlocked": ("integer", "Links without credit for 10 s now."),
    "active": ("boolean", "Whether an edge router uses this connection; true for all others."),
    "connectionId": ("text", "The identity of its connection."),
    "fallback": ("boolean", "`enableFallback`, as the live view calls it."),
}


def _row(name: str, attribute: Attribute | None) -> str:
    if attribute is None:
        value, meaning = _BEYOND_SCHEMA[name]
        return f"| `{name}` | {value} | {meaning} Not in the schema. |"
    if attribute.tags:
        value = ", ".join(f"`{tag}`" for tag in attribute.tags)
    else:
        value = "text" if attribute.type.value in ("string", "entityId") else attribute.type.value
    unit = f" ({attribute.unit})" if attribute.unit else ""
    changed = " It can be changed." if Rights.UPDATE in attribute.rights else ""
    return f"| `{name}` | {value}{unit} | {attribute.description}{changed} |"


def main(arguments: list[str]) -> None:
    """Write the document to the file that is named, or to its place."""
    (Path(arguments[0]) if arguments else DOCUMENT).write_text(document(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
