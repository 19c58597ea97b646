"""The views of `routerstat`: each asks a management node for entities and makes tables and records of them.

The views ask for what qdstat asks for, with its names and its order (reference section 6); only `actors` and `fabric`
are ours. For each table there is a function that makes it of entities, without any router.
"""
