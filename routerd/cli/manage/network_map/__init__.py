"""The network as a picture: `routerstat --map`.

`survey` asks every router that can be reached, `assembly` makes a `graph` of what they tell, `text` draws it with the
`tracks` of its trunks beside the routers, `svg` where the `forces` between routers put them, for a `file`.
"""
