"""`python -m tests.fuzz`: starts a worker for each target, watches over it, and tells what came of it."""

import argparse
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

from tests.fuzz.corpus import BUILD, collect
from tests.fuzz.failures import Failures, command_to_reproduce
from tests.fuzz.guard import Guard
from tests.fuzz.progress import Progress
from tests.fuzz.targets import NAMES, target

USUAL_SECONDS = 60.0
HANG_SECONDS = 120.0
"""How long an input may take that does not even come back to Python code."""


def main() -> int:
    """Return the exit status: 1 when anything failed."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    options = _options()
    if options.reproduce:
        return reproduce(options.target, options.reproduce, options.compiled)
    names = NAMES if options.target == "all" else (options.target,)
    if options.collect:
        _import_sources()
        for name in names:
            print(collect(name, target(name)))
        return 0
    return max([supervise(name, options) for name in names])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", nargs="?", default="all", choices=("all", *NAMES))
    parser.add_argument("--runs", type=int, default=0, help="how many inputs a target is given")
    parser.add_argument("--seconds", type=float, default=0.0, help="for how long a target is run")
    parser.add_argument("--seed", type=int, default=1, help="what decides the inputs")
    parser.add_argument("--compiled", action="store_true", help="the compiled form, at random and many times faster")
    parser.add_argument("--reproduce", type=Path, metavar="FILE", help="run one input, and tell what happens")
    parser.add_argument("--collect", action="store_true", help="reduce what was found to a new kept corpus")
    options = parser.parse_args()
    if not options.runs and not options.seconds:
        options.seconds = USUAL_SECONDS
    if options.reproduce and options.target == "all":
        parser.error("--reproduce needs to know the target")
    return options


def _import_sources() -> None:
    from bench.uncompiled import forget_compiled

    forget_compiled()


def supervise(name: str, options: argparse.Namespace) -> int:
    """Run a target in a process of its own, which may crash or hang."""
    BUILD.mkdir(parents=True, exist_ok=True)
    log = BUILD / f"{name}.log"
    path = BUILD / f"{name}.progress"
    progress = Progress(path, is_new=True)
    arguments = [f"--runs={options.runs}", f"--seconds={options.seconds}", f"--seed={options.seed}"]
    arguments += ["--compiled"] if options.compiled else []
    start = time.monotonic()
    with log.open("w") as output:
        command = [sys.executable, "-m", "tests.fuzz.worker", name, str(path), *arguments]
        worker = subprocess.Popen(command, stderr=output, stdout=None)
        try:
            end = _watch(worker, progress)
        finally:
            worker.kill()
    seconds = time.monotonic() - start
    failures = progress.failures
    if end:
        failures += 1
        saved = Failures(BUILD / "failures", name).save(progress.data)
        print(f"\n{name}: the worker {end}; {log} tells more\nagain: {command_to_reproduce(saved, name)}")
    form = "compiled" if options.compiled else "uncompiled"
    speed = progress.inputs / seconds
    print(f"{name} ({form}): {progress.inputs} inputs in {seconds:.0f} s, {speed:.0f} a second, {failures} failures")
    return 1 if failures else 0


def _watch(worker: subprocess.Popen[bytes], progress: Progress) -> str:
    """Wait for the end of a worker; return what was wrong with it, if anything was."""
    inputs, since = 0, time.monotonic()
    while True:
        try:
            status = worker.wait(1.0)
        except subprocess.TimeoutExpired:
            now = time.monotonic()
            if progress.inputs != inputs:
                inputs, since = progress.inputs, now
            elif now - since > HANG_SECONDS:
                worker.send_signal(signal.SIGABRT)  # has it write down where it is
                worker.wait()
                return f"hung for {HANG_SECONDS:g} s"
        else:
            return "" if status == 0 else f"ended with status {status}"


def reproduce(name: str, file: Path, is_compiled: bool) -> int:
    """Run one input, telling every step."""
    if not is_compiled:
        _import_sources()
    from tests.fuzz import narration

    run = Guard(target(name)).measured
    narration.lines = []
    try:
        run(file.read_bytes())
    except Exception:
        print("\n".join(narration.lines))
        traceback.print_exc()
        return 1
    print("\n".join(narration.lines), "nothing is wrong with this input", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
