"""What is configured, as the workers of a router have it.

A kind of entity that the router of a worker alone has to know needs nothing here. Others have a module and a row of
`table`: `running` says what it has to do.
"""

from routerd.io.entities.records import check_record_directory
from routerd.io.entities.running import Claim, Step
from routerd.io.entities.table import running

__all__ = ["Claim", "Step", "check_record_directory", "running"]
