"""Writes docs/configuration.md from the schema: `python -m routerd.config.document [FILE]`."""

import sys
from collections.abc import Iterator
from pathlib import Path

from routerd.config.catalogue import SECTIONS
from routerd.config.connection_attributes import MESSAGE_COMPONENTS, RESERVED_PREFIXES, RESERVED_PROPERTIES
from routerd.config.connector import INTER_ROUTER_MAX
from routerd.config.connector_section import USABLE_MECHANISMS
from routerd.config.schema.logs import LOG_LEVELS
from routerd.config.schema.model import Attribute, EntityType, ValueType
from routerd.config.ssl_profile import DEFAULT_PROTOCOLS, PROTOCOLS, UID_LETTERS_MAX

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "configuration.md"

_INTRODUCTION = """# The configuration file

<!-- Written by `python -m routerd.config.document` from the management schema; a test compares. -->

`routerd -c FILE` reads one file. A file whose name ends in `.json` is in the JSON form, all others are in the line
form. They can say the same. [configs/](../configs/) has examples.

## The line form

```
# A comment
router {
    id: Router.A
}
listener {
    port: amqp        # a comment here, too
    openProperties: {
        "site": {"name": "north"}
    }
}
```

* A section begins with `name {` and ends with `}`, an attribute is `name: value`, each in a line of its own.
* Blanks around `:` and before `{` do not matter. Values stand without quotes, from the first character to the last that
  is no blank. There is no empty value.
* `#` begins a comment, in the midst of a value too. Only `pattern`, `bindingKey` and `hostname` can have it in their
  values; these end at the first blank.
* A backslash is written as two, a `"` as `\\"`; `\\t` and `\\u0041` are as in JSON.
* `groups` and `openProperties` are maps in JSON, in any layout. A comma behind the last member does no harm.

## The JSON form

```json
# A comment
[
    ["router", {"id": "Router.A"}],
    ["listener", {"port": 5672, "openProperties": {"site": {"name": "north"}}}]
]
```

A list of sections, each a list of its name and a map. Lines that begin with `#` are left out.

## In both forms

* Names may be written `likeThis` or `like-this`.
* Yes and no: `yes`, `true`, `on` and `no`, `false`, `off`, in capitals or not; in JSON also `true` and `false`.
* Of several words, one may also be given by its number, from 0: `mode: 0`.
* An attribute that is given twice has its last value, and there is a warning.
* The old names of attributes still work, with a warning; giving both names is an error.
* Everything that is wrong is reported, each in a line with file, line, section, attribute and what would be right. The
  router does not start then. `routerd --check -c FILE` does only this.
"""

_EXAMPLES: dict[str, str] = {
    "router": """router {
    id: Router.A
    defaultDistribution: balanced
    metadata: Rack 4
}
""",
    "listener": """# For clients on this host.
listener {
    host: 127.0.0.1
    port: 5672
}
# For clients in a network that is trusted; with an actor of its own.
listener {
    name: outside
    port: 5673
    maxFrameSize: 65536
    linkCapacity: 1000
    dedicatedActor: yes
}
""",
    "connector": """router {
    id: Router.A
    mode: interior
}
# For other routers, which have such connectors.
listener {
    port: 55672
    role: inter-router
}
# To another router, which has such a listener.
connector {
    name: north
    host: north.example.com
    port: 55672
    role: inter-router
    cost: 10
}
# To a server that sends and receives messages.
connector {
    host: server.example.com
    port: amqp
    saslMechanisms: ANONYMOUS
}
""",
    "authServicePlugin": """authServicePlugin {
    name: identity
    host: identity.example.com
    port: 5672
    realm: example.com
}
# Whoever connects here is who that service says.
listener {
    port: 5672
    authenticatePeer: yes
    saslPlugin: identity
}
""",
    "sslProfile": """sslProfile {
    name: clients
    certFile: /etc/routerd/router.crt
    privateKeyFile: /etc/routerd/router.key
}
sslProfile {
    name: routers
    caCertFile: /etc/routerd/authorities.crt
    certFile: /etc/routerd/router.crt
    privateKeyFile: /etc/routerd/router.key
    protocols: TLSv1.3
    uidFormat: n
}
listener {
    port: amqps
    sslProfile: clients
    requireSsl: yes
}
# Whoever connects here shows a certificate of one of the authorities.
listener {
    port: 55671
    sslProfile: routers
    requireSsl: yes
    saslMechanisms: EXTERNAL
    authenticatePeer: yes
}
connector {
    host: other.example.com
    port: 55671
    sslProfile: routers
    saslMechanisms: EXTERNAL
}
""",
    "address": """address {
    prefix: news
    distribution: multicast
}
address {
    pattern: orders.*.urgent/#
    distribution: closest
    priority: 8
}
""",
    "log": """log {
    module: DEFAULT
    enable: notice+
    outputFile: /var/log/routerd.log
}
log {
    module: PROTOCOL
    enable: trace+
}
""",
    "record": """record {
    level: sampled
    directory: /var/lib/mobula/records
    retentionHours: 720
}
""",
}

