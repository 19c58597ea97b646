"""The network as a picture: `routerstat --map`.

`survey` asks every router that can be reached, and `assembly` makes a `graph` of their answers. `text` draws it with
the `tracks` of its trunks beside the routers. `svg` draws it for a `file`, with routers where the `forces` between them
put them.
"""
