"""What the command line can choose from. Nothing of it needs Spark: help has to be there before that is installed."""

MATRIX_BY = ("routers", "address", "family")
LATENCY_BY = ("address", "path", "hop")
FORMATS = ("parquet", "csv", "json")
"""Of tables."""
RAYDP = "raydp"
RAY_ADDRESS = "RAY_ADDRESS"
"""Ray's own variable, which names the one to join; `auto` is the one that runs here."""
