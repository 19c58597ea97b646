"""`routeranalyze`: answers from the records of routers."""

import sys
from collections.abc import Sequence

from analytics.options import parser

_NEEDS = {"pyarrow", "plotly", "pyspark"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says, and return the exit status."""
    options = parser().parse_args(arguments)
    try:
        # Only now: help and the version are there without Spark, too.
        from analytics.commands import run
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _NEEDS:
            raise
        print(
            f"routeranalyze: it needs {missing}, which is not installed: pip install 'mobula[analytics]', "
            "or `make analytics` in a working copy",
            file=sys.stderr,
        )
        return 1
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
