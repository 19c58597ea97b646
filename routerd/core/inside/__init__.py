"""Endpoints inside the router, and those who answer for links in its place."""
