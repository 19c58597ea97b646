"""Puts the AMQP engine of the router into the client's distributions; everything else is in pyproject.toml.

The engine is `routerd/wire`, beside this folder in the repository. A wheel and a source distribution have a copy of it,
`mobula_client/_wire`, in which modules import each other by that name. A wheel made from a source distribution takes
the copy that is there.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
ENGINE = HERE.parent / "routerd" / "wire"
PACKAGE = "routerd.wire"
COPY = "mobula_client._wire"
FOLDER = Path(*COPY.split("."))


def carry_engine(root: Path) -> None:
    """Copy the engine below a folder that has the client, and have type checkers look for it there."""
    if not ENGINE.is_dir():
        if not (root / FOLDER).is_dir():
            raise FileNotFoundError(f"{ENGINE} is missing: build in the repository, or from a source distribution")
        return
    for source in sorted(ENGINE.rglob("*.py")):
        target = root / FOLDER / source.relative_to(ENGINE)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source.read_text().replace(PACKAGE, COPY))
    chooser = root / "mobula_client" / "engine.py"
    text = chooser.read_text().replace(f"from {PACKAGE} import *", f"from {COPY} import *")
    # A new file: setuptools may have linked it to the one in the repository.
    chooser.unlink()
    chooser.write_text(text.replace(f"from {PACKAGE}.sasl import *", f"from {COPY}.sasl import *"))


class BuildWithEngine(build_py):
    """Builds the packages, and the engine with them."""

    def run(self) -> None:
        """Build; an installation where the sources stand finds the engine in the repository."""
        super().run()
        if not getattr(self, "editable_mode", False):
            carry_engine(Path(self.build_lib))


class DistributeWithEngine(sdist):
    """Makes a source distribution, and puts the engine into it."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        """Make the folder of the release."""
        super().make_release_tree(base_dir, files)
        carry_engine(Path(base_dir))


setup(cmdclass={"build_py": BuildWithEngine, "sdist": DistributeWithEngine})
