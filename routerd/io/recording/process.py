"""The process that writes the records of a worker: forwarding shares neither its interpreter nor its heap with that.

It follows commands from one socket, and ends in order when that is closed. So records that a worker has handed over are
in complete files even if the worker is killed.
"""

import contextlib
import gc
import signal
import socket
import sys
import time
import traceback
from collections.abc import Sequence

from routerd.io.logs import Level
from routerd.io.recording.line import Line
from routerd.io.recording.parcels import Reply, Unpacker
from routerd.io.recording.task import RecordingCounters, RecordTask
from routerd.io.recording.writer import RecordWriting
from routerd.io.scheduling import Leisure, keep_freed_memory, let_others_go_first, uses_tricks

NICENESS = 5
USAGE = "This process is started by a router that records, and by nobody else."
STATUS_FAILED = "recording has ended"


def main(arguments: Sequence[str]) -> int:
    """Serve the worker at the other end of a socket; return the exit status."""
    try:
        line = Line(socket.socket(fileno=int(arguments[0])))
    except (IndexError, ValueError, OSError):
        sys.stderr.write(f"{USAGE}\n")
        return 1
    # An interrupt is meant for the router, which closes the socket when it has handed over everything.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        task, _ = line.receive()
        # Compression is not urgent: loops come first.
        let_others_go_first(NICENESS)
        _serve(line, task)
    except EOFError:
        return 0
    except Exception as error:
        remarks = [(int(Level.DEBUG), traceback.format_exc())]
        with contextlib.suppress(OSError):
            line.send(Reply(RecordingCounters(), STATUS_FAILED, remarks, str(error) or type(error).__name__))
        return 1
    return 0


def _serve(line: Line, task: RecordTask) -> None:
    if uses_tricks():
        # Compiled modules look for it to tell its arrays from other views. There are none here, and it is large.
        sys.modules.setdefault("numpy", None)  # type: ignore[arg-type]
        gc.freeze()
    keep_freed_memory()
    leisure = Leisure() if task.stands_back and uses_tricks() else None
    writing = RecordWriting(task, at_leisure=None if leisure is None else leisure.do)
    unpacker = Unpacker()

    def reply() -> Reply:
        counters, writing.counters = writing.counters, RecordingCounters(rows_pending=writing.counters.rows_pending)
        remarks, writing.remarks = writing.remarks, []
        return Reply(counters, writing.status, remarks)

    # The end of a killed worker is noticed at one of these places.
    with contextlib.suppress(EOFError, OSError):
        while True:
            parcel, descriptors = line.receive()
            if parcel.is_pressing:
                writing.at_leisure = None
            writing.step(unpacker.unpack(parcel, descriptors), time.monotonic())
            line.send(reply())
    writing.finish()
    with contextlib.suppress(OSError):
        line.send(reply())
    if leisure is not None:
        leisure.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
