"""The management schema: `model` says what types and attributes are, one module a family declares them.

`foundations`, `router`, `connections`, `addresses`, `logs`, `security`, `traffic` and `process` are the families,
`catalogue` has them all. `values` and `validation` hold what is given against it.
"""
