"""Imports the uncompiled form of the router even where the compiled one lies beside it, to compare the two."""

import subprocess
import sys
from collections.abc import Sequence
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from types import ModuleType


class _SourcesOnly:
    """A finder that sees no extension modules in the packages of the router."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is None or name.partition(".")[0] not in ("routerd", "bench"):
            return None
        for folder in path:
            spec = FileFinder(folder, (SourceFileLoader, SOURCE_SUFFIXES)).find_spec(name)
            if spec is not None:
                return spec
        return None


def forget_compiled() -> None:
    """From now on import sources only; called before any module of the router is imported."""
    # The package puts its own finder of compiled modules in front.
    import routerd  # noqa: F401

    sys.meta_path.insert(0, _SourcesOnly())


def run_uncompiled(expression: str) -> float:
    """Evaluate an expression over `bench.wire` in a process that has nothing compiled, and return its number."""
    program = (
        "from bench.uncompiled import forget_compiled; forget_compiled(); "
        f"from bench import wire; print({expression})"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(result.stdout)
