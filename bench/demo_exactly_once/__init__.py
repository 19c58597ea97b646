"""A demo of topics: clients and routers die, in the end all routers at once, and each message is processed once.

It knows only what the clients have written into their own databases.
"""
