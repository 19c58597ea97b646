"""The compiled modules: which they are, and how `ROUTERD_CYTHON` decides whether they are compiled.

`auto` (the default) compiles when a C compiler works, and otherwise says so once and leaves the modules uncompiled;
`require` fails where `auto` would say so; `off` compiles nothing. It is all or nothing: compiled modules share C types,
so a build never mixes both forms. `ROUTERD_TRAINING` decides in the same way whether they are trained
(`shared_object`). `ROUTERD_RETURN_CODES=off` leaves Cython unpatched (`return_codes`). Run as a program, this prints
the form that a build would have.
"""

import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from pathlib import Path

from setuptools import Extension
from setuptools.command.build_ext import build_ext

from compiling import shared_object
from compiling.return_codes import return_codes
from compiling.shared_object import NotTrained, SharedObject

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = str(Path(__file__).resolve().relative_to(ROOT))
"""What all modules are compiled again for when it changes."""

MODULES = (
    "routerd/wire/serial.py",
    "routerd/wire/reader.py",
    "routerd/wire/writer.py",
    "routerd/wire/encoder.py",
    "routerd/wire/decoder.py",
    "routerd/wire/composite.py",
    "routerd/wire/output.py",
    "routerd/wire/transfer.py",
    "routerd/wire/flow.py",
    "routerd/wire/disposition.py",
    "routerd/wire/delivery.py",
    "routerd/wire/delivery_batch.py",
    "routerd/wire/plain_transfer.py",
    "routerd/wire/held_batch.py",
    "routerd/wire/handles.py",
    "routerd/wire/idle_clock.py",
    "routerd/wire/link_names.py",
    "routerd/wire/link.py",
    "routerd/wire/attachments.py",
    "routerd/wire/sender.py",
    "routerd/wire/receiver.py",
    "routerd/wire/dispositions.py",
    "routerd/wire/session.py",
    "routerd/wire/relay.py",
    "routerd/wire/channels.py",
    "routerd/wire/input.py",
    "routerd/wire/sasl_layer.py",
    "routerd/wire/connection.py",
    "routerd/wire/handler.py",
    "routerd/wire/section_scan.py",
    "routerd/wire/annotation_edit.py",
    "routerd/wire/sections.py",
    "routerd/wire/message.py",
    "routerd/core/clock.py",
    "routerd/core/links/peer.py",
    "routerd/core/links/role.py",
    "routerd/core/links/end.py",
    "routerd/core/links/recorded_flow.py",
    "routerd/core/links/inlet.py",
    "routerd/core/links/outlet.py",
    "routerd/core/links/parked.py",
    "routerd/core/links/kept.py",
    "routerd/core/links/fan_out.py",
    "routerd/core/links/sibling_streams.py",
    "routerd/core/links/routed_end.py",
    "routerd/core/links/address.py",
    "routerd/core/links/address_route.py",
    "routerd/core/links/trunk.py",
    "routerd/core/links/arrival.py",
    "routerd/core/annotations/router_annotations.py",
    "routerd/core/annotations/annotation_filter.py",
    "routerd/core/directory/naming.py",
    "routerd/core/directory/address_tracking.py",
    "routerd/core/directory/directory.py",
    "routerd/core/directory/path_rules.py",
    "routerd/core/policy/grant.py",
    "routerd/core/policy/message_guard.py",
    "routerd/core/recording/rows.py",
    "routerd/core/recording/recorder.py",
    "routerd/core/recording/batch.py",
    "routerd/core/recording/journal.py",
    "routerd/core/delivery/marking.py",
    "routerd/core/delivery/windows.py",
    "routerd/core/delivery/settlement.py",
    "routerd/core/delivery/routing.py",
    "routerd/core/delivery/sending.py",
    "routerd/core/delivery/copies.py",
    "routerd/core/delivery/batches.py",
    "routerd/core/delivery/queues.py",
    "routerd/core/delivery/resending.py",
    "routerd/core/delivery/remainders.py",
    "routerd/core/delivery/credit.py",
    "routerd/core/delivery/endings.py",
    "routerd/core/delivery/destinations.py",
    "routerd/core/delivery/intake.py",
    "routerd/core/roles/attaching.py",
    "routerd/core/roles/demand.py",
    "routerd/core/roles/ends.py",
    "routerd/core/roles/claims.py",
    "routerd/core/roles/fabric.py",
    "routerd/core/roles/routed_traffic.py",
    "routerd/core/roles/routed_links.py",
    "routerd/core/roles/link_routing.py",
    "routerd/core/roles/address_routes.py",
    "routerd/core/roles/siblings.py",
    "routerd/core/roles/control.py",
    "routerd/core/roles/trunks.py",
    "routerd/core/roles/uplinks.py",
    "routerd/core/roles/edges.py",
    "routerd/core/roles/refusals.py",
    "routerd/core/roles/keeping.py",
    "routerd/core/roles/clients.py",
    "routerd/core/roles/configured_addresses.py",
    "routerd/core/roles/connections.py",
    "routerd/core/roles/containers.py",
    "routerd/core/roles/link_route_uses.py",
    "routerd/core/roles/auto_links.py",
    "routerd/core/roles/leaving.py",
    "routerd/core/router.py",
    "routerd/core/inside/inner_connection.py",
    "routerd/core/inside/binding_tree.py",
    "routerd/core/inside/exchange.py",
    "routerd/core/inside/exchange_loop.py",
    "routerd/records/file_format/packing.py",
    "routerd/mesh/trees.py",
    "routerd/mesh/paths.py",
    "routerd/topics/tags.py",
    "routerd/topics/ranges.py",
    "routerd/topics/records.py",
    "routerd/topics/streams.py",
    "routerd/topics/upstream.py",
    "routerd/topics/publications.py",
    "routerd/topics/publishers.py",
    "routerd/topics/port.py",
    "routerd/topics/subscribers.py",
    "routerd/topics/host.py",
    "routerd/topics/progress.py",
    "routerd/topics/copying.py",
    "routerd/topics/ingress.py",
    "routerd/topics/topic.py",
    "routerd/topics/node.py",
    "routerd/io/topics/publisher_link.py",
    "routerd/io/topics/subscriber_link.py",
    "routerd/io/topics/topic_host.py",
    "routerd/io/reports/report_rows.py",
    "routerd/io/scheduling/busy_poll.py",
    "routerd/io/sockets/worker_turn.py",
    "routerd/io/websocket/masking.py",
    "routerd/cli/load/histogram.py",
    "routerd/cli/load/stamps.py",
    "routerd/cli/load/meter.py",
    "routerd/cli/load/roles.py",
    "routerd/cli/load/line.py",
)
"""Each is a .py with its C types in a .pxd beside it."""

