"""`make demo-brokers`: two RabbitMQ behind three routers, and what clients see when one of them is killed.

`layout` says what the routers are configured with. `load` has a producer and a consumer of the sharded queue, `browser`
a client whose link is routed to one broker. `story` lets it all happen.
"""
