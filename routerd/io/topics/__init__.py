"""The topics of a router: links of clients and messages of other routers, for the protocol in `routerd.topics`."""

from routerd.io.topics.hosted import TICK_S, HostedTopics
from routerd.io.topics.names import PLACE
from routerd.io.topics.topic_host import TopicHost

__all__ = ["PLACE", "TICK_S", "HostedTopics", "TopicHost"]