_EXAMPLES |= {
    "policy": """policy {
    maxConnections: 10000
    enableVhostPolicy: yes
}
""",
    "vhost": """policy {
    enableVhostPolicy: yes
}
vhost {
    hostname: $default
    maxConnectionsPerHost: 100
    allowUnknownUser: yes
    groups: {
        "operators": {
            "users": "ann, bob",
            "remoteHosts": "10.0.0.1-10.0.0.9, ::1",
            "allowDynamicSource": true,
            "sources": "*",
            "targets": "*"
        },
        "$default": {
            "remoteHosts": "*",
            "maxMessageSize": 1048576,
            "sources": "events.*, inbox.${user}",
            "targetPattern": "inbox.*"
        }
    }
}
""",
}

_NOTES = {
    "router": """There is one such section. Without it the router is by itself and makes up its name at each start.

`managementAccess` says what requests to management may do. `policy`, the default, is what the policy of vhosts allows;
without `enableVhostPolicy: yes` in the section `policy`, requests may only read. `change` allows everybody to change
everything where there is no such policy. `read` allows nobody to change anything, whatever policy says.

`managementFileDir` is the folder that has every file which requests may name: passwords as `file:PATH`, files of an
`sslProfile`, of a log, and of records. Links and `..` are followed before that is looked at. `/` is all files.
[security.md](security.md#what-management-can-make-the-router-do) says what requests can do.""",
    "listener": f"""A link beyond `maxLinks` is refused with `amqp:resource-limit-exceeded`. The connection and its
other links stay. A client loses its connection if it leaves 1000 links that were refused so without a detach. Where a
policy holds, `maxSenders` and `maxReceivers` of its groups bound the links of a connection, too.

Two listeners with the same host and port are an error. A listener without a name is
known by host and port. In a router with mode `standalone` no listener has role `inter-router` or `edge`.

`failoverUrls` are `[scheme://]host[:port]` with commas between them, `saslMechanisms` names with blanks between them.
`messageLoggingComponents` are of {", ".join(f"`{one}`" for one in MESSAGE_COMPONENTS)}.

`openProperties` can't have the keys {", ".join(f"`{one}`" for one in RESERVED_PROPERTIES)}, nor keys that begin with
{" or ".join(f"`{one}`" for one in RESERVED_PREFIXES)}.""",
    "connector": f"""A connector without a name is known by host and port; no two have the same name, or none and the
same host and port. Several with names may lead to one place. The router connects again and again, for as long as the
connector is there.

What `role` can be depends on the `mode` of the router:

| mode | roles of listeners | roles of connectors |
|---|---|---|
| `standalone` | `normal` | `normal` |
| `interior` | `normal`, `inter-router`, `edge` | `normal`, `inter-router` |
| `edge` | `normal` | `normal`, `edge` |

Both ends of a connection between routers have the same role. A router has at most {INTER_ROUTER_MAX} connections with
role `inter-router`. `cost` counts for these; of the costs of both ends the higher one does.

`saslMechanisms` are names with blanks between them. Of {", ".join(f"`{one}`" for one in USABLE_MECHANISMS)} at least
one is among them; others are passed over. `PLAIN` needs `saslUsername` and `saslPassword`; for `GSSAPI`, `saslUsername`
says whose ticket it is. A password is written as

* `env:NAME`, to be found in a variable of the environment,
* `file:PATH`, to be found in the first line of a file,
* `pass:TEXT`, or as it is, with a warning.

It is looked for once, when the file is read. `openProperties` and `messageLoggingComponents` are as for listeners.""",
    "authServicePlugin": """A listener that names it as `saslPlugin` offers what the service offers, passes on what the
peer says, and believes what the service decides. See [security.md](security.md) for what a service has to do.""",
    "sslProfile": f"""Each has a `name`. A listener needs `certFile`; a connector without `caCertFile` trusts whom the
system trusts. `privateKeyFile` can be left out where `certFile` has the key, too. The password of a key is written as
for connectors, or as `literal:TEXT`. `protocols` are of {", ".join(f"`{one}`" for one in PROTOCOLS)}, with blanks
between them; without them it is {" and ".join(f"`{one}`" for one in DEFAULT_PROTOCOLS)}. `ciphers` hold up to TLS 1.2.

`uidFormat` has up to {UID_LETTERS_MAX} letters: `c` country, `s` state, `l` locality, `o` organisation, `u` unit, `n`
common name, `1`, `2` and `5` the SHA-1, SHA-256 and SHA-512 fingerprints. The user of a certificate is these parts with
`;` between them, or the whole subject. `uidNameMappingFile` is a JSON object from such users to others.

Files that are missing or wrong stop the start. Files that change are used for new connections.
[security.md](security.md) says more.""",
    "address": """Each section has either `prefix` or `pattern`; a prefix `p` is the pattern `p/#`. Words stand
between `.` or `/`, which are the same here. `*` is one word, `#` any number of words. Of the patterns that match an
address the most exact counts: word by word, a plain word comes before `*`, and that before `#`. No two sections can
have the same pattern.""",
    "record": """There is at most one such section; all of it can be changed at run time. The option `record_directory`
of the process takes the place of `directory`; without a section it records at level `sampled`.
[recording.md](recording.md) says what it costs and how to study what has been recorded.""",
    "log": f"""The levels are {", ".join(f"`{one}`" for one in LOG_LEVELS)}, each higher than
the one before; they can be shortened, and several stand with blanks or commas between them. A module without a section,
or whose section leaves something out, is as DEFAULT; DEFAULT has `info+`, timestamps, no
sources and `stderr` where it says nothing itself.""",
}


