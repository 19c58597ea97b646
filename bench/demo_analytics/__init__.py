"""The demo of recorded decisions: three routers, load, a slow consumer, a trunk that is cut, and a report of both.

`parts` has the clients, `layout` the configurations, `story` what happens, `verdict` what the report says.
"""
