"""What is in the distributions, and that an installed client works without the router's packages."""

import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

CLIENT = Path(__file__).resolve().parents[2]
TREE = CLIENT.parent
WITHIN_S = 300
QUIET = ("--disable-pip-version-check", "--quiet")
PROGRAM = """
import asyncio, sys
from mobula_client import connect, engine

async def main(url):
    async with connect(url) as client:
        receiver = await client.open_receiver("installed", accepts_at_once=True)
        sender = await client.open_sender("installed")
        sent = asyncio.create_task(sender.send("hello"))
        print((await receiver.receive()).body, engine.engine_name(), "routerd" in sys.modules)
        await sent

asyncio.run(main(sys.argv[1]))
"""


def build(what: str, sources: Path, to: Path) -> Path:
    """Build a distribution without the network, and return it."""
    code = f"import sys; from setuptools import build_meta; build_meta.build_{what}(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(to)],
        cwd=sources,
        check=True,
        capture_output=True,
        timeout=WITHIN_S,
    )
    (made,) = to.iterdir()
    return made


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, because builds leave files beside them."""
    root = tmp_path_factory.mktemp("tree")
    skipped = shutil.ignore_patterns("*.egg-info", "__pycache__", "build", ".*", "*.so")
    shutil.copytree(CLIENT, root / "client", ignore=skipped)
    shutil.copytree(TREE / "routerd/wire", root / "routerd/wire", ignore=skipped)
    return root / "client"


@pytest.fixture(scope="module")
def wheel(copy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, as pip makes it."""
    to = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", *QUIET, "wheel", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--wheel-dir", str(to), str(copy)], check=True, capture_output=True, timeout=WITHIN_S)
    (made,) = to.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def source(copy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution."""
    return build("sdist", copy, tmp_path_factory.mktemp("source"))


def names_in(archive: Path) -> set[str]:
    """Return the files of a wheel, or of a source distribution without its folder."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return set(wheel.namelist())
    with tarfile.open(archive) as source:
        return {name.partition("/")[2] for name in source.getnames()}


def engine_files() -> set[str]:
    """Return the names that the engine's modules have in a distribution."""
    wire = TREE / "routerd/wire"
    return {f"mobula_client/_wire/{path.relative_to(wire)}" for path in wire.rglob("*.py")}


def test_the_wheel_has_the_client_with_the_engine_and_nothing_else(wheel: Path) -> None:
    names = names_in(wheel)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"mobula_client"}
    assert {"mobula_client/py.typed", "mobula_client/aio/client.py", *engine_files()} - names == set()
    with zipfile.ZipFile(wheel) as archive:
        texts = {name: archive.read(name).decode() for name in names if name.endswith(".py")}
    naming = {name for name, text in texts.items() if "routerd.wire" in text}
    # It says where the router's own engine would be.
    assert naming == {"mobula_client/engine.py"}
    assert "from routerd" not in texts["mobula_client/engine.py"]


def test_the_source_distribution_has_the_engine_examples_and_tests(source: Path) -> None:
    here = {
        str(path.relative_to(CLIENT))
        for folder in ("examples", "mobula_client", "tests")
        for path in (CLIENT / folder).rglob("*.py")
    }
    assert {"LICENSE", "README.md", "pyproject.toml", "setup.py", *here, *engine_files()} - names_in(source) == set()


def test_a_wheel_from_the_source_distribution_is_the_same(source: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    (tmp_path / "made").mkdir()
    again = build("wheel", unpacked, tmp_path / "made")
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as other:
        assert {each.filename: each.CRC for each in one.infolist()} == {
            each.filename: each.CRC for each in other.infolist()
        }


def test_an_installed_client_talks_to_a_router_without_the_routers_packages(
    wheel: Path, url: str, tmp_path: Path
) -> None:
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    for needed in ("scramp", "asn1crypto"):
        found = find_spec(needed)
        assert found is not None
        assert found.origin is not None
        # With its metadata, which it reads.
        for one in Path(found.origin).parents[1].glob(f"{needed}*"):
            (packages / one.name).symlink_to(one)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [environment / "bin/python", "-I", str(program), url], capture_output=True, text=True, timeout=WITHIN_S
    )
    assert (done.stdout, done.stderr) == ("hello mobula_client._wire False\n", "")
