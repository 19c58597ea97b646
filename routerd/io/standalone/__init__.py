"""A router in one process, without Ray.

`in_process` has its one worker and its management, `routing_loop` its routing engine.
"""

from routerd.io.standalone.in_process import InProcessRouter

__all__ = [
    "InProcessRouter",
]
