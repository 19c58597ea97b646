"""The data of links: a connection, its two kinds of ends, addresses, and what waits between them."""
