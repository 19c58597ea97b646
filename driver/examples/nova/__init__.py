"""`make demo-nova`: a Nova in small over three routers, of which one is killed and started again.

`api` boots instances: it calls the scheduler, casts to the compute that the scheduler chose, and asks that compute what
became of it; besides it sends news to all computes. `scheduler` and `compute` answer. Each is a process of its own, run
by `service`, and does what any service of OpenStack does: it uses oslo.messaging and has a transport_url.

`layout` says what there is, `parts` are the processes, `account` compares what was promised with what came. `story`
lets it all happen.
"""
