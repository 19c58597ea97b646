"""What the commands exit with."""

SUCCESS = 0
FAILURE = 1
"""For a wrong command line too: init scripts know no other (2.3)."""
