"""What `routerstat` and `routermanage` are made of.

`bus` is where a router is, `dialing` connects to it, `stream` and `tls` carry octets there and back. `credentials` log
in, `client` speaks request and response over the engine, `node` the operations of management. `failures` are what can
go wrong.
`table` holds what is shown, `figures` how values are written, `output` prints it as text, CSV or JSON.
`views` makes tables of entities, `watch`, `live` and `terminal` redraw them, `rates` tells what moves.
`schema_names`, `attribute_arguments` and `requests` make requests of what is typed; `completion` helps typing.

The engine is imported at once. `ssl` and the router's other packages are imported only where they are needed. A tool
that people and scripts run every second has to start at once.
"""
