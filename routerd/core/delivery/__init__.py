"""What happens to a message: in, on its way out, while it waits, and its outcome back."""
