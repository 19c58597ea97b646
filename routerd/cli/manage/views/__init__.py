"""The views of `routerstat`: each asks a management node for entities and makes tables and records of them.

What is asked for, what it is called and how it is sorted is that of qdstat (reference section 6), but for `actors` and
`fabric`, which are ours. A table is made of entities by a function of its own, without any router.
"""
