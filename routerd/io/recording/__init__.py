"""What a worker records, on its way to files.

In the worker, `recording` gathers by the `clock` and hands in at the `courier_pool`. A `courier` sends `parcels` in
shared `memory` over a `line`. In the `process` that writes, a `writer` makes `groups` of rows and keeps `files`. Both
know the `task`.
"""

from routerd.io.recording.clock import RecordingClock
from routerd.io.recording.recording import Recording

__all__ = [
    "Recording",
    "RecordingClock",
]
