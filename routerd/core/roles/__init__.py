"""What connections and links are for: of clients, of siblings, of other routers, and of edge routers."""
