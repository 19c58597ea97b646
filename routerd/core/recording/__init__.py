"""What is recorded of decisions, their outcomes, and what happens to links, addresses and the network."""
