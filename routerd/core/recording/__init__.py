"""Recording of decisions, their outcomes, and events of links, addresses and the network."""
