"""Endpoints inside the router, and link keepers."""
