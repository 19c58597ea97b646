"""HTTP at listeners: a filter of a connection, and what it answers from.

`requests` are what a peer asks and is answered. A `site` is what one listener serves, from `files` and
`metrics` among others. The
`filter` parses, has limits, and gives way where an `upgrade` begins a WebSocket. A `client`
is the other side of that.
"""

from routerd.io.http.client import UpgradeFilter
from routerd.io.http.filter import PLAIN_REFUSED, HttpFilter
from routerd.io.http.metrics import Scrape
from routerd.io.http.site import HealthSource, Site
from routerd.io.http.upgrade import accepted

__all__ = ["PLAIN_REFUSED", "HealthSource", "HttpFilter", "Scrape", "Site", "UpgradeFilter", "accepted"]
