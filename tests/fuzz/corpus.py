"""The inputs that are known to be worth something: those in the repository, and those that runs have found since."""

import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

KEPT = Path(__file__).with_name("corpus")
"""In the repository: small, and replayed by a test."""
BUILD = Path("build/fuzz")
LARGEST = {
    **{"decoder": 1000, "message": 1000, "frames": 1500, "configuration": 1000, "policy": 600},
    **{"tls": 700, "sasl": 200, "connection": 500, "pair": 500},
}
"""How long an input is at most: choices beyond that say nothing new."""
Arc = tuple[CodeType, int, int]


def kept_folder(target: str) -> Path:
    """Return where a target's corpus is in the repository."""
    return KEPT / target


def grown_folder(target: str) -> Path:
    """Return where coverage-guided runs put what they find."""
    return BUILD / "corpus" / target


def inputs_in(*folders: Path) -> dict[Path, bytes]:
    """Return the files of some folders, in an order that is always the same."""
    files = [file for folder in folders if folder.is_dir() for file in sorted(folder.iterdir())]
    return {file: file.read_bytes() for file in files}


def collect(target: str, run: Callable[[bytes], None]) -> str:
    """Reduce all known inputs of a target to few that together go everywhere, and make these its kept corpus."""
    kept, grown = kept_folder(target), grown_folder(target)
    known = inputs_in(kept, grown)
    by_hand = {file for file in known if file.parent == kept and not _is_found(file)}
    order = sorted(known, key=lambda file: (file not in by_hand, len(known[file])))
    seen: set[Arc] = set()
    chosen = {}
    for file in order:
        arcs = arcs_of(known[file], run)
        if file in by_hand or (len(known[file]) <= LARGEST[target] and not arcs <= seen):
            seen |= arcs
            chosen[file] = known[file]
    kept.mkdir(parents=True, exist_ok=True)
    for file in inputs_in(kept):
        if file not in chosen:
            file.unlink()
    for file, data in chosen.items():
        if file.parent != kept:
            (kept / sha256(data).hexdigest()[:12]).write_bytes(data)
    size = sum(map(len, chosen.values()))
    return f"{target}: {len(chosen)} of {len(known)} inputs, {size} octets, go through {len(seen)} arcs"


def arcs_of(data: bytes, run: Callable[[bytes], None]) -> set[Arc]:
    """Return the steps from line to line that an input makes in the engine's sources."""
    arcs: set[Arc] = set()
    sys.settrace(_tracer(arcs))
    try:
        run(data)
    except Exception:  # a failure goes somewhere too
        return set()
    finally:
        sys.settrace(None)
    return arcs


def _is_found(file: Path) -> bool:
    return len(file.name) == 12 and all(digit in "0123456789abcdef" for digit in file.name)


def _tracer(arcs: set[Arc]) -> Callable[[FrameType, str, Any], Any]:
    last: dict[FrameType, int] = {}

    def trace_line(frame: FrameType, event: str, argument: Any) -> Any:
        line = frame.f_lineno
        arcs.add((frame.f_code, last.get(frame, 0), line if event == "line" else -line))
        last[frame] = line
        if event == "return":
            del last[frame]
        return trace_line

    def trace_call(frame: FrameType, event: str, argument: Any) -> Any:
        if "routerd/wire" not in frame.f_code.co_filename:
            return None
        last[frame] = 0
        return trace_line

    return trace_call
