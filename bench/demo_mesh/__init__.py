"""`make demo-mesh`: four routers, RPC between them, and what callers see when a server, a trunk and a router fail.

It is here since it starts routers of this tree, puts load on them and measures, as benchmarks do, and since like them
it is not installed: who has only the package has neither configs/ nor a use for it.

`parts` are the processes, `layout` says what they are made of, `proxy` is in the trunk that is cut. `endpoint` is a
connection of the engine, `server` and `caller` use one, `account` keeps what a caller saw. `story` lets it all happen.
"""
