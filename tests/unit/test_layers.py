"""Who may import whom: every import of the tree is read and held against the table."""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

def names(*modules: str) -> frozenset[str]:
    return frozenset(modules)


NOT_DETERMINISTIC = names(
    *("asyncio", "concurrent", "logging", "multiprocessing", "os", "queue", "random", "sched", "secrets", "select"),
    *("selectors", "signal", "socket", "socketserver", "ssl", "subprocess", "tempfile", "_thread", "threading", "time"),
)
"""Sockets, clocks, threads, randomness and the like, which reach wire, core and mesh as arguments or not at all."""

LAUNCHER = "routerd.cli.routerd"
BELOW_IO = (
    *("routerd.wire", "routerd.core", "routerd.mesh", "routerd.topics", "routerd.records", "routerd.config"),
    *("routerd.management", "routerd.generated_code"),
)
BELOW_CLI = (*BELOW_IO, "routerd.io")

ROOMS = {
    "logs": (),
    "scheduling": (),
    "recording": ("logs", "scheduling"),
    "routing": ("logs",),
    "topics": ("logs",),
    "management": ("logs",),
    "reports": ("scheduling", "recording"),
    "sockets": ("logs", "scheduling"),
    "tls": ("logs", "scheduling", "sockets"),
    "http": ("logs", "scheduling", "sockets"),
    "websocket": ("sockets",),
    "auth": ("logs", "scheduling", "tls", "sockets"),
    "settings": ("scheduling", "tls", "sockets"),
    "connections": ("logs", "scheduling", "tls", "sockets", "http", "websocket", "auth", "settings"),
    "entities": ("logs", "tls", "recording", "sockets", "auth", "settings", "connections"),
    "worker": (
        *("logs", "scheduling", "tls", "recording", "routing", "topics", "management"),
        *("reports", "sockets", "http", "auth", "settings", "connections", "entities"),
    ),
    "backing": ("logs", "reports", "entities", "worker"),
    "standalone": ("scheduling", "routing", "management", "settings", "worker", "backing"),
}
"""The packages in routerd.io, and which of the others each may import; it imports those above it only."""

HAVE_CIRCLES = ("routerd.wire.", "routerd.core.")
"""Where modules may import each other: sessions have links and links their session, and so it is in a router."""

PLAIN_DATA = names(
    *("routerd.wire.types", "routerd.wire.errors"),
    *("routerd.core.directory.addresses", "routerd.core.errors", "routerd.core.settings"),
    *("routerd.core.directory.membership",),
)
"""Where the types of wire and the plain data of core are defined."""


@dataclass(frozen=True)
class Row:
    """What one package may import besides itself and the standard library."""

    ours: tuple[str, ...] = ()
    third_party: frozenset[str] | None = None
    """Top-level names; None is anything but Ray."""
    forbidden: frozenset[str] = frozenset()
    """Modules of the standard library."""
    only_plain_data: bool = False
    """Of wire and core, only what the modules of PLAIN_DATA define."""


CLIENT_LOGIC = (
    "links",
    *(f"exactly_once.{name}" for name in ("names", "position", "publishing", "store", "subscribing")),
)
"""The packages and modules of the client without I/O."""

TABLE = {
    "routerd": Row(third_party=names()),
    "routerd.wire": Row(third_party=names("scramp"), forbidden=NOT_DETERMINISTIC),
    "routerd.core": Row(("routerd.wire",), third_party=names(), forbidden=NOT_DETERMINISTIC),
    "routerd.mesh": Row(
        ("routerd.wire", "routerd.core"), third_party=names(), forbidden=NOT_DETERMINISTIC, only_plain_data=True
    ),
    "routerd.topics": Row(("routerd.wire",), third_party=names(), forbidden=NOT_DETERMINISTIC),
    "routerd.records": Row(("routerd.wire", "routerd.core"), only_plain_data=True),
    "routerd.config": Row(("routerd.wire", "routerd.core")),
    "routerd.management": Row(("routerd.wire", "routerd.core", "routerd.config"), only_plain_data=True),
    "routerd.io": Row(tuple(f"routerd.io.{room}" for room in ROOMS)),
    **{
        f"routerd.io.{room}": Row((*BELOW_IO, *(f"routerd.io.{other}" for other in others)))
        for room, others in ROOMS.items()
    },
    "routerd.cli": Row(("routerd", *BELOW_CLI)),
    LAUNCHER: Row(("routerd", *BELOW_CLI, "routerd.cli", "actors"), third_party=names("ray")),
    "actors": Row(("routerd", *BELOW_CLI), third_party=names("ray")),
    # cproton is proton's engine, under its classes; the last two are the driver's own, below a root of its own.
    "driver": Row(
        third_party=names(
            *("oslo_config", "oslo_log", "oslo_messaging", "oslo_serialization", "oslo_utils"),
            *("pyngus", "proton", "cproton", "examples", "oslo_messaging_amqp1"),
        )
    ),
    # Nothing of the client but one module knows whose engine it has.
    "client": Row(third_party=names("mobula_client", "examples", "setuptools")),
    "client.mobula_client": Row(third_party=names("mobula_client")),
    "client.mobula_client.engine": Row(("routerd.wire",), third_party=names()),
    **{
        f"client.mobula_client.{part}": Row(third_party=names("mobula_client"), forbidden=NOT_DETERMINISTIC)
        for part in CLIENT_LOGIC
    },
    "analytics": Row(
        ("routerd.records", "routerd.mesh.paths"), third_party=names("pyspark", "raydp", "ray", "pyarrow", "plotly")
    ),
}