_NOTES |= {
    "policy": """There is one such section. `maxConnections` holds always, what vhosts say only with
`enableVhostPolicy: yes`. `policyDir` names a folder: of every file in it whose name ends in `.json` the `vhost`
sections are read, and no others. With `enableVhostNamePatterns`, `*` is one word of a name and `#` any number of words.
[security.md](security.md#policy) tells what is held against what.""",
    "vhost": """`aliases` are names with commas between them; no two vhosts have a name in common. No user is named
in two groups. `groups` is a map of names and settings:

| setting of a group | value | default | meaning |
|---|---|---|---|
GROUP_ROWS

* `users` are names with commas between them; `*` is everybody who is named in no group. Users of no group are in
  `$default` where `allowUnknownUser` is true. The group `$connector` is for connections that the router makes.
* `remoteHosts` are addresses, ranges of them, names that are one address each, or `*`. Without it nobody gets in.
* Of `sources` and `sourcePattern`, and of `targets` and `targetPattern`, a group has one; without either it allows
  nothing. The first are names, or beginnings of names that end in `*`; the second are patterns, as of `address`.
  `${user}` is the user; in a pattern it is the first or the last word.
* 0 is no bound for `maxSenders`, `maxReceivers` and `maxMessageSize`, and as the listener has it for the sizes of
  frames, windows and sessions. Limits of connections are as they are: 0 lets nobody in.
* What is no setting is passed over with a warning. Of words only `true` is yes.""",
}


def document() -> str:
    """Return the document."""
    supported = [one for one in SECTIONS.values() if one.is_supported]
    later = [one for one in SECTIONS.values() if one.is_configurable and not one.is_supported]
    parts = [_INTRODUCTION, *map(_chapter, supported), _later(later)]
    return "\n".join(parts)


def examples() -> Iterator[tuple[str, str]]:
    """Yield section and text of each example."""
    yield from _EXAMPLES.items()


def _chapter(entity_type: EntityType) -> str:
    section = entity_type.section or ""
    settable = [one for one in entity_type.attributes.values() if one.is_settable and one.name != "type"]
    rows = "\n".join(map(_row, settable))
    groups = "\n".join(map(_row, SECTIONS["vhostUserGroupSettings"].own_attributes))
    notes = _NOTES[section].replace("GROUP_ROWS", groups)
    return f"""## `{section}`

{entity_type.description}

| attribute | value | default | meaning |
|---|---|---|---|
{rows}

{notes}

```
{_EXAMPLES[section]}```
"""


def _row(attribute: Attribute) -> str:
    meaning = attribute.description
    if attribute.old_name:
        meaning += f" Old name: `{attribute.old_name}`."
    if attribute.is_deprecated:
        meaning += " Deprecated."
    if not attribute.is_supported:
        meaning += " Not supported yet."
    if attribute.unsupported_tags:
        meaning += f" Not supported yet: {', '.join(f'`{one}`' for one in attribute.unsupported_tags)}."
    return f"| `{attribute.name}` | {_values(attribute)} | {_default(attribute)} | {meaning} |"


def _values(attribute: Attribute) -> str:
    if attribute.tags:
        return ", ".join(f"`{one}`" for one in attribute.tags)
    if attribute.type is ValueType.BOOLEAN:
        return "`yes`, `no`"
    if attribute.type is ValueType.INTEGER:
        return f"{attribute.allowed[0]}{f' ({attribute.unit})' if attribute.unit else ''}"
    return {ValueType.PATH: "path", ValueType.PROPERTIES: "map", ValueType.MAP: "map"}.get(attribute.type, "text")


def _default(attribute: Attribute) -> str:
    if attribute.is_required:
        return "required"
    if isinstance(attribute.default, bool):
        return "`yes`" if attribute.default else "`no`"
    return "" if attribute.default in (None, "") else f"`{attribute.default}`"


def _later(entity_types: list[EntityType]) -> str:
    rows = "\n".join(f"| `{one.section}` | {one.description} |" for one in entity_types)
    return f"""## Sections that are not supported yet

Their attributes are checked, and then they are refused.

| section | what it is for |
|---|---|
{rows}
"""


def main(arguments: list[str]) -> None:
    """Write the document to the file that is named, or to its place."""
    (Path(arguments[0]) if arguments else DOCUMENT).write_text(document(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
