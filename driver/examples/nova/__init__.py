"""`make demo-nova`: a small Nova over three routers. One of them is killed and started again.

`api` boots instances: it calls the scheduler, casts to the compute that the scheduler chose, and asks that compute for
the result. It also sends news to all computes. `scheduler` and `compute` answer. Each is a separate process, run by
`service`. It does what any service of OpenStack does: it uses oslo.messaging and has a transport_url.

`layout` says what there is, `parts` are the processes, `account` compares what was promised with what came. `story`
lets it all happen.
"""
