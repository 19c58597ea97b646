"""`record` at a worker."""

import os
from collections.abc import Mapping
from typing import Any

from routerd.config import ChangeRefused, RecordConfig, RecordLevel
from routerd.io.entities.running import Running, Step, Workplace, done


class Records(Running[RecordConfig]):
    """What is recorded. There is always one such entity."""

    def prepare(self, config: RecordConfig, worker: Workplace, named: Mapping[str, Any]) -> Step:
        """See to it that there is a folder for the files."""
        check_record_directory(config)
        return Step(lambda: done(worker.call(worker.recording_clock.record, config)))


def check_record_directory(record: RecordConfig) -> None:
    """See to it that there is a folder for record files; raises ChangeRefused."""
    if record.level is RecordLevel.OFF:
        return
    if record.directory is None:
        raise ChangeRefused("directory: say in which folder decisions are to be recorded")
    if not os.path.isabs(record.directory):
        # The processes of a router have folders of their own.
        raise ChangeRefused(f"directory: '{record.directory}' has to begin with a slash")
    try:
        os.makedirs(record.directory, exist_ok=True)
    except OSError as error:
        raise ChangeRefused(f"directory: '{record.directory}' cannot be made: {error.strerror}") from error
    if not os.access(record.directory, os.W_OK | os.X_OK):
        raise ChangeRefused(f"directory: '{record.directory}' cannot be written to: Permission denied")
