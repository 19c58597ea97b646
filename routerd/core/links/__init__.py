"""The data of links: connections, ends, addresses, and messages that wait."""
