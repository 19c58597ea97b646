"""The compiled modules, which all lie in one shared object: where it is there, they are imported from it."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

LISTING = "routerd.compiled"


class CompiledModules(MetaPathFinder):
    """Finds the modules of one shared object by their full names."""

    def __init__(self, file: str, names: frozenset[str]) -> None:
        self.file = file
        self.names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the way to a module, if it is one of them."""
        if fullname not in self.names:
            return None
        return spec_from_file_location(fullname, self.file, loader=ExtensionFileLoader(fullname, self.file))


def use_compiled_modules() -> None:
    """Have the compiled modules imported instead of their sources, where they were built."""
    # Beside this file and nowhere else: where the package is installed in place, there may be another tree of it.
    spec = PathFinder.find_spec(LISTING, [str(Path(__file__).parent)])
    if spec is None or spec.loader is None or spec.origin is None:
        return
    compiled = module_from_spec(spec)
    spec.loader.exec_module(compiled)
    sys.modules[LISTING] = compiled
    sys.meta_path.insert(0, CompiledModules(spec.origin, frozenset(compiled.MODULES.split())))


def is_trained() -> bool:
    """Return whether there are compiled modules, made by what was counted when they ran first."""
    compiled = sys.modules.get(LISTING)
    return compiled is not None and bool(compiled.IS_TRAINED)


def why_untrained() -> str:
    """Return why the compiled modules were made without training; nothing where they are trained, or not there."""
    compiled = sys.modules.get(LISTING)
    # An object that was built before it said so may still be there.
    return "" if compiled is None else str(getattr(compiled, "WHY_UNTRAINED", ""))
