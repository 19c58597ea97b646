"""Roles of connections and links: for clients, siblings, other routers and edge routers."""
