"""The shared object that all compiled modules are in, and its training.

In one object the linker sees through the calls between modules, and code that is needed together lies together. A
trained object is made twice. The first one counts its branches while it runs `TRAINING`. From these counts the compiler
makes the second one, fast where the time goes and small elsewhere.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NAME = "routerd.compiled"
"""The module that says which modules are in the object."""
TRAINING = "from bench.core import run; run()"
TRAINED_ON = ("bench/core.py", "bench/exchanges.py", "bench/memory.py", "bench/report.py")
"""What the training takes besides the package."""
TRAINING_TIMEOUT_S = 600

C_FLAGS = ("-O3", "-g0", "-fno-plt", "-Wno-sign-compare")
"""Sizes are compared with what the peer allows, which is unsigned; sizes are never negative."""
TUNING = ("-mtune=native",)
"""What is quick on this machine is preferred; what is made runs on others, too."""
QUICK = ("-O1",)
"""For those who edit, and for tests: it takes half of the time to compile."""
JOBS = 2
COUNTING = ("-fprofile-generate", "-fprofile-update=single")
HASTY = (
    "-fno-expensive-optimizations",
    "-fno-gcse",
    "-fno-ipa-cp",
    "-fno-schedule-insns2",
    "-fno-tree-dominator-opts",
    "-fno-tree-loop-optimize",
    "-fno-tree-pre",
    "-fno-tree-vectorize",
)
"""What an object that only counts can do without; nothing of it comes before the counters are put in."""
LINK_TIME = f"-flto={JOBS}"

LISTING = """\
#include <Python.h>

static struct PyModuleDef definition = {{PyModuleDef_HEAD_INIT, "compiled", "What this object holds.", -1, NULL}};

