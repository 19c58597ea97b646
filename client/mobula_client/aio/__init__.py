"""The asyncio face: sockets, clocks and randomness come in here."""
