"""`log` in the process of a worker."""

import asyncio
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from routerd.config import ChangeRefused, LogModuleConfig
from routerd.io.entities.running import Running, Step, Workplace
from routerd.io.logs import change_log

_STREAMS = (None, "stderr", "stdout", "syslog")


class LogModules(Running[LogModuleConfig]):
    """Modules of the log. There are always all of them."""

    def prepare(self, config: LogModuleConfig, worker: Workplace, named: Mapping[str, Any]) -> Step:
        """See to it that the file can be written."""
        _check_file(config.output_file)
        return Step(lambda: asyncio.to_thread(change_log, config))


def _check_file(name: str | None) -> None:
    if name in _STREAMS:
        return
    try:
        with closing(open(str(name), "ab")):
            pass
    except OSError as error:
        raise ChangeRefused(f"Failed to open log file '{name}': {error.strerror}") from error
