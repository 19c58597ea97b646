"""A connection worker: an event loop in a thread, with all that its connections need.

`worker` owns the loop; `calls` are what others ask of it, from any thread.
"""

from routerd.io.worker.worker import Worker

__all__ = [
    "Worker",
]