BENCH_MODULES = ("bench/frame_loop.py",)
"""Compiled where the project stands only: benchmarks are not installed."""

PRELOADED = ("actors/quiet_timers.c",)
"""Libraries for processes that are not ours to compile; built with the modules, and done without where these are."""

RECYCLED = frozenset(
    {
        *("routerd/wire/delivery.py", "routerd/core/links/parked.py", "routerd/core/links/fan_out.py"),
        "routerd/topics/records.py",
    }
)
"""Those whose objects come and go with every message: memory of up to `FREE_OBJECTS` of each class is used again."""
FREE_OBJECTS = 4096

MODES = ("off", "auto", "require")
DIRECTIVES = {"language_level": 3, "annotation_typing": False}
C_FILES = "build/cython"
CODES_STAMP = "return_codes"
"""Says beside the C files whether their functions return codes: both forms must not be mixed."""


class BuildRefused(SystemExit):
    """The build cannot be what ROUTERD_CYTHON asks for; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"routerd: {reason}")


def chosen_mode(variable: str = "ROUTERD_CYTHON") -> str:
    """Return the value of a variable of the build, checked."""
    mode = os.environ.get(variable) or "auto"
    if mode not in MODES:
        raise BuildRefused(f"{variable} is {mode!r}; it must be one of {', '.join(MODES)}")
    return mode


def c_compiler() -> list[str]:
    """Return the command that compiles C."""
    return shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")


def compiler_fault() -> str | None:
    """Return why no extension can be compiled here, or None when a small one can."""
    command = c_compiler()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text("#include <Python.h>\nint probe(void) { return PY_VERSION_HEX != 0; }\n")
        include = f"-I{sysconfig.get_path('include')}"
        try:
            result = subprocess.run(
                [*command, include, "-c", str(source), "-o", f"{folder}/probe.o"], capture_output=True, text=True
            )
        except OSError as error:
            return f"{command[0]}: {error.strerror}"
    if result.returncode == 0:
        return None
    complaint = next((line for line in result.stderr.splitlines() if "error" in line), "it said no more")
    return f"{command[0]} exited with status {result.returncode}: {complaint}"


def present_modules(mode: str, listed: Iterable[str]) -> list[str]:
    """Return the listed modules that have their .py and .pxd; say which lack one, and refuse them with `require`."""
    pairs = [(module, Path(module).with_suffix(".pxd")) for module in listed]
    missing = [str(file) for pair in pairs for file in pair if not (ROOT / file).is_file()]
    if missing:
        complaint = f"compiling/build_ext.py lists modules whose files are missing: {', '.join(missing)}"
        if mode == "require":
            raise BuildRefused(complaint)
        print(f"routerd: {complaint}; they are not compiled", file=sys.stderr)
    return [module for module, types in pairs if module not in missing and str(types) not in missing]


def fault_of_the_build() -> str | None:
    """Return why the modules cannot be compiled, or None when they can."""
    if fault := compiler_fault():
        return f"no working C compiler ({fault})"
    try:
        import Cython.Build  # noqa: F401
    except ImportError:
        return "Cython is not installed"
    return None


def will_compile(mode: str) -> bool:
    """Return whether a build in this mode compiles; say why `auto` does not, refuse where `require` cannot."""
    if mode == "off":
        return False
    fault = fault_of_the_build()
    if fault and mode == "require":
        raise BuildRefused(f"ROUTERD_CYTHON=require, but {fault}")
    if fault:
        print(
            f"routerd: {fault}, so the router is installed uncompiled: it does the same, many times slower.\n"
            "routerd: install a C compiler and the Python headers (Debian: gcc, python3-dev) and build again,"
            " or set ROUTERD_CYTHON=off to build without this message.",
            file=sys.stderr,
        )
    return not fault


def why_untrained() -> str:
    """Return why the compiled modules are not to be trained; say so where `auto` cannot, refuse where `require` can't.

    It is empty where they are.
    """
    if chosen_mode("ROUTERD_TRAINING") == "off":
        return "it was built with ROUTERD_TRAINING=off"
    fault = shared_object.training_fault(c_compiler())
    if fault:
        report_untrained(fault)
    return fault or ""


def report_untrained(reason: str) -> None:
    """Say why the compiled modules are not trained; refuse where they have to be."""
    if chosen_mode("ROUTERD_TRAINING") == "require":
        raise BuildRefused(f"ROUTERD_TRAINING=require, but {reason}")
    print(
        f"routerd: {reason}, so the compiled modules are not trained: they do the same, a quarter slower.\n"
        "routerd: mend that (training takes GCC) and build again, or set ROUTERD_TRAINING=off to build without this "
        "message. `routerd --version` tells the reason, too.",
        file=sys.stderr,
    )


def name_of(source: str) -> str:
    """Return the name of the module with this source."""
    return source.removesuffix(".py").removesuffix(".c").replace("/", ".")


def extension(source: str) -> Extension:
    """Return the extension for one compiled module."""
    flags = [*shared_object.C_FLAGS]
    return Extension(name_of(source), [source], extra_compile_args=flags, depends=[SETTINGS])


def extensions() -> list[Extension]:
    """Return what setup() is to build: nothing when compiling is switched off."""
    if chosen_mode() == "off":
        return []
    modules = [extension(source) for source in BENCH_MODULES]
    libraries = [Extension(name_of(source), [source], libraries=["dl"]) for source in PRELOADED]
    return [Extension(shared_object.NAME, [*MODULES]), *modules, *libraries]


def remove_compiled(folder: Path, keep: frozenset[str] = frozenset()) -> None:
    """Delete compiled modules of ours below a folder, save those of the named modules."""
    for binary in (*folder.glob("routerd/**/*.so"), *folder.glob("bench/*.so"), *folder.glob("actors/*.so")):
        module = binary.relative_to(folder).with_name(binary.name.partition(".")[0])
        if ".".join(module.parts) not in keep:
            binary.unlink()


class BuildCompiled(build_ext):
    """The build_ext command: translates what changed, compiles what changed, or leaves everything uncompiled."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or shared_object.JOBS

    def run(self) -> None:
        mode = chosen_mode()
        listed = (*MODULES, *BENCH_MODULES) if self.inplace else MODULES
        present = frozenset((*present_modules(mode, listed), *PRELOADED) if will_compile(mode) else ())
        for module in self.extensions:
            module.sources = [source for source in module.sources if source in present]
        self.extensions = [module for module in self.extensions if module.sources]
        keep = frozenset(module.name for module in self.extensions)
        # A compiled module that is left behind would be imported instead of the source beside it.
        for folder in (ROOT, Path(self.build_lib)) if self.inplace else (Path(self.build_lib),):
            remove_compiled(folder, keep)
        super().run()

    def build_extensions(self) -> None:
        from Cython.Compiler.Errors import CompileError

        sources = [source for module in self.extensions for source in module.sources if source not in PRELOADED]
        if shared := shared_object.shared_names(name_of(source) for source in sources):
            raise BuildRefused(f"several compiled modules have the name {', '.join(shared)}, and one object is for all")
        has_codes = chosen_mode("ROUTERD_RETURN_CODES") != "off"
        if has_codes:
            return_codes()
        recycled = [extension(source) for source in sources if source in RECYCLED]
        others = [extension(source) for source in sources if source not in RECYCLED]
        try:
            force = self.force or self._settings_changed(sources) or not _are_translated(has_codes)
            translated = [*_translate(others, force, self.parallel), *_translate_recycled(recycled, force)]
        except CompileError as error:
            raise BuildRefused(f"Cython cannot translate {error}, for the reasons above") from error
        Path(C_FILES, CODES_STAMP).write_text(str(has_codes))
        c_files = {module.name: module.sources[0] for module in translated}
        for module in self.extensions:
            module.sources = [c_files.get(name_of(source), source) for source in module.sources]
        super().build_extensions()

    def build_extension(self, ext: Extension) -> None:
        """Build a single module, or the object that has all others in it."""
        if ext.name != shared_object.NAME:
            super().build_extension(ext)
            return
        joined = SharedObject(
            compiler=self.compiler,
            include_dirs=ext.include_dirs,
            libraries=self.get_libraries(ext),
            library_dirs=ext.library_dirs,
            folder=Path(self.build_temp),
            target=Path(self.get_ext_fullpath(ext.name)),
            tuning=shared_object.known_tuning(c_compiler()),
            is_quick=chosen_mode("ROUTERD_TRAINING") == "off",
        )
        folder = Path(C_FILES)
        modules = [name_of(str(Path(file).relative_to(folder).with_suffix(".py"))) for file in ext.sources]
        reason = why_untrained()
        if not self.force and joined.is_current(ext.sources, why_untrained=reason):
            return
        try:
            joined.make(modules, ext.sources, why_untrained=reason)
        except NotTrained as error:
            report_untrained(str(error))
            joined.make(modules, ext.sources, why_untrained=str(error))

    def _settings_changed(self, sources: list[str]) -> bool:
        settings = Path(__file__).stat().st_mtime
        c_files = [Path(C_FILES, source).with_suffix(".c") for source in sources]
        return any(file.is_file() and file.stat().st_mtime < settings for file in c_files)