@dataclass(frozen=True)
class Import:
    """One import: the module that is named, and the name taken from it, if any."""

    line: int
    module: str
    name: str | None = None


def python_imports(source: str, package: str) -> Iterator[Import]:
    """Yield every import of a module, wherever it stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (Import(node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            yield from (Import(node.lineno, module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("import_module", "__import__"):
                yield Import(node.lineno, str(node.args[0].value))


def cython_imports(source: str) -> Iterator[Import]:
    """Yield every cimport of a .pxd."""
    for number, line in enumerate(source.splitlines(), 1):
        if found := re.match(r"\s*(?:from\s+([\w.]+)\s+)?cimport\s+([\w.]+)", line):
            yield Import(number, found[1] or found[2])


def cimported_beside(path: Path) -> frozenset[str]:
    """Return the modules that the .pxd beside a .py has C types from: Cython wants them imported from there, too."""
    declarations = path.with_suffix(".pxd")
    if not declarations.is_file():
        return names()
    return names(*(one.module for one in cython_imports(declarations.read_text())))


def exists(root: Path, module: str) -> bool:
    path = root.joinpath(*module.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def defined_in(root: Path, package: str, name: str | None) -> str:
    """Return the module that a name of a package's public surface comes from."""
    init = root.joinpath(*package.split("."), "__init__.py")
    for found in python_imports(init.read_text(), package) if init.is_file() else ():
        if found.name == name:
            return found.module
    return package


def package_of(module: str) -> str | None:
    """Return the row of the table that a module of ours stands in."""
    rows = [row for row in TABLE if module == row or module.startswith(f"{row}.")]
    return max(rows, key=len, default=None)


def fault(root: Path, importer: str, found: Import, *, is_cimport: bool) -> str | None:
    """Return what is wrong with an import, or None."""
    own = package_of(importer)
    assert own is not None
    row = TABLE[own]
    target = found.module
    if found.name and exists(root, f"{target}.{found.name}"):
        target = f"{target}.{found.name}"
    top = target.partition(".")[0]
    wanted = package_of(target)
    if wanted is None:
        if top in sys.stdlib_module_names:
            return f"{own} may not import {top}" if top in row.forbidden else None
        if row.third_party is None:
            return f"{own} may not import ray" if top == "ray" else None
        allowed = row.third_party | ({"libc", "cpython", "cython"} if is_cimport else set())
        return None if top in allowed else f"{own} may not import {top}"
    # A room has no business with the whole house, which imports all rooms.
    above = () if own.startswith("routerd.io.") else (own.rpartition(".")[0],)
    if wanted in (own, *above) or target in row.ours:
        pass
    elif wanted not in row.ours:
        return f"{own} may not import {target}"
    elif not is_cimport and not root.joinpath(*found.module.split("."), "__init__.py").is_file():
        return f"{own} must import {target} from its package, {wanted}"
    if row.only_plain_data and wanted in ("routerd.wire", "routerd.core"):
        origin = defined_in(root, target, found.name)
        return None if origin in PLAIN_DATA else f"{own} may not import {found.name or 'all'} of {origin}"
    return None


def faults(root: Path) -> list[str]:
    """Return every import of the tree that the table forbids, as `file:line fault`."""
    found = []
    for top in sorted({row.partition(".")[0] for row in TABLE}):
        for path in sorted(root.glob(f"{top}/**/*.py")) + sorted(root.glob(f"{top}/**/*.pxd")):
            relative = path.relative_to(root)
            apart = {"tests", ".venv", "build"}
            if relative.parts[0] in ("driver", "client") and not apart.isdisjoint(relative.parts):
                continue
            module = ".".join(relative.with_suffix("").parts).removesuffix(".__init__")
            package = module if path.stem == "__init__" else module.rpartition(".")[0]
            is_cimport = path.suffix == ".pxd"
            source = path.read_text()
            c_types = cimported_beside(path)
            for one in cython_imports(source) if is_cimport else python_imports(source, package):
                if complaint := fault(root, module, one, is_cimport=is_cimport or one.module in c_types):
                    found.append(f"{relative}:{one.line} {complaint}")
    return found


