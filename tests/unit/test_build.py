"""The build of the compiled modules, tried on a project with one module in a folder of its own."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest

from compiling import build_ext, shared_object

ROOT = Path(build_ext.__file__).resolve().parents[1]
TRAINING = "from routerd.wire.count import after\ndef run() -> None:\n    assert after(1) == 2\n"

needs_a_compiler = pytest.mark.skipif(
    build_ext.fault_of_the_build() is not None, reason=f"nothing can be compiled: {build_ext.fault_of_the_build()}"
)
_fault = None if build_ext.fault_of_the_build() else shared_object.training_fault(build_ext.c_compiler())
needs_training = pytest.mark.skipif(_fault is not None, reason=f"nothing can be trained: {_fault}")


@dataclass(frozen=True)
class Project:
    """A copy of the build around one module, routerd/wire/count.py."""

    folder: Path

    def run(self, *arguments: str, listed: tuple[str, ...] = ("routerd/wire/count.py",), **variables: str):
        """Run setup.py with these modules listed."""
        program = (
            f"import runpy; from compiling import build_ext; build_ext.MODULES = {listed!r};"
            " build_ext.BENCH_MODULES = build_ext.PRELOADED = (); runpy.run_path('setup.py')"
        )
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            cwd=self.folder,
            env={**os.environ, "ROUTERD_CYTHON": "auto", **variables},
            capture_output=True,
            text=True,
        )

    def build(self, mode: str, training: str = "off", **variables: str) -> subprocess.CompletedProcess[str]:
        chosen = {"ROUTERD_CYTHON": mode, "ROUTERD_TRAINING": training}
        return self.run("--quiet", "build_ext", "--inplace", **chosen | variables)

    def compiled(self) -> dict[str, int]:
        """Return the compiled files beside the sources, with the time each was written."""
        found = (self.folder / "routerd").glob("**/*.so")
        return {file.name.partition(".")[0]: file.stat().st_mtime_ns for file in found}

    def said(self, program: str) -> str:
        """Return what a program prints that may import the package."""
        command = [sys.executable, "-c", program]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True).stdout.strip()

    def form(self) -> tuple[str, bool]:
        """Return the modules of the object that was built, and whether it is trained."""
        modules, is_trained = self.said(
            "from routerd import compiled; print(compiled.MODULES, compiled.IS_TRAINED, sep='\\n')"
        ).splitlines()
        return modules, is_trained == "1"

    def why_untrained(self) -> str:
        """Return what the object that was built says of that."""
        return self.said("from routerd.compiled_form import why_untrained as why; print(why())")

    def file_of_the_imported_module(self) -> Path:
        program = "import routerd.wire.count as count; assert count.after(41) == 42; print(count.__file__)"
        return Path(self.said(program))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    shutil.copytree(ROOT / "compiling", tmp_path / "compiling", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml"):
        shutil.copy2(ROOT / name, tmp_path)
    for name in ("README.md", "LICENSE"):
        (tmp_path / name).touch()
    wire = tmp_path / "routerd" / "wire"
    wire.mkdir(parents=True)
    for name in ("__init__.py", "compiled_form.py"):
        shutil.copy2(ROOT / "routerd" / name, tmp_path / "routerd")
    (wire / "__init__.py").touch()
    for name in shared_object.TRAINED_ON:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "bench/core.py").write_text(TRAINING)
    (wire / "count.py").write_text("def after(number: int) -> int:\n    return number + 1\n")
    (wire / "count.pxd").write_text("cpdef unsigned int after(unsigned int number)\n")
    return Project(tmp_path)


def test_each_listed_module_has_its_source_and_its_c_types() -> None:
    listed = (*build_ext.MODULES, *build_ext.BENCH_MODULES)
    files = [ROOT / name for module in listed for name in (module, module.replace(".py", ".pxd"))]
    assert [str(file) for file in files if not file.is_file()] == []


def test_each_library_to_be_preloaded_has_its_source() -> None:
    assert {str(file.relative_to(ROOT)) for file in ROOT.glob("actors/*.c")} == {*build_ext.PRELOADED}


def test_each_source_with_c_types_beside_it_is_listed() -> None:
    sources = [file.with_suffix(".py") for top in ("routerd", "bench") for file in (ROOT / top).glob("**/*.pxd")]
    found = {str(file.relative_to(ROOT)) for file in sources if file.is_file()}
    assert found == {*build_ext.MODULES, *build_ext.BENCH_MODULES}


@needs_a_compiler
@pytest.mark.parametrize("mode", ["auto", "require"])
def test_with_a_compiler_the_module_is_compiled(project: Project, mode: str) -> None:
    done = project.build(mode)
    assert (done.returncode, done.stderr, list(project.compiled())) == (0, "", ["compiled"])
    assert project.file_of_the_imported_module().suffix == ".so"


RAISING = """\
def check(number: int) -> None:
    if number > 1:
        raise ValueError(number)
    if number > 0:
        return

