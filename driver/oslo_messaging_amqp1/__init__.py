"""The AMQP 1.0 transport driver of oslo.messaging: `amqp://` over a mesh of routers or a broker."""

__version__ = "0.1.0"
