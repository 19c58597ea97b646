"""What is in the distributions that are made of the driver."""

import email
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

DRIVER = Path(__file__).resolve().parents[2]
BUILD = "import sys; from setuptools import build_meta as b; to = sys.argv[1]; b.build_sdist(to); b.build_wheel(to)"


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source distribution and the wheel, made from a copy of the sources."""
    copy, made = tmp_path_factory.mktemp("copy") / "driver", tmp_path_factory.mktemp("made")
    shutil.copytree(DRIVER, copy, ignore=shutil.ignore_patterns(".venv", "*.egg-info", "__pycache__", "build", ".*"))
    command = [sys.executable, "-W", "ignore", "-c", BUILD, str(made)]
    subprocess.run(command, cwd=copy, check=True, capture_output=True, timeout=120)
    (source,), (wheel,) = made.glob("*.tar.gz"), made.glob("*.whl")
    return source, wheel


def test_the_source_distribution_has_licence_docs_examples_and_tests(distributions: tuple[Path, Path]) -> None:
    with tarfile.open(distributions[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    here = {
        str(path.relative_to(DRIVER))
        for folder in ("docs", "examples", "oslo_messaging_amqp1", "tests")
        for path in (DRIVER / folder).rglob("*")
        if path.suffix in (".md", ".py", ".typed")
    }
    assert {"LICENSE", "README.md", "constraints.txt", "pyproject.toml", *here} - names == set()


def test_the_wheel_has_the_package_and_the_licence_alone(distributions: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(distributions[1]) as archive:
        names = archive.namelist()
        (licence,) = [name for name in names if name.endswith("/LICENSE")]
        assert archive.read(licence).decode() == (DRIVER / "LICENSE").read_text()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"oslo_messaging_amqp1"}
    assert "oslo_messaging_amqp1/py.typed" in names


def test_the_metadata_say_what_it_is_and_what_it_needs(distributions: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(distributions[1]) as archive:
        (name,) = [one for one in archive.namelist() if one.endswith("/METADATA")]
        metadata = email.message_from_bytes(archive.read(name))
    assert metadata["License-Expression"] == "Apache-2.0"
    assert "Environment :: OpenStack" in metadata.get_all("Classifier", [])
    assert metadata.get_all("Project-URL", []) != []
    needs = {re.split("[<>]", one)[0]: one for one in metadata.get_all("Requires-Dist", []) if "extra" not in one}
    # Their internals are used, so that a release nobody has tried must not be installed.
    assert [name for name in ("oslo.messaging", "pyngus", "python-qpid-proton") if "<" not in needs[name]] == []