PyMODINIT_FUNC PyInit_compiled(void) {{
    PyObject *module = PyModule_Create(&definition);
    if (module && (PyModule_AddStringConstant(module, "MODULES", "{modules}") < 0
                   || PyModule_AddIntConstant(module, "IS_TRAINED", {is_trained}) < 0
                   || PyModule_AddStringConstant(module, "WHY_UNTRAINED", "{why}") < 0))
        Py_CLEAR(module);
    return module;
}}
"""
PROBE = """\
#if !defined(__GNUC__) || defined(__clang__)
#error it is not GCC
#endif
int probe(int number) { return number + 1; }
"""


class NotTrained(Exception):
    """The object cannot be trained here; the message says why."""


@dataclass(frozen=True)
class SharedObject:
    """How the object is made of C files: by which compiler, with which headers, where."""

    compiler: Any
    include_dirs: Sequence[str]
    libraries: Sequence[str]
    library_dirs: Sequence[str]
    folder: Path
    """For what is made on the way."""
    target: Path
    tuning: Sequence[str] = ()
    """`TUNING`, if the compiler knows it."""
    is_quick: bool = False
    """Whether an object without training is to be made in a short time instead of being fast."""

    def is_current(self, c_files: Sequence[str], *, why_untrained: str) -> bool:
        """Return whether the object is there in this form, and newer than all that it is made of."""
        is_trained = not why_untrained
        made_of = [Path(file) for file in (*c_files, __file__)]
        if is_trained:
            made_of += [ROOT / file for file in TRAINED_ON]
        return self._listing(is_trained).is_file() and _is_newer(self.target, made_of)

    def make(self, modules: Sequence[str], c_files: Sequence[str], *, why_untrained: str = "") -> None:
        """Make it, trained unless there is a reason against that; where it cannot be, raise and leave nothing."""
        is_trained = not why_untrained
        self._listing(not is_trained).unlink(missing_ok=True)
        listing = self._listing(is_trained)
        listing.parent.mkdir(parents=True, exist_ok=True)
        why = why_untrained.encode("ascii", "replace").decode().replace("\\", "/").replace('"', "'")
        listing.write_text(LISTING.format(modules=" ".join(modules), is_trained=int(is_trained), why=why))
        sources = [*c_files, str(listing)]
        try:
            flags = self._train(sources) if is_trained else QUICK if self.is_quick else ()
            _tell(f"compiling {len(modules)} modules")
            objects = self._compile(sources, flags, only_changed=not is_trained)
            self._link(objects, self.target, flags)
        except BaseException:
            listing.unlink(missing_ok=True)
            raise

    def _listing(self, is_trained: bool) -> Path:
        return self.folder / ("trained" if is_trained else "plain") / "compiled.c"

    def _train(self, sources: Sequence[str]) -> tuple[str, ...]:
        """Let the object count, and return the flags that make the compiler use what it has counted."""
        counts = (self.folder / "counts").resolve()
        shutil.rmtree(counts, ignore_errors=True)
        flags = (*COUNTING, f"-fprofile-dir={counts}")
        _tell("compiling an object that counts what it does, for training")
        objects = self._compile(sources, (*flags, *HASTY), only_changed=False)
        school = self.folder / "school"
        shutil.rmtree(school, ignore_errors=True)
        _copy_package(school)
        self._link(objects, school / "routerd" / self.target.name, flags)
        _tell("training")
        # The order of sets must not change what is counted.
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        try:
            done = subprocess.run(
                [sys.executable, "-c", TRAINING],
                cwd=school,
                env=environment,
                capture_output=True,
                text=True,
                timeout=TRAINING_TIMEOUT_S,
            )
        except subprocess.TimeoutExpired as error:
            raise NotTrained(f"its training took more than {TRAINING_TIMEOUT_S} seconds") from error
        if done.returncode:
            words = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            raise NotTrained(f"its training failed: {words[-1]}")
        if not any(counts.rglob("*.gcda")):
            raise NotTrained("its training has counted nothing")
        return (LINK_TIME, f"-fprofile-use={counts}", "-Wno-missing-profile", "-Wno-coverage-mismatch")

    def _compile(self, sources: Sequence[str], flags: Iterable[str], *, only_changed: bool) -> list[str]:
        """Compile in several processes; to the same names each time, since what is counted is kept by them."""
        folder = str(self.folder / "objects")
        objects = self.compiler.object_filenames(sources, output_dir=folder)
        stamp = self.folder / "objects" / "flags"
        all_flags = [*C_FLAGS, *self.tuning, *flags]
        wanted = " ".join(all_flags)
        is_same = only_changed and stamp.is_file() and stamp.read_text() == wanted
        stamp.unlink(missing_ok=True)

        def compile_one(source: str, made: str) -> None:
            if not (is_same and _is_newer(Path(made), [Path(source)])):
                options = {"include_dirs": [*self.include_dirs], "extra_postargs": all_flags}
                self.compiler.compile([source], output_dir=folder, **options)

        with ThreadPoolExecutor(JOBS) as pool:
            list(pool.map(compile_one, sources, objects))
        stamp.write_text(wanted)
        return list(objects)

    def _link(self, objects: Sequence[str], target: Path, flags: Iterable[str]) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        self.compiler.link_shared_object(
            [*objects],
            str(target),
            libraries=[*self.libraries],
            library_dirs=[*self.library_dirs],
            extra_postargs=[*C_FLAGS, *self.tuning, *flags],
        )


def training_fault(command: Sequence[str]) -> str | None:
    """Return why this compiler cannot make a trained object, or None when it makes a small one."""
    missing = [file for file in TRAINED_ON if not (ROOT / file).is_file()]
    if missing:
        return f"{', '.join(missing)} is missing"
    return _complaint(command, PROBE, COUNTING, (LINK_TIME,))


def known_tuning(command: Sequence[str]) -> tuple[str, ...]:
    """Return `TUNING`, or nothing where this compiler does not know it."""
    return () if _complaint(command, "", TUNING) else TUNING


def _complaint(command: Sequence[str], code: str, *attempts: Sequence[str]) -> str | None:
    """Return what the compiler says against the code with one of several sets of flags; None if it takes all."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text(code)
        for flags in attempts:
            made = f"{folder}/probe.so"
            arguments = [*command, "-fPIC", "-shared", *flags, str(source), "-o", made]
            result = subprocess.run(arguments, capture_output=True, text=True)
            if result.returncode:
                complaint = next((line for line in result.stderr.splitlines() if "error" in line), "it said no more")
                return f"{command[0]} {' '.join(flags)}: {complaint}"
    return None


def shared_names(modules: Iterable[str]) -> list[str]:
    """Return the last names that several modules have: an object has one way in for each such name."""
    seen: set[str] = {NAME.rpartition(".")[2]}
    shared = []
    for module in modules:
        name = module.rpartition(".")[2]
        if name in seen:
            shared.append(name)
        seen.add(name)
    return shared


def _tell(what: str) -> None:
    """Say what goes on: some of it takes more than a minute."""
    print(f"routerd: {what}", flush=True)


def _is_newer(target: Path, sources: Iterable[Path]) -> bool:
    if not target.is_file():
        return False
    written = target.stat().st_mtime_ns
    return all(source.is_file() and source.stat().st_mtime_ns <= written for source in sources)


def _copy_package(folder: Path) -> None:
    """Copy what the training imports to where nothing compiled lies beside it."""
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(ROOT / "routerd", folder / "routerd", ignore=ignored)
    (folder / "bench").mkdir()
    (folder / "bench" / "__init__.py").touch()
    for file in TRAINED_ON:
        shutil.copy2(ROOT / file, folder / file)