def checked(number: int) -> int:
    check(number)
    return number
"""


def calls_of_check(project: Project) -> list[str]:
    """Return the lines of C that call a function without a result, once it has been seen to work."""
    program = (
        "from routerd.wire.count import check, checked\n"
        "print(check(0), check(1), checked(1))\n"
        "try: checked(2)\n"
        "except ValueError as error: print(error)"
    )
    assert project.said(program).splitlines() == ["None None 1", "2"]
    c_code = (project.folder / "build/cython/routerd/wire/count.c").read_text()
    return [line for line in c_code.splitlines() if "count_check(" in line and "__PYX_ERR" in line]


@needs_a_compiler
def test_functions_without_a_result_say_by_a_code_that_they_raised_unless_that_is_off(project: Project) -> None:
    wire = project.folder / "routerd/wire"
    (wire / "count.py").write_text(RAISING)
    (wire / "count.pxd").write_text("cpdef void check(int number)\ncpdef int checked(int number) except -1\n")
    has_codes = []
    for mode in ("auto", "off", "off", "auto"):
        done = project.build("require", ROUTERD_RETURN_CODES=mode)
        assert (done.returncode, done.stderr) == (0, "")
        calls = calls_of_check(project)
        assert calls
        has_codes.append(all("== ((int)-1)" in call and "PyErr_Occurred" not in call for call in calls))
    assert has_codes == [True, False, False, True]


@needs_a_compiler
def test_only_what_changed_is_compiled_again(project: Project) -> None:
    project.build("require")
    first = project.compiled()
    project.build("require")
    assert project.compiled() == first
    with (project.folder / "routerd/wire/count.pxd").open("a") as types:
        types.write("\n")
    project.build("require")
    assert project.compiled()["compiled"] > first["compiled"]


@needs_a_compiler
def test_off_leaves_no_compiled_module_behind(project: Project) -> None:
    project.build("require")
    done = project.build("off")
    assert (done.returncode, done.stderr, project.compiled()) == (0, "", {})
    assert project.file_of_the_imported_module().suffix == ".py"


def test_without_a_compiler_auto_says_so_once_and_leaves_the_module_uncompiled(project: Project) -> None:
    done = project.build("auto", CC="/bin/false")
    assert (done.returncode, project.compiled()) == (0, {})
    assert (done.stdout + done.stderr).count("no working C compiler") == 1
    assert project.file_of_the_imported_module().suffix == ".py"


def test_without_a_compiler_require_fails(project: Project) -> None:
    done = project.build("require", CC="/no/such/compiler")
    assert (done.returncode, done.stderr) == (
        1,
        "routerd: ROUTERD_CYTHON=require, but no working C compiler (/no/such/compiler: No such file or directory)\n",
    )


def test_without_a_compiler_a_wheel_of_the_sources_is_made(project: Project) -> None:
    done = project.run("--quiet", "bdist_wheel", CC="/bin/false")
    (wheel,) = (project.folder / "dist").glob("*.whl")
    inside = zipfile.ZipFile(wheel).namelist()
    assert (done.returncode, [name for name in inside if name.startswith("routerd/")]) == (
        0,
        ["routerd/__init__.py", "routerd/compiled_form.py", "routerd/wire/__init__.py", "routerd/wire/count.py"],
    )


@needs_a_compiler
@needs_training
def test_a_wheel_has_the_trained_object(project: Project) -> None:
    done = project.run("--quiet", "bdist_wheel", ROUTERD_CYTHON="require", ROUTERD_TRAINING="require")
    (wheel,) = (project.folder / "dist").glob("*.whl")
    objects = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".so")]
    assert (done.returncode, [name.partition(".")[0] for name in objects]) == (0, ["routerd/compiled"])


@needs_a_compiler
def test_a_listed_module_that_is_missing_is_named_and_refused_where_compiling_is_required(project: Project) -> None:
    missing = "routerd/wire/lost.py, routerd/wire/lost.pxd"
    complaint = f"compiling/build_ext.py lists modules whose files are missing: {missing}"
    listed = ("routerd/wire/count.py", "routerd/wire/lost.py")
    required = project.run("build_ext", "--inplace", listed=listed, ROUTERD_CYTHON="require")
    assert (required.returncode, required.stderr.count(complaint)) == (1, 1)
    tried = project.run("build_ext", "--inplace", listed=listed, ROUTERD_CYTHON="auto")
    assert (tried.returncode, tried.stderr.count(complaint), list(project.compiled())) == (0, 1, ["compiled"])


def test_an_unknown_mode_is_refused(project: Project) -> None:
    done = project.build("perhaps")
    assert (done.returncode, done.stderr) == (
        1,
        "routerd: ROUTERD_CYTHON is 'perhaps'; it must be one of off, auto, require\n",
    )


@needs_a_compiler
def test_memory_of_recycled_objects_is_used_again(project: Project) -> None:
    wire = project.folder / "routerd" / "wire"
    (wire / "token.py").write_text("class Token:\n    def __init__(self) -> None:\n        self.value: object = None\n")
    (wire / "token.pxd").write_text("cdef class Token:\n    cdef public object value\n")
    listed = ("routerd/wire/count.py", "routerd/wire/token.py")
    program = (
        "import runpy; from compiling import build_ext; build_ext.BENCH_MODULES = build_ext.PRELOADED = ();"
        f" build_ext.MODULES = {listed!r}; build_ext.RECYCLED = frozenset({listed[1:]!r});"
        " runpy.run_path('setup.py')"
    )
    environment = {**os.environ, "ROUTERD_CYTHON": "require", "ROUTERD_TRAINING": "off"}
    command = [sys.executable, "-c", program, "--quiet", "build_ext", "--inplace"]
    subprocess.run(command, cwd=project.folder, env=environment, check=True)
    assert project.form() == ("routerd.wire.count routerd.wire.token", False)
    translated = (project.folder / build_ext.C_FILES / "routerd/wire/token.c").read_text()
    assert f"__pyx_freelist_7routerd_4wire_5token_Token[{build_ext.FREE_OBJECTS}]" in translated


@needs_a_compiler
def test_an_object_that_is_not_to_be_trained_is_made_quickly(project: Project) -> None:
    project.build("require", training="off")
    [flags] = project.folder.glob("build/temp*/objects/flags")
    assert flags.read_text().split()[-1] == "-O1"


def test_recycled_modules_are_listed() -> None:
    assert set(build_ext.MODULES) >= build_ext.RECYCLED


@needs_a_compiler
@needs_training
def test_compiled_modules_are_trained_where_the_compiler_can(project: Project) -> None:
    done = project.build("auto", training="auto")
    assert (done.returncode, done.stderr, project.form()) == (0, "", ("routerd.wire.count", True))
    assert project.file_of_the_imported_module().suffix == ".so"


@needs_a_compiler
@needs_training
def test_a_trained_object_is_made_again_as_a_whole_and_only_when_something_changed(project: Project) -> None:
    project.build("require", training="require")
    first = project.compiled()
    project.build("require", training="require")
    assert project.compiled() == first
    (project.folder / "bench/core.py").write_text(TRAINING.replace("1", "3").replace("2", "4"))
    project.build("require", training="require")
    assert project.compiled()["compiled"] > first["compiled"]


@needs_a_compiler
@needs_training
def test_the_form_that_is_asked_for_replaces_the_one_that_is_there(project: Project) -> None:
    forms = []
    for training in ("require", "off", "require"):
        project.build("require", training=training)
        forms.append((project.form()[1], project.why_untrained()))
    assert forms == [(True, ""), (False, "it was built with ROUTERD_TRAINING=off"), (True, "")]


def _compiler_without(flag: str, folder: Path) -> str:
    """A C compiler that does not know a flag."""
    script = folder / "cc"
    command = " ".join(build_ext.c_compiler())
    script.write_text(f"""#!/bin/sh
