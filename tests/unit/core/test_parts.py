"""Who refers to whom in the core, read from the types that are declared: one direction, but for the data of links."""

import re
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

from routerd.core import Router

CORE = Path(__file__).resolve().parents[3] / "routerd" / "core"

ROOMS = ("annotations", "links", "directory", "policy", "recording", "delivery", "roles")
"""The packages of the core. Each knows those before it, never those behind it."""

INSIDE = "inside"
"""Stands on `Router`, which knows nothing of it."""

DATA_OF_LINKS = frozenset(
    {
        "Address",
        "AddressRoute",
        "Collected",
        "FanOut",
        "Flow",
        "Inlet",
        "Outlet",
        "Parked",
        "ParkedTogether",
        "Peer",
        "RoutedEnd",
        "Trunk",
        "WaitingTransfer",
    }
)
"""These refer to each other: a link has an address, an address has links."""

_CLASS = re.compile(r"(?P<final>@cython\.final\n)?cdef class (?P<name>\w+)(?:\((?P<base>\w+)\))?:")
_MEMBER = re.compile(r"^    cdef (?:public |readonly )?(?P<type>[A-Z]\w+) \w+$", re.MULTILINE)


class Declared:
    """A class as its .pxd declares it."""

    def __init__(self, path: Path, found: "re.Match[str]", body: str) -> None:
        self.name = found["name"]
        self.base = found["base"]
        self.is_final = found["final"] is not None
        self.members = frozenset(_MEMBER.findall(body))
        self.room = path.parent.name if path.parent != CORE else ""


def declared() -> dict[str, Declared]:
    classes = {}
    for path in sorted(CORE.rglob("*.pxd")):
        text = path.read_text()
        starts = list(_CLASS.finditer(text))
        for found, following in pairwise([*starts, None]):
            assert found is not None
            body = text[found.end() : len(text) if following is None else following.start()]
            classes[found["name"]] = Declared(path, found, body)
    return classes


CLASSES = declared()
PARTS = {name: one for name, one in CLASSES.items() if name not in DATA_OF_LINKS and one.room != INSIDE}


def test_the_router_is_no_tower():
    assert len(Router.__mro__) <= 4


def test_parts_are_final():
    """But for the kinds of roles and claimants, and those of each kind: Cython lets no final class override."""
    bases = {one.base for one in CLASSES.values()}
    assert {name for name, one in PARTS.items() if not (one.is_final or one.base or name in bases)} == set()


def test_no_class_is_below_more_than_two_others():
    for name in CLASSES:
        above = [name]
        # A base from outside the core, `Handler`, has none of its own.
        while above[-1] in CLASSES and (base := CLASSES[above[-1]].base):
            above.append(base)
        assert len(above) <= 3, above


def test_parts_refer_to_each_other_in_one_direction():
    graph = {name: {to for to in one.members | {one.base} if to in PARTS} for name, one in PARTS.items()}
    assert len(graph) > 40
    try:
        order = tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"these refer to each other: {' -> '.join(error.args[1])}")
    assert order[-1] == "Router"


@pytest.mark.parametrize("name", sorted(name for name, one in CLASSES.items() if one.room != INSIDE))
def test_no_room_knows_one_that_comes_later(name):
    one = CLASSES[name]
    known = {CLASSES[to].room for to in one.members | {one.base} if to in CLASSES}
    allowed = ROOMS if one.room == "" else ROOMS[: ROOMS.index(one.room) + 1]
    assert known <= {"", *allowed}


@pytest.mark.parametrize("path", sorted(CORE.rglob("*.py")), ids=lambda path: str(path.relative_to(CORE)))
def test_no_module_of_a_room_imports_one_of_a_later_room(path):
    room = path.parent.name
    if room not in ROOMS:
        return
    later = ROOMS[ROOMS.index(room) + 1 :]
    text = re.sub(r"\nif TYPE_CHECKING:\n(?:    .*\n|\n)+", "\n", path.read_text())
    imported = re.findall(r"^from routerd\.core\.(\w+)", text, re.MULTILINE)
    assert not set(imported) & {*later, "router", "inside"}
