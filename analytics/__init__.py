"""Studies what routers recorded of their decisions, with Spark: one module a question, and a report of all of them."""
