"""The way of a message: in, out, while it waits, and its outcome back."""
