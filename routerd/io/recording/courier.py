"""The thread that brings a worker's records to the process that writes them, and starts that process."""

import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time

from routerd.core import RecordedEvent, Records
from routerd.io.logs import level_of, module_log
from routerd.io.recording.line import Line
from routerd.io.recording.parcels import Packer, Reply
from routerd.io.recording.task import STATUS_ON, RecordingCounters, RecordTask
from routerd.io.scheduling import use_all_cores

PENDING_ROWS_MAX = 500_000
"""Limit of the rows that wait for the process; more are lost."""
WAIT_S = 0.5
"""The interval of requests for work that is due, while files are incomplete or could not be written."""
REST_S = 5.0
"""The interval while nothing is under way: old files are deleted then, without hurry."""
RESTART_S = 5.0
"""The delay between the end of a killed process and the start of the next."""
SPARE_MAX = 6
"""Limit of the sets of columns that are kept for reuse."""

_log = module_log("ROUTER_CORE")


class WriterFailed(Exception):
    """The process cannot continue, and another one could not either."""


class RecordCourier:
    """Gets records written; its methods are safe from any thread."""

    def __init__(self, task: RecordTask) -> None:
        self.task = task
        self.counters = RecordingCounters()
        self.status = STATUS_ON
        self.pending_rows = 0
        self.process_id: int | None = None
        """The pid of the process that writes, while there is one."""
        self._queue: queue.SimpleQueue[Records | None] = queue.SimpleQueue()
        self._is_ending = threading.Event()
        self._under_way = 0
        """Rows without an answer of the process."""
        self._lost = 0
        """Rows that the earlier process has lost."""
        self._thread = threading.Thread(target=self._run, name="routerd-records", daemon=True)
        self._thread.start()

    def submit(self, records: Records) -> bool:
        """Hand over records to be written; return whether there is room for them."""
        if self.pending_rows + records.rows > PENDING_ROWS_MAX:
            return False
        self.pending_rows += records.rows
        self._queue.put(records)
        return True

    def end(self) -> None:
        """Complete the files of all records, and end; this does not wait."""
        self._is_ending.set()
        self._queue.put(None)

    @property
    def has_ended(self) -> bool:
        """Whether everything is done."""
        return not self._thread.is_alive()

    def join(self, timeout_s: float) -> None:
        """Wait for the end."""
        self._thread.join(timeout_s)

    def _run(self) -> None:
        # The process may run on the cores of this thread.
        use_all_cores()
        try:
            while not self._served():
                self._is_ending.wait(RESTART_S)
        except Exception as error:
            self._lose()
            self.status = f"recording has ended: {error}"
            _log.error("Recording has ended: %s", error, exc_info=not isinstance(error, WriterFailed))

    def _served(self) -> bool:
        """Serve one process; return whether everything is done. Otherwise the process was killed."""
        process, line = _start(self.task)
        self.process_id = process.pid
        try:
            # Its last reply comes when everything is written.
            self._serve(line)
        except (EOFError, OSError):
            self._note_end(process.wait())
            return False
        finally:
            self.process_id = None
            line.close()
            process.kill()
            process.wait()
        return True

    def _serve(self, line: Line) -> None:
        packer = Packer()
        goes_on = True
        while goes_on:
            goes_on, records = self._take()
            parcel, descriptors = packer.pack(records)
            parcel.is_pressing = self._is_ending.is_set()
            self._under_way = records.rows
            line.send(parcel, descriptors)
            self._note(line.receive()[0])
            self._under_way = 0
            for columns in records.decisions:
                if len(records.spare) < SPARE_MAX:
                    records.spare.append(columns)
        line.end()
        self._note(line.receive()[0])

    def _take(self) -> tuple[bool, Records]:
        """Return whether more is to come, and the next task to write; an empty task lets due work be done."""
        found = Records(1)
        is_at_rest = self.status == STATUS_ON and not self.counters.rows_pending
        try:
            taken = self._queue.get(timeout=REST_S if is_at_rest else WAIT_S)
        except queue.Empty:
            # An earlier process may have got the end, and was killed; the last records may have come just now.
            goes_on = not self._is_ending.is_set() or not self._queue.empty()
        else:
            goes_on = taken is not None
            if taken is not None:
                self.pending_rows -= taken.rows
                found = taken
        if self._lost:
            detail = "the process that writes them was killed"
            found.events.append(RecordedEvent(int(time.time() * 1e6), "rows-lost", number=self._lost, detail=detail))
            self._lost = 0
        return goes_on, found

    def _note(self, reply: Reply) -> None:
        if reply.failure is None:
            # The reply has the present number of pending rows; its other counters are what has been added since.
            self.counters.rows_pending = 0
            self.counters.add(reply.counters)
            self.status = reply.status
        for level, text in reply.remarks:
            if _log.isEnabledFor(level):
                _log.record(level_of(level), text)
        if reply.failure is not None:
            raise WriterFailed(reply.failure)

    def _lose(self) -> int:
        """Count the rows that a process has lost; return their number."""
        lost = self.counters.rows_pending + self._under_way
        self.counters.errors += 1
        self.counters.rows_lost += lost
        self.counters.rows_pending = self._under_way = 0
        return lost

    def _note_end(self, status: int) -> None:
        lost = self._lose()
        self._lost += lost
        reason = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        self.status = f"stopped: the process that writes has ended: {reason}"
        _log.error(
            "The process that writes records has ended (%s), forwarding goes on: %d rows are lost, another is started",
            *(reason, lost),
        )


def _start(task: RecordTask) -> tuple["subprocess.Popen[bytes]", Line]:
    ours, theirs = socket.socketpair()
    with theirs:
        # The name is for people who look at the processes of a host.
        name = f"{task.router_id}/{task.worker}"
        command = [sys.executable, "-P", "-m", "routerd.io.recording.process", str(theirs.fileno()), name]
        path = os.pathsep.join(os.path.abspath(place) for place in sys.path)
        process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": path}
        )
    line = Line(ours)
    line.send(task)
    return process, line
