"""Addresses: which ones exist, their treatment, and their consumers here, at siblings and at other routers."""
