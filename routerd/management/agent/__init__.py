"""The management agent: requests in, answers out, the router behind a `Backing`.

`agent` has each request answered: by `live`, which has what runs now, or by `general`, which has what has a name.
* `live` shows the rows of `traffic_columns`, `router_columns` and `config_columns`, and changes connections
  (`connection_changes`) and addresses (`address_creation`, `removal`).
* `general` shows what `entities` makes of the configuration and of the rest (`own_columns`), makes and deletes
  listeners (`general_creation`, `removal`) and changes the rest (`entity_changes`); `node_operations` and `schema_map`
  are for the node.
* `call` reads a request, `query` makes pages of rows, `columns` and `numbers` what stands in them. `naming` says what
  entities are called, `entity_index` which there are; `problems` and `refusals` say no.
"""
