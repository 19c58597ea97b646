"""The load generator: `roles` send and receive, a `line` is a connection of them, a `loop` turns many lines.

A `plan` says what is to be done. The `conductor` starts a process for each part of it, in which a `worker` runs a loop;
`tally` is what was counted, with latencies in a `histogram`, and `report` words it.
"""