def test_no_import_of_the_tree_is_forbidden() -> None:
    assert faults(ROOT) == []


def test_each_room_imports_those_above_it_only() -> None:
    above: set[str] = set()
    for room, others in ROOMS.items():
        assert above.issuperset(others), room
        above.add(room)
    assert above == {path.parent.name for path in (ROOT / "routerd/io").glob("*/__init__.py")}
    assert [path.name for path in (ROOT / "routerd/io").glob("*.py")] == ["__init__.py"]


def graph_of(root: Path, *tops: str) -> dict[str, set[str]]:
    """Return what each module imports, those for types alone included."""
    graph: dict[str, set[str]] = {}
    for path in (path for top in tops for path in sorted(root.glob(f"{top}/**/*.py"))):
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        package = module.rpartition(".")[0]
        imported = graph[module.removesuffix(".__init__")] = set()
        for one in python_imports(path.read_text(), package):
            inner = f"{one.module}.{one.name}"
            imported.add(inner if one.name and exists(root, inner) else one.module)
    return graph


def circle_in(graph: dict[str, set[str]]) -> list[str]:
    """Return a circle of modules that import each other, or nothing, but for HAVE_CIRCLES."""

    def counts(module: str, other: str) -> bool:
        return not any(module.startswith(part) and other.startswith(part) for part in HAVE_CIRCLES)

    try:
        TopologicalSorter({one: {other for other in graph[one] if counts(one, other)} for one in graph}).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circle_in(graph_of(ROOT, "routerd", "actors", "analytics", "bench", "compiling")) == []
    assert circle_in(graph_of(ROOT / "driver", "oslo_messaging_amqp1", "examples")) == []
    assert circle_in(graph_of(ROOT / "client", "mobula_client", "examples")) == []


def test_a_circle_of_imports_is_found(tree: Path) -> None:
    written(tree, "routerd/io/logs/one.py", "if TYPE_CHECKING:\n    from . import two")
    written(tree, "routerd/io/logs/two.py", "from routerd.io.logs.three import X")
    written(tree, "routerd/io/logs/three.py", "def late():\n    import routerd.io.logs.one")
    modules = ["routerd.io.logs.one", "routerd.io.logs.two", "routerd.io.logs.three"]
    assert {*circle_in(graph_of(tree, "routerd"))} == {*modules}


def test_the_tree_has_imports_to_read() -> None:
    assert list(python_imports((ROOT / "routerd/wire/errors.py").read_text(), "routerd.wire"))


FORBIDDEN = [
    ("routerd/wire/link.py", "import time", "routerd.wire may not import time"),
    ("routerd/wire/link.py", "def late():\n    from asyncio import sleep", "routerd.wire may not import asyncio"),
    ("routerd/wire/link.py", "from importlib import *\nimport_module('ssl')", "routerd.wire may not import ssl"),
    ("routerd/wire/link.py", "import cython", "routerd.wire may not import cython"),
    ("routerd/wire/link.py", "from routerd.core import Router", "routerd.wire may not import routerd.core"),
    ("routerd/wire/link.py", "from .. import core", "routerd.wire may not import routerd.core"),
    ("routerd/wire/link.pxd", "from routerd.core.router cimport R", "routerd.wire may not import routerd.core.router"),
    ("routerd/core/router.py", "import random", "routerd.core may not import random"),
    ("routerd/core/router.py", "import uvloop", "routerd.core may not import uvloop"),
    (
        "routerd/core/router.py",
        "from routerd.wire.link import Link",
        "routerd.core must import routerd.wire.link from its package, routerd.wire",
    ),
    ("routerd/mesh/hello.py", "import threading", "routerd.mesh may not import threading"),
    ("routerd/mesh/hello.py", "from routerd.wire import Link", "routerd.mesh may not import Link of routerd.wire.link"),
    ("routerd/mesh/hello.py", "import routerd.records", "routerd.mesh may not import routerd.records"),
    ("routerd/management/agent.py", "from routerd.mesh import X", "routerd.management may not import routerd.mesh"),
    ("routerd/records/schema.py", "from routerd.io import X", "routerd.records may not import routerd.io"),
    ("routerd/config/file.py", "from routerd.io import Listener", "routerd.config may not import routerd.io"),
    ("routerd/config/load.py", "from routerd.management import X", "routerd.config may not import routerd.management"),
    ("routerd/io/logs/lines.py", "import ray", "routerd.io.logs may not import ray"),
    ("routerd/io/worker/worker.py", "import actors.start", "routerd.io.worker may not import actors.start"),
    ("routerd/io/logs/lines.py", "import routerd.io.tls", "routerd.io.logs may not import routerd.io.tls"),
    ("routerd/io/tls/session.py", "from routerd.io import Worker", "routerd.io.tls may not import routerd.io"),
    (
        "routerd/io/tls/session.py",
        "from routerd.io.logs.lines import LogEntry",
        "routerd.io.tls must import routerd.io.logs.lines from its package, routerd.io.logs",
    ),
    ("routerd/cli/routerstat.py", "from actors import start", "routerd.cli may not import actors"),
    ("routerd/__init__.py", "from routerd.wire import Link", "routerd may not import routerd.wire"),
    ("actors/start.py", "from routerd.io.logs import X", "actors may not import routerd.io.logs"),
    ("actors/start.py", "import uvloop", "actors may not import uvloop"),
    ("driver/oslo/driver.py", "from routerd.wire import Link", "driver may not import routerd.wire"),
    (
        "client/mobula_client/tls.py",
        "from routerd.wire import Link",
        "client.mobula_client may not import routerd.wire",
    ),
    (
        "client/mobula_client/links/link.py",
        "import asyncio",
        "client.mobula_client.links may not import asyncio",
    ),
    (
        "client/mobula_client/exactly_once/publishing.py",
        "import sqlite3, random",
        "client.mobula_client.exactly_once.publishing may not import random",
    ),
    ("analytics/stretch.py", "from routerd.core import Router", "analytics may not import routerd.core"),
]

