"""A whole router in one process on virtual time, from one seed: workers, their table, clients, and a bad network."""
