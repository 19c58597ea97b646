"""A worker of our own Ray, without what Ray adds for libraries that actors have no use for.

Ray imports pyarrow, pydantic and starlette where they are installed, so that their objects can be sent. Nothing of ours
sends any. `make analytics` installs pyarrow, which takes 16 MiB and a tenth of a second in each process.

This file imports nothing of ours, since it is run by its file name.
"""

import os
import runpy
import sys


def leave_out_addons() -> None:
    """Keep Ray from importing these libraries in this process."""
    from ray.util import serialization_addons

    serialization_addons.apply = _add_nothing


def _add_nothing(serialization_context: object) -> None:
    pass


if __name__ == "__main__":
    # Ray's script finds the arguments and the path as if it were the program.
    del sys.argv[0]
    sys.path[0] = os.path.dirname(sys.argv[0])
    leave_out_addons()
    runpy.run_path(sys.argv[0], run_name="__main__")