ALLOWED = [
    ("routerd/wire/link.py", "import struct, scramp\nfrom routerd.wire.session import Session\nfrom . import link"),
    ("routerd/wire/link.pxd", "cimport cython\nfrom libc.string cimport memcpy\nfrom routerd.wire.link cimport Link"),
    ("routerd/core/router.py", "from routerd.wire import Link"),
    ("routerd/core/router.pxd", "from routerd.wire.link cimport Link"),
    ("routerd/mesh/hello.py", "from routerd.wire import Symbol"),
    ("routerd/io/worker/worker.py", "import asyncio, time, uvloop\nfrom routerd.core import Router"),
    ("routerd/io/tls/session.py", "from routerd.io.logs import LogEntry\nfrom routerd.io.tls.profile import Profile"),
    ("routerd/io/__init__.py", "from routerd.io.logs import LogEntry"),
    ("routerd/cli/routerd.py", "import ray\nfrom actors import start\nfrom routerd.io import Worker"),
    ("actors/start.py", "import ray\nfrom actors.connection import C\nfrom routerd.io import Worker"),
    ("client/mobula_client/engine.py", "from routerd.wire import *"),
    ("client/mobula_client/aio/client.py", "import asyncio\nfrom mobula_client.links import Endpoint"),
    ("analytics/stretch.py", "import pyspark\nfrom routerd.records import X\nfrom routerd.mesh.paths import Paths"),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for package in (*BELOW_CLI, "routerd.cli", "actors"):
        tmp_path.joinpath(*package.split(".")).mkdir(parents=True)
    for room in ROOMS:
        (tmp_path / "routerd/io" / room).mkdir()
        (tmp_path / "routerd/io" / room / "__init__.py").touch()
    (tmp_path / "routerd/io/logs/lines.py").touch()
    (tmp_path / "routerd/wire/link.py").touch()
    (tmp_path / "routerd/wire/__init__.py").write_text("from .link import Link\nfrom .types import Symbol\n")
    return tmp_path


def written(tree: Path, file: str, source: str) -> Path:
    path = tree / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    return tree


@pytest.mark.parametrize(("file", "source", "complaint"), FORBIDDEN)
def test_a_forbidden_import_is_found(tree: Path, file: str, source: str, complaint: str) -> None:
    line = source.count("\n") + 1
    assert faults(written(tree, file, source)) == [f"{file}:{line} {complaint}"]


def test_a_compiled_module_imports_a_c_type_from_where_it_cimports_it(tree: Path) -> None:
    source = "from routerd.wire.link import Link"
    assert faults(written(tree, "routerd/core/router.py", source)) != []
    written(tree, "routerd/core/router.pxd", "from routerd.wire.link cimport Link")
    assert faults(tree) == []


@pytest.mark.parametrize(("file", "source"), ALLOWED)
def test_an_import_of_the_table_passes(tree: Path, file: str, source: str) -> None:
    assert faults(written(tree, file, source)) == []
