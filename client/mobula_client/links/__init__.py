"""Links that outlive connections, without I/O.

An `Endpoint` is our end of one connection. Octets and the time go in, octets come out, as in the engine below it. Links
are handed from one endpoint to the next. Each attaches again under its name. A `SendingLink` sends messages
without an outcome again, and a `ReceivingLink` grants its credit again.
"""

from mobula_client.links.endpoint import Endpoint, EndpointHost
from mobula_client.links.link import RecoverableLink
from mobula_client.links.receiving import Incoming, ReceivingLink
from mobula_client.links.sending import Outgoing, SendingLink

__all__ = ["Endpoint", "EndpointHost", "Incoming", "Outgoing", "ReceivingLink", "RecoverableLink", "SendingLink"]
