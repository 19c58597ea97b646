"""`make demo-mesh`: four routers, RPC between them, and what callers see when a server, a trunk and a router fail.

It is among the benchmarks, as it starts routers of this tree, puts load on them and measures. Like them, it is not
installed: it needs configs/, which the package does not have.

`parts` are the processes, `layout` says what they are made of, `proxy` is in the trunk that is cut. `endpoint` is a
connection of the engine, `server` and `caller` use one, `account` keeps what a caller saw. `story` lets it all happen.
"""
