"""Whether this process uses platform tricks. docs/tricks.md names each of them.

The launcher decides once, by its option `tricks`. Processes that it starts have the answer in their environment. Actors
may run in a Ray that was there before, so they are told in `actors.process.ProcessConfig`.
"""

import os

VARIABLE = "ROUTERD_TRICKS"
OFF = "off"


def use_tricks(uses_them: bool) -> None:
    """Have this process, and those that it starts, use platform tricks or do without."""
    if uses_them:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = OFF


def uses_tricks() -> bool:
    """Return whether this process may use platform tricks."""
    return os.environ.get(VARIABLE) != OFF
