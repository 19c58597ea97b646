"""What a router does otherwise than qdrouterd with the same configuration file.

Each rule stands for a row of docs/differences.md, and finds the lines of a file that it is about. A test holds the
rules against the page, so that neither has a row that the other lacks.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from routerd.config.entities import entities_of
from routerd.config.entity import Entity, Findings
from routerd.config.errors import in_one_line
from routerd.config.file import read_sections, read_text
from routerd.config.kinds.connection_attributes import ROUTER_ROLES

WHOLE_FILE = (0,)
"""Stands for the lines where it is no line that says it."""

Lines = Sequence[int]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is different, and the lines that it is about."""

    lines: Lines
    text: str

    def told(self, file: str) -> str:
        """Return it as one line of text."""
        numbers = ", ".join(str(one) for one in self.lines if one)
        if not numbers:
            return f"{file}: {self.text}"
        return in_one_line(f"{file}: {'line' if len(self.lines) == 1 else 'lines'} {numbers}: {self.text}")


class _File:
    """The sections of a file."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        self._entities = entities

    def of(self, section: str) -> list[Entity]:
        return [one for one in self._entities if one.type.section == section]

    def says(self, section: str, attribute: str) -> bool:
        """Whether the file gives an attribute to a section."""
        return any(attribute in one.given for one in self.of(section))

    @property
    def router(self) -> Lines:
        """The line of the section `router`."""
        return tuple(one.line or 0 for one in self.of("router")) or WHOLE_FILE


@dataclass(frozen=True, slots=True)
class Rule:
    """A row of docs/differences.md, and where a file depends on it."""

    row: str
    """The text of its first cell, or the sentence of the page."""
    find: Callable[[_File], Lines]
    text: str
    is_of_drop_in: bool = False
    """Whether `--drop-in` takes it away."""


def _everywhere(file: _File) -> Lines:
    return WHOLE_FILE


def _unless_said(attribute: str) -> Callable[[_File], Lines]:
    """Return what finds the router where it does not say something itself."""
    return lambda file: () if file.says("router", attribute) else file.router


def _management(file: _File) -> Lines:
    if file.says("router", "managementAccess") or any(one.values["enableVhostPolicy"] for one in file.of("policy")):
        return ()
    return file.router


def _listeners(applies: Callable[[Entity], bool]) -> Callable[[_File], Lines]:
    return lambda file: [one.line or 0 for one in file.of("listener") if applies(one)]


def _given_in(section: str, attribute: str) -> Callable[[_File], Lines]:
    return lambda file: [one.given[attribute][1].line for one in file.of(section) if attribute in one.given]


def _without_profile(file: _File) -> Lines:
    known = {one.values["name"] for one in file.of("sslProfile")}
    listeners = (one for one in file.of("listener") if one.values["sslProfile"] is not None)
    return [one.given["sslProfile"][1].line for one in listeners if one.values["sslProfile"] not in known]


def _profiles_of_any_version(file: _File) -> Lines:
    return [one.line or 0 for one in file.of("sslProfile") if one.values["protocols"] is None]


def _is_for_clients(listener: Entity) -> bool:
    return listener.values["role"] not in ROUTER_ROLES


def _takes_http(listener: Entity) -> bool:
    return bool(listener.values["http"]) or listener.values["httpRootDir"] is not None


def _strips_nothing_in(listener: Entity) -> bool:
    return _is_for_clients(listener) and listener.values["stripAnnotations"] in ("no", "out")


RULES = (
    Rule(
        "requests to management change everything",
        _management,
        "router: requests to management only read; qdrouterd lets everybody change everything who reaches it."
        " managementAccess: change, or --drop-in, is the old way.",
        is_of_drop_in=True,
    ),
    Rule(
        "such requests name any file",
        _unless_said("managementFileDir"),
        "router: requests to management name no file; with qdrouterd they name any."
        " managementFileDir: /, or --drop-in, is the old way.",
        is_of_drop_in=True,
    ),
    Rule(
        "a listener whose `sslProfile` does not exist works without TLS",
        _without_profile,
        "listener.sslProfile: connections are refused; qdrouterd takes them without TLS."
        " Without sslProfile they are taken here, too.",
    ),
    Rule(
        "an `sslProfile` without `protocols` has all versions of TLS that OpenSSL has",
        _profiles_of_any_version,
        "sslProfile: TLS is of version 1.2 or 1.3; qdrouterd has older ones where OpenSSL does."
        " protocols: TLSv1 TLSv1.1 TLSv1.2 TLSv1.3 is the old way.",
    ),
    Rule(
        "a peer may be silent before its open for ever",
        _listeners(lambda one: not one.values["initialHandshakeTimeoutSeconds"]),
        "listener: a peer that has not opened after 60 s is cut off; qdrouterd waits for ever."
        " initialHandshakeTimeoutSeconds sets another time.",
    ),
    Rule(
        "a client may have any number of links",
        _listeners(lambda one: _is_for_clients(one) and one.values["maxLinks"] is None),
        "listener: a client has 10000 links at most; with qdrouterd it has any number. maxLinks: 0 is the old way.",
    ),
    Rule(
        "pages of all origins connect by WebSocket",
        _listeners(
            lambda one: _takes_http(one) and one.values["websockets"] and one.values["webSocketOrigins"] is None
        ),
        "listener: only pages that this listener serves connect by WebSocket; with qdrouterd all pages do."
        " webSocketOrigins names others, and * is the old way.",
    ),
    Rule(
        "settled messages beyond the credit of their consumer are dropped",
        _everywhere,
        "settled messages beyond the credit of their consumer wait; qdrouterd drops them. --drop-in is the old way.",
        is_of_drop_in=True,
    ),
    Rule(
        "a client's `x-opt-qd.to` is followed where its listener strips nothing",
        _listeners(_strips_nothing_in),
        "listener: the annotation x-opt-qd.to of a client is passed over; qdrouterd sends the message there."
        " Let the client name the address in its target, or in the field to.",
    ),
    Rule(
        "`modified` always says delivery-failed to the producer",
        _everywhere,
        "the outcome modified reaches the producer as its consumer gave it, and as delivery-failed only if it gave no"
        " detail; qdrouterd always adds delivery-failed.",
    ),
    Rule(
        "`workerThreads` of the router is the number of its threads",
        _given_in("router", "workerThreads"),
        "router.workerThreads: it has no effect; the option --connection-actors says how many processes do the work.",
    ),
    Rule(
        "counters of the router are 0 in the general view",
        _everywhere,
        "counters of the router are those of now in the general view, too; qdrouterd has 0 for them there.",
    ),
    Rule(
        "`debugDumpFile` of the router is taken, but nothing is written there.",
        _given_in("router", "debugDumpFile"),
        "router.debugDumpFile: nothing is written there; qdrouterd writes about its memory at the end.",
    ),
    Rule(
        "`DELETE` of a listener for HTTP works; qdrouterd refuses it.",
        _listeners(_takes_http),
        "listener: management can delete this listener; qdrouterd refuses that for listeners of HTTP.",
    ),
)
"""In the order of the page."""

NOT_OF_A_FILE = (
    "a producer's credit comes back with each message that is over",
    "a producer keeps its credit when the last consumer leaves; the first message that nobody gets asks it for a drain",
    "a message of several frames is gathered until it is complete, or 32 KiB of it are here",
    "a message that waits is sent, though its producer has left",
    "a delivery that was accepted and not settled becomes `modified` if its consumer is lost",
    "octets that are no AMQP message are carried between routers",
    "a message with a delivery tag of more than 32 octets is rejected",
    "a routed link that was detached, and closed in answer, is over",
    "two links of one name in one connection both work",
    "a message beyond an interior router's `maxMessageSize` closes the connection of the edge router that it comes by",
    "a message beyond policy's `maxMessageSize` closes the connection; the detach before has no error",
    "a line of level debug tells of each connection that is over what policy denied to its vhost",
    "the log tells each failure of a connector, at level info",
    "types of `org.mobula.` are not there",
    "descriptions in the schema",
)
"""Rows that no file relies on: what is the same, and what is there besides."""


def differences(path: str | os.PathLike[str], *, is_drop_in: bool = False) -> list[Difference]:
    """Return what is different for a file, by its lines; the file has to be right. Raises ConfigErrors."""
    name = os.fspath(path)
    file = _File(entities_of(read_sections(read_text(path), name), Findings(name)))
    found = [
        Difference(tuple(lines), rule.text)
        for rule in RULES
        if not (rule.is_of_drop_in and is_drop_in) and (lines := rule.find(file))
    ]
    return sorted(found, key=lambda one: (one.lines == WHOLE_FILE, min(one.lines)))
