"""The settings that a worker gets when it starts.

`worker_config` is all of it, with the `node` it runs on and the `fabric_keys` by which siblings know each other.
"""

from routerd.io.settings.fabric_keys import FabricKeys, FabricTls, fabric_name
from routerd.io.settings.node import Node
from routerd.io.settings.worker_config import WorkerConfig

__all__ = [
    "FabricKeys",
    "FabricTls",
    "Node",
    "WorkerConfig",
    "fabric_name",
]
