"""The first thing that a worker process of our own Ray runs: it becomes the worker without delay.

Ray's script for this place imports all of Ray to find out whether the worker needs an environment of its own, and then
replaces the process by another, which imports all of Ray again. Actors of ours need none, and without that detour one
that died is back in two thirds of the time. Imports nothing of ours, since it is run by the name of its file.
"""

import ctypes
import os
import signal
import sys

_ENVIRONMENT = "--serialized-runtime-env-context"
_LANGUAGE = "--language"
_PR_SET_PDEATHSIG = 1


def command(arguments: list[str]) -> list[str]:
    """Return the arguments for the interpreter that is to be the worker."""
    if any(argument.startswith(_ENVIRONMENT) for argument in arguments):
        from ray._private.workers import setup_worker

        return [setup_worker.__file__, *arguments]
    return [argument for argument in arguments if not argument.startswith(_LANGUAGE)]


if __name__ == "__main__":
    # Ends with Ray's server, which ends with the launcher: else both would be missed seconds later, and the ports of
    # the router be taken until then.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:
        # It has ended before we asked to be told.
        sys.exit(1)
    os.execv(sys.executable, [sys.executable, *command(sys.argv[1:])])
