"""A sans-I/O AMQP 1.0 engine: bytes and time go in, events and bytes come out."""
