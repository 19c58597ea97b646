"""The identity of this process in its open."""

import os
import sys
import uuid
from typing import Any

from .settings import Settings


def process_properties() -> dict[str, Any]:
    """Return the properties of the connection: program, process and host."""
    return {"process": _program(), "pid": os.getpid(), "node": os.uname().nodename}


def container_name(settings: Settings) -> str:
    """Return the name of the container: the option's, or a unique one."""
    if settings.container_name:
        return settings.container_name
    of = process_properties()
    return f"openstack.org/om/container/{of['node']}/{of['process']}/{of['pid']}/{uuid.uuid4().hex}"


def _program() -> str:
    return os.path.basename(sys.argv[0]) if sys.argv else ""