case "$*" in *{flag}*) echo "cc: error: no {flag} here" >&2; exit 1;; esac
exec {command} "$@"
""")
    script.chmod(0o755)
    return str(script)


def _compiler_without_profiles(folder: Path) -> str:
    return _compiler_without("-fprofile-generate", folder)


@needs_a_compiler
def test_a_compiler_need_not_know_the_machine(project: Project, tmp_path: Path) -> None:
    done = project.build("require", CC=_compiler_without("-mtune=native", tmp_path))
    assert (done.returncode, done.stderr, list(project.compiled())) == (0, "", ["compiled"])


@needs_a_compiler
def test_with_a_compiler_that_cannot_train_auto_says_so_and_compiles(project: Project, tmp_path: Path) -> None:
    done = project.build("require", training="auto", CC=_compiler_without_profiles(tmp_path))
    assert (done.returncode, done.stderr.count("no -fprofile-generate here"), project.form()[1]) == (0, 1, False)
    assert project.file_of_the_imported_module().suffix == ".so"


@needs_a_compiler
def test_with_a_compiler_that_cannot_train_require_fails(project: Project, tmp_path: Path) -> None:
    done = project.build("require", training="require", CC=_compiler_without_profiles(tmp_path))
    assert (done.returncode, project.compiled()) == (1, {})
    assert "ROUTERD_TRAINING=require, but" in done.stderr


@needs_a_compiler
@needs_training
def test_a_training_that_fails_is_told_and_leaves_what_is_compiled_untrained(project: Project) -> None:
    (project.folder / "bench/core.py").write_text("def run() -> None:\n    raise ValueError('too hard')\n")
    done = project.build("require", training="auto")
    assert (done.returncode, done.stderr.count("ValueError: too hard"), project.form()[1]) == (0, 1, False)
    assert project.why_untrained() == "its training failed: ValueError: too hard"


def test_what_the_training_imports_is_required_for_a_build() -> None:
    # A front end builds in an environment that has nothing else.
    program = f"import sys\n{shared_object.TRAINING.partition(';')[0]}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    imported = {name.partition(".")[0] for name in done.stdout.split()}
    providers = metadata.packages_distributions()
    used = {provider.lower() for name in imported & providers.keys() for provider in providers[name]} - {"mobula"}
    requirements = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    required = {re.split(r"[<>=]", one)[0].lower() for one in requirements}
    direct = {name for name in used if not any(name in _needs_of(other) for other in used)}
    assert {"h11", "uvloop"} <= direct <= required


def _needs_of(distribution: str) -> set[str]:
    return {re.split(r"[^\w.-]", one)[0].lower() for one in metadata.requires(distribution) or ()}


@pytest.mark.soak
@needs_a_compiler
@needs_training
def test_a_wheel_that_is_built_in_isolation_is_trained(project: Project) -> None:
    # Its training takes what that of the router takes; setup.py is as the front end runs it.
    (project.folder / "bench/core.py").write_text("import h11, uvloop\n" + TRAINING)
    listing = project.folder / "compiling/build_ext.py"
    text = re.sub(r"(?ms)^MODULES.*?^\)", "MODULES = ('routerd/wire/count.py',)", listing.read_text(), count=1)
    text = re.sub(r"(?m)^(BENCH_MODULES|PRELOADED)\b.*$", r"\1 = ()", text)
    listing.write_text(text)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", "made", "."]
    environment = {**os.environ, "ROUTERD_CYTHON": "require", "ROUTERD_TRAINING": "require"}
    done = subprocess.run(command, cwd=project.folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (project.folder / "made").glob("*.whl")
    elsewhere = project.folder / "unpacked"
    zipfile.ZipFile(wheel).extractall(elsewhere)
    assert Project(elsewhere).form() == ("routerd.wire.count", True)


@needs_a_compiler
def test_two_modules_of_one_name_are_refused(project: Project) -> None:
    core = project.folder / "routerd" / "core"
    shutil.copytree(project.folder / "routerd/wire", core)
    done = project.run("build_ext", "--inplace", listed=("routerd/wire/count.py", "routerd/core/count.py"))
    assert (done.returncode, done.stderr.strip().splitlines()[-1]) == (
        1,
        "routerd: several compiled modules have the name count, and one object is for all",
    )


def test_all_compiled_modules_can_be_in_one_object() -> None:
    assert shared_object.shared_names(build_ext.name_of(source) for source in build_ext.MODULES) == []