def _are_translated(has_codes: bool) -> bool:
    """Return whether the C files that may be there are of this form; without a stamp they have codes."""
    stamp = Path(C_FILES, CODES_STAMP)
    return has_codes == (not stamp.is_file() or stamp.read_text() == str(True))


def _translate(modules: list[Extension], force: bool, threads: int, **directives: int) -> list[Extension]:
    from Cython.Build import cythonize

    return list(
        cythonize(
            modules,
            build_dir=C_FILES,
            compiler_directives={**DIRECTIVES, **directives},
            force=force,
            nthreads=threads,
        )
    )


def _translate_recycled(modules: list[Extension], force: bool) -> list[Extension]:
    # A class with its code in a .py loses the free list that its .pxd asks for. So it is set for the whole module.
    # Cython accepts that if the directive has a default. It warns about modules that these import; that is not shown.
    from Cython.Compiler import Errors
    from Cython.Compiler.Options import get_directive_defaults

    get_directive_defaults().setdefault("freelist", 0)
    level, Errors.LEVEL = Errors.LEVEL, 2
    try:
        return _translate(modules, force, 0, freelist=FREE_OBJECTS)
    finally:
        Errors.LEVEL = level
        del get_directive_defaults()["freelist"]


if __name__ == "__main__":
    print("compiled" if will_compile(chosen_mode()) else "uncompiled")
