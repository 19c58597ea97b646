"""The kinds of entities that can be configured, one module each: schema, frozen configuration, and how one is read.

`routerd.config.catalogue` has them in its table.
"""

from routerd.config.kinds.address import ADDRESS
from routerd.config.kinds.connector import CONNECTOR
from routerd.config.kinds.listener import LISTENER
from routerd.config.kinds.log import LOG
from routerd.config.kinds.policy import POLICY
from routerd.config.kinds.record import RECORD
from routerd.config.kinds.router import ROUTER
from routerd.config.kinds.vhost import VHOST

__all__ = ["ADDRESS", "CONNECTOR", "LISTENER", "LOG", "POLICY", "RECORD", "ROUTER", "VHOST"]
