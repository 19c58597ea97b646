"""Programs that show the client at work. Each takes the URL of a router."""
