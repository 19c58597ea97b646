"""Mobula: an AMQP 1.0 message router."""
