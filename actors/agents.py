"""How a raylet runs without the two agents that it insists on, for a dashboard and for environments of tasks.

A router needs neither. They take 100 MB, and a raylet ends itself when one of them dies. It starts each by a command,
and counts it as alive while somebody has the writing end of a pipe open. So the command starts a placeholder, the
launcher opens the same end of the pipe, and the placeholder is ended. A raylet ends with its launcher anyway.
"""

import contextlib
import os
import stat
import subprocess

COMMANDS = ("--dashboard_agent_command=", "--runtime_env_agent_command=")
"""How the arguments of a raylet begin that say how its agents are started."""
PLACEHOLDER = ("/bin/sh", "-c", "read -r _", "no-agent")
"""Ends with the raylet, which has the other end of its standard input."""
_STREAMS = 3


def without_agent(argument: str) -> str:
    """Return an argument of a raylet, with the command of a placeholder in place of that of an agent."""
    option = next((command for command in COMMANDS if argument.startswith(command)), None)
    return argument if option is None else option + subprocess.list2cmdline(PLACEHOLDER)


def is_placeholder(pid: int) -> bool:
    """Return whether a process is a placeholder, and no longer the raylet's copy that is about to become one."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        # Behind these the raylet adds arguments.
        return file.read().split(b"\0")[: len(PLACEHOLDER)] == [word.encode() for word in PLACEHOLDER]
    return False


def hold(pid: int) -> list[int]:
    """Open what a placeholder has open for writing besides its standard streams; return the descriptors."""
    held: list[int] = []
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            path = f"/proc/{pid}/fd/{name}"
            if int(name) >= _STREAMS and os.lstat(path).st_mode & stat.S_IWUSR and stat.S_ISFIFO(os.stat(path).st_mode):
                held.append(os.open(path, os.O_WRONLY))
    return held
