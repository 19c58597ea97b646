"""The annotations that routers write into messages for each other: read, remembered, replaced."""
