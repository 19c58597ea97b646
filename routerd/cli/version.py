"""What is running: the version of the router, the form of its hot path, Python and Ray."""

import platform
import tomllib
from importlib import metadata, util
from pathlib import Path

from routerd.compiled_form import is_trained, why_untrained

DISTRIBUTION = "mobula"
COMPILED_SUFFIXES = (".so", ".pyd")


def version() -> str:
    """Return the version of the router, from the source tree where it is not installed."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        project = Path(__file__).resolve().parents[2] / "pyproject.toml"
        return str(tomllib.loads(project.read_text())["project"]["version"])


def build() -> str:
    """Return which form of the hot path is installed, `compiled` or `uncompiled`; it is never both."""
    found = util.find_spec("routerd.wire.serial")
    return "compiled" if found and str(found.origin).endswith(COMPILED_SUFFIXES) else "uncompiled"


def version_text() -> str:
    """Return the version alone in the first line, as scripts read it, and below it what it runs on."""
    try:
        ray = metadata.version("ray")
    except metadata.PackageNotFoundError:
        ray = "not installed"
    form = build()
    if is_trained():
        form += ", trained"
    elif reason := why_untrained():
        form += f", not trained: {reason}"
    return f"{version()}\nbuild: {form}\nPython: {platform.python_version()}\nRay: {ray}"
